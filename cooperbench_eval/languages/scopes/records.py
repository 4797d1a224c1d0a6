"""What the scopes of a file declare and use."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from attrs import frozen

__all__ = ["Call", "Clash", "Declaration", "Function", "Names", "Scope"]


class Declaration(NamedTuple):
    """A name that a scope declares.

    Attributes:
        kind: How it is declared; two kinds may be able to share a name.
        line: Its line, counted from the start of its piece.
        visible_from: The byte from which the name is visible to the scope's own statements.
    """

    kind: str
    line: int
    visible_from: int = 0


class Clash(NamedTuple):
    """A name that one scope declares more often than the language allows.

    Attributes:
        name: The name.
        scope: The names of the scopes around it, with dots; empty at the top level.
        lines: The lines of all its declarations.
    """

    name: str
    scope: str
    lines: tuple[int, ...]

    @property
    def qualified(self) -> str:
        """The name after those of the scopes around it."""
        return f"{self.scope}.{self.name}" if self.scope else self.name

    def moved(self, lines: int) -> "Clash":
        """Return it with other lines."""
        return self._replace(lines=tuple(line + lines for line in self.lines))


class Function(NamedTuple):
    """The parameters of a function that has a name.

    Attributes:
        name: Its name after those of the scopes around it.
        parameters: The names of its parameters, in order, without the receiver.
        required: How many of them have no default.
        takes_more: Whether any number of arguments may follow.
        is_method: Whether it is called on a value.
    """

    name: str
    parameters: tuple[str, ...]
    required: int
    takes_more: bool
    is_method: bool

    @property
    def called(self) -> tuple[str, bool]:
        """The name by which it is called, and whether something precedes it."""
        owner, _, name = self.name.rpartition(".")
        if name == "constructor" and owner:
            return owner.rpartition(".")[2], False
        return name, self.is_method

    def fits(self, call: "Call") -> bool:
        """Whether a call passes as many arguments as the function takes."""
        if call.is_spread:
            return True
        return self.required <= len(call.arguments) and (
            self.takes_more or len(call.arguments) <= len(self.parameters)
        )


class Call(NamedTuple):
    """A call of a function by name.

    Attributes:
        name: The last name of the callee.
        has_receiver: Whether something precedes this name.
        arguments: The text of each argument.
        is_spread: Whether the number of arguments is not certain.
    """

    name: str
    has_receiver: bool
    arguments: tuple[bytes, ...]
    is_spread: bool


class Scope:
    """A part of a file in which names are declared.

    Attributes:
        parent: The scope around it; `None` for the file.
        label: The names of the named scopes up to this one, with dots.
        is_function: Whether its statements run later than those around it.
        names: The declarations of each name.
        depth: The number of scopes around it.
    """

    __slots__ = ("depth", "is_function", "label", "names", "parent")

    def __init__(
        self, parent: "Scope | None" = None, label: str = "", *, is_function: bool = False
    ) -> None:
        self.parent = parent
        self.is_function = is_function
        self.names: dict[str, list[Declaration]] = {}
        around = parent.label if parent else ""
        self.label: str = f"{around}.{label}" if around and label else label or around
        self.depth: int = parent.depth + 1 if parent else 0

    def add(self, name: str, declaration: Declaration) -> None:
        """Declare a name."""
        self.names.setdefault(name, []).append(declaration)


@frozen(kw_only=True)
class Names:
    """What a part of a file declares and uses; parts add up to files.

    Attributes:
        declared: What it declares at the top level of the file: names with declarations.
        clashes: The names that a scope in it declares too often.
        free: The names that it uses without declaring them.
        local: The names that it uses and declares below the top level.
        skipped: How many statements can never be reached.
        repeated: The guards and loops that a block repeats, and how often.
        functions: The functions with names.
        calls: The calls by name.
        has_glob: Whether an import may bring any name.
        is_module: Whether it has an import or an export.
    """

    declared: tuple[tuple[str, Declaration], ...]
    clashes: tuple[Clash, ...]
    free: frozenset[str]
    local: frozenset[str]
    skipped: int
    repeated: Mapping[bytes, int]
    functions: tuple[Function, ...]
    calls: tuple[Call, ...]
    has_glob: bool
    is_module: bool

    @property
    def top(self) -> frozenset[str]:
        """The names that it declares at the top level."""
        return frozenset(name for name, _ in self.declared)

    @property
    def excess(self) -> Counter[str]:
        """How many declarations of each name are too many."""
        found: Counter[str] = Counter()
        for clash in self.clashes:
            found[clash.name] += len(clash.lines) - 1
        return found
