"""Turns the expressions in syntax trees into tokens, lists, groups and elements."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve

from cooperbench_eval.languages.readers import profiles
from cooperbench_eval.languages.readers.cursor import SourceCursor
from cooperbench_eval.languages.readers.grammars import COMMENTS, Grammar, SyntaxNode
from cooperbench_eval.languages.readers.names import ConstructNamer, is_long_string
from cooperbench_eval.languages.readers.regions import OPAQUE, parse_readable
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Mode,
    StructureError,
    SyntaxFaultError,
    Token,
    split_tail,
    suite,
)

_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">", "|": "|"}
_HEADS = frozenset({"->", "block_parameters"})
"""What follows the parameters within the brackets of a function."""
_KEYED_LISTS = frozenset({"array_creation_expression", "initializer_list"})
"""Lists whose items may have names."""
_SIGNS = frozenset({b"+", b"&", b"|", b","})
Part = SyntaxNode | list[SyntaxNode]
"""A node, or the nodes of a suite."""
NodeReader = Callable[[Any, SyntaxNode], Sequence[Element]]
"""A reader's method that reads a node."""


class ExpressionReader(ABC):
    """Reads the parts of statements of one version of a file."""

    def __init__(self, grammar: Grammar, source: bytes) -> None:
        """Parse the version.

        Raises:
            StructureError: It has a syntax error, or the grammar's package is not installed.
        """
        self._grammar = grammar
        self._is_python = grammar is Grammar.PYTHON
        self._profile = profiles.PROFILES[grammar]
        self._source = source
        try:
            self._root, opaque = parse_readable(grammar, source)
        except SyntaxFaultError as exc:
            raise StructureError(f"a version has a syntax error ({exc})") from exc
        # The end of each unread region, by its first node; 0 for its other nodes.
        self._unread = {node.id: 0 for region in opaque for node in region}
        self._unread |= {region[0].id: region[-1].end_byte for region in opaque}
        self._namer = ConstructNamer(self._profile, source)
        self._cursor = SourceCursor(source)
        self._bases: SyntaxNode | None = None  # of the Python class that is being read

    @property
    @abstractmethod
    def readers(self) -> Mapping[str, "NodeReader"]:
        """What reads a node, by its rule; of any other node, only the children are read."""

    @abstractmethod
    def _suite(self, nodes: Sequence[SyntaxNode], kind: str = "suite") -> Construct:
        """Read the members of a body."""

    def _text(self, nodes: Sequence[SyntaxNode]) -> bytes:
        return self._source[nodes[0].start_byte : nodes[-1].end_byte]

    def _flat(self, nodes: Sequence[Part], through: frozenset[int] = frozenset()) -> list[Element]:
        """Read consecutive nodes into tokens and constructs, and lists of nodes into suites.

        Nodes with an id in *through* do not become constructs; their children are read instead.
        """
        out: list[Element] = []
        stack = list(reversed(nodes))
        readers, unread = self.readers, self._unread
        while stack:
            node = stack.pop()
            if isinstance(node, list):
                out.append(self._suite(node))
                continue
            read = readers.get(node.type)
            if unread and node.id in unread:
                end = unread[node.id]
                out += self._cursor.token(node, OPAQUE, end) if end else ()
            elif node.type == "comment" and self._is_python and self._cursor.begins_line(node):
                out += self._before_block(node, stack)
            elif read is not None and node.is_named and node.id not in through:
                out += read(self, node)
            elif children := node.children:
                stack += reversed(children)
            elif node.type != "line_continuation":
                out += self._cursor.token(node)
        return out

    def word(self, node: SyntaxNode) -> Sequence[Element]:
        """Read a string or another construct that is one token."""
        if not self._is_python or not is_long_string(node):
            return self._cursor.token(node)
        return [self._cursor.word(node.start_byte, self._text([node]), "text")]

    def block(self, node: SyntaxNode) -> Sequence[Element]:
        """Read the statements after a colon; on the same line, they are not a suite."""
        if not node.children:
            raise StructureError("a block is empty")
        if self._cursor.begins_line(node.children[0]):
            return [self._suite(node.children)]
        return self._flat(node.children)

    def _before_block(self, comment: SyntaxNode, stack: list[Part]) -> Sequence[Element]:
        """Read comments on their own lines, and the Python block after them, if any."""
        comments = [comment]
        while stack:
            node = stack[-1]
            if isinstance(node, list) or node.type not in {*COMMENTS, "block"}:
                break
            stack.pop()
            if node.type == "block":
                return [self._suite([*comments, *node.children])]
            comments.append(node)
        return [each for node in comments for each in self.comment(node)]

    def comment(self, node: SyntaxNode) -> Sequence[Element]:
        """Read a comment."""
        return self._cursor.token(node, "comment")

    def brackets(self, node: SyntaxNode) -> list[Element]:
        """Read brackets, their contents, and what precedes them in their node."""
        children = node.children
        mode = self._profile.modes[node.type]
        closer = children[-1].type if children else ""
        pairs = (i for i, each in enumerate(children[:-1]) if _CLOSERS.get(each.type) == closer)
        start = next(pairs, None)
        if start is None:
            return self._flat(children)
        is_suite = mode is Mode.MEMBERS and node.type not in profiles.GROUPS
        before = self._flat(children[:start])
        head = start
        if mode is Mode.MEMBERS:
            inner = range(start + 1, len(children))
            head = next((i for i in inner if children[i].type in _HEADS), start)
        between = children[head + 1 : -1]
        with self._cursor.within(0 if is_suite else 1):
            opener = self._cursor.token(children[start])
            opener += self._flat(children[start + 1 : head + 1]) if head > start else ()
            if mode is Mode.MEMBERS:
                kind = "items" if node.type == "import_spec_list" else "suite"
                inside: list[Element] = [self._suite(between, kind)]
            elif mode is Mode.LIST:
                inside = [self._list(self._kind_of_list(node), between)]
            else:
                inside = self._flat(between)
            parts = [*opener, *inside, *self._cursor.token(children[-1])]
        if not is_suite:
            parts = [Construct(kind="group", children=tuple(parts))]
        return [*before, *parts]

    def _kind_of_list(self, node: SyntaxNode) -> str:
        if node == self._bases:
            return "items"
        if self._is_python and node.type in {"list", "tuple"}:
            left = node.parent and node.parent.child_by_field_name("left")
            return "names" if left and left.text == b"__all__" else profiles.list_kind(node.type)
        has_keys = any(
            item.type == "initializer_pair" or any(part.type == "=>" for part in item.children)
            for item in (node.children if node.type in _KEYED_LISTS else ())
        )
        return "items" if has_keys else profiles.list_kind(node.type)

    def _list(self, kind: str, between: Sequence[SyntaxNode]) -> Construct:
        with self._cursor.within(2):
            items = tuple(self._items(between))
        return Construct(kind=kind, mode=Mode.LIST, children=items)

    def _items(self, nodes: Sequence[SyntaxNode]) -> Iterator[Construct]:
        """Split at the commas; a comment on a comma's line belongs to the item before the comma."""
        done: Construct | None = None
        item: list[SyntaxNode] = []
        children: list[Element] = []
        for node in nodes:
            if node.type == ",":
                if done:
                    yield done
                comma = self._source[self._cursor.at : node.start_byte]
                self._cursor.at = node.end_byte
                done = self._item(item, children, comma)
                item, children = [], []
            elif node.type in COMMENTS and not item and done and not self._cursor.begins_line(node):
                done = evolve(done, tail=(*done.tail, *_tokens(self._flat([node]))))
            elif found := self._flat([node]):
                item.append(node)
                children += found
        if done:
            yield done
        if item:
            kept, tail = split_tail(tuple(children))
            yield evolve(self._item(item, kept, None), tail=tail)

    def _item(
        self, nodes: list[SyntaxNode], children: Sequence[Element], comma: bytes | None
    ) -> Construct:
        key = self._namer.item(nodes)
        return Construct(kind="item", children=tuple(children), key=key, comma=comma)

    def bounds(self, node: SyntaxNode) -> Sequence[Element]:
        """Read a set of types, each with the sign before it."""
        children = node.children
        first = next((i for i, each in enumerate(children) if each.is_named), len(children))
        before = self._flat(children[:first])
        with self._cursor.within(2):
            parts: list[list[Element]] = []
            for each in children[first:]:
                if not each.is_named or not parts or parts[-1][-1].plain not in _SIGNS:
                    parts.append([])
                parts[-1] += self._flat([each])
        types = (Construct(kind="bound", children=tuple(each)) for each in parts)
        return [*before, Construct(kind="bounds", mode=Mode.MEMBERS, children=tuple(types))]

    def function(self, node: SyntaxNode) -> Sequence[Element]:
        """Read a function or class without a name of its own."""
        kind = "class" if node.type == "class" else "def"
        with self._cursor.within(1):
            return [Construct(kind=kind, children=tuple(self._flat(node.children)))]

    def element(self, node: SyntaxNode) -> Sequence[Element]:
        """Read a single tag, or an opening and a closing tag with their contents."""
        first, *between = node.children
        with self._cursor.within(1):
            if not first.is_named:
                children = self._tag(node)
            elif not between:
                children = self._tag(first)
            else:
                closing = [between.pop()] if between[-1].type in profiles.CLOSING else []
                children = [*self._tag(first), self._content(between), *self._flat(closing)]
        return [Construct(kind="element", children=tuple(children))]

    def _tag(self, node: SyntaxNode) -> list[Element]:
        """Read a tag; its attributes are one construct, even if there are none."""
        children = node.children
        places = [i for i, each in enumerate(children) if each.type in profiles.ATTRIBUTES]
        bare = len(children) - (2 if children[-2].type == "/" else 1)
        start, end = (places[0], places[-1] + 1) if places else (bare, bare)
        before = self._flat(children[:start])
        nodes = children[start:end]
        with self._cursor.deeper(nodes) as indent, self._cursor.within(2):
            attributes = tuple(each for node in nodes for each in self._attribute(node))
        return [*before, suite(attributes, indent, "attributes"), *self._flat(children[end:])]

    def _attribute(self, node: SyntaxNode) -> list[Element]:
        parts = self._flat([node])
        if node.type not in profiles.ATTRIBUTES:
            return parts
        key = b"" if node.type == "jsx_expression" else parts[0].plain
        return [Construct(kind="attribute", children=tuple(parts), key=key)]

    def _content(self, nodes: Sequence[SyntaxNode]) -> Construct:
        with self._cursor.deeper(nodes) as indent, self._cursor.within(2):
            children = tuple(each for node in nodes for each in self._part(node))
        return suite(children, indent)

    def _part(self, node: SyntaxNode) -> list[Element]:
        if node.type == "jsx_expression":
            return [Construct(kind="expression", children=tuple(self._flat([node])))]
        if node.type in profiles.TEXTS:
            return self._cursor.token(node, "text")
        return self._flat([node])


def _tokens(elements: Sequence[Element]) -> tuple[Token, ...]:
    return tuple(each for each in elements if isinstance(each, Token))
