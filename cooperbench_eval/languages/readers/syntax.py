"""Turns tree-sitter's syntax trees into trees that can be merged.

Statements, definitions and the contents of brackets become constructs. All other
expressions become flat sequences of their tokens.
"""

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

from attrs import evolve

from cooperbench_eval.languages.readers import profiles
from cooperbench_eval.languages.readers.expressions import ExpressionReader, NodeReader, Part
from cooperbench_eval.languages.readers.grammars import (
    COMMENTS,
    Grammar,
    SyntaxNode,
    by_rule,
)
from cooperbench_eval.languages.readers.names import Description
from cooperbench_eval.languages.readers.regions import OPAQUE
from cooperbench_eval.languages.tree import (
    RESERVED,
    Construct,
    Element,
    Elements,
    Mode,
    StructureError,
    check_size,
    has_suite,
    suite,
)
from cooperbench_eval.support.memo import TextMemo

_FOLLOWING = frozenset({";", ",", ":", "heredoc_body"})
"""What belongs to the member before it."""
_ENDS = frozenset({"end", "#endif"})
"""What ends a statement after its last clause."""
_END_WORDS = frozenset({b"end", b"#endif"})
_WITH_SECTIONS = frozenset({Grammar.CPP, Grammar.RUBY})
_REPEATED = frozenset({b"#elif", b"#elifdef", b"elseif", b"elsif", b"in", b"rescue", b"when"})
"""The first words of clauses of which a statement may have several."""


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
    common = frozenset.intersection(*(frozenset(reader.texts) for reader in readers))
    for reader in readers:
        check_size(text for text in reader.texts if text not in common)
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


