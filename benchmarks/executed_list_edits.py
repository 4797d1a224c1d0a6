"""Random edits of a program's lists: imports, constants, keys, functions, parameters, methods."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from executed_edits import (
    Insert,
    Step,
    change_statement,
    insert,
    name_of,
    rename_function,
    set_value,
)
from executed_inventing import Inventor
from executed_programs import (
    Box,
    Call,
    Function,
    Program,
    Return,
    Suite,
    Term,
)
from executed_runs import TOOLS

Maker = Callable[[], Sequence[Step]]


class ListEdits:
    """Makes one side's edits of lists."""

    def __init__(self, chance: random.Random, program: Program, inventor: Inventor) -> None:
        """Edit *program* with the random numbers of *chance*."""
        self._chance = chance
        self._program = program
        self._new = inventor

    def makers(self, name: str) -> dict[str, Maker]:
        """Return what makes edits of a list, or of the parameters of a function, by their kinds."""
        known: dict[str, dict[str, Maker]] = {
            "imports": {"add import": lambda: self.imported(*self._run_key())},
            "constants": {"add constant": self._added_constant, "change constant": self._value},
            "table": {"add key": self._added_key, "change value": self._table_value},
            "steps": {"add step": self._added_step},
            "functions": {"add function": self._added_function, "rename function": self._rename},
            "fields": {"add field": self._added_field},
            "methods": {"add method": self._added_method},
        }
        option: dict[str, Maker] = {"add option": lambda: self.added_option(name, self._new.word())}
        return known.get(name, option)

    def _run_key(self) -> tuple[str, str]:
        suite, after = self._new.run_gap()
        return suite.key, after

    def _added_step(self) -> list[Step]:
        after = self._after(self._program.steps)
        tag = self._new.tag()
        return [Insert("steps", after, (tag,), lambda each: each.steps)]

    def _after(self, items: Sequence[Any]) -> str:
        names = [name_of(each) for each in items]
        return names[-1] if self._chance.randrange(3) else self._chance.choice(names)

    def _added_constant(self) -> list[Step]:
        after = self._after(self._program.constants)
        name = self._new.word().upper()
        item = (name, self._new.number())
        return [
            Insert("constants", after, (item,), lambda each: each.constants),
            self._new.use(name),
        ]

    def _value(self) -> list[Step]:
        name, value = self._chance.choice(self._program.constants)
        new = (
            f'"2.{self._new.number()}"'
            if value.startswith('"')
            else value[0] + self._new.number()[-1]
        )
        return [set_value("constants", lambda each: each.constants, name, new)]

    def _added_key(self) -> list[Step]:
        after = self._after(self._program.table)
        item = (self._new.tag(), self._new.number())
        return [Insert("table", after, (item,), lambda each: each.table)]

    def _table_value(self) -> list[Step]:
        name, _ = self._chance.choice(self._program.table)
        return [set_value("table", lambda each: each.table, name, self._new.number())]

    def _added_function(self) -> list[Step]:
        after = self._after(self._program.functions[:-1])
        name = self._new.word()
        result: list[Term] = ["x", self._new.number()]
        body = Suite(f"{name}-body", [self._new.log(), Return(f"{name}-return", result)])
        new = Function(name, [], body)
        call = Call(name, ("x",))
        return [
            Insert("functions", after, (new,), lambda each: each.functions),
            self._new.use(call),
        ]

    def _rename(self) -> list[Step]:
        old = self._chance.choice(self._program.functions[:-1]).name
        return [rename_function(old, self._new.word())]

    def added_option(self, function: str, name: str) -> list[Step]:
        """Give a function an option that is added to its result."""

        def options(program: Program) -> list[tuple[str, str]]:
            return program.options_of(function)

        old = options(self._program)
        after = self._after(old) if old else ""
        key = f"{function}-return"
        term = change_statement(key, f"term {name}", name, lambda found: found.terms.append(name))
        return [Insert(function, after, ((name, self._new.number()),), options), term]

    def _added_field(self) -> list[Step]:
        box = _box(self._program)
        name, method = self._new.word(), self._chance.choice(box.methods)
        after = self._after(box.fields)
        field = Insert(
            "fields", after, ((name, self._new.number()),), lambda each: _box(each).fields
        )
        return [field, insert(method.body.key, "", self._new.log(f"@.{name}"))]

    def _added_method(self) -> list[Step]:
        name = self._new.word()
        body = Suite(f"{name}-body", [self._new.log(), Return(f"{name}-return", ["x"])])
        after = self._after(_box(self._program).methods)
        new = Function(name, [], body)
        method = Insert("methods", after, (new,), lambda each: _box(each).methods)
        return [method, self._new.use(Call(f"box.{name}", ("x",)))]

    def imported(self, suite: str, after: str) -> list[Step]:
        """Import a module, and log what its function returns."""
        choices = [each for each in sorted(TOOLS) if each not in self._program.imports]
        name = self._chance.choice(choices)
        last = self._program.imports[-1]
        use = insert(suite, after, self._new.log(f"{name}.By(x)"))
        return [Insert("imports", last, (name,), lambda each: each.imports), use]


def _box(program: Program) -> Box:
    if program.box is None:
        raise ValueError("the program has no class")
    return program.box
