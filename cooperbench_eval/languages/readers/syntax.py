"""Turns tree-sitter's syntax trees into trees that can be merged.

Statements, definitions and the contents of brackets become constructs. All other
expressions become flat sequences of their tokens.
"""

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from attrs import evolve

from cooperbench_eval.languages.readers import profiles
from cooperbench_eval.languages.readers.cursor import SourceCursor
from cooperbench_eval.languages.readers.grammars import (
    COMMENTS,
    Grammar,
    SyntaxNode,
    by_rule,
    parse_soundly,
)
from cooperbench_eval.languages.readers.names import ConstructNamer, Description, is_long_string
from cooperbench_eval.languages.tree import (
    RESERVED,
    Construct,
    Element,
    Elements,
    Mode,
    StructureError,
    SyntaxFaultError,
    Token,
    check_size,
    has_suite,
    split_tail,
    suite,
)
from cooperbench_eval.support.memo import TextMemo

_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">", "|": "|"}
_SEPARATORS = frozenset({";", ","})


@lru_cache(maxsize=8)
def read_syntax(grammar: Grammar, versions: tuple[bytes, ...]) -> tuple[Construct, ...]:
    """Read versions of a file; a member that all of them share stays one token.

    Args:
        grammar: The grammar of the file's language.
        versions: The bytes of each version, with a newline at the end.

    Returns:
        One tree for each version. `render` writes it with the last newline moved to
        the front.

    Raises:
        StructureError: A version has syntax errors or nests too deeply, or the grammar's
            package is not installed.
    """
    for source in versions:
        _check(grammar, source)
    readers = [_SyntaxReader(grammar, source) for source in versions]
    common = frozenset.intersection(*(frozenset(reader.texts()) for reader in readers))
    for reader in readers:
        check_size(text for text in reader.texts() if text not in common)
    return tuple(reader.file(common) for reader in readers)


def _check(grammar: Grammar, source: bytes) -> None:
    if RESERVED.search(source):
        raise StructureError("the file contains control characters")
    if grammar is Grammar.PYTHON:
        return  # it may have another encoding
    try:
        source.decode()
    except UnicodeDecodeError as exc:
        raise StructureError("the file is not UTF-8") from exc


_Known = dict[tuple[Grammar, tuple[str, ...], bytes, bytes, int], Element]
"""Members with the same text, by grammar, rules, the text as parsed, indentation and depth."""
_MOST_KNOWN = 16
"""The most members with the same text that are remembered."""
_KNOWN_SIZES = range(64, 100_000)
"""The lengths in bytes of texts that are remembered; of a longer one, its inner members are."""


def _none_known(_text: bytes) -> _Known:
    return {}


# The versions of a file share most of their members. A tree takes some fifty times the size
# of its text.
_known = TextMemo(_none_known, max_bytes=1 << 20)

_Piece = list[SyntaxNode]
"""The nodes of a member: its prefixes, itself, and what follows it on its line."""


