"""Reads Python source into a tree.

The reader knows logical lines, suites, brackets and the first words of statements. It
needs no more grammar, because Python itself parses the merged file afterwards.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain

from attrs import evolve

from cooperbench_eval.languages.readers.python_lines import (
    LogicalLine,
    indents_of_code,
    split_members,
    split_python,
    to_lines,
)
from cooperbench_eval.languages.tree import (
    RESERVED,
    Construct,
    Element,
    Elements,
    Mode,
    StructureError,
    Token,
    check_size,
    indented,
    relative_lines,
    split_tail,
    suite,
)
from cooperbench_eval.support.memo import TextMemo

_CLOSERS = {b"(": b")", b"[": b"]", b"{": b"}"}
_CONTINUING = frozenset({b"elif", b"else", b"except", b"finally"})
_STATEMENTS = frozenset(b"return raise import from del assert yield break continue".split())
_DEFINING = frozenset({b"def", b"class"})
_SOFT = frozenset({b"case", b"match"})
_CLAUSES = frozenset({b"elif", b"else", b"except", b"finally", b"case"})
_OPENING = frozenset({b"if", b"for", b"while", b"with", b"try", *_CLAUSES - _SOFT})
_DEEPEST = 40
"""How deep suites and brackets may nest; a merge needs a dozen nested calls for each level."""
_INNER_DEPTH = 1
"""The depth of the suites at the top level, whose definitions are read one by one."""
_TOO_DEEP = f"suites and brackets nest more than {_DEEPEST} levels deep"


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
    for pieces in cut:
        check_size(each for each in pieces if each not in common)
    try:
        return [
            _file(
                (Token(b"", each, "unread"),) if each in common else _read(each) for each in pieces
            )
            for pieces in cut
        ]
    except StructureError:
        for source in sources:
            check_size([source])
        return [_file([_read(source)]) for source in sources]


def _file(pieces: Iterable[Sequence[Element]]) -> Construct:
    """Join the pieces of a file. Each one ends with an end token; only the last is kept."""
    children = list(chain.from_iterable(pieces))
    end = children[-1] if children and children[-1].kind == "end" else Token(b"", b"", "end")
    kept = [child for child in children if child.kind != "end"]
    return suite((*kept, end), kind="file")


def _read_uncached(piece: bytes) -> Elements:
    """Read a run of statements with the newline before it.

    The versions of a large class share most of its methods, which are not read again.
    """
    indent, pieces = split_members(piece)
    first, *inner, last = pieces if len(pieces) > 1 else (piece, b"")
    if inner:
        # If this fails, a cut is inside a string or in the wrong suite: read the whole.
        with suppress(StructureError):
            known = LogicalLine(indent, [], tuple(chain.from_iterable(map(_read_inner, inner))))
            return tuple(_PythonReader([*to_lines(first)[:-1], known, *to_lines(last)]).file())
    return tuple(_PythonReader(to_lines(piece)).file())


def _read_inner_uncached(piece: bytes) -> Elements:
    """Read definitions of a suite at the top level, with the newlines before them."""
    lines = to_lines(piece)[:-1]
    return tuple(_PythonReader(lines, lines[0].indent).members())


# The tree of a piece takes some fifty times its size.
_read = TextMemo(_read_uncached, max_bytes=1 << 20)
_read_inner = TextMemo(_read_inner_uncached, max_bytes=1 << 20)


class _PythonReader:
    def __init__(self, lines: Sequence[LogicalLine], indent: bytes = b"") -> None:
        self._lines = lines
        self._indent = indent
        self._at = 0
        self._following = indents_of_code(lines, indent)

    def file(self) -> Iterator[Element]:
        yield from self._members(b"", 0)
        if self._at < len(self._lines):
            raise StructureError("an indentation matches no outer suite")

    def members(self) -> Elements:
        """Read definitions in a suite at the top level."""
        members = tuple(self._members(self._indent, _INNER_DEPTH))
        if self._at < len(self._lines) or any(each.kind == "decorator" for each in members):
            raise StructureError("the piece does not consist of whole definitions")
        return members

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
            if line.members:
                if depth != _INNER_DEPTH or _decorators(pending):
                    raise StructureError("the piece is not in a suite at the top level")
                found += (*_chain(clauses), *pending, *line.members)
                clauses, pending = [], []
                continue
            word = line.tokens[0].word
            if not word or line.is_comment:
                pending.append(_relative(line.tokens[0], indent))
                continue
            clause = _documenting(self._clause(line, depth), clauses or found)
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

    def _clause(self, line: LogicalLine, depth: int) -> Construct:
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


def _documenting(clause: Construct, before: Sequence[Element]) -> Construct:
    """Name a docstring after the attribute that it documents."""
    if clause.kind != "docstring" or not before:
        return clause
    return evolve(clause, key=b"docstring of " + before[-1].key)


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


def _parse_line(line: LogicalLine, depth: int) -> list[Element]:
    """Nest the tokens of a logical line by their brackets."""
    tokens = [
        _relative(token, line.indent) if b"\n" in token.space else token for token in line.tokens
    ]
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
            given = "elements" if opener == b"[" else "arguments"
            kind = "parameters" if is_first else "items" if names else given
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
        kind = "arm" if first == b"case" else first.decode()
        return kind, b" ".join(words[:end])
    if has_suite or first in _STATEMENTS or first in _OPENING:
        return first.decode("latin-1"), b""
    if children[0].kind == "text":
        return "docstring", b"docstring"
    for i, word in enumerate(words):
        if word in {b"=", b":"} and i:
            return "assignment", b"".join(words[:i])
    return "expression", b""