class _SyntaxReader(ExpressionReader):
    """Builds the tree of one version, from its first byte to its last.

    Attributes:
        texts: The texts of the members at its top level.
    """

    def __init__(self, grammar: Grammar, source: bytes) -> None:
        super().__init__(grammar, source)
        # The grammar may have parsed an altered text, which depends on the rest of the file.
        self._parsed = source[: self._root.start_byte] + (self._root.text or b"")
        self._pieces = list(self._cut(self._root.children))
        self.texts = [self._text(piece).rstrip() for piece in self._pieces]

    @property
    def readers(self) -> Mapping[str, NodeReader]:
        return _READERS[self._grammar]

    def file(self, common: frozenset[bytes]) -> Construct:
        """Read the file; members in *common* become one token each."""
        children: list[Element] = []
        if self._source.startswith(codecs.BOM_UTF8):
            children.append(self._cursor.word(0, codecs.BOM_UTF8))
        for piece, text in zip(self._pieces, self.texts, strict=True):
            if text in common:
                children.append(self._cursor.word(piece[0].start_byte, text, "unread"))
            else:
                children.append(self._member(piece))
        children.append(self._cursor.word(len(self._source) - 1, b"", "end"))
        return suite(_documented(children), kind="file")

    def inner(self, node: SyntaxNode) -> Sequence[Element]:
        if node.type in profiles.SPECIFIERS and node.child_by_field_name("body") is None:
            return self._flat(node.children)
        return [self._member([node])]

    def open(self, node: SyntaxNode) -> Sequence[Element]:
        """Read a construct with members that no brackets enclose."""
        return self._flat(self._opened(node))

    def _opened(self, node: SyntaxNode) -> list[Part]:
        """Return the children of a node, with the members among them as one list.

        Members are the children that are not clauses and have no field name; conditions have one.
        """
        children = node.children
        members = [
            i
            for i, child in enumerate(children)
            if child.is_named
            and child.type not in self._profile.clauses
            and node.field_name_for_child(i) is None
        ]
        if not members:
            return list(children)
        start, stop = members[0], members[-1] + 1
        while stop < len(children) and children[stop].type in _FOLLOWING:
            stop += 1
        return [*children[:start], children[start:stop], *children[stop:]]

    def _cut(self, nodes: Sequence[SyntaxNode]) -> Iterator[_Piece]:
        current: list[SyntaxNode] = []
        is_pending = False
        unread = self._unread
        if unread or self._is_python:
            nodes = list(chain.from_iterable(map(self._unwrapped, nodes)))
        for node in nodes:
            if node.start_byte == node.end_byte or node.type.isspace():
                continue
            is_covered = bool(unread) and unread.get(node.id) == 0
            if node.type in COMMENTS and not is_covered:
                goes_on = is_pending or (
                    bool(current) and not self._cursor.breaks(current[-1], node)
                )
            else:
                follows = is_covered or node.type in _FOLLOWING
                goes_on = is_pending or (bool(current) and follows)
                is_pending = node.type in profiles.PREFIXES
            if current and not goes_on:
                yield current
                current = []
            current.append(node)
        if current:
            yield current

    def _unwrapped(self, node: SyntaxNode) -> Sequence[SyntaxNode]:
        """Return the decorators with their definition, or the parts of what is partly read."""
        is_partly_read = node.is_error and node.id not in self._unread
        is_pair = node.type == "decorated_definition"
        return node.children if is_partly_read or is_pair else [node]

    def _member(self, piece: _Piece) -> Element:
        """Read a member, or reuse one with the same text."""
        text, start = self._text(piece), piece[0].start_byte
        if len(text) not in _KNOWN_SIZES or (self._unread and any(n.has_error for n in piece)):
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
        if core.id in self._unread:
            return Construct(kind=OPAQUE, children=tuple(self._flat(nodes)))
        with self._cursor.within(2):
            prefixes = [self._beside(node) for node in nodes[:at]]
            about = self._namer.describe(core)
            clauses = list(self._clauses(core, about))
            clauses[-1] += self._flat(nodes[at + 1 :])
        end = clauses.pop() if len(clauses) > 1 and clauses[-1][0].plain in _END_WORDS else []
        first = Construct(kind=about.kind, children=tuple(clauses[0]), key=about.key)
        may_grow = core.type in self._profile.chains or about.kind in _DEFINING
        if not prefixes and len(clauses) == 1 and not has_suite(first) and not may_grow:
            return first
        kind = "statement" if about.kind in {"assignment", "return"} else about.kind
        others = [self._further_clause(clause) for clause in clauses[1:]]
        return Construct(
            kind=kind,
            mode=Mode.MEMBERS,
            children=(*prefixes, first, *others, *end),
            key=about.key,
        )

    def _further_clause(self, children: Sequence[Element]) -> Construct:
        """Make a clause after the first; its key lets a statement have only one `else`."""
        words = [child.plain for child in children]
        if self._is_python:
            key = b" ".join(words[: words.index(b":")])
            return Construct(kind=words[0].decode(), children=tuple(children), key=key)
        is_one_of_many = words[0] in _REPEATED or words[:2] == [b"else", b"if"]
        key = b"" if is_one_of_many else words[0]
        return Construct(kind="clause", children=tuple(children), key=key)

    def _beside(self, node: SyntaxNode) -> Element:
        if node.type in COMMENTS:
            return self._cursor.token(node, "comment")[0]
        return Construct(kind="decorator", children=tuple(self._flat(node.children)))

    def _clauses(self, core: SyntaxNode, about: Description) -> Iterator[list[Element]]:
        """Read each part of a statement that has a body."""
        inner = self._namer.unwrap(core)
        if inner.type in self._profile.chains:
            yield from map(self._flat, self._split_clauses(core))
        elif core.type in profiles.CASES:
            yield self._case(core)
        elif core.type in self._profile.modes:
            yield self.brackets(core)
        elif core.type in self._profile.open:
            yield list(self.open(core))
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

    def _split_clauses(self, core: SyntaxNode) -> list[list[Part]]:
        """Split a statement before each `else`, `catch` or `finally`, and before its end."""
        profile = self._profile
        links: list[list[Part]] = [[]]
        stack: list[Part] = [core]
        while stack:
            node = stack.pop()
            if isinstance(node, list) or node.id in self._unread:
                links[-1].append(node)
                continue
            is_first = not links[0]
            last = links[-1][-1] if links[-1] else None
            is_next = isinstance(last, SyntaxNode) and last.type == "else"
            if node.is_named and node.type in profile.clauses:
                links.append([])
            elif not (is_first and node.type in profile.wrappers) and not (
                node.is_named and node.type in profile.chains and (is_first or is_next)
            ):
                if links[-1] and not node.is_named and node.type in {"else", *_ENDS}:
                    links.append([])
                links[-1].append(node)
                continue
            stack += reversed(self._opened(node) if node.type in profile.open else node.children)
        return links

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
            has_sections = self._grammar in _WITH_SECTIONS
            starts = [i for i, each in enumerate(nodes) if has_sections and self._begins(each)]
            plain = nodes[: starts[0]] if starts else nodes
            children = _documented(self._member(piece) for piece in self._cut(plain))
            ends = [*starts[1:], len(nodes)]
            sections = (self._section(nodes[i:j]) for i, j in zip(starts, ends, strict=False))
            children = (*children, *sections)
        body = suite(children, indent, kind)
        return _returning(body) if self._give_value(nodes) else body

    def _give_value(self, members: Sequence[SyntaxNode]) -> bool:
        """Whether a function returns the value of the last of its members, as in Rust."""
        parent = members[0].parent if members and self._profile.giving else None
        holders = {each.type for each in (parent, parent and parent.parent) if each}
        return not holders.isdisjoint(self._profile.giving) and not _is_ended(members)

    def _begins(self, node: SyntaxNode) -> bool:
        is_word = node.type == "identifier" and self._grammar is Grammar.RUBY
        is_word = is_word and self._text([node]) in {b"private", b"protected", b"public"}
        return is_word or (node.type in profiles.SECTIONS and node.id not in self._unread)

    def _section(self, nodes: list[SyntaxNode]) -> Construct:
        """Read what begins a section of a class, and its members."""
        at = 2 if nodes[1:] and nodes[1].type == ":" else 1
        key = self._text(nodes[:1])
        head = self._flat(nodes[:at])
        return Construct(kind="section", children=(*head, self._suite(nodes[at:])), key=key)


