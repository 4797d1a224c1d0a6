"""What a file defines, imports, declares and uses, in terms that all languages share."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from attrs import define, evolve, field, frozen


@frozen(kw_only=True)
class Arguments:
    """The arguments of a call that passes each of them on its own.

    Attributes:
        positional: How many are positional.
        keywords: The names of the others.
    """

    positional: int = 0
    keywords: frozenset[str] = frozenset()


@frozen(kw_only=True)
class Signature:
    """The parameters that a caller gives.

    Attributes:
        positional: The names of those that may be positional; empty for one that has no
            name, or whose name a caller cannot use.
        required: How many of them have no default.
        keywords: Those that must be given by name, and whether each must be given.
        takes_more: Whether there may be any number of further positional arguments.
        takes_any_keyword: Whether there may be any keyword.
    """

    positional: tuple[str, ...] = ()
    required: int = 0
    keywords: Mapping[str, bool] = field(factory=dict)
    takes_more: bool = False
    takes_any_keyword: bool = False

    @property
    def shape(self) -> object:
        """Everything about it, as a value that can be hashed."""
        keywords = tuple(sorted(self.keywords.items()))
        return self.positional, self.required, keywords, self.takes_more, self.takes_any_keyword

    def bound(self) -> "Signature":
        """Return the signature without its first parameter, which the receiver fills."""
        return evolve(self, positional=self.positional[1:], required=max(self.required - 1, 0))

    def misfit(self, call: Arguments) -> str:
        """Return why a call does not fit, as a predicate of the function; empty if it fits."""
        if call.positional > len(self.positional) and not self.takes_more:
            return f"takes at most {len(self.positional)} positional arguments"
        given = set(self.positional[: call.positional]) - {""}
        rest = self.positional[call.positional :]
        for name in sorted(call.keywords):
            if name in given:
                return f"gets `{name}` both by position and by name"
            if name not in rest and name not in self.keywords and not self.takes_any_keyword:
                return f"has no parameter `{name}`"
        needed = [*self.positional[call.positional : self.required]]
        needed += [name for name, is_needed in self.keywords.items() if is_needed]
        missing = [name for name in needed if name not in call.keywords]
        if missing:
            return f"needs `{missing[0]}`" if missing[0] else "needs more arguments"
        return ""

    def moved(self, call: Arguments, other: "Signature") -> str:
        """Return a positional argument of *call* that means something else in *other*."""
        for i, name in enumerate(self.positional[: call.positional]):
            if name and name in other.positional and other.positional[i : i + 1] != (name,):
                return name
        return ""


@frozen(kw_only=True)
class Definition:
    """A name that a file defines.

    Attributes:
        name: The name, after those of the scopes around it, with dots.
        line: Its line, counted from 1.
        is_sole: Whether its scope must not define the name again.
        is_class: Whether it is a class.
        signature: Its parameters; `None` if unknown, or if it is not a function.
        takes_instance: Whether its first parameter is the instance that it is called on.
        bases: What a class inherits from, as far as it has names.
        body: A number that it shares with definitions of the same contents; 0 if unknown.
    """

    name: str
    line: int
    is_sole: bool = False
    is_class: bool = False
    signature: Signature | None = None
    takes_instance: bool = False
    bases: tuple[str, ...] = ()
    body: int = 0

    @property
    def last(self) -> str:
        """The name without its scopes."""
        return self.name.rpartition(".")[2]

    @property
    def scope(self) -> str:
        """The scopes around it; empty at the top level."""
        return self.name.rpartition(".")[0]


@frozen(kw_only=True)
class Import:
    """A name that a file takes from another one.

    Attributes:
        name: The name in this file; `*` if it takes all names.
        module: The other file or package, as this file writes it.
        attribute: The name there; empty if the module itself is meant.
        line: Its line, counted from 1.
        is_sole: Whether its scope must not import the name again.
        is_global: Whether it is at the top level of the file.
    """

    name: str
    module: str
    attribute: str = ""
    line: int
    is_sole: bool = False
    is_global: bool = True


@frozen(kw_only=True)
class Use:
    """A place that reads or calls a name.

    Attributes:
        chain: The name and the attributes after it. The first one is empty if they are
            attributes of something unknown.
        line: The first line of the place, counted from 1.
        end_line: Its last line.
        call: The arguments, if the place is a call and all of them are known.
        owner: The class of the instance that the first name stands for, if it is one.
        is_instance: Whether the first name is an instance of *owner* and not the class.
        via: The import that binds the first name, if that import is not at the top level.
    """

    chain: tuple[str, ...]
    line: int
    end_line: int
    call: Arguments | None = None
    owner: str = ""
    is_instance: bool = False
    via: Import | None = None

    @property
    def words(self) -> frozenset[str]:
        """The names that it may refer to."""
        if self.via is None:
            return frozenset(self.chain)
        return frozenset((*self.chain, *self.via.module.split("."), self.via.attribute))

    @property
    def shape(self) -> object:
        """What is used and how, wherever it is."""
        return self.chain, self.call, self.owner

    @property
    def lines(self) -> range:
        """The lines of the place."""
        return range(self.line, self.end_line + 1)

    def moved(self, lines: int) -> "Use":
        """Return the use as many lines further down."""
        if not lines:
            return self
        return evolve(self, line=self.line + lines, end_line=self.end_line + lines)


@define(slots=False, eq=False)
class Source:
    """What one version of a file defines, imports and uses.

    Attributes:
        definitions: Its definitions, in order.
        imports: Its imports, in order.
        is_open: Whether it may define names that its text does not show.
        parts: Its parts with the number of lines before each, so that parts that several
            versions share can be left out.
        members_of: Returns further names that attributes of anything in the file may have.
        uses_of: Returns the uses in a part, with lines counted within the part.
        bound_of: Returns further names that are bound somewhere in the file.
        package: The package that the file belongs to, if its files share their names.
    """

    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...]
    is_open: bool
    parts: tuple[tuple[int, object], ...]
    members_of: Callable[[], frozenset[str]]
    uses_of: Callable[..., tuple[Use, ...]]
    bound_of: Callable[[], frozenset[str]] = frozenset
    package: str = ""

    @cached_property
    def by_name(self) -> dict[str, list[Definition]]:
        """The definitions by name."""
        found: dict[str, list[Definition]] = {}
        for each in self.definitions:
            found.setdefault(each.name, []).append(each)
        return found

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The names that attributes of anything in the file may have."""
        return self.members_of() | {each.last for each in self.definitions}

    @cached_property
    def imported(self) -> dict[str, list[Import]]:
        """The imports at the top level, by the name that they bind."""
        found: dict[str, list[Import]] = {}
        for each in self.imports:
            if each.is_global:
                found.setdefault(each.name, []).append(each)
        return found


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


class NamedFunction(NamedTuple):
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


@frozen(kw_only=True)
class ScopeNames:
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
    functions: tuple[NamedFunction, ...]
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
