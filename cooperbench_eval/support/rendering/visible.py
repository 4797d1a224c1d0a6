"""Makes untrusted text safe to show: on one line, nothing hidden, not too long."""

import unicodedata
from collections.abc import Sequence

LONGEST = 300
"""How many characters of a text are shown by default."""

_WIDE = frozenset({"F", "W"})
_ON_TOP = frozenset({"Mn", "Me"})
# Unicode calls these printable, but they are drawn as nothing: blanks, joiners and
# variation selectors.
_BLANK = frozenset(
    {
        *"\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0",
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
    }
)


def visible(text: str, limit: int = LONGEST) -> str:
    r"""Return *text* on one line, with an escape for each character that cannot be seen.

    Characters that cannot be seen are controls, escape sequences, direction marks, soft
    hyphens, lone surrogates, unassigned characters, every space but the plain one, and
    letters and marks that are drawn as nothing, such as variation selectors. A text longer
    than *limit* characters is cut, and a note says how many are left out. The time depends
    on *limit* and not on the length of *text*.

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
    """Return how many terminal columns *text* takes, which must be a result of `visible`.

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
    """Return the first *shown* names, each cut at *longest*, and the number of the others.

    Example:
        >>> cut_list(("a", "b", "c"), 2, 10)
        'a, b and 1 more'
    """
    text = ", ".join(visible(name, longest) for name in names[:shown])
    more = len(names) - shown
    return f"{text} and {more:,} more" if more > 0 else text
