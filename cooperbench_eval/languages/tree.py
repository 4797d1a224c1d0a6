"""Source text as a tree of constructs and the tokens that they are written with.

A tree keeps every byte of its file. White space belongs to the token after it. Where it
contains a newline, the indentation is stored relative to the enclosing suite, so that a
construct that moves into another suite is indented correctly there.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum, auto
from textwrap import shorten
from typing import NamedTuple

from attrs import evolve, field, frozen

from cooperbench_eval.languages.words import PART

_BETWEEN = b"\x1f"  # ASCII's separators, which readers refuse in source text
_OPEN, _CLOSE = b"\x1d", b"\x1e"
ABSOLUTE = b"\0"  # precedes an indentation that does not start with the suite's
_RELATIVE = b"\v"  # starts a docstring's relative line; any merge takes it for white space

RESERVED = re.compile(rb"[\0\v\x1d-\x1f]")
"""The bytes that trees use internally, so that no source may contain them."""
ASSIGNING = frozenset({b"=", b":="})
"""The operators between a variable and the value that it is given."""
DECLARING = frozenset({b"const", b"export", b"let", b"mut", b"pub", b"static", b"var"})
"""Words that precede a variable where it is declared."""

DOCUMENT = "document"
"""The kind of the construct that holds the blocks of a document, such as a change log."""
DATA = "data"
"""The kind of the construct that holds all of a data file."""


class StructureError(Exception):
    """A text has no structure that can be merged; the message is the reason."""


class SyntaxFaultError(StructureError):
    """A text has a syntax error.

    Attributes:
        line: Its line, counted from 1; `None` if unknown.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        """Make the error from the parser's or compiler's message and line."""
        super().__init__(problem, line)
        self.line = line

    def __str__(self) -> str:
        return str(self.args[0])


class DisagreementError(StructureError):
    """Both sides changed the same construct differently."""

    @classmethod
    def at(cls, *elements: "Element") -> "DisagreementError":
        """Make the error for the elements that both sides changed."""
        shown = excerpt(*elements)
        return cls(f"both sides changed {shown!r}" if shown else "both sides insert there")


class BindingError(StructureError):
    """No text resolves the conflict, such as that of a file which a tool has to write."""


class OrderError(DisagreementError):
    """Both sides' insertions at one place fit together, but only in the other order."""


class Mode(Enum):
    """The relation of a construct's children to each other."""

    SEQUENCE = auto()
    """In a fixed sequence, as in an expression; two insertions at one place conflict."""
    LIST = auto()
    """Items with a separator between them."""
    MEMBERS = auto()
    """Independent statements, clauses or definitions."""


class Token(NamedTuple):
    """A word, number, operator, string or comment, and the white space before it."""

    space: bytes
    word: bytes
    kind: str = "token"

    @property
    def plain(self) -> bytes:
        """Its text without layout."""
        return self.word

    @property
    def source(self) -> bytes:
        """Its text with layout."""
        return self.space + self.word

    @property
    def key(self) -> bytes:
        """Empty: tokens have no names."""
        return b""

    @property
    def children(self) -> "Elements":
        """Empty: nothing is inside a token."""
        return ()

    def with_space(self, space: bytes) -> "Token":
        """Return it with other white space before it."""
        return self._replace(space=space)

    def words(self) -> list[bytes]:
        """Return its word."""
        return [self.word]

    def walk(self) -> Iterator["Construct"]:
        """Yield nothing: a token contains no constructs."""
        yield from ()


