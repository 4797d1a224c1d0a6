"""Small programs as a model, and their texts in Python, JavaScript and Go.

A program logs events: each statement that can be observed has a tag of its own, so a run shows
which statements ran, how often and in which order. Whatever the three languages write alike is
kept as text: `total`, `kit.Double(total)`, `LIMIT`.
"""

import copy
from collections.abc import Iterator

from attrs import Factory, define, frozen

Option = tuple[str, str]
"""The name of a parameter that can be left out, and its value."""


@frozen
class Call:
    """A call; options that it does not name have the function's defaults."""

    function: str
    arguments: tuple[str, ...]
    options: tuple[Option, ...] = ()


Term = str | Call


@define
class Suite:
    """Statements that run one after the other. *only_logs* forbids what changes the result."""

    key: str
    statements: "list[Statement]" = Factory(list)
    only_logs: bool = False


@define
class Do:
    """A call whose value is not used."""

    key: str
    call: Call
    note: str = ""


@define
class Assign:
    """Gives a variable the sum of terms, around which calls with one argument are wrapped."""

    key: str
    name: str
    terms: list[Term]
    wraps: list[str] = Factory(list)
    declares: bool = False
    note: str = ""


@define
class Return:
    """Returns a sum."""

    key: str
    terms: list[Term]


@define
class Branch:
    """Runs its body if all conditions hold: each has a name, an operator and a value."""

    key: str
    conditions: list[tuple[str, str, str]]
    body: Suite
    otherwise: Suite | None = None


@define
class Repeat:
    """Runs its body some times."""

    key: str
    times: str
    body: Suite


@define
class Part:
    """A case of a choice, or a handler of errors, by the value or the kind."""

    name: str
    body: Suite


@define
class Choose:
    """Runs the case of the input."""

    key: str
    cases: list[Part]


@define
class Attempt:
    """Fetches something, and handles some kinds of errors."""

    key: str
    handlers: list[Part]


@define
class Protect:
    """Runs the rest of a function, and then something that always runs: a defer in Go."""

    key: str
    body: Suite
    cleanup: Suite


Statement = Do | Assign | Return | Branch | Repeat | Choose | Attempt | Protect


@define
class Function:
    """A function or a method of the input `x`, with options."""

    name: str
    options: list[Option]
    body: Suite


@define
class Box:
    """A class whose fields have constant values, and whose methods log them."""

    name: str
    fields: list[Option]
    methods: list[Function]


@define
class Program:
    """A module; its function `run` is called with each input."""

    imports: list[str]
    constants: list[Option]
    table: list[Option]
    steps: list[str]
    functions: list[Function]
    box: Box | None
    one_line: bool
    matches: bool

    def copy(self) -> "Program":
        """Return a copy that can be edited."""
        return copy.deepcopy(self)

    def all_functions(self) -> list[Function]:
        """Return the functions and methods."""
        return [*self.functions, *(self.box.methods if self.box else ())]

    def suites(self) -> Iterator[Suite]:
        """Yield every suite, outer ones first."""
        for function in self.all_functions():
            yield from inner_suites(function.body)

    def suite(self, key: str) -> Suite | None:
        """Return the suite with a key."""
        return next((each for each in self.suites() if each.key == key), None)

    def place(self, key: str) -> tuple[Suite, int] | None:
        """Return the suite of a statement, and the statement's index."""
        for suite in self.suites():
            for index, each in enumerate(suite.statements):
                if each.key == key:
                    return suite, index
        return None

    def options_of(self, function: str) -> list[Option]:
        """Return the options of a function, by the name with which it is called."""
        name = function.rpartition(".")[2]
        return next((each.options for each in self.all_functions() if each.name == name), [])


def inner_suites(suite: Suite) -> Iterator[Suite]:
    """Yield a suite and those of its statements."""
    yield suite
    for each in suite.statements:
        for inner in _suites_of(each):
            yield from inner_suites(inner)


def _suites_of(statement: Statement) -> list[Suite]:
    match statement:
        case Branch():
            return [statement.body, *([statement.otherwise] if statement.otherwise else [])]
        case Repeat():
            return [statement.body]
        case Choose():
            return [each.body for each in statement.cases]
        case Attempt():
            return [each.body for each in statement.handlers]
        case Protect():
            return [statement.body, statement.cleanup]
    return []


def log(key: str, tag: str, value: str, note: str = "") -> Do:
    """Return a statement that logs a value with a tag."""
    return Do(key, Call("kit.Log", (f'"{tag}"', value)), note)
