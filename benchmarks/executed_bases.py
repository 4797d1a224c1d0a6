"""Makes random programs, which the sides of `executed_cases` edit."""

import random

from executed_programs import (
    Assign,
    Attempt,
    Box,
    Branch,
    Call,
    Choose,
    Do,
    Function,
    Option,
    Part,
    Program,
    Protect,
    Repeat,
    Return,
    Statement,
    Suite,
    Term,
    log,
)
from executed_runs import TOOLS

VARIABLES = {"run": "total", "price": "amount", "weight": "mass", "score": "level", "grade": "rank"}
"""The variable that each function declares, changes and returns."""
NOTES = ("Keep this in step with the table.", "The order matters here.", "See the manual.")
MOST_DEPTH = 2


class Builder:
    """Builds the parts of one program; each statement gets a key and most get a tag."""

    def __init__(self, chance: random.Random) -> None:
        """Build with the random numbers of *chance*."""
        self._chance = chance
        self._count = 0
        self._imports: list[str] = []
        self._constants: list[Option] = []

    def program(self) -> Program:
        """Build a program."""
        chance = self._chance
        self._imports = chance.sample(sorted(TOOLS), chance.randrange(1, 3))
        names = chance.sample(["LIMIT", "RATE", "DEPTH", "WIDTH"], chance.randrange(1, 4))
        self._constants = [(name, self._number()) for name in names]
        helpers = chance.sample(["price", "weight", "score"], chance.randrange(1, 3))
        functions = [self._function(name) for name in helpers]
        box = self._box() if chance.randrange(2) else None
        run = self._function("run", [*self._uses(), *self._calls(functions, box)])
        if box:
            run.body.statements.insert(0, Assign("box", "box", ["$Box()"], declares=True))
        return Program(
            imports=self._imports,
            constants=[
                *self._constants,
                ("VERSION", f'"1.{chance.randrange(9)}.{self._number()}"'),
            ],
            table=[(self._tag(), self._number()) for _ in range(chance.randrange(2, 5))],
            steps=[self._tag() for _ in range(chance.randrange(2, 4))],
            functions=[*functions, run],
            box=box,
            one_line=chance.randrange(3) == 0,
            matches=chance.randrange(2) == 0,
        )

    def _tag(self) -> str:
        self._count += 1
        return f"b{self._count}"

    def _number(self) -> str:
        return str(self._chance.randrange(10, 60))

    def _log(self, value: str) -> Do:
        tag = self._tag()
        note = self._chance.choice(NOTES) if self._chance.randrange(8) == 0 else ""
        return log(tag, tag, value, note)

    def _uses(self) -> list[Statement]:
        """Return statements that use every import and constant."""
        used: list[Statement] = [
            self._log(value)
            for value in (*(name for name, _ in self._constants), "VERSION")
        ]  # fmt: skip
        used += [self._log(f"{name}.By(x)") for name in self._imports]
        used.append(Do("table", Call("kit.Show", ("TABLE",))))
        used.append(Do("steps", Call("kit.Each", ("STEPS",))))
        return used

    def _calls(self, functions: list[Function], box: Box | None) -> list[Statement]:
        """Return statements that call the functions, some with options."""
        calls: list[Statement] = []
        for each in functions:
            given = [(name, self._number()) for name, _ in each.options if self._coin()]
            call = Call(each.name, ("x",), tuple(given))
            calls.append(_added(f"call-{each.name}", call))
        methods = box.methods if box else []
        names = [each.name for each in methods]
        return [*calls, *(_added(f"call-{name}", f"box.{name}(x)") for name in names)]

    def _coin(self) -> bool:
        return self._chance.randrange(2) == 0

    def _function(self, name: str, required: list[Statement] | None = None) -> Function:
        variable = VARIABLES[name]
        start = Assign(f"{name}-start", variable, ["x"], declares=True)
        statements = [self._statement(variable, 0) for _ in range(self._chance.randrange(2, 5))]
        statements += required or []
        self._chance.shuffle(statements)
        options = [(f"{name}Step", self._number())] if required is None and self._coin() else []
        statements += [self._log(option) for option, _ in options]
        statements.append(Return(f"{name}-return", [variable]))
        body = Suite(f"{name}-body", [start, *statements])
        if self._chance.randrange(4) == 0:
            cleanup = Suite(f"{name}-cleanup", [self._log(self._number())], only_logs=True)
            rest = Suite(f"{name}-rest", statements)
            body.statements = [start, Protect(f"{name}-protect", rest, cleanup)]
        return Function(name, options, body)

    def _box(self) -> Box:
        fields = [(name, self._number()) for name in ("size", "color")[: 1 + self._coin()]]
        methods = []
        for name in ("grow", "paint")[: 1 + self._coin()]:
            logs: list[Statement] = [self._log(f"@.{field}") for field, _ in fields]
            result: list[Term] = ["x", f"@.{self._chance.choice(fields)[0]}"]
            body = Suite(f"{name}-body", [*logs, Return(f"{name}-return", result)])
            methods.append(Function(name, [], body))
        return Box("Box", fields, methods)

    def _suite(self, variable: str, depth: int) -> Suite:
        count = self._chance.randrange(1, 3)
        statements = [self._statement(variable, depth + 1) for _ in range(count)]
        return Suite(f"{self._tag()}-suite", statements)

    def _statement(self, variable: str, depth: int) -> Statement:
        """Return a random statement."""
        simple = depth >= MOST_DEPTH or self._chance.randrange(2)
        key = f"k{self._tag()}"
        if simple and self._chance.randrange(3):
            return self._log(self._chance.choice(["x", variable, self._number()]))
        if simple:
            tool = f"{self._chance.choice(self._imports)}.By(x)"
            term = self._chance.choice([self._number(), tool])
            return Assign(key, variable, [variable, term])
        body = self._suite(variable, depth)
        match self._chance.randrange(4):
            case 0:
                otherwise = self._suite(variable, depth) if self._coin() else None
                return Branch(key, [("x", ">", str(self._chance.randrange(3)))], body, otherwise)
            case 1:
                return Repeat(key, self._chance.choice(["2", "3"]), body)
            case 2:
                cases = [Part("1", body), Part("3", self._suite(variable, depth))]
                return Choose(key, cases[: 1 + self._coin()])
        return Attempt(key, [Part("Missing", body)])


def _added(key: str, term: Term) -> Assign:
    return Assign(key, "total", ["total", term])
