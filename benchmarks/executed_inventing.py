"""What an author of edits invents: tags, names, numbers, and uses of something new."""

import random

from executed_bases import VARIABLES
from executed_edits import Insert, insert
from executed_programs import (
    Assign,
    Call,
    Do,
    Program,
    Protect,
    Statement,
    Suite,
    inner_suites,
    log,
)

INPUTS = {"o": (11, 12), "t": (21, 22), "s": (31, 32)}
"""The inputs of each side, and those of edits that both make; `kit.Fetch` raises for the second."""
WORDS = {"o": "offer", "t": "tax", "s": "share"}

Gap = tuple[Suite, str]


class Inventor:
    """Invents for one side, `o` or `t`, or `s` for what both do; nothing is invented twice."""

    def __init__(self, chance: random.Random, program: Program, side: str) -> None:
        """Invent for edits of *program* with the random numbers of *chance*."""
        self._chance = chance
        self._program = program
        self.side = side
        self.input, self.bad_input = map(str, INPUTS[side])
        self._count = 0

    def tag(self) -> str:
        """Return a new tag."""
        self._count += 1
        return f"{self.side}{self._count}"

    def word(self) -> str:
        """Return a new name."""
        self._count += 1
        return f"{WORDS[self.side]}{self._count}"

    def number(self) -> str:
        """Return a new number."""
        self._count += 1
        return str(1000 * (1 + "ots".index(self.side)) + 7 * self._count)

    def log(self, value: str | None = None) -> Do:
        """Return a statement that logs something."""
        tag = self.tag()
        return log(tag, tag, value or self._chance.choice(["x", self.number()]))

    def variable(self, suite: Suite) -> str:
        """Return the variable that a suite's function changes."""
        for function in self._program.all_functions():
            if any(each is suite for each in inner_suites(function.body)):
                return VARIABLES.get(function.name, "x")
        return "x"

    def run_gap(self) -> Gap:
        """Return a place for the use of something new: a suite of `run` that always runs."""
        suite = self._program.functions[-1].body
        while isinstance(suite.statements[-1], Protect):
            suite = suite.statements[-1].body
        declared = [each.key for each in suite.statements if declares(each)]
        others = [each.key for each in suite.statements[:-1] if not declares(each)]
        return suite, self._chance.choice([*declared[-1:], *others])

    def use(self, value: str | Call) -> Insert:
        """Insert what logs a name or the result of a call."""
        suite, after = self.run_gap()
        if isinstance(value, str):
            return insert(suite.key, after, self.log(value))
        name = self.word()
        call = Assign(name, name, [value], declares=True)
        return insert(suite.key, after, call, self.log(name))


def declares(statement: Statement) -> bool:
    """Whether a statement declares a variable."""
    return isinstance(statement, Assign) and statement.declares