class _SyntaxReader:
    """Builds the tree of one version, from its first byte to its last."""

    def __init__(self, grammar: Grammar, source: bytes) -> None:
        self._grammar = grammar
        self._is_python = grammar is Grammar.PYTHON
        self._profile = profiles.PROFILES[grammar]
        self._readers = _READERS[grammar]
        self._source = source
        try:
            root = parse_soundly(grammar, source)
        except SyntaxFaultError as exc:
            raise StructureError(f"a version has a syntax error ({exc})") from exc
        # The grammar may have parsed an altered text, which depends on the rest of the file.
        self._parsed = source[: root.start_byte] + (root.text or b"")
        self._namer = ConstructNamer(self._profile, source)
        self._cursor = SourceCursor(source)
        self._bases: SyntaxNode | None = None  # of the Python class that is being read
        self._pieces = list(self._cut(root.children))

    def texts(self) -> Iterator[bytes]:
        for piece in self._pieces:
            yield self._text(piece).rstrip()

    def file(self, common: frozenset[bytes]) -> Construct:
        """Read the file; members in *common* become one token each."""
        children: list[Element] = []
        if self._source.startswith(codecs.BOM_UTF8):
            children.append(self._cursor.word(0, codecs.BOM_UTF8))
        for piece, text in zip(self._pieces, self.texts(), strict=True):
            if text in common:
                children.append(self._cursor.word(piece[0].start_byte, text, "unread"))
            else:
                children.append(self._member(piece))
        children.append(self._cursor.word(len(self._source) - 1, b"", "end"))
        return suite(_documented(children), kind="file")

    def _text(self, piece: _Piece) -> bytes:
        return self._source[piece[0].start_byte : piece[-1].end_byte]

    def _flat(
        self, nodes: Sequence[SyntaxNode], through: frozenset[int] = frozenset()
    ) -> list[Element]:
        """Read consecutive nodes into tokens and constructs.

        Nodes with an id in *through* do not become constructs; their children are read instead.
        """
        out: list[Element] = []
        stack = list(reversed(nodes))
        while stack:
            node = stack.pop()
            read = self._readers.get(node.type)
            if node.type == "comment" and self._is_python and self._cursor.begins_line(node):
                out += self._before_block(node, stack)
            elif read is not None and node.is_named and node.id not in through:
                out += read(self, node)
            elif children := node.children:
                stack += reversed(children)
            elif node.type != "line_continuation":
                out += self._cursor.token(node)
        return out

    def word(self, node: SyntaxNode) -> Sequence[Element]:
        if not self._is_python or not is_long_string(node):
            return self._cursor.token(node)
        return [self._cursor.word(node.start_byte, self._text([node]), "text")]

    def block(self, node: SyntaxNode) -> Sequence[Element]:
        """Read the statements after a colon; those on the same line are not a suite."""
        if not node.children:
            raise StructureError("a block is empty")
        if self._cursor.begins_line(node.children[0]):
            return [self._suite(node.children)]
        return self._flat(node.children)

    def _before_block(self, comment: SyntaxNode, stack: list[SyntaxNode]) -> Sequence[Element]:
        """Read comments on their own lines, with the Python block that may begin with them."""
        comments = [comment]
        while stack and stack[-1].type in COMMENTS:
            comments.append(stack.pop())
        if stack and stack[-1].type == "block":
            return [self._suite([*comments, *stack.pop().children])]
        return [each for node in comments for each in self.comment(node)]

    def comment(self, node: SyntaxNode) -> Sequence[Element]:
        return self._cursor.token(node, "comment")

    def inner(self, node: SyntaxNode) -> Sequence[Element]:
        return [self._member([node])]

    def _cut(self, nodes: Sequence[SyntaxNode]) -> Iterator[_Piece]:
        current: list[SyntaxNode] = []
        is_pending = False
        for node in chain.from_iterable(map(_decorated, nodes)):
            if node.start_byte == node.end_byte or node.type.isspace():
                continue
            if node.type in COMMENTS:
                goes_on = is_pending or (
                    bool(current) and not self._cursor.breaks(current[-1], node)
                )
            else:
                goes_on = is_pending or (bool(current) and node.type in _SEPARATORS)
                is_pending = node.type in profiles.PREFIXES
            if current and not goes_on:
                yield current
                current = []
            current.append(node)
        if current:
            yield current

    def _member(self, piece: _Piece) -> Element:
        """Read a member, or reuse one with the same text."""
        text, start = self._text(piece), piece[0].start_byte
        if len(text) not in _KNOWN_SIZES:
            return self._statement(piece)
        known = _known(text)
        parsed = self._parsed[start : start + len(text)]
        rules = tuple(node.type for node in piece)
        read_as = text if parsed == text else parsed
        key = self._grammar, rules, read_as, self._cursor.indent, self._cursor.depth
        if (member := known.get(key)) is not None:
            space = self._cursor.space(start)
            self._cursor.at = start + len(text.rstrip())
            return member if member.space == space else member.with_space(space)
        member = self._statement(piece)
        if len(known) < _MOST_KNOWN:
            known[key] = member
        return member

    def _statement(self, nodes: Sequence[SyntaxNode]) -> Element:
        """Read a member: its prefixes, its clauses, and what follows it."""
        at = next((i for i, node in enumerate(nodes) if node.type not in _BESIDES), 0)
        core = nodes[at]
        if core.type in _BESIDES and len(nodes) == 1:
            return self._beside(core)
        with self._cursor.within(2):
            prefixes = [self._beside(node) for node in nodes[:at]]
            about = self._namer.describe(core)
            clauses = list(self._clauses(core, about))
            clauses[-1] += self._flat(nodes[at + 1 :])
        first = Construct(kind=about.kind, children=tuple(clauses[0]), key=about.key)
        may_grow = core.type in self._profile.chains or about.kind in _DEFINING
        if not prefixes and len(clauses) == 1 and not has_suite(first) and not may_grow:
            return first
        kind = "statement" if about.kind in {"assignment", "return"} else about.kind
        others = [self._further_clause(clause) for clause in clauses[1:]]
        return Construct(
            kind=kind, mode=Mode.MEMBERS, children=(*prefixes, first, *others), key=about.key
        )

    def _further_clause(self, children: Sequence[Element]) -> Construct:
        """Make a clause after the first; its key lets a statement have only one `else`."""
        words = [child.plain for child in children]
        if self._is_python:
            key = b" ".join(words[: words.index(b":")])
            return Construct(kind=words[0].decode(), children=tuple(children), key=key)
        key = b"" if words[:2] == [b"else", b"if"] else words[0]
        return Construct(kind="clause", children=tuple(children), key=key)

    def _beside(self, node: SyntaxNode) -> Element:
        if node.type in COMMENTS:
            return self._cursor.token(node, "comment")[0]
        return Construct(kind="decorator", children=tuple(self._flat(node.children)))

    def _clauses(self, core: SyntaxNode, about: Description) -> Iterator[list[Element]]:
        """Read each part of a statement that has a body."""
        inner = self._namer.unwrap(core)
        if inner.type in self._profile.chains:
            yield from map(self._flat, _split_clauses(core, self._profile))
        elif core.type in profiles.CASES:
            yield self._case(core)
        elif core.type in self._profile.modes:
            yield self.brackets(core)
        elif core.type in _NAMES_IMPORTED and self._is_python:
            yield self._names_imported(core)
        elif about.kind == "docstring":
            yield self._cursor.token(inner, "text")
        else:
            self._bases = core.child_by_field_name("superclasses")
            path = self._namer.path(core)
            kept = self._profile.modes.keys() | profiles.WORDS
            through = {each.id for each in path if each.type not in kept}
            through |= {about.body.id} if about.body else set()
            yield self._flat([core], frozenset(through))

    def _names_imported(self, node: SyntaxNode) -> list[Element]:
        """Read a statement that ends with a list of names, with or without brackets."""
        at = 1 + next(i for i, each in enumerate(node.children) if each.type == "import")
        before, names = self._flat(node.children[:at]), node.children[at:]
        if names[0].type != "(":
            return [*before, self._list("items", names)]
        with self._cursor.within(1):
            opener = self._cursor.token(names[0])
            parts = (*opener, self._list("items", names[1:-1]), *self._cursor.token(names[-1]))
        return [*before, Construct(kind="group", children=parts)]

    def _case(self, node: SyntaxNode) -> list[Element]:
        children = node.children
        at = next((i for i, each in enumerate(children, 1) if each.type == ":"), len(children))
        return [*self._flat(children[:at]), self._suite(children[at:])]

    def _suite(self, nodes: Sequence[SyntaxNode], kind: str = "suite") -> Construct:
        lists = (node.children if node.type == "statement_list" else [node] for node in nodes)
        nodes = list(chain.from_iterable(lists))
        with self._cursor.deeper(nodes) as indent, self._cursor.within(1):
            children = _documented(self._member(piece) for piece in self._cut(nodes))
        return suite(children, indent, kind)

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
        between = children[start + 1 : -1]
        with self._cursor.within(0 if is_suite else 1):
            opener = self._cursor.token(children[start])
            if mode is Mode.MEMBERS:
                kind = "items" if node.type == "import_spec_list" else "suite"
                body = self._suite(between, kind)
                inside: list[Element] = [_returning(body) if _gives_value(node) else body]
            elif mode is Mode.LIST:
                kind = "items" if node == self._bases else profiles.list_kind(node.type)
                inside = [self._list(kind, between)]
            else:
                inside = self._flat(between)
            parts = [*opener, *inside, *self._cursor.token(children[-1])]
        if not is_suite:
            parts = [Construct(kind="group", children=tuple(parts))]
        return [*before, *parts]

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

    def function(self, node: SyntaxNode) -> Sequence[Element]:
        kind = "class" if node.type == "class" else "def"
        with self._cursor.within(1):
            return [Construct(kind=kind, children=tuple(self._flat(node.children)))]

    def element(self, node: SyntaxNode) -> Sequence[Element]:
        """Read a single tag, or an opening and a closing tag with their contents."""
        with self._cursor.within(1):
            if node.type in profiles.TAGS:
                children = self._tag(node)
            else:
                first, *between, last = node.children
                children = [*self._tag(first), self._content(between), *self._flat([last])]
        return [Construct(kind="element", children=tuple(children))]

    def _tag(self, node: SyntaxNode) -> list[Element]:
        """Read a tag; its attributes are a construct even if there are none."""
        children = node.children
        places = [i for i, each in enumerate(children) if each.type in _ATTRIBUTES]
        bare = len(children) - (2 if children[-2].type == "/" else 1)
        start, end = (places[0], places[-1] + 1) if places else (bare, bare)
        before = self._flat(children[:start])
        nodes = children[start:end]
        with self._cursor.deeper(nodes) as indent, self._cursor.within(2):
            attributes = tuple(each for node in nodes for each in self._attribute(node))
        return [*before, suite(attributes, indent, "attributes"), *self._flat(children[end:])]

    def _attribute(self, node: SyntaxNode) -> list[Element]:
        parts = self._flat([node])
        if node.type not in _ATTRIBUTES:
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
        if node.type == "jsx_text":
            return self._cursor.token(node, "text")
        return self._flat([node])


