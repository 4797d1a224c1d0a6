"""Walks over a syntax tree and notes what its scopes declare and use.

The walk knows no language. A language is a `Walk` with a rule for each kind of node that
opens a scope, declares names, or contains words that do not use names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from cooperbench_eval.languages.model import Call, Clash, Declaration, NamedFunction, ScopeNames
from cooperbench_eval.languages.readers.grammars import COMMENTS, SyntaxNode
from cooperbench_eval.languages.scopes.blocks import BlockRules

_DEEPEST = 100
"""Scopes in more scopes than this are not read, since a use is looked up in each of them."""
_LONGEST_ARGUMENT = 200
_ANYWHERE = 2**62
"""The place of a use for which the order of statements does not matter, such as a type's."""

Rule = Callable[..., None]


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


class _TooDeepError(Exception):
    """A scope is in too many other scopes."""


class Walk:
    """One pass over the statements at the top level that belong together."""

    rules: ClassVar[Mapping[str, Rule]]
    """What is done with a node; all other nodes only contain further ones."""
    uses: ClassVar[frozenset[str]]
    """The nodes that use a name."""
    sharing: ClassVar[frozenset[frozenset[str]]]
    """The kinds of declarations that may share a name in one scope."""
    in_order: ClassVar[bool]
    """Whether a name that is not yet declared may mean one of an outer scope."""
    blocks: ClassVar[BlockRules]

    def __init__(self, nodes: Sequence[SyntaxNode]) -> None:
        """Prepare to read *nodes*, which follow each other at the top level of a file."""
        self.file = Scope()
        self._first = nodes[0].start_point.row

        self._nodes = nodes
        self._stack: list[tuple[SyntaxNode, Scope]] = []
        self._scopes = [self.file]
        self._used: list[tuple[str, int, Scope]] = []
        self._declaring: set[int] = set()
        self._clashes: list[Clash] = []
        self.functions: list[NamedFunction] = []
        self._calls: list[Call] = []
        self.repeated: dict[bytes, int] = {}
        self.skipped = 0
        self.has_glob = False
        self.is_module = False

    def read(self) -> ScopeNames:
        """Read the nodes."""
        rules, uses, stack = self.rules, self.uses, self._stack
        self.push(self._nodes, self.file)
        while stack:
            node, scope = stack.pop()
            kind = node.type
            if kind in uses:
                if node.start_byte not in self._declaring:
                    place = _ANYWHERE if kind == "type_identifier" else node.start_byte
                    self._used.append((self.text(node), place, scope))
            elif (rule := rules.get(kind)) is not None:
                try:
                    rule(self, node, scope)
                except _TooDeepError:
                    continue
            elif node.child_count:
                self.push(node.children, scope)
        free, local = self._resolve()
        return ScopeNames(
            declared=tuple(
                (name, each) for name, found in self.file.names.items() for each in found
            ),
            clashes=(*self._clashes, *self._scope_clashes()),
            free=free,
            local=local,
            skipped=self.skipped,
            repeated=self.repeated,
            functions=tuple(self.functions),
            calls=tuple(self._calls),
            has_glob=self.has_glob,
            is_module=self.is_module,
        )

    def _resolve(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names that are used but declared nowhere here, and those that are."""
        free, local = set(), set()
        for name, place, scope in self._used:
            found = self._look_up(name, place, scope)
            if found is None:
                free.add(name)
            elif found is not self.file:
                local.add(name)
        return frozenset(free), frozenset(local)

    def _look_up(self, name: str, place: int, start: Scope) -> Scope | None:
        """Return the scope whose declaration a use refers to; `None` if there is none."""
        scope: Scope | None = start
        is_later = False
        while scope is not None:
            if found := scope.names.get(name):
                if (
                    is_later
                    or scope is self.file
                    or any(each.visible_from <= place for each in found)
                ):
                    return scope
                if not self.in_order:
                    return None
            if not self.in_order:
                is_later = is_later or scope.is_function
            scope = scope.parent
        return None

    def _scope_clashes(self) -> Iterable[Clash]:
        for scope in self._scopes[1:]:
            for name, found in scope.names.items():
                if len(found) > 1 and (clash := self.clash(name, scope.label, found)):
                    yield clash

    @classmethod
    def clash(cls, name: str, label: str, found: Sequence[Declaration]) -> Clash | None:
        """Return the clash of declarations of one name in one scope, if there is one."""
        lines: list[int] = []
        kinds: dict[str, int] = {}
        for each in found:
            other = next((k for k in kinds if frozenset((k, each.kind)) not in cls.sharing), None)
            if other is not None:
                lines += [each.line] if lines else [kinds[other], each.line]
            kinds.setdefault(each.kind, each.line)
        return Clash(name, label, tuple(sorted(lines))) if lines else None

    def push(self, nodes: Iterable[SyntaxNode], scope: Scope) -> None:
        """Read *nodes* next, as parts of a scope."""
        self._stack += [(node, scope) for node in nodes if node.is_named][::-1]

    def open(self, parent: Scope, label: str = "", *, is_function: bool = False) -> Scope:
        """Open a scope; if it is too deep, the rule ends here, and nothing in it is read."""
        if parent.depth >= _DEEPEST:
            raise _TooDeepError
        scope = Scope(parent, label, is_function=is_function)
        self._scopes.append(scope)
        return scope

    def inner(self, node: SyntaxNode, scope: Scope) -> None:
        """Read the children of a node in a scope of their own."""
        self.push(node.children, self.open(scope))

    def block(self, node: SyntaxNode, scope: Scope) -> None:
        """Read a block of statements, which has a scope of its own."""
        self.statements(node.children)
        self.inner(node, scope)

    def only(self, node: SyntaxNode, scope: Scope, *, role: str = "") -> None:
        """Read only the children that have a role; none by default."""
        self.push(node.children_by_field_name(role) if role else (), scope)

    def named(self, node: SyntaxNode, scope: Scope, *, kind: str) -> None:
        """Declare the name of a node, and read the node."""
        for name in fields(node, "name"):
            self.declare(scope, name, kind)
        self.push(node.children, scope)

    def text(self, node: SyntaxNode) -> str:
        """Return the text of a name."""
        return (node.text or b"").decode("utf-8", "replace")

    def line(self, node: SyntaxNode) -> int:
        """Return the line of a node, counted from the first one."""
        return node.start_point.row - self._first

    def declare(self, scope: Scope, node: SyntaxNode, kind: str, *, visible_from: int = 0) -> None:
        """Declare the name that a node consists of."""
        self._declaring.add(node.start_byte)
        scope.add(self.text(node), Declaration(kind, self.line(node), visible_from))

    def once(self, scope: Scope, named: Iterable[tuple[str, SyntaxNode]]) -> None:
        """Note members of which each name must occur only once."""
        found: dict[str, list[int]] = {}
        for name, node in named:
            found.setdefault(name, []).append(self.line(node))
        self._clashes += (
            Clash(name, scope.label, tuple(lines))
            for name, lines in found.items()
            if len(lines) > 1
        )

    def statements(self, nodes: Sequence[SyntaxNode]) -> None:
        """Note the statements of a block that are never reached, and those it repeats."""
        nodes = [node for node in nodes if node.is_named and node.type not in COMMENTS]
        self.skipped += self.blocks.count_skipped(nodes)
        for text, number in self.blocks.repeated(nodes).items():
            self.repeated[text] = self.repeated.get(text, 0) + number

    def add_call(self, callee: str, given: SyntaxNode | None, *, has_receiver: bool) -> None:
        """Note a call."""
        if given is None:
            return
        found = [node for node in given.children if node.is_named and node.type not in COMMENTS]
        kinds = {node.type for node in found}
        is_spread = not kinds.isdisjoint({"spread_element", "variadic_argument"})
        if given.type == "argument_list" and len(found) == 1 and "call_expression" in kinds:
            is_spread = True  # in Go, the call may return several values
        self._calls.append(Call(callee, has_receiver, tuple(map(_argument, found)), is_spread))


def fields(node: SyntaxNode, *roles: str) -> list[SyntaxNode]:
    """Return the children that have one of the roles, in the order of the roles."""
    return [each for role in roles for each in node.children_by_field_name(role) if each.is_named]


def _argument(node: SyntaxNode) -> bytes:
    """Return the text of an argument; only the length of a long one, as arguments nest."""
    length = node.end_byte - node.start_byte
    return words(node) if length <= _LONGEST_ARGUMENT else b"%d bytes" % length


def words(node: SyntaxNode) -> bytes:
    """Return the text of a node with single spaces."""
    return b" ".join((node.text or b"").split())
