"""Reads data files into trees that can be merged by key.

A mapping holds entries, which have keys; a sequence holds items, which may have names. A scalar
is one token. The comments before an entry or item, and those on its last line, belong to it.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from attrs import evolve

from cooperbench_eval.languages.readers.cursor import SourceCursor
from cooperbench_eval.languages.readers.grammars import (
    Grammar,
    SyntaxNode,
    by_rule,
    parse_soundly,
    rule_names,
)
from cooperbench_eval.languages.readers.yaml import unquoted
from cooperbench_eval.languages.tree import (
    ABSOLUTE,
    DATA,
    RESERVED,
    Construct,
    Element,
    Mode,
    StructureError,
    SyntaxFaultError,
    Token,
    split_tail,
)

MAPPING, SEQUENCE, LINES, CHECKSUMS = "mapping", "sequence", "lines", "checksums"
"""The kinds of constructs whose members a merge combines."""
ENTRY, TABLE, ITEM = "entry", "table", "item"
"""The kinds of the members of mappings and sequences."""
TAG, DOCUMENT = "tag", "document"
"""The kinds of a tag before a value, and of a document of YAML."""

_LAST = b"\xff"
"""The key of the comments after the last entry. It is not UTF-8, so no entry has it."""
_FLOW = by_rule((MAPPING, "object inline_table flow_mapping"), (SEQUENCE, "array flow_sequence"))
"""Mappings and sequences in brackets, with commas."""
_BLOCK = by_rule((MAPPING, "block_mapping"), (SEQUENCE, "block_sequence"))
"""Mappings and sequences that are marked by indentation."""
_PAIRS = rule_names("pair block_mapping_pair flow_pair")
_COMPOUND = _PAIRS | {"block_sequence_item"}
_TABLES = rule_names("table table_array_element")
_WRAPPERS = rule_names("block_node flow_node document yaml_directive tag_directive")
_KINDS = by_rule((TAG, "tag"), ("anchor", "anchor"), ("alias", "alias"), ("token", "- : ?"))
"""The kinds of tokens that are not scalars."""
_MOST_TOKENS = 50_000
"""A version with more tokens is not read; each takes about 30 microseconds."""
_LEAST_SHARED = 64
"""An entry or item this long stays one token if all versions have it."""
_OUTPUTS = frozenset({b"outputs", b"prompt_number", b"execution_count"})
_OF_CELLS = _OUTPUTS | {b"source", b"input"}
"""The keys of a notebook's cell whose values are read in a special way."""
_NAMING = (b"id", b"name", b"repo", b"uses", b"package", b"key")
"""The keys whose values name items of a sequence."""
_REQUIREMENT = re.compile(
    rb"[\"']?([A-Za-z0-9@][\w./@-]*?)\s*(?:\[[^]]*\]\s*)?(?:[=<>~!^]|@(?=\S))"
)
"""Matches the name of a package before its version."""
NUMBER = re.compile(rb"[0-9.+_eE-]+")
"""Matches a number; the place of such an item may matter."""
_SEPARATORS = re.compile(rb"[-_.]+")
"""Matches the separators in names of packages, which are all equivalent."""


def read_data(
    grammar: Grammar, versions: Sequence[bytes], *, is_notebook: bool = False
) -> list[Construct]:
    """Read versions of a data file.

    Args:
        grammar: The grammar of its format.
        versions: The bytes of each version, with a newline at the end.
        is_notebook: Whether cells have outputs, which stay whole, and lines of source.

    Returns:
        One tree for each version. In what `render` writes, the last newline is at the front.

    Raises:
        StructureError: A version is not valid, repeats a key, or nests too deeply, or the
            grammar's package is not installed.
    """
    readers = [_DataReader(grammar, source, is_notebook) for source in versions]
    common = frozenset[bytes]()
    if len(versions) > 1:
        common = frozenset.intersection(*(frozenset(reader.texts()) for reader in readers))
    return [reader.file(common) for reader in readers]