@frozen(kw_only=True)
class Construct:
    """A statement, a list, an expression in brackets, or another part of a program.

    Attributes:
        kind: What it is, in a vocabulary that all languages share.
        mode: The relation of its children to each other.
        children: Constructs and tokens, in order.
        key: Its name among its siblings, such as a function's; empty if it has none.
        indent: How much deeper its children are indented than it is.
        comma: The white space before the separator that follows an item; `None` if there
            is no separator.
        tail: Comments after an item's separator.
        plain: Its words without layout. Two constructs that differ only in layout have
            equal words.
        source: Its words with their layout.
        text: The text that `render` has computed for it, if any.
    """

    kind: str
    mode: Mode = Mode.SEQUENCE
    children: tuple["Element", ...] = field(repr=False)
    key: bytes = b""
    indent: bytes = b""
    comma: bytes | None = None
    tail: tuple[Token, ...] = ()
    plain: bytes = field(init=False, repr=False, eq=False)
    source: bytes = field(init=False, repr=False, eq=False)
    text: bytes | None = field(init=False, repr=False, eq=False, default=None)

    @plain.default
    def _join_words(self) -> bytes:
        words = _BETWEEN.join([each.plain for each in (*self.children, *self.tail)])
        return _OPEN + words + _CLOSE if self.mode is Mode.MEMBERS else words

    @source.default
    def _join_source(self) -> bytes:
        parts = [each.source for each in (*self.children, *self.tail)]
        comma = b"" if self.comma is None else self.comma + b","
        return _BETWEEN.join([*parts, self.indent, comma])

    @property
    def space(self) -> bytes:
        """The white space before its first token."""
        return self.children[0].space if self.children else b""

    @property
    def parts(self) -> list["Construct"]:
        """The constructs among its children."""
        return [each for each in self.children if isinstance(each, Construct)]

    def with_parts(self, change: Callable[["Construct"], "Element"]) -> "Construct":
        """Return it with each construct among its children changed."""
        children = [change(e) if isinstance(e, Construct) else e for e in self.children]
        return evolve(self, children=tuple(children))

    def with_space(self, space: bytes) -> "Construct":
        """Return it with other white space before its first token."""
        if not self.children:
            return self
        first, *rest = self.children
        return evolve(self, children=(first.with_space(space), *rest))

    def words(self) -> list[bytes]:
        """Return its words in order."""
        return self.plain.translate(None, _OPEN + _CLOSE).split(_BETWEEN)

    def walk(self) -> Iterator["Construct"]:
        """Yield it and every construct in it."""
        yield self
        for child in self.children:
            yield from child.walk()


Element = Construct | Token
Elements = tuple[Element, ...]


def suite(children: Elements, indent: bytes = b"", kind: str = "suite") -> Construct:
    """Make a construct of independent members, such as the body of a function."""
    return Construct(kind=kind, mode=Mode.MEMBERS, children=children, indent=indent)


def has_suite(node: Construct) -> bool:
    """Whether a clause has a body."""
    return any(child.kind == "suite" for child in node.children)


def split_tail(children: Elements) -> tuple[Elements, tuple[Token, ...]]:
    """Separate an item's children from the comments at its end."""
    end = len(children)
    while end > 1 and children[end - 1].kind == "comment":
        end -= 1
    return children[:end], tuple(each for each in children[end:] if isinstance(each, Token))


def same(one: Element, other: Element) -> bool:
    """Whether two elements have the same words, whatever their layout."""
    return one.plain == other.plain


def head_of(statement: Construct) -> bytes:
    """Return the words of a statement outside of its suites and further clauses."""
    if statement.mode is Mode.MEMBERS:
        clauses = (each for each in statement.parts if each.kind != "decorator")
        statement = next(clauses, statement)
    return b" ".join(words_of_head(statement))


def words_of_head(statement: Element) -> list[bytes]:
    """Return the words of a statement or clause outside of its suites, one by one."""
    return list(_words_of_head(statement))


def _words_of_head(element: Element) -> Iterator[bytes]:
    if isinstance(element, Token):
        if element.kind != "comment":
            yield element.word
    elif element.kind != "suite":
        for i, child in enumerate(element.children):
            if i and element.mode is Mode.LIST:
                yield b","
            yield from _words_of_head(child)


def indented(space: bytes, indent: bytes) -> bytes:
    """Make the indentation at the end of white space relative to *indent*."""
    head, newline, last = space.rpartition(b"\n")
    if not newline:
        return space
    last = last[len(indent) :] if last.startswith(indent) else ABSOLUTE + last
    return head + newline + last


def relative_lines(word: bytes, indent: bytes) -> bytes:
    """Make the lines of a docstring relative to *indent*."""
    return word.replace(b"\n" + indent, b"\n" + _RELATIVE) if indent else word


def render(element: Element, indent: bytes = b"") -> bytes:
    """Return the source text of an element."""
    return _text(element).replace(_INDENTED, b"\n" + indent)


_INDENTED = b"\n" + _RELATIVE  # in a text: a newline, and the indentation to be put after it


