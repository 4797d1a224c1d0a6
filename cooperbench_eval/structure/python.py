"""Reads Python source into a tree.

The reader knows logical lines, suites, brackets and the first words of statements, and
no more grammar than that; a merged file is parsed by Python itself afterwards. It is
not built on `tokenize`, whose tokens differ between versions of Python.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from attrs import evolve

from cooperbench_eval.structure.tree import (
    Element,
    Mode,
    Node,
    StructureError,
    Token,
    indented,
    relative_lines,
)

__all__ = ["read_python", "split_python"]

_TOKEN = re.compile(
    rb"""(?P<space>(?:[ \t\f\r\n]|\\\r?\n)*)
    (?P<word>
        \#[^\r\n]*
        |(?:[rRbBuUfFtT]{0,2})(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''
            |"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*')
        |\d(?:[\w.]|(?<=[eE])[+-])*
        |[A-Za-z0-9_\x80-\xff]+
        |->|:=|\.\.\.|\*\*=?|//=?|>>=?|<<=?|[-+*/%&|^@<>=!]=
        |[^\s]
        |\Z
    )""",
    re.VERBOSE | re.DOTALL,
)
_RESERVED = re.compile(rb"[\0\v\x1d-\x1f]")
_CONTINUED = re.compile(rb"\\\r?\n")
_CUT = re.compile(
    # Only the first newline of a run is looked behind of, or the time is quadratic in it.
    rb"\n(?:(?<=\S\n)|(?<=\S\r\n))(?=(?:\r?\n)+(?:#[^\n]*\n)*(?:@|def |class |async def ))"
)
_CLOSERS = {b"(": b")", b"[": b"]", b"{": b"}"}
_CONTINUING = frozenset({b"elif", b"else", b"except", b"finally"})
_STATEMENTS = frozenset(
    {
        *(b"return", b"raise", b"import", b"from", b"del", b"assert", b"yield"),
        *(b"break", b"continue"),
    }
)
_LONG_QUOTES = frozenset({b'"""', b"'''"})
_DEFINING = frozenset({b"def", b"class"})
_SOFT = frozenset({b"case", b"match"})
_CLAUSES = frozenset({b"elif", b"else", b"except", b"finally", b"case"})
_OPENING = frozenset({b"if", b"for", b"while", b"with", b"try", *_CLAUSES - _SOFT})
_DEEPEST = 40
"""How many suites and brackets may stand in one another; a merge needs a dozen calls for each."""


_TOO_DEEP = f"there are more than {_DEEPEST} suites and brackets in one another"


@lru_cache(maxsize=64)
def split_python(source: bytes) -> list[bytes]:
    """Cut a file before its top-level definitions and the newlines before these.

    A cut may fall into a string. If every piece can be read by itself, none does, and
    the pieces are runs of the file's statements.
    """
    ends = (found.start() for found in _CUT.finditer(source))
    cuts = [end - (source[end - 1 : end] == b"\r") for end in ends]
    return [source[start:end] for start, end in pairwise([0, *cuts, len(source)])]


def read_python(versions: Sequence[bytes]) -> list[Node]:
    """Read versions of a file; what all of them have in common is not looked into.

    Args:
        versions: Their bytes, in any encoding that has ASCII in it.

    Returns:
        Trees that `render` writes out with the last newline before the first line.

    Raises:
        StructureError: Brackets, strings or indentation do not match.
    """
    if any(map(_RESERVED.search, versions)):
        raise StructureError("there are control characters")
    sources = [b"\n" + source.removesuffix(b"\n") for source in versions]
    cut = [split_python(source) for source in sources]
    common = set(cut[0]).intersection(*cut[1:])
    try:
        return [
            _file(_unread(each) if each in common else _read(each) for each in pieces)
            for pieces in cut
        ]
    except StructureError:
        return [_file([_read(source)]) for source in sources]


def _file(pieces: Iterable[Sequence[Element]]) -> Node:
    """Join pieces; of the ends of them there is one left."""
    children = list(chain.from_iterable(pieces))
    end = children[-1] if children and children[-1].kind == "end" else Token(b"", b"", "end")
    kept = [child for child in children if child.kind != "end"]
    return Node(kind="file", mode=Mode.MEMBERS, children=(*kept, end))


def _unread(piece: bytes) -> tuple[Element]:
    return (Token(b"", piece, "unread"),)


@lru_cache(maxsize=4096)
def _read(piece: bytes) -> tuple[Element, ...]:
    """Read a run of statements with the newline before it."""
    return tuple(_Reader(_lines(piece)).file())


class _Line(NamedTuple):
    """A logical line, or a comment that has a line of its own."""

    indent: bytes
    tokens: list[Token]

    @property
    def is_comment(self) -> bool:
        return self.tokens[0].word.startswith(b"#")


def _lines(source: bytes) -> list[_Line]:
    """Cut source into logical lines; comments are indented like what follows them."""
    lines: list[_Line] = []
    depth = 0
    for found in _TOKEN.finditer(source):
        space, word = found.group("space", "word")
        newline = b"\n" in (_CONTINUED.sub(b"", space) if b"\\" in space else space)
        if not word:
            lines.append(_Line(b"", [Token(space, word, "end")]))
            break
        if word in b"\"'":
            raise StructureError("a string is not closed")
        if newline and not depth:
            lines.append(_Line(space.rpartition(b"\n")[2], []))
        depth += (word in b"([{") - (word in b")]}")
        if depth < 0:
            raise StructureError("a bracket is closed that is not open")
        if not lines:
            raise StructureError("the first line is indented")
        lines[-1].tokens.append(Token(space, word, _kind(word)))
    if depth:
        raise StructureError("a bracket is not closed")
    return lines


def _kind(word: bytes) -> str:
    if word[:1] == b"#":
        return "comment"
    return "text" if word[-3:] in _LONG_QUOTES else "token"


class _Reader:
    """Builds the tree of some lines."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self._lines = lines
        self._at = 0
        self._following = _indents_of_code(lines)

    def file(self) -> Iterator[Element]:
        yield from self._members(b"", 0)
        if self._at < len(self._lines):
            raise StructureError("an indentation does not match")

    def _members(self, indent: bytes, depth: int) -> Iterator[Element]:
        """Read the statements of a suite."""
        if depth > _DEEPEST:
            raise StructureError(_TOO_DEEP)
        found: list[Element] = []
        clauses: list[Element] = []  # of the statement at hand, and its decorators
        pending: list[Element] = []  # decorators, and comments that may turn out to be among them
        while self._at < len(self._lines):
            line = self._lines[self._at]
            following = self._following[self._at]
            if len(following) > len(indent):
                raise StructureError("an indentation is unexpected")
            if following != indent and not (line.is_comment and len(line.indent) >= len(indent)):
                break
            self._at += 1
            word = line.tokens[0].word
            if not word or line.is_comment:
                pending.append(_relative(line.tokens[0], indent))
                continue
            clause = self._clause(line, depth)
            if word == b"@":
                pending.append(evolve(clause, kind="decorator"))
                continue
            if word in _CONTINUING and clauses:
                clauses += [*pending, clause]
            else:
                decorators = _decorators(pending)
                found += _chain(clauses)
                found += pending[: len(pending) - len(decorators)]
                clauses = [*decorators, clause]
            pending = []
        yield from (*found, *_chain(clauses), *pending)

    def _clause(self, line: _Line, depth: int) -> Node:
        """Read a logical line and the suite below it."""
        children: list[Element] = list(_parse_line(line, depth))
        if self._at < len(self._lines):
            following = self._following[self._at]
            if len(following) > len(line.indent):
                if not following.startswith(line.indent):
                    raise StructureError("tabs and spaces are mixed")
                suite = Node(
                    kind="suite",
                    mode=Mode.MEMBERS,
                    children=tuple(self._members(following, depth + 1)),
                    indent=following[len(line.indent) :],
                )
                children.append(suite)
        kind, key = _name(children)
        return Node(kind=kind, children=tuple(children), key=key)


def _indents_of_code(lines: Sequence[_Line]) -> list[bytes]:
    """Return for each line its indentation, for a comment that of the code behind it."""
    indents: list[bytes] = []
    following = b""
    for line in reversed(lines):
        if not line.is_comment:
            following = line.indent
        indents.append(following)
    return indents[::-1]


def _decorators(pending: list[Element]) -> list[Element]:
    """Return the part of *pending* that starts with its first decorator."""
    for i, each in enumerate(pending):
        if each.kind == "decorator":
            return pending[i:]
    return []


def _chain(clauses: Sequence[Element]) -> list[Element]:
    """Make a statement of its clauses; one that cannot have more is its own clause."""
    heads = (each for each in clauses if isinstance(each, Node) and each.kind != "decorator")
    head = next(heads, None)
    if head is None:
        return []
    has_suite = bool(head.children) and head.children[-1].kind == "suite"
    may_have_more = has_suite or head.kind.encode("latin-1") in _OPENING | _DEFINING
    if len(clauses) == 1 and not may_have_more:
        return [head]
    return [Node(kind=head.kind, mode=Mode.MEMBERS, children=tuple(clauses), key=head.key)]


def _relative(token: Token, indent: bytes) -> Token:
    space, word, kind = token
    return Token(indented(space, indent), word, kind) if b"\n" in space else token


def _parse_line(line: _Line, depth: int) -> list[Element]:
    """Nest the tokens of a logical line by their brackets."""
    tokens = [_relative(token, line.indent) for token in line.tokens]
    if len(tokens) == 1 and tokens[0].kind == "text":
        only = tokens[0]
        return [only._replace(word=relative_lines(only.word, line.indent))]
    names = tokens[0].word in {b"import", b"from", b"class"}
    is_definition = any(token.word == b"def" for token in tokens[:2])
    stack: list[tuple[bytes, list[Element]]] = [(b"", [])]
    for token in tokens:
        if token.word in _CLOSERS:
            stack.append((token.word, [token]))
            if depth + len(stack) > _DEEPEST:
                raise StructureError(_TOO_DEEP)
        elif token.word in b")]}" and token.kind == "token":
            opener, inside = stack.pop()
            if _CLOSERS.get(opener) != token.word:
                raise StructureError("brackets do not match")
            is_first = is_definition and opener == b"(" and len(stack) == 1
            kind = "parameters" if is_first else "items" if names else "arguments"
            is_definition = is_definition and not is_first
            stack[-1][1].append(_group(kind, inside, token))
        else:
            stack[-1][1].append(token)
    return _with_names_imported(stack[0][1])


def _group(kind: str, inside: list[Element], closer: Token) -> Node:
    opener, *rest = inside
    items = Node(kind=kind, mode=Mode.LIST, children=tuple(_items(rest)))
    return Node(kind="group", children=(opener, items, closer))


def _with_names_imported(children: list[Element]) -> list[Element]:
    """Make a list of the names behind `import` that stand without brackets."""
    words = [child.plain for child in children]
    if words[0] not in {b"import", b"from"} or b"import" not in words:
        return children
    at = words.index(b"import") + 1
    if at == len(children) or isinstance(children[at], Node):
        return children
    end = at + sum(child.kind != "comment" for child in children[at:])
    names = Node(kind="items", mode=Mode.LIST, children=tuple(_items(children[at:end])))
    return [*children[:at], names, *children[end:]]


def _items(elements: Sequence[Element]) -> Iterator[Node]:
    """Cut the inside of brackets at its commas."""
    item: list[Element] = []
    done: Node | None = None
    for element in elements:
        if isinstance(element, Node):
            item.append(element)
        elif done and not item and _ends_line(element):
            done = evolve(done, tail=(*done.tail, element))
        elif element.word == b",":
            if done:
                yield done
            done = _item(item, element.space)
            item = []
        else:
            item.append(element)
    if done:
        yield done
    if item:
        yield _item(item, None)


def _ends_line(token: Token) -> bool:
    """Whether it is a comment behind something else."""
    return token.kind == "comment" and b"\n" not in token.space


def _item(children: Sequence[Element], comma: bytes | None) -> Node:
    """Make an item; comments at its end go behind the separator that it may come to have."""
    end = len(children)
    while comma is None and end > 1 and children[end - 1].kind == "comment":
        end -= 1
    tail = tuple(child for child in children[end:] if isinstance(child, Token))
    kept = tuple(children[:end])
    return Node(kind="item", children=kept, key=_item_key(kept), comma=comma, tail=tail)


def _item_key(children: Sequence[Element]) -> bytes:
    """Name an item: a keyword, a parameter, the key of a dict, what is after `as`, or all."""
    words = [child.plain for child in children if child.kind != "comment"]
    if words[-2:-1] == [b"as"]:
        return words[-1]
    if words[:1] == [b"lambda"]:
        return b" ".join(words)
    for i, word in enumerate(words[:4]):
        if word in {b"=", b":"} and i:
            return b"".join(words[:i])
    return b" ".join(words)


def _name(  # noqa: PLR0911 - one for each kind
    children: Sequence[Element],
) -> tuple[str, bytes]:
    """Say what a statement is, and what it is known by."""
    words = [child.plain for child in children if child.kind not in {"suite", "comment"}]
    first = words[1] if words[0] == b"async" and len(words) > 1 else words[0]
    if first in _DEFINING:
        at = words.index(first) + 1
        return first.decode(), words[at] if at < len(words) else b""
    if first in {b"import", b"from"} and b"import" in words:
        end = words.index(b"import")
        return "import", b" ".join(words[:end] or words)
    has_suite = children[-1].kind == "suite"
    if first in _CLAUSES and (has_suite or first not in _SOFT):
        end = words.index(b":") if b":" in words else len(words)
        return first.decode(), b" ".join(words[:end])
    if has_suite or first in _STATEMENTS or first in _OPENING:
        return first.decode("latin-1"), b""
    if children[0].kind == "text":
        return "docstring", b"docstring"
    for i, word in enumerate(words):
        if word in {b"=", b":"} and i:
            return "assignment", b"".join(words[:i])
    return "expression", b""