class _DataReader:
    """Builds the tree of one version, from its first byte to its last."""

    def __init__(self, grammar: Grammar, source: bytes, is_notebook: bool) -> None:
        if RESERVED.search(source):
            raise StructureError("the file contains control characters")
        plain = plain_json(source, keeps_comments=True) if grammar is Grammar.JSON else source
        try:
            self._root = parse_soundly(grammar, plain)
        except SyntaxFaultError as exc:
            raise StructureError(f"a version has a syntax error ({exc})") from exc
        self._is_yaml = grammar is Grammar.YAML
        self._is_notebook = is_notebook
        self._common = frozenset[bytes]()
        self._left = _MOST_TOKENS
        self._source = source
        self._cursor = SourceCursor(source)
        self._comments: list[SyntaxNode] = []  # to be read before what follows them

    def texts(self) -> Iterator[bytes]:
        """Yield the text of each entry and item that is long enough to be compared."""
        stack = [self._root]
        while stack:
            for node in stack.pop().children:
                if node.end_byte - node.start_byte >= _LEAST_SHARED:
                    stack.append(node)
                    if node.type in _COMPOUND:
                        yield self._text(node)

    def file(self, common: frozenset[bytes]) -> Construct:
        """Read the file; entries and items in *common* become one token each."""
        self._common = common
        children = self._root.children
        parts: list[Element] = []
        if self._root.type == "stream":
            lead = self._lead(children)
            for i, node in enumerate(children):
                if i in lead:
                    self._comments.append(node)
                    continue
                inside = self._values([node])
                is_document = node.type == DOCUMENT
                parts += (
                    [Construct(kind=DOCUMENT, children=tuple(inside))] if is_document else inside
                )
        elif any(node.type in _PAIRS | _TABLES for node in children):
            parts = [Construct(kind=MAPPING, mode=Mode.MEMBERS, children=self._tables(children))]
        else:
            parts = self._values(children)
        parts += self._waiting()
        parts.append(self._cursor.word(len(self._source) - 1, b"", "end"))
        return Construct(kind=DATA, children=tuple(parts))

    def _lead(self, nodes: Sequence[SyntaxNode]) -> range:
        """Return which comments before the first document of YAML touch its first entry."""
        at = start = next((i for i, node in enumerate(nodes) if node.type == DOCUMENT), 0)
        while start and nodes[start].start_point.row == nodes[start - 1].end_point.row + 1:
            start -= 1
        return range(start, at if at and _is_block(nodes[at].children[0]) else start)

    def _values(self, nodes: Sequence[SyntaxNode]) -> list[Element]:
        """Read consecutive nodes: tokens, and the constructs for mappings and sequences."""
        out: list[Element] = []
        block = max((i for i, node in enumerate(nodes) if _is_block(node)), default=-1)
        for i, node in enumerate(nodes):
            if node.type == "comment":
                if i < block and self._cursor.begins_line(node):
                    self._comments.append(node)
                else:
                    out += self._cursor.token(node, "comment")
            elif node.type in _FLOW:
                out.append(self._flow(node))
            elif node.type in _BLOCK:
                out.append(self._block(node))
            elif node.type == "block_scalar":
                out += self._lines(node)
            elif node.type in _WRAPPERS:
                out += self._values(node.children)
            else:
                if (left := self._left) == 0:
                    raise StructureError(f"the parts that differ have over {_MOST_TOKENS:,} tokens")
                self._left = left - 1
                out += self._waiting()
                out += self._token(node, _KINDS.get(node.type, "scalar"))
        return out

    def _token(self, node: SyntaxNode, kind: str) -> list[Element]:
        """Read a node as a token, whose indentation may change only in YAML."""
        is_relative = self._is_yaml or node.start_point.row == node.end_point.row
        return self._cursor.token(node, kind if is_relative else "token")

    def _waiting(self) -> list[Element]:
        comments, self._comments = self._comments, []
        return [each for node in comments for each in self._cursor.token(node, "comment")]

    def _block(self, node: SyntaxNode) -> Construct:
        column = node.start_point.column
        with self._indented(b" " * column) as indent, self._cursor.within(3):
            children = self._members(node.children, column + (not indent))
        return Construct(
            kind=_BLOCK[node.type], mode=Mode.MEMBERS, children=children, indent=indent
        )

    @contextmanager
    def _indented(self, indent: bytes) -> Iterator[bytes]:
        outer = self._cursor.indent
        if indent.startswith(outer):
            self._cursor.indent = indent
        yield self._cursor.indent[len(outer) :]
        self._cursor.indent = outer

    def _members(self, nodes: Sequence[SyntaxNode], column: int = 0) -> tuple[Element, ...]:
        """Read entries or items.

        Comments after the last one are outside if they are left of *column*, or if it is 0
        and an empty line precedes them.
        """
        out: list[Element] = []
        for node in nodes:
            if node.type != "comment":
                lead = self._waiting()
                out.append(self._member(node, lead))
            elif out and not self._comments and not self._cursor.begins_line(node):
                out[-1] = _with_comment(out[-1], self._cursor.token(node, "comment"))
            else:
                self._comments.append(node)
        waiting = self._comments
        outside = next(
            (i for i, node in enumerate(waiting) if self._is_outside(node, column)), len(waiting)
        )
        self._comments = waiting[:outside]
        if inside := self._waiting():
            out.append(Construct(kind="comments", children=tuple(inside), key=_LAST))
        self._comments = waiting[outside:]
        return tuple(out)

    def _is_outside(self, comment: SyntaxNode, column: int) -> bool:
        before = self._source[max(comment.start_byte - 100, 0) : comment.start_byte]
        is_apart = before.rstrip(b" \t\r").endswith(b"\n\n")
        return comment.start_point.column < column if column else is_apart

    def _member(self, node: SyntaxNode, lead: Sequence[Element]) -> Construct:
        with self._cursor.within(1):
            return self._item(node, (*lead, *self._pair(node)))

    def _flow(self, node: SyntaxNode) -> Construct:
        opener, *between, closer = node.children
        with self._cursor.within(3):
            first = self._cursor.token(opener)
            with self._cursor.deeper(between) as indent:
                items = tuple(self._items([each for each in between if each.type != ","], closer))
            last = self._cursor.token(closer)
        inside = Construct(kind=_FLOW[node.type], mode=Mode.LIST, children=items, indent=indent)
        return Construct(kind="group", children=(*first, inside, *last))

    def _items(self, nodes: Sequence[SyntaxNode], closer: SyntaxNode) -> Iterator[Construct]:
        """Split at the commas; a comment on a comma's line belongs to the item before it."""
        done: Construct | None = None
        children: list[Element] = []
        item: SyntaxNode | None = None
        for node in (*nodes, closer):
            before, comma, _ = self._source[self._cursor.at : node.start_byte].partition(b",")
            if comma:
                if done:
                    yield done
                self._cursor.at += len(before) + 1
                done = evolve(self._item(item, children), comma=before)
                item, children = None, []
            if node is closer:
                break
            if node.type != "comment":
                item = node
                children += self._pair(node)
            elif item or not done or self._cursor.begins_line(node):
                children += self._cursor.token(node, "comment")
            else:
                done = evolve(
                    done, tail=(*done.tail, *_tokens(self._cursor.token(node, "comment")))
                )
        if done and not item:
            yield evolve(done, tail=(*done.tail, *_tokens(children)))
            return
        if done:
            yield done
        if children:
            kept, tail = split_tail(tuple(children))
            yield evolve(self._item(item, kept), tail=tail)

    def _text(self, node: SyntaxNode) -> bytes:
        return self._source[node.start_byte : node.end_byte]

    def _pair(self, node: SyntaxNode) -> list[Element]:
        if self._text(node) in self._common:
            return self._token(node, "unread")
        if node.type not in _COMPOUND:
            return self._values([node])
        if not self._is_notebook or (key := _key(node)) not in _OF_CELLS:
            return self._values(node.children)
        if key in _OUTPUTS:
            return [each for child in node.children for each in self._cursor.token(child)]
        return [_as_lines(each) for each in self._values(node.children)]

    def _item(self, node: SyntaxNode | None, children: Sequence[Element]) -> Construct:
        around = node.parent.type if node and node.parent else ""
        is_entry = node and (node.type in _PAIRS or _FLOW.get(around) == MAPPING)
        key = _key(node) if node and is_entry else _name(children)
        return Construct(kind=ENTRY if is_entry else ITEM, children=tuple(children), key=key)

    def _lines(self, node: SyntaxNode) -> list[Element]:
        """Read a YAML text of several lines, whose white space matters."""
        text = self._source[node.start_byte : node.end_byte].rstrip()
        head, *lines = text.split(b"\n")
        first = self._cursor.word(node.start_byte, head, "scalar")
        filled = next((line for line in lines if line.strip()), b"")
        indent = filled[: len(filled) - len(filled.lstrip(b" "))]
        with self._indented(indent) as deeper:
            full = self._cursor.indent
        children = tuple(
            Token(b"\n", line[len(full) :], "line")
            if line.startswith(full) and line
            else Token(b"\n" + ABSOLUTE, line, "line")
            for line in lines
        )
        self._cursor.at = node.start_byte + len(text)
        return [first, Construct(kind=LINES, mode=Mode.MEMBERS, children=children, indent=deeper)]

    def _tables(self, nodes: Sequence[SyntaxNode]) -> tuple[Element, ...]:
        """Read pairs and tables of TOML; an element of an array contains its nested tables."""
        out: list[Element] = []
        array: list[Element] = []
        at = next((i for i, node in enumerate(nodes) if node.type in _TABLES), len(nodes))
        out += self._members(nodes[:at])
        while at < len(nodes):
            node = nodes[at]
            if node.type == "comment":
                self._comments.append(node)
                at += 1
                continue
            path = _path(node)
            end = at + 1
            if node.type == "table_array_element":
                while end < len(nodes) and _path(nodes[end]).startswith(path + b"."):
                    end += 1
                key = b"[[%s]]" % path
                array.append(self._table(node, nodes[at + 1 : end]))
                if end == len(nodes) or nodes[end].type != node.type or _path(nodes[end]) != path:
                    items = Construct(kind=SEQUENCE, mode=Mode.MEMBERS, children=tuple(array))
                    out.append(Construct(kind=TABLE, children=(items,), key=key))
                    array = []
            else:
                out.append(evolve(self._table(node, ()), kind=TABLE, key=b"[%s]" % path))
            at = end
        return tuple(out)

    def _table(self, node: SyntaxNode, nested: Sequence[SyntaxNode]) -> Construct:
        """Read a table with its header; *nested* are the tables in an element of an array."""
        lead = self._waiting()
        at = 1 + next(i for i, each in enumerate(node.children) if each.type in {"]", "]]"})
        header = [each for child in node.children[:at] for each in self._cursor.token(child)]
        body = node.children[at:]
        if body and body[0].type == "comment" and not self._cursor.begins_line(body[0]):
            header += self._cursor.token(body[0], "comment")
            body = body[1:]
        with self._cursor.within(3):
            members = (*self._members(body), *self._tables(nested))
        inside = Construct(kind=MAPPING, mode=Mode.MEMBERS, children=members)
        return Construct(kind=ITEM, children=(*lead, *header, inside), key=_name([inside]))