_READERS: Mapping[Grammar, Mapping[str, NodeReader]] = {
    grammar: by_rule(
        (_SyntaxReader.brackets, profile.modes),
        (_SyntaxReader.function, profiles.FUNCTIONS),
        (_SyntaxReader.element, profiles.ELEMENTS),
        (_SyntaxReader.inner, profile.kinds),
        (_SyntaxReader.comment, COMMENTS),
        (_SyntaxReader.word, profiles.WORDS),
        (_SyntaxReader.open, profile.open),
        (_SyntaxReader.bounds, profiles.BOUNDS),
        *([(_SyntaxReader.block, ("block",))] if grammar is Grammar.PYTHON else []),
    )
    for grammar, profile in profiles.PROFILES.items()
}
"""What reads a node within an expression, by its rule; any other node becomes its children."""
_BESIDES = COMMENTS | profiles.PREFIXES


_NAMES_IMPORTED = frozenset(
    {"future_import_statement", "import_from_statement", "import_statement"}
)
_DEFINING = frozenset({"class", "def"})


def _documented(members: Iterable[Element]) -> Elements:
    """Name each docstring after the attribute that it documents."""
    found: list[Element] = []
    for each in members:
        follows = any(one.kind != "comment" for one in found)
        if each.kind == "docstring" and follows and isinstance(each, Construct):
            found.append(evolve(each, key=b"docstring of " + found[-1].key))
        else:
            found.append(each)
    return tuple(found)


def _is_ended(nodes: Sequence[SyntaxNode]) -> bool:
    """Whether the last statement, if there is one, ends with a semicolon."""
    nodes = [node for node in nodes if not node.type.endswith("comment")]
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
