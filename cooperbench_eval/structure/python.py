"""Reads Python source into a tree.

The reader knows logical lines, suites, brackets and the first words of statements. It
needs no more grammar, because Python itself parses the merged file afterwards. It does
not use `tokenize`, whose tokens differ between versions of Python.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from attrs import evolve

from cooperbench_eval.memo import TextMemo
from cooperbench_eval.structure.tree import (
    RESERVED,
    Construct,
    Element,
    Elements,
    Mode,
    StructureError,
    Token,
    indented,
    relative_lines,
    split_tail,
    suite,
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
_CONTINUED = re.compile(rb"\\\r?\n")
_CUT = re.compile(
    # The look-behind accepts only the first newline of a run, or the time would be quadratic.
    rb"\n(?:(?<=\S\n)|(?<=\S\r\n))(?=(?:\r?\n)+(?:#[^\n]*\n)*(?:@|def |class |async def ))"
)
_CLOSERS = {b"(": b")", b"[": b"]", b"{": b"}"}
_CONTINUING = frozenset({b"elif", b"else", b"except", b"finally"})
_STATEMENTS = frozenset(b"return raise import from del assert yield break continue".split())
_LONG_QUOTES = frozenset({b'"""', b"'''"})
_DEFINING = frozenset({b"def", b"class"})
_SOFT = frozenset({b"case", b"match"})
_CLAUSES = frozenset({b"elif", b"else", b"except", b"finally", b"case"})
_OPENING = frozenset({b"if", b"for", b"while", b"with", b"try", *_CLAUSES - _SOFT})
_DEEPEST = 40
"""How deep suites and brackets may nest; a merge needs a dozen nested calls for each level."""
_TOO_DEEP = f"suites and brackets nest more than {_DEEPEST} levels deep"


@lru_cache(maxsize=64)
def split_python(source: bytes) -> list[bytes]:
    """Cut a file before the newlines that precede its top-level definitions.

    A cut may fall inside a string. If each piece can be read on its own, no cut is
    inside a string, and the pieces are runs of the file's statements.
    """
    ends = (found.start() for found in _CUT.finditer(source))
    cuts = [end - (source[end - 1 : end] == b"\r") for end in ends]
    return [source[start:end] for start, end in pairwise([0, *cuts, len(source)])]


def read_python(versions: Sequence[bytes]) -> list[Construct]:
    """Read versions of a file; a piece that all of them share stays one token.

    Args:
        versions: The bytes of each version, in any encoding that extends ASCII.

    Returns:
        One tree for each version. `render` writes it with the last newline moved to
        the front.

    Raises:
        StructureError: Brackets, strings or indentation do not match.
    """
    if any(map(RESERVED.search, versions)):
        raise StructureError("the file contains control characters")
    sources = [b"\n" + source.removesuffix(b"\n") for source in versions]
    cut = [split_python(source) for source in sources]
    common = set(cut[0]).intersection(*cut[1:])
    try:
        return [
            _file(
                (Token(b"", each, "unread"),) if each in common else _read(each) for each in pieces
            )
            for pieces in cut
        ]
    except StructureError:
        return [_file([_read(source)]) for source in sources]


def _file(pieces: Iterable[Sequence[Element]]) -> Construct:
    """Join the pieces of a file. Each one ends with an end token; only the last is kept."""
    children = list(chain.from_iterable(pieces))
    end = children[-1] if children and children[-1].kind == "end" else Token(b"", b"", "end")
    kept = [child for child in children if child.kind != "end"]
    return suite((*kept, end), kind="file")


def _unread(piece: bytes) -> tuple[Element]:
    return (Token(b"", piece, "unread"),)


def _read_anew(piece: bytes) -> Elements:
    """Read a run of statements with the newline before it."""
    return tuple(_PythonReader(_lines(piece)).file())


# The tree of a piece takes some fifty times its size.
_read = TextMemo(_read_anew, max_bytes=4 << 20)


class _Line(NamedTuple):
    """A logical line, or a comment on its own line."""

    indent: bytes
    tokens: list[Token]

    @property
    def is_comment(self) -> bool:
        return self.tokens[0].word.startswith(b"#")


def _lines(source: bytes) -> list[_Line]:
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
            raise StructureError("a closing bracket has no opening one")
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


