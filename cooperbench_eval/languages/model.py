"""What a file defines, imports and uses, in terms that all languages share."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from attrs import define, evolve, field, frozen

CONSTRUCTORS = ("__init__", "constructor")
"""The names of the methods that a call of a class calls."""


@frozen(kw_only=True)
class Arguments:
    """The arguments of a call.

    Attributes:
        positional: The texts of those passed by position; a long one is given as its length.
        keywords: The names of the others.
        is_open: Whether there may be more, as with `*rest`.
    """

    positional: tuple[bytes, ...] = ()
    keywords: frozenset[str] = frozenset()
    is_open: bool = False

    @property
    def shape(self) -> object:
        """How many there are, and their names, without the texts."""
        return len(self.positional), self.keywords, self.is_open


@frozen(kw_only=True)
class Signature:
    """The parameters that a caller gives.

    Attributes:
        positional: The names of those that can be given by position; empty if one has no name.
        unnamed: How many of these, from the first on, cannot be given by name.
        required: How many of these, from the first on, have no default.
        keywords: Those that must be given by name, and whether each must be given.
        takes_more: Whether there may be any number of further positional arguments.
        takes_any_keyword: Whether there may be any keyword.
    """

    positional: tuple[str, ...] = ()
    unnamed: int = 0
    required: int = 0
    keywords: Mapping[str, bool] = field(factory=dict)
    takes_more: bool = False
    takes_any_keyword: bool = False

    @property
    def shape(self) -> object:
        """What matters to a call, as a hashable value."""
        keywords = tuple(sorted(self.keywords.items()))
        named = self.positional[self.unnamed :]
        numbers = len(self.positional), self.required, self.takes_more, self.takes_any_keyword
        return named, keywords, numbers

    @property
    def ways(self) -> Iterator[tuple[str, str]]:
        """Each parameter with the way in which it is given."""
        for i, name in enumerate(self.positional):
            yield name, "by position only" if i < self.unnamed else "by position"
        for name in self.keywords:
            yield name, "by name only"
        if self.takes_more:
            yield "*", f"after {len(self.positional)} others"

    @property
    def can_be_named(self) -> bool:
        """Whether a positional parameter can be given by name."""
        return self.unnamed < len(self.positional)

    def bound(self) -> "Signature":
        """Return the signature without its first parameter, which the receiver fills."""
        return evolve(
            self,
            positional=self.positional[1:],
            unnamed=max(self.unnamed - 1, 0),
            required=max(self.required - 1, 0),
        )

    def misfit(self, call: Arguments) -> str:
        """Return why a call does not fit, as a predicate of the function; empty if it fits."""
        number = len(call.positional)
        if number > len(self.positional) and not self.takes_more:
            return f"takes at most {len(self.positional)} positional arguments"
        given = self.positional[self.unnamed : number]
        known = {*self.positional[max(self.unnamed, number) :], *self.keywords}
        for name in sorted(call.keywords):
            if name in given:
                return f"gets `{name}` both by position and by name"
            if name not in known and not self.takes_any_keyword:
                return f"has no parameter `{name}`"
        needed = [*self.positional[number : self.required]]
        needed += [name for name, is_needed in self.keywords.items() if is_needed]
        missing = [name for name in needed if name not in call.keywords or not name]
        if missing and not call.is_open:
            name = missing[0]
            return f"needs `{name}`" if name in known else "needs more arguments"
        return ""

    def moved(self, call: Arguments, other: "Signature") -> str:
        """Return a parameter whose argument in *call* goes to another parameter of *other*."""
        for i, name in enumerate(self.positional[: len(call.positional)]):
            if name and name in other.positional and other.positional[i : i + 1] != (name,):
                return name
        return ""


class Definition(NamedTuple):
    """A function, a type, a variable or a member that has a name.

    Attributes:
        name: The name, after those of the scopes around it, with dots.
        line: The line of the name, counted from 1.
        first: Its first line, decorators included.
        last: Its last line.
        is_class: Whether other definitions in it are its members.
        is_function: Whether it is a function, so that definitions in it are local.
        signature: Its parameters; `None` if unknown, or if it is not a function.
        takes_instance: Whether its first parameter is the instance that it is called on.
        bases: The base classes that have names.
        body: A hash of its contents; 0 if unknown.
    """

    name: str
    line: int
    first: int = 0
    last: int = 0
    is_class: bool = False
    is_function: bool = False
    signature: Signature | None = None
    takes_instance: bool = False
    bases: tuple[str, ...] = ()
    body: int = 0

    @property
    def last_name(self) -> str:
        """The name without its scopes."""
        return self.name.rpartition(".")[2]

    @property
    def scope(self) -> str:
        """The scopes around it; empty at the top level."""
        return self.name.rpartition(".")[0]

    def moved(self, lines: int) -> "Definition":
        """Return it as many lines further down."""
        return self._replace(
            line=self.line + lines, first=self.first + lines, last=self.last + lines
        )


class Import(NamedTuple):
    """A name that a file takes from another one.

    Attributes:
        name: The name in this file; `*` if it takes all names.
        module: The other file or package, as written in this file.
        attribute: The name there; empty if the module itself is meant.
        line: Its line, counted from 1.
        is_global: Whether it is at the top level of the file.
    """

    name: str
    module: str
    attribute: str = ""
    line: int = 0
    is_global: bool = True

    def moved(self, lines: int) -> "Import":
        """Return it as many lines further down."""
        return self._replace(line=self.line + lines)


class Use(NamedTuple):
    """A place that reads or calls a name.

    Attributes:
        chain: The name and the attributes after it. The first one is empty if they are
            attributes of something unknown.
        line: The first line of the place, counted from 1.
        end_line: Its last line.
        call: The arguments, if the place is a call.
        owner: The class of the instance that the first name stands for, if it is one.
        is_instance: Whether the first name is an instance of *owner* and not the class.
        via: The import that binds the first name, if that import is not at the top level.
        is_free: Whether the first name is declared at the top level or nowhere.
    """

    chain: tuple[str, ...]
    line: int
    end_line: int
    call: Arguments | None = None
    owner: str = ""
    is_instance: bool = False
    via: Import | None = None
    is_free: bool = False

    @property
    def words(self) -> frozenset[str]:
        """The names that it may refer to."""
        if self.via is None:
            return frozenset(self.chain)
        return frozenset((*self.chain, *self.via.module.split("."), self.via.attribute))

    @property
    def shape(self) -> object:
        """What is used and how, without its place."""
        return self.chain, self.call and self.call.shape, self.owner

    @property
    def lines(self) -> range:
        """The lines of the place."""
        return range(self.line, self.end_line + 1)

    def moved(self, lines: int) -> "Use":
        """Return the use as many lines further down."""
        return self._replace(line=self.line + lines, end_line=self.end_line + lines)


class Clash(NamedTuple):
    """A name that one scope declares more often than the language allows.

    Attributes:
        name: The name.
        scope: The names of the scopes around it, with dots; empty at the top level.
        lines: The lines of all its declarations.
        is_certain: Whether one declaration certainly replaces another.
    """

    name: str
    scope: str
    lines: tuple[int, ...]
    is_certain: bool = True

    @property
    def qualified(self) -> str:
        """The name after those of the scopes around it."""
        return f"{self.scope}.{self.name}" if self.scope else self.name

    def moved(self, lines: int) -> "Clash":
        """Return it as many lines further down."""
        return self._replace(lines=tuple(line + lines for line in self.lines))


GLOBAL = "global"
"""The kind of a global name that a function declares for its file."""
Branch = tuple[tuple[object, int], ...]
"""The branches around a place: for each, its statement and its number there."""


class Declaration(NamedTuple):
    """A name that a scope declares.

    Attributes:
        kind: How it is declared; some kinds may share a name.
        line: Its line, counted from the start of its piece.
        visible_from: The byte from which the name is visible to the scope's own statements.
        branch: The branches that it is in.
        origin: What it stands for, if known: an import, or a class, with whether the name is
            an instance of it.
    """

    kind: str
    line: int
    visible_from: int = 0
    branch: Branch = ()
    origin: Import | tuple[str, bool] | None = None

    def in_file(self, piece: int, lines: int) -> "Declaration":
        """Return it with the number of its piece and with lines of the file."""
        branch = tuple(((piece, start), number) for start, number in self.branch)
        return self._replace(line=self.line + lines, branch=branch)

    def excludes(self, other: "Declaration") -> bool:
        """Whether the two are in branches of which only one is executed."""
        taken = dict(self.branch)
        return any(taken.get(start, number) != number for start, number in other.branch)


@frozen(kw_only=True, eq=False)
class Names:
    """What a piece of a file declares and uses, with lines counted within the piece.

    Attributes:
        declared: What it declares at the top level of the file: names with declarations.
        definitions: Its definitions, in order.
        imports: Its imports, in order.
        uses: Its uses of names, except of local names that stand for nothing known.
        clashes: The names that a scope in it declares too often.
        free: The names that it uses without declaring them.
        local: The names that it uses and declares below the top level.
        bound: All names that are declared in it.
        members: The names of the attributes that it defines.
        sets: The names of the attributes that it sets.
        early: The names that its top level reads before it binds them.
        slips: What is probably a mistake in it, and how often it occurs.
        may_bind_any: Whether an import or a macro may bind any name.
        is_module: Whether it has an import or an export.
    """

    declared: tuple[tuple[str, Declaration], ...]
    definitions: tuple[Definition, ...]
    imports: tuple[Import, ...]
    uses: tuple[Use, ...]
    clashes: tuple[Clash, ...]
    free: frozenset[str]
    local: frozenset[str]
    bound: frozenset[str]
    members: frozenset[str]
    sets: frozenset[str]
    early: frozenset[str]
    slips: Mapping[str, int]
    may_bind_any: bool
    is_module: bool

    @cached_property
    def reads(self) -> frozenset[str]:
        """The names of the attributes that it reads."""
        return frozenset(name for use in self.uses for name in use.chain[1:])


_Piece = tuple[int, Names]


@define(slots=False, eq=False)
class Source:
    """What one version of a file defines, imports and uses.

    Attributes:
        pieces: Its pieces with the number of lines before each. Versions share the pieces
            that are equal.
        clashes: The names that a scope declares too often.
        top_slips: What is probably a mistake at its top level, and how often it occurs.
        package: The package that the file belongs to, if its files share their names.
        is_open: Whether it may define names that do not appear in its text.
        known: The names that every file has; `None` if other files may declare names for it.
        common: The names of the attributes of built-in types.
    """

    pieces: tuple[_Piece, ...]
    clashes: tuple[Clash, ...]
    top_slips: Counter[str]
    package: str
    is_open: bool
    known: frozenset[str] | None
    common: frozenset[str]

    def _union(self, role: str) -> frozenset[str]:
        return frozenset().union(*(getattr(names, role) for _, names in self.pieces))

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """Its definitions, in order."""
        found = (each.moved(row) for row, names in self.pieces for each in names.definitions)
        return tuple(sorted(found, key=lambda each: each.line))

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Its imports, in order."""
        return tuple(each.moved(row) for row, names in self.pieces for each in names.imports)

    @cached_property
    def by_name(self) -> dict[str, list[Definition]]:
        """The definitions by name."""
        found: dict[str, list[Definition]] = {}
        for each in self.definitions:
            found.setdefault(each.name, []).append(each)
        return found

    @cached_property
    def imported(self) -> dict[str, list[Import]]:
        """The imports at the top level, by the name that they bind."""
        found: dict[str, list[Import]] = {}
        for each in self.imports:
            if each.is_global:
                found.setdefault(each.name, []).append(each)
        return found

    @property
    def uses(self) -> Iterator[Use]:
        """Its uses, in no particular order."""
        for row, names in self.pieces:
            for use in names.uses:
                yield use.moved(row)

    @cached_property
    def declared(self) -> dict[str, list[Declaration]]:
        """What it declares at its top level, with the lines of the file."""
        found: dict[str, list[Declaration]] = {}
        for row, names in self.pieces:
            for name, each in names.declared:
                found.setdefault(name, []).append(each._replace(line=each.line + row))
        return found

    @cached_property
    def free(self) -> frozenset[str]:
        """The names that it uses without declaring them."""
        return self._union("free").difference(
            name for _, n in self.pieces for name, _ in n.declared
        )

    @cached_property
    def local(self) -> frozenset[str]:
        """The names that it uses and declares below the top level."""
        return self._union("local")

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that are declared anywhere in it."""
        return self._union("bound")

    @cached_property
    def members(self) -> frozenset[str]:
        """The names of the attributes that it defines or sets."""
        return self._union("members") | self.sets

    @cached_property
    def sets(self) -> frozenset[str]:
        """The names of the attributes that it sets."""
        return self._union("sets")

    @cached_property
    def early(self) -> frozenset[str]:
        """The names that its top level reads before it binds them."""
        read: set[str] = set()
        late: set[str] = set()
        bound: set[str] = set()
        foreign: set[str] = set()
        for _, names in self.pieces:
            here = {name for name, _ in names.declared}
            foreign |= {name for name, each in names.declared if each.kind == GLOBAL}
            late |= read & here
            new = names.early - bound
            late |= new & here
            read |= new
            bound |= here
        return frozenset() if self.is_open else frozenset(late - foreign)

    @cached_property
    def reads(self) -> frozenset[str]:
        """The names of the attributes that it reads."""
        return self._union("reads")

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The names that attributes of anything in the file may have."""
        return self.members | {each.last_name for each in self.definitions}

    @cached_property
    def slips(self) -> Counter[str]:
        """What is probably a mistake in it, and how often it occurs."""
        found = Counter(self.top_slips)
        for _, names in self.pieces:
            found.update(names.slips)
        return found

    @cached_property
    def excess(self) -> Counter[str]:
        """How many surplus declarations each name has, by the qualified name."""
        found: Counter[str] = Counter()
        for clash in self.clashes:
            found[clash.qualified] += len(clash.lines) - 1
        return found

    @property
    def unbound(self) -> frozenset[str]:
        """The names that it uses but nothing binds; none if something may bind any name."""
        if self.known is None or any(names.may_bind_any for _, names in self.pieces):
            return frozenset()
        return self.free - self.known

    @property
    def is_module(self) -> bool:
        """Whether it has an import or an export."""
        return any(names.is_module for _, names in self.pieces)
