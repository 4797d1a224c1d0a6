"""Makes texts of others fit to be shown: nothing in them is hidden, obeyed or endless."""

import unicodedata
from collections.abc import Sequence

__all__ = ["LONGEST", "cut_list", "visible", "width_of"]

LONGEST = 300
"""How many characters are shown of a text."""

_WIDE = frozenset({"F", "W"})
_ON_TOP = frozenset({"Mn", "Me"})
# Printable by their category, and drawn as nothing: blanks, joiners and variation selectors.
_BLANK = frozenset(
    {
        *"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0",
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
    }
)


def visible(text: str, limit: int = LONGEST) -> str:
    r"""Return *text* on one line, with what cannot be seen as escapes.

    These are control characters, escape sequences, direction marks, soft hyphens, halves
    of pairs, unassigned characters, every space but the plain one, and letters and marks
    that are drawn as nothing, as variation selectors. What is longer than *limit* is cut,
    and it is said how much is left out. However long *text* is, it takes no longer than
    *limit* asks for.

    Example:
        >>> visible("a\tb\x1b[31m\u202e")
        'a\\tb\\x1b[31m\\u202e'
        >>> visible("x" * 1_000_000, 10)
        'xxxxxxxxxx… (999,990 more characters)'
    """
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    left = limit
    for number, character in enumerate(text):
        is_seen = character.isprintable() and character not in _BLANK
        piece = character if is_seen else _escaped(character)
        left -= len(piece)
        if left < 0:
            return f"{''.join(shown)}… ({len(text) - number:,} more characters)"
        shown.append(piece)
    return "".join(shown)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def width_of(text: str) -> int:
    """Return how many columns of a terminal *text* takes, to line up what has none left.

    Example:
        >>> width_of("abc"), width_of("\u6f22"), width_of("e\u0301")
        (3, 2, 1)
    """
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(each) in _WIDE else 1
        for each in text
        if unicodedata.category(each) not in _ON_TOP
    )


def cut_list(names: Sequence[str], shown: int, longest: int) -> str:
    """Return the first few of *names* as one text, and how many there are besides.

    Args:
        names: The names.
        shown: How many of them are named.
        longest: How many characters of each.

    Example:
        >>> cut_list(("a", "b", "c"), 2, 10)
        'a, b and 1 more'
    """
    text = ", ".join(visible(name, longest) for name in names[:shown])
    more = len(names) - shown
    return f"{text} and {more:,} more" if more > 0 else text