class _PythonReader:
    def __init__(self, lines: Sequence[_Line]) -> None:
        self._lines = lines
        self._at = 0
        self._following = _indents_of_code(lines)

    def file(self) -> Iterator[Element]:
        yield from self._members(b"", 0)
        if self._at < len(self._lines):
            raise StructureError("an indentation matches no outer suite")

    def _members(self, indent: bytes, depth: int) -> Iterator[Element]:
        if depth > _DEEPEST:
            raise StructureError(_TOO_DEEP)
        found: list[Element] = []
        clauses: list[Element] = []  # of the current statement, with its decorators
        pending: list[Element] = []  # decorators, and comments that may be between them
        while self._at < len(self._lines):
            line = self._lines[self._at]
            following = self._following[self._at]
            if len(following) > len(indent):
                raise StructureError("a line is indented deeper than its suite")
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

    def _clause(self, line: _Line, depth: int) -> Construct:
        children: list[Element] = list(_parse_line(line, depth))
        if self._at < len(self._lines):
            following = self._following[self._at]
            if len(following) > len(line.indent):
                if not following.startswith(line.indent):
                    raise StructureError("tabs and spaces are mixed")
                members = tuple(self._members(following, depth + 1))
                children.append(suite(members, following[len(line.indent) :]))
        kind, key = _name(children)
        return Construct(kind=kind, children=tuple(children), key=key)


def _indents_of_code(lines: Sequence[_Line]) -> list[bytes]:
    """Return each line's indentation; a comment counts as indented like the code after it."""
    indents: list[bytes] = []
    following = b""
    for line in reversed(lines):
        if not line.is_comment:
            following = line.indent
        indents.append(following)
    return indents[::-1]


def _decorators(pending: list[Element]) -> list[Element]:
    """Return *pending* from its first decorator on."""
    for i, each in enumerate(pending):
        if each.kind == "decorator":
            return pending[i:]
    return []


def _chain(clauses: Sequence[Element]) -> list[Element]:
    """Join the clauses of a statement; a simple statement stays as it is."""
    heads = (each for each in clauses if isinstance(each, Construct) and each.kind != "decorator")
    head = next(heads, None)
    if head is None:
        return []
    has_suite = bool(head.children) and head.children[-1].kind == "suite"
    may_have_more = has_suite or head.kind.encode("latin-1") in _OPENING | _DEFINING
    if len(clauses) == 1 and not may_have_more:
        return [head]
    return [Construct(kind=head.kind, mode=Mode.MEMBERS, children=tuple(clauses), key=head.key)]


def _relative(token: Token, indent: bytes) -> Token:
    return token.with_space(indented(token.space, indent)) if b"\n" in token.space else token


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


def _group(kind: str, inside: list[Element], closer: Token) -> Construct:
    opener, *rest = inside
    items = Construct(kind=kind, mode=Mode.LIST, children=tuple(_items(rest)))
    return Construct(kind="group", children=(opener, items, closer))


def _with_names_imported(children: list[Element]) -> list[Element]:
    """Make a list of the names after `import` if they have no brackets."""
    words = [child.plain for child in children]
    if words[0] not in {b"import", b"from"} or b"import" not in words:
        return children
    at = words.index(b"import") + 1
    if at == len(children) or isinstance(children[at], Construct):
        return children
    end = at + sum(child.kind != "comment" for child in children[at:])
    names = Construct(kind="items", mode=Mode.LIST, children=tuple(_items(children[at:end])))
    return [*children[:at], names, *children[end:]]


def _items(elements: Sequence[Element]) -> Iterator[Construct]:
    item: list[Element] = []
    done: Construct | None = None
    for element in elements:
        if isinstance(element, Construct):
            item.append(element)
        elif done and not item and element.kind == "comment" and b"\n" not in element.space:
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


def _item(children: Sequence[Element], comma: bytes | None) -> Construct:
    """Make an item of a list.

    If it has no comma, the comments at its end become its `tail`, so that a comma that is
    added later comes before them.
    """
    kept, tail = split_tail(tuple(children)) if comma is None else (tuple(children), ())
    return Construct(kind="item", children=kept, key=_item_key(kept), comma=comma, tail=tail)


def _item_key(children: Sequence[Element]) -> bytes:
    """Return an item's name: a parameter, keyword, dict key or alias, or else all its words."""
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