_READERS: Mapping[
    Grammar, Mapping[str, Callable[[_SyntaxReader, SyntaxNode], Sequence[Element]]]
] = {
    grammar: by_rule(
        (_SyntaxReader.brackets, profile.modes),
        (_SyntaxReader.function, profiles.FUNCTIONS),
        (_SyntaxReader.element, profiles.ELEMENTS),
        (_SyntaxReader.inner, profile.kinds),
        (_SyntaxReader.comment, COMMENTS),
        (_SyntaxReader.word, profiles.WORDS),
        *([(_SyntaxReader.block, ("block",))] if grammar is Grammar.PYTHON else []),
    )
    for grammar, profile in profiles.PROFILES.items()
}
"""What reads a node within an expression, by its rule; any other node becomes its children."""
_BESIDES = COMMENTS | profiles.PREFIXES
_ATTRIBUTES = frozenset({"jsx_attribute", "jsx_expression"})


def _tokens(elements: Sequence[Element]) -> tuple[Token, ...]:
    return tuple(each for each in elements if isinstance(each, Token))


_NAMES_IMPORTED = frozenset(
    {"future_import_statement", "import_from_statement", "import_statement"}
)
_DEFINING = frozenset({"class", "def"})


def _decorated(node: SyntaxNode) -> Sequence[SyntaxNode]:
    return node.children if node.type == "decorated_definition" else [node]


