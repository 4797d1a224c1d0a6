"""Turns syntax trees of tree-sitter's into trees that can be merged.

Statements, definitions and what is in brackets become constructs; the expressions
between them are laid out flat, as the tokens they are written with.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from attrs import evolve

from cooperbench_eval.structure.grammars import Grammar, SyntaxFaultError, SyntaxNode, parse_soundly
from cooperbench_eval.structure.names import Description, Namer
from cooperbench_eval.structure.profiles import PROFILES, Profile
from cooperbench_eval.structure.tree import (
    Element,
    Mode,
    Node,
    StructureError,
    Token,
    indented,
    relative_lines,
)

__all__ = ["read_syntax"]

_RESERVED = re.compile(rb"[\0\v\x1d-\x1f]")
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">", "|": "|"}
_SEPARATORS = frozenset({";", ","})
_DEEPEST = 120
"""How many constructs may stand in one another; a merge needs some four calls for each."""


@lru_cache(maxsize=8)
def read_syntax(grammar: Grammar, versions: tuple[bytes, ...]) -> tuple[Node, ...]:
    """Read versions of a file; what all of them have in common is not looked into.

    Args:
        grammar: What parses it.
        versions: Their bytes, each with a newline at its end.

    Returns:
        Trees that `render` writes out with the last newline before the first line.

    Raises:
        StructureError: A version has errors or nests too deeply, or the grammar's
            package is not installed.
    """
    for source in versions:
        _check(source)
    readers = [_Reader(grammar, source) for source in versions]
    common = frozenset.intersection(*(frozenset(reader.texts()) for reader in readers))
    known: _Known = {}
    return tuple(reader.file(common, known) for reader in readers)


def _check(source: bytes) -> None:
    if _RESERVED.search(source):
        raise StructureError("there are control characters")
    try:
        source.decode()
    except UnicodeDecodeError as exc:
        raise StructureError("it is not UTF-8") from exc


_Known = dict[tuple[tuple[str, ...], bytes, bytes, int], Element]
"""Members that were read, by the rules they are made by, their text, and their place."""


class _Role(Enum):
    """What is done about a node among the parts of an expression."""

    WORD = auto()
    COMMENT = auto()
    STATEMENT = auto()
    FUNCTION = auto()
    BRACKETS = auto()
    ELEMENT = auto()


def _roles(profile: Profile) -> dict[str, _Role]:
    """Say for the rules of a language what is done about them; the rest is laid out flat."""
    found: dict[str, _Role] = {}
    for role, rules in (
        (_Role.BRACKETS, profile.modes),
        (_Role.FUNCTION, profile.functions),
        (_Role.ELEMENT, profile.elements),
        (_Role.STATEMENT, profile.kinds),
        (_Role.COMMENT, profile.comments),
        (_Role.WORD, profile.words),
    ):
        found |= dict.fromkeys(rules, role)
    return found


_ROLES: Mapping[Grammar, Mapping[str, _Role]] = {
    grammar: _roles(profile) for grammar, profile in PROFILES.items()
}


class _Piece(NamedTuple):
    """A member: what stands before it, itself, and what is behind it on its line."""

    nodes: list[SyntaxNode]

    @property
    def start(self) -> int:
        return self.nodes[0].start_byte

    @property
    def end(self) -> int:
        return self.nodes[-1].end_byte


class _Reader:
    """Builds the tree of one version, from its first byte to its last."""

    def __init__(self, grammar: Grammar, source: bytes) -> None:
        self._profile = PROFILES[grammar]
        self._roles = _ROLES[grammar]
        self._source = source
        try:
            root = parse_soundly(grammar, source)
        except SyntaxFaultError as exc:
            raise StructureError(f"a version does not parse ({exc})") from exc
        self._namer = Namer(self._profile, source)
        self._pieces = list(self._cut(root.children))
        self._at = -1
        self._indent = b""
        self._depth = 0
        self._known: _Known = {}

    def texts(self) -> Iterator[bytes]:
        """Yield how the members of the file are written."""
        for piece in self._pieces:
            yield self._source[piece.start : piece.end].rstrip()

    def file(self, common: frozenset[bytes], known: _Known) -> Node:
        """Read the file; members in *common* become one token each."""
        self._known = known
        children: list[Element] = []
        for piece, text in zip(self._pieces, self.texts(), strict=True):
            is_common = text in common
            children.append(
                self._word(piece.start, text, "unread") if is_common else self._member(piece)
            )
        children.append(self._word(len(self._source) - 1, b"", "end"))
        return Node(kind="file", mode=Mode.MEMBERS, children=tuple(children))

    # --- tokens

    def _space(self, start: int) -> bytes:
        """Take the white space before the next token."""
        space = self._source[max(self._at, 0) : start]
        if self._at < 0:
            space = b"\n" + space
        return indented(space, self._indent) if b"\n" in space else space

    def _word(self, start: int, word: bytes, kind: str = "token") -> Token:
        space = self._space(start)
        self._at = start + len(word)
        return Token(space, word, kind)

    def _token(self, node: SyntaxNode, kind: str = "token") -> list[Element]:
        """Make a token of a node, or nothing of one that is but white space."""
        start = node.start_byte
        word = self._source[start : node.end_byte]
        if not (stripped := word.strip()):
            return []
        start += word.index(stripped)
        missed = self._missed(start)
        token = self._word(start, stripped, kind)
        if b"\n" in stripped and kind != "token":
            token = token._replace(word=relative_lines(stripped, self._indent))
        return [*missed, token]

    def _missed(self, start: int) -> list[Element]:
        """Make a token of what the grammar skips: separators in macros, a byte order mark."""
        gap = self._source[max(self._at, 0) : start]
        if not gap or gap.isspace():
            return []
        word = gap.strip()
        return [self._word(max(self._at, 0) + gap.index(word), word)]

    def _flat(
        self, nodes: Sequence[SyntaxNode], through: frozenset[int] = frozenset()
    ) -> list[Element]:
        """Lay nodes out as tokens, and constructs where there are such.

        Args:
            nodes: What stands one behind the other.
            through: The constructs of which the parts are wanted.
        """
        out: list[Element] = []
        stack = list(reversed(nodes))
        roles = self._roles
        while stack:
            node = stack.pop()
            role = roles.get(node.type)
            if role is None or not node.is_named or node.id in through:
                if children := node.children:
                    stack += reversed(children)
                else:
                    out += self._token(node)
            elif role is _Role.WORD:
                out += self._token(node)
            elif role is _Role.BRACKETS:
                out += self._brackets(node)
            elif role is _Role.COMMENT:
                out += self._token(node, "comment")
            elif role is _Role.STATEMENT:
                out.append(self._member(_Piece([node])))
            elif role is _Role.FUNCTION:
                out.append(self._function(node))
            else:
                out.append(self._element(node))
        return out

    @contextmanager
    def _within(self, levels: int) -> Iterator[None]:
        """Count the constructs that stand in one another."""
        self._depth += levels
        if self._depth > _DEEPEST:
            raise StructureError(f"more than {_DEEPEST} constructs stand in one another")
        yield
        self._depth -= levels

    # --- members

    def _cut(self, nodes: Sequence[SyntaxNode]) -> Iterator[_Piece]:
        """Group the nodes of a body by the members that they belong to."""
        current: list[SyntaxNode] = []
        is_pending = False
        for node in nodes:
            if node.start_byte == node.end_byte or node.type.isspace():
                continue
            is_comment = node.type in self._profile.comments
            if is_comment:
                goes_on = is_pending or (bool(current) and not self._breaks(current[-1], node))
            else:
                goes_on = is_pending or (bool(current) and node.type in _SEPARATORS)
                is_pending = node.type in self._profile.prefixes
            if current and not goes_on:
                yield _Piece(current)
                current = []
            current.append(node)
        if current:
            yield _Piece(current)

    def _breaks(self, one: SyntaxNode, other: SyntaxNode) -> bool:
        """Whether there is a newline between two nodes, or at the end of the one."""
        return b"\n" in self._source[one.end_byte - 1 : other.start_byte]

    def _member(self, piece: _Piece) -> Element:
        """Read a member, or take it from where it was read before."""
        text = self._source[piece.start : piece.end]
        key = tuple(node.type for node in piece.nodes), text, self._indent, self._depth
        if (known := self._known.get(key)) is not None:
            space = self._space(piece.start)
            self._at = piece.start + len(text.rstrip())
            if isinstance(known, Token):
                return known._replace(space=space)
            return known if known.space == space else known.with_space(space)
        self._known[key] = member = self._statement(piece.nodes)
        return member

    def _statement(self, nodes: Sequence[SyntaxNode]) -> Element:
        """Read a member: what precedes it, its clauses, and what is behind it."""
        besides = self._profile.comments | self._profile.prefixes
        at = next((i for i, node in enumerate(nodes) if node.type not in besides), 0)
        core = nodes[at]
        if core.type in besides and len(nodes) == 1:
            return self._beside(core)
        with self._within(2):
            prefixes = [self._beside(node) for node in nodes[:at]]
            about = self._namer.describe(core)
            clauses = list(self._clauses(core, about))
            clauses[-1] += self._flat(nodes[at + 1 :])
        first = Node(kind=about.kind, children=tuple(clauses[0]), key=about.key)
        if not prefixes and len(clauses) == 1 and not _has_suite(first):
            return first
        kind = "statement" if about.kind in {"assignment", "return"} else about.kind
        others = [_further(clause) for clause in clauses[1:]]
        return Node(
            kind=kind, mode=Mode.MEMBERS, children=(*prefixes, first, *others), key=about.key
        )

    def _beside(self, node: SyntaxNode) -> Element:
        """Read a comment, or a decorator."""
        if node.type in self._profile.comments:
            return self._flat([node])[0]
        return Node(kind="decorator", children=tuple(self._flat(node.children)))

    def _clauses(self, core: SyntaxNode, about: Description) -> Iterator[list[Element]]:
        """Read the parts of a statement that have bodies of their own."""
        inner = self._namer.unwrap(core)
        if inner.type in self._profile.ladders:
            yield from map(self._flat, self._rungs(core))
        elif core.type in self._profile.cases:
            yield self._case(core)
        elif core.type in self._profile.modes:
            yield self._brackets(core)
        else:
            path = self._namer.path(core)
            through = {each.id for each in path if each.type not in self._profile.modes}
            through |= {about.body.id} if about.body else set()
            yield self._flat([core], frozenset(through))

    def _rungs(self, core: SyntaxNode) -> list[list[SyntaxNode]]:
        """Part a statement before each `else`, `catch` or `finally`."""
        profile = self._profile
        rungs: list[list[SyntaxNode]] = [[]]
        stack = [core]
        while stack:
            node = stack.pop()
            is_first = not rungs[0]
            is_next = bool(rungs[-1]) and rungs[-1][-1].type == "else"
            if node.type in profile.clauses:
                rungs.append([])
            elif not (is_first and node.type in profile.wrappers) and not (
                node.type in profile.ladders and (is_first or is_next)
            ):
                if node.type == "else" and rungs[-1]:
                    rungs.append([])
                rungs[-1].append(node)
                continue
            stack += reversed(node.children)
        return rungs

    def _case(self, node: SyntaxNode) -> list[Element]:
        """Read a clause with statements behind its colon."""
        children = node.children
        at = next((i for i, each in enumerate(children, 1) if each.type == ":"), len(children))
        return [*self._flat(children[:at]), self._suite(children[at:])]

    def _suite(self, nodes: Sequence[SyntaxNode], kind: str = "suite") -> Node:
        """Read a body."""
        nodes = [each for node in nodes for each in _statements(node)]
        with self._deeper(nodes) as indent, self._within(1):
            children = tuple(self._member(piece) for piece in self._cut(nodes))
        return Node(kind=kind, mode=Mode.MEMBERS, children=children, indent=indent)

    @contextmanager
    def _deeper(self, nodes: Sequence[SyntaxNode]) -> Iterator[bytes]:
        """Give how much deeper a body is written than what it is in."""
        outer = self._indent
        inner = self._indentation(nodes)
        if inner.startswith(outer):
            self._indent = inner
        yield self._indent[len(outer) :]
        self._indent = outer

    def _indentation(self, nodes: Sequence[SyntaxNode]) -> bytes:
        """Return how deep the first node is written that begins a line."""
        end = self._at
        for node in nodes:
            start = node.start_byte
            if node.type == "jsx_text":
                text = self._source[start : node.end_byte]
                start += len(text) - len(text.lstrip())
                if start == node.end_byte:
                    continue
            _, newline, last = self._source[end:start].rpartition(b"\n")
            if newline:
                return last
            end = max(node.end_byte - 1, start)
        return self._indent

    # --- brackets

    def _brackets(self, node: SyntaxNode) -> list[Element]:
        """Read what stands before brackets, the brackets, and what is between them."""
        children = node.children
        mode = self._profile.modes[node.type]
        closer = children[-1].type if children else ""
        pairs = (i for i, each in enumerate(children[:-1]) if _CLOSERS.get(each.type) == closer)
        start = next(pairs, None)
        if start is None:
            return self._flat(children)
        is_suite = mode is Mode.MEMBERS and node.type not in self._profile.groups
        before = self._flat(children[:start])
        between = children[start + 1 : -1]
        with self._within(0 if is_suite else 1):
            opener = self._token(children[start])
            if mode is Mode.MEMBERS:
                kind = "items" if node.type == "import_spec_list" else "suite"
                body = self._suite(between, kind)
                inside: list[Element] = [_returning(body) if _gives_value(node) else body]
            elif mode is Mode.LIST:
                inside = [self._list(node, between)]
            else:
                inside = self._flat(between)
            parts = [*opener, *inside, *self._token(children[-1])]
        if not is_suite:
            parts = [Node(kind="group", children=tuple(parts))]
        return [*before, *parts]

    def _list(self, node: SyntaxNode, between: Sequence[SyntaxNode]) -> Node:
        """Read items with commas between them."""
        kind = "parameters" if "parameter" in node.type else "items"
        with self._within(2):
            items = tuple(self._items(between))
        return Node(kind=kind, mode=Mode.LIST, children=items)

    def _items(self, nodes: Sequence[SyntaxNode]) -> Iterator[Node]:
        """Cut at the commas; what is behind one on its line goes with what is before."""
        done: Node | None = None
        item: list[SyntaxNode] = []
        children: list[Element] = []
        for node in nodes:
            is_comment = node.type in self._profile.comments
            if node.type == ",":
                if done:
                    yield done
                comma = self._source[self._at : node.start_byte]
                self._at = node.end_byte
                done = self._item(item, children, comma)
                item, children = [], []
            elif is_comment and not item and done and not self._is_first_on_line(node):
                done = evolve(done, tail=(*done.tail, *_tokens(self._flat([node]))))
            elif found := self._flat([node]):
                item.append(node)
                children += found
        if done and item and all(child.kind == "comment" for child in children):
            done = evolve(done, tail=(*done.tail, *_tokens(children)))
            item = []
        if done:
            yield done
        if item:
            end = len(children)
            while end > 1 and children[end - 1].kind == "comment":
                end -= 1
            last = self._item(item, children[:end], None)
            yield evolve(last, tail=_tokens(children[end:]))

    def _item(
        self, nodes: list[SyntaxNode], children: Sequence[Element], comma: bytes | None
    ) -> Node:
        key = self._namer.item(nodes)
        return Node(kind="item", children=tuple(children), key=key, comma=comma)

    def _is_first_on_line(self, node: SyntaxNode) -> bool:
        return b"\n" in self._source[self._at : node.start_byte]

    # --- functions and elements

    def _function(self, node: SyntaxNode) -> Node:
        """Read a function that stands in an expression."""
        kind = "class" if node.type == "class" else "def"
        with self._within(1):
            return Node(kind=kind, children=tuple(self._flat(node.children)))

    def _element(self, node: SyntaxNode) -> Node:
        """Read a tag, or two with what is between them."""
        with self._within(1):
            if node.type in self._profile.tags:
                children = self._tag(node)
            else:
                first, *between, last = node.children
                children = [*self._tag(first), self._content(between), *self._flat([last])]
        return Node(kind="element", children=tuple(children))

    def _tag(self, node: SyntaxNode) -> list[Element]:
        """Read a tag; there is a place for attributes even if it has none."""
        children = node.children
        places = [i for i, each in enumerate(children) if each.type in _ATTRIBUTES]
        bare = len(children) - (2 if children[-2].type == "/" else 1)
        start, end = (places[0], places[-1] + 1) if places else (bare, bare)
        before = self._flat(children[:start])
        nodes = children[start:end]
        with self._deeper(nodes) as indent, self._within(2):
            attributes = tuple(each for node in nodes for each in self._attribute(node))
        place = Node(kind="attributes", mode=Mode.MEMBERS, children=attributes, indent=indent)
        return [*before, place, *self._flat(children[end:])]

    def _attribute(self, node: SyntaxNode) -> list[Element]:
        parts = self._flat([node])
        if node.type not in _ATTRIBUTES:
            return parts
        key = b"" if node.type == "jsx_expression" else parts[0].plain
        return [Node(kind="attribute", children=tuple(parts), key=key)]

    def _content(self, nodes: Sequence[SyntaxNode]) -> Node:
        """Read what is between two tags."""
        with self._deeper(nodes) as indent, self._within(2):
            children = tuple(each for node in nodes for each in self._part(node))
        return Node(kind="suite", mode=Mode.MEMBERS, children=children, indent=indent)

    def _part(self, node: SyntaxNode) -> list[Element]:
        if node.type == "jsx_expression":
            return [Node(kind="expression", children=tuple(self._flat([node])))]
        if node.type == "jsx_text":
            return self._token(node, "text")
        return self._flat([node])


_ATTRIBUTES = frozenset({"jsx_attribute", "jsx_expression"})


def _statements(node: SyntaxNode) -> Sequence[SyntaxNode]:
    """Return a node, or those in it if it is but a run of statements."""
    return node.children if node.type == "statement_list" else [node]


def _gives_value(block: SyntaxNode) -> bool:
    """Whether a function returns what its last statement comes to, as Rust's do."""
    parent = block.parent if block.type == "block" else None
    return parent is not None and parent.type == "function_item" and not _is_ended(block)