_EXTENDED = re.compile(
    rb"""
    "(?:[^"\\\n]|\\.)*+" | (?P<comment>//[^\n]*+ | /\*.*?\*/)
    | (?P<comma>,)(?=(?:\s++ | //[^\n]*+ | /\*.*?\*/)*+[}\]])
    | (?P<number>\b(?:NaN|Infinity)\b)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Matches what programs accept beyond JSON; strings are matched to skip them."""


def plain_json(source: bytes, *, keeps_comments: bool = False) -> bytes:
    """Return plain JSON of the same length."""

    def plain(found: re.Match[bytes]) -> bytes:
        if found["number"]:
            return b"1" * len(found[0])
        if found["comma"] or (found["comment"] and not keeps_comments):
            return re.sub(rb"[^\n]", b" ", found[0])
        return found[0]

    return _EXTENDED.sub(plain, source)


def _as_lines(value: Element) -> Element:
    """Mark a list of lines to be merged as text."""
    if value.kind != "group" or not isinstance(value, Construct):
        return value
    opener, inside, closer = value.children
    lines = tuple(evolve(e, key=b"") if isinstance(e, Construct) else e for e in inside.children)
    if not isinstance(inside, Construct) or inside.kind != SEQUENCE:
        return value
    return evolve(value, children=(opener, evolve(inside, kind=LINES, children=lines), closer))


def _is_block(node: SyntaxNode) -> bool:
    return node.type == "block_node" and any(each.type in _BLOCK for each in node.children)


def _path(table: SyntaxNode) -> bytes:
    """Return the name of a table."""
    return b"".join((table.children[1].text or b"").split()) if table.type in _TABLES else b""


def _key(node: SyntaxNode) -> bytes:
    """Return the key of an entry; `<<` merges the aliased mappings, and may be repeated."""
    first = next((each for each in node.children if each.type != "?"), node)
    key = unquoted((first if node.type in _PAIRS else node).text or b"")
    return b"".join((node.text or b"").split()) if key == b"<<" else key


def _name(children: Sequence[Element]) -> bytes:
    """Return the name of an item: a value of a mapping, or the text before a version."""
    inside = [each for child in children for each in (child, *child.children)]
    mapping = next((each for each in inside if each.kind == MAPPING), None)
    if mapping is not None:
        entries = {each.key: each for each in mapping.children}
        named = next((entries[key] for key in _NAMING if key in entries), None)
        last = named.children[-1] if named and named.children else None
        if isinstance(last, Token) and last.kind == "scalar":
            word = unquoted(last.word)
            return word.partition(b"@")[0] or word
        return b""
    scalar = next((each for each in inside if each.kind == "scalar"), None)
    found = _REQUIREMENT.match(scalar.plain) if scalar is not None else None
    return package_name(found[1]) if found else b""


def package_name(word: bytes) -> bytes:
    """Normalise the name of a package, whose case and separators mean nothing."""
    return _SEPARATORS.sub(b"-", word).lower()


def _with_comment(element: Element, comment: Sequence[Element]) -> Element:
    """Put a comment after the last entry or item in an element."""
    if not isinstance(element, Construct):
        return element
    *others, last = element.children
    if isinstance(last, Construct) and last.kind in _OPEN_ENDED and last.mode is not Mode.LIST:
        return evolve(element, children=(*others, _with_comment(last, comment)))
    return evolve(element, children=(*element.children, *comment))


_OPEN_ENDED = frozenset({MAPPING, SEQUENCE, ENTRY, ITEM})


def _tokens(elements: Sequence[Element]) -> tuple[Token, ...]:
    return tuple(each for each in elements if isinstance(each, Token))
