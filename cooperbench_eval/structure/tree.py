"""Source text as a tree: constructs, and the tokens they are written with.

A tree keeps every byte. White space goes with the token behind it; where it holds a
newline, its indentation is kept relative to the suite around, so that a construct may
move into another one and is written there as it belongs.
"""

from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from attrs import evolve, field, frozen

__all__ = [
    "ASSIGNING",
    "DECLARING",
    "DisagreementError",
    "Element",
    "Mode",
    "Node",
    "OrderError",
    "StructureError",
    "Token",
    "indented",
    "render",
    "same",
]

_BETWEEN = b"\x1f"  # the separators of ASCII, which no source has
_OPEN, _CLOSE = b"\x1d", b"\x1e"
_ABSOLUTE = b"\0"  # before an indentation that is not below that of the suite
_RELATIVE = b"\v"  # at the start of a docstring's line that is; white space to any merge


ASSIGNING = frozenset({b"=", b":="})
"""The signs between a variable and the value that it is given."""
DECLARING = frozenset({b"const", b"export", b"let", b"mut", b"pub", b"static", b"var"})
"""Words before a variable that is new."""


class StructureError(Exception):
    """A text has no structure that can be worked with; the message is the reason."""


class DisagreementError(StructureError):
    """Both sides changed the same construct differently."""

    @classmethod
    def at(cls, *elements: "Element") -> "DisagreementError":
        """Make the error for what both sides changed."""
        words = b" ".join(b" ".join(each.plain.split(_BETWEEN)) for each in elements)
        shown = words.translate(None, _OPEN + _CLOSE).decode("utf-8", "replace")
        return cls(f"both sides changed {shown[:60]!r}")


class OrderError(DisagreementError):
    """What both sides insert at one place fits together, but only in the other order."""


class Mode(Enum):
    """How the children of a node stand together."""

    SEQUENCE = auto()
    """One after the other, as in an expression: there is no place for two insertions."""
    LIST = auto()
    """Items with a separator between them."""
    MEMBERS = auto()
    """Statements, clauses or definitions: each is one by itself."""


class Token(NamedTuple):
    """A word, number, sign, string or comment, and the white space before it."""

    space: bytes
    word: bytes
    kind: str = "token"

    @property
    def plain(self) -> bytes:
        """What it says, without layout."""
        return self.word

    @property
    def source(self) -> bytes:
        """What it says, with layout."""
        return self.space + self.word

    @property
    def key(self) -> bytes:
        """Nothing: tokens have no names."""
        return b""


@frozen(kw_only=True)
class Node:
    """A construct.

    Attributes:
        kind: What it is, in the words of its language.
        mode: How its children stand together.
        children: Constructs and tokens, in order.
        key: What it is known by among its siblings, such as a function's name.
        indent: How much deeper its children are written than it is.
        comma: The white space before the separator behind an item; `None` if there is
            no separator.
        tail: Comments behind an item's separator.
        plain: Its words alone. Constructs that differ in layout have the same.
        source: Its words with their layout.
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

    def with_space(self, space: bytes) -> "Node":
        """Return it with other white space before its first token."""
        if not self.children:
            return self
        first, *rest = self.children
        moved = first._replace(space=space) if isinstance(first, Token) else first.with_space(space)
        return evolve(self, children=(moved, *rest))

    def words(self) -> list[bytes]:
        """Return its words."""
        return self.plain.translate(None, _OPEN + _CLOSE).split(_BETWEEN)

    def walk(self) -> Iterator["Node"]:
        """Yield it and every construct in it."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()


Element = Node | Token


def same(one: Element, other: Element) -> bool:
    """Whether two constructs say the same, whatever their layout."""
    return one.plain == other.plain


def indented(space: bytes, indent: bytes) -> bytes:
    """Make the indentation in white space relative to *indent*."""
    head, newline, last = space.rpartition(b"\n")
    if not newline:
        return space
    last = last[len(indent) :] if last.startswith(indent) else _ABSOLUTE + last
    return head + newline + last


def relative_lines(word: bytes, indent: bytes) -> bytes:
    """Make the lines of a docstring relative to *indent*."""
    return word.replace(b"\n" + indent, b"\n" + _RELATIVE) if indent else word


def render(element: Element, indent: bytes = b"") -> bytes:
    """Write a construct out."""
    out: list[bytes] = []
    _write(element, indent, out)
    return b"".join(out)


def _write(element: Element, indent: bytes, out: list[bytes]) -> None:
    if isinstance(element, Token):
        space, word, _ = element
        if b"\n" in space:
            head, newline, last = space.rpartition(b"\n")
            space = head + newline + (last[1:] if last[:1] == _ABSOLUTE else indent + last)
        out.append(space)
        out.append(word.replace(b"\n" + _RELATIVE, b"\n" + indent) if b"\n" in word else word)
        return
    inner = indent + element.indent
    behind = len(element.children) - 1
    for i, child in enumerate(element.children):
        _write(child, inner, out)
        if element.mode is Mode.LIST and isinstance(child, Node):
            if child.comma is not None or i < behind:
                out += [child.comma or b"", b","]
            for token in child.tail:
                _write(token, inner, out)