def _is_ended(block: SyntaxNode) -> bool:
    """Whether a block is empty, or its last statement has its semicolon."""
    nodes = [node for node in block.children[1:-1] if not node.type.endswith("comment")]
    return not nodes or (nodes[-1].children[-1:] != [] and nodes[-1].children[-1].type == ";")


def _returning(body: Node) -> Node:
    """Mark what a body comes to as what is returned, in each branch of an `if` too."""
    last = body.children[-1] if body.children else None
    if not isinstance(last, Node):
        return body
    if last.kind == "expression":
        last = evolve(last, kind="return")
    elif last.kind == "if":
        last = evolve(last, children=tuple(map(_returning_clause, last.children)))
    return evolve(body, children=(*body.children[:-1], last))


def _returning_clause(clause: Element) -> Element:
    if not isinstance(clause, Node):
        return clause
    children = [
        _returning(each) if isinstance(each, Node) and each.kind == "suite" else each
        for each in clause.children
    ]
    return evolve(clause, children=tuple(children))


def _tokens(elements: Sequence[Element]) -> tuple[Token, ...]:
    return tuple(each for each in elements if isinstance(each, Token))


def _has_suite(node: Node) -> bool:
    return any(child.kind == "suite" for child in node.children)


def _further(children: Sequence[Element]) -> Node:
    """Make a clause behind the first; of `else` there can be one only."""
    words = [child.plain for child in children[:2]]
    key = b"" if words == [b"else", b"if"] else words[0]
    return Node(kind="clause", children=tuple(children), key=key)