def _text(element: Element) -> bytes:
    """Return an element's text, in which marks stand for the indentation around it.

    Suites and lists of clauses keep theirs, since trees share most of them.
    """
    if isinstance(element, Token):
        return _token_text(element)
    if element.mode is not Mode.MEMBERS:
        return _join_text(element)
    if element.text is None:
        object.__setattr__(element, "text", _join_text(element))
    return element.text or b""


def _token_text(token: Token) -> bytes:
    space, word, _ = token
    if b"\n" in space:
        head, _, last = space.rpartition(b"\n")
        space = head + b"\n" + last[1:] if last[:1] == ABSOLUTE else head + _INDENTED + last
    return space + word


def _join_text(element: Construct) -> bytes:
    parts: list[bytes] = []
    is_list, last_index = element.mode is Mode.LIST, len(element.children) - 1
    for i, child in enumerate(element.children):
        parts.append(_text(child))
        if is_list and isinstance(child, Construct):
            if child.comma is not None or i < last_index:
                parts += [child.comma or b"", b","]
            parts += map(_text, child.tail)
    text = b"".join(parts)
    return text.replace(_INDENTED, _INDENTED + element.indent) if element.indent else text


_MOST_SHOWN = 72
"""The most characters of an excerpt."""


def excerpt(*elements: Element) -> str:
    """Return the source text of elements in one line, for a reason; cut after a whole word."""
    return one_line(b"".join(map(render, elements)))


def one_line(text: bytes) -> str:
    """Return a text in one line, for a reason; cut after a whole word, if one word fits."""
    words = text.decode("utf-8", "replace")
    shown = shorten(words, _MOST_SHOWN, placeholder=" …")
    return shown if shown != "…" else words.split()[0][:_MOST_SHOWN] + "…"


def line_of(tree: Element, part: Element) -> int | None:
    """Return the line of a file's tree in which a part begins; `None` if it is not in the tree."""
    line = 0
    while tree is not part:
        for child in tree.children if isinstance(tree, Construct) else ():
            if child is part or any(each is part for each in _parts(child)):
                tree = child
                break
            line += _text(child).count(b"\n")
        else:
            return None
    while isinstance(tree, Construct) and tree.children:
        tree = tree.children[0]
    return line + (tree.space.count(b"\n") if isinstance(tree, Token) else 0)


def _parts(element: Element) -> Iterator[Element]:
    yield element
    if isinstance(element, Construct):
        for child in element.children:
            yield from _parts(child)


def functions_of(tree: Element, scope: bytes = b"") -> Iterator[tuple[bytes, Construct]]:
    """Yield each named function by its qualified name, but no nested functions."""
    for child in tree.children:
        if not isinstance(child, Construct):
            continue
        if child.kind == "def" and child.key:
            yield scope + child.key, child
        elif child.mode is Mode.MEMBERS or child.kind == "class":
            # A class consists of its decorators and a clause that has its name as well.
            is_named = child.kind == "class" and child.mode is Mode.MEMBERS
            yield from functions_of(child, scope + child.key + b"." if is_named else scope)


def functions_changed_by_both(
    versions: Sequence[Construct], merged: Element
) -> Iterator[tuple[bytes, Construct, tuple[Construct, Construct], Construct]]:
    """Yield the functions that both sides changed: name, base, ours with theirs, and merged."""
    before, mine, other, after = (dict(functions_of(tree)) for tree in (*versions, merged))
    for name, function in after.items():
        if name in before and name in mine and name in other:
            sides = mine[name], other[name]
            if not any(same(before[name], side) for side in sides):
                yield name, before[name], sides, function


_MOST_TOKENS = 50_000
"""The most tokens of a version that are read; each takes about 30 microseconds."""


def check_size(texts: Iterable[bytes]) -> None:
    """Refuse a version if the parts that are to be read have too many tokens.

    Raises:
        StructureError: There are too many.
    """
    parts = list(texts)
    # A text has no more tokens than bytes, so that few files are searched.
    if sum(map(len, parts)) <= _MOST_TOKENS:
        return
    if sum(1 for part in parts for _ in PART.finditer(part)) > _MOST_TOKENS:
        raise StructureError(f"the definitions that differ have more than {_MOST_TOKENS:,} tokens")