def _documented(members: Iterable[Element]) -> Elements:
    """Name each docstring after the attribute that it documents."""
    found: list[Element] = []
    for each in members:
        if each.kind == "docstring" and found and isinstance(each, Construct):
            found.append(evolve(each, key=b"docstring of " + found[-1].key))
        else:
            found.append(each)
    return tuple(found)


def _split_clauses(core: SyntaxNode, profile: profiles.Profile) -> list[list[SyntaxNode]]:
    """Split a statement before each `else`, `catch` or `finally`."""
    links: list[list[SyntaxNode]] = [[]]
    stack = [core]
    while stack:
        node = stack.pop()
        is_first = not links[0]
        is_next = bool(links[-1]) and links[-1][-1].type == "else"
        if node.type in profiles.CLAUSES:
            links.append([])
        elif not (is_first and node.type in profile.wrappers) and not (
            node.type in profile.chains and (is_first or is_next)
        ):
            if node.type == "else" and links[-1]:
                links.append([])
            links[-1].append(node)
            continue
        stack += reversed(node.children)
    return links


def _gives_value(block: SyntaxNode) -> bool:
    """Whether a function returns the value of its last statement, as in Rust."""
    parent = block.parent if block.type == "block" else None
    return parent is not None and parent.type == "function_item" and not _is_ended(block)


def _is_ended(block: SyntaxNode) -> bool:
    """Whether a block is empty, or its last statement ends with a semicolon."""
    nodes = [node for node in block.children[1:-1] if not node.type.endswith("comment")]
    return not nodes or (nodes[-1].children[-1:] != [] and nodes[-1].children[-1].type == ";")


def _returning(body: Construct) -> Construct:
    """Mark the last statement of a body as a `return`, also in each branch of an `if`."""
    last = body.children[-1] if body.children else None
    if not isinstance(last, Construct):
        return body
    if last.kind == "expression":
        last = evolve(last, kind="return")
    elif last.kind == "if":
        last = last.with_parts(_returning_clause)
    return evolve(body, children=(*body.children[:-1], last))


def _returning_clause(clause: Construct) -> Construct:
    return clause.with_parts(lambda each: _returning(each) if each.kind == "suite" else each)
