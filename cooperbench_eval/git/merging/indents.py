"""Chooses where a group of changed lines is shown, by the indentation around its ends.

If the line after a group equals its first line, the group can be moved down without
making the diff wrong. `git diff` and `git blame` then choose the position whose two ends
look most like borders of blocks: before little indentation, next to empty lines. The
weights are those of git, which were found by M. Haggerty with hand-made examples
(https://github.com/mhagger/diff-slider-tools).
"""

from collections.abc import Sequence
from typing import NamedTuple

_MOST_INDENT = 200
_MOST_BLANKS = 20
_MOST_SHIFTS = 100
_TAB = 8

_AT_START = 1
_AT_END = 21
_PER_BLANK = -30
_PER_BLANK_AFTER = 6
_DEEPER = -4
_DEEPER_WITH_BLANK = 10
_OUTER = 24
_OUTER_WITH_BLANK = 17
_SHALLOWER = 23
_SHALLOWER_WITH_BLANK = 17
_PER_INDENT = 60
"""How much penalty outweighs a smaller indentation of the other position."""


class _Score(NamedTuple):
    """How bad a position is: the indentation of both ends, and their penalty."""

    indent: int
    penalty: int

    def is_worse_than(self, other: "_Score") -> bool:
        deeper = (self.indent > other.indent) - (self.indent < other.indent)
        return _PER_INDENT * deeper + self.penalty - other.penalty > 0


def best_end(lines: Sequence[bytes], size: int, first: int, last: int) -> int:
    """Return the best end of a group of *size* lines whose ends may be *first* to *last*."""
    best: tuple[int, _Score] | None = None
    for end in range(max(first, last - size - 1, last - _MOST_SHIFTS), last + 1):
        parts = _split_score(lines, end), _split_score(lines, end - size)
        score = _Score(sum(each.indent for each in parts), sum(each.penalty for each in parts))
        if best is None or not score.is_worse_than(best[1]):
            best = end, score
    return last if best is None else best[0]


def _split_score(lines: Sequence[bytes], at: int) -> _Score:
    """Say how bad it is to split the lines before line *at*."""
    here = _indent(lines[at]) if at < len(lines) else None
    before, blanks_before = _next_indent(lines, range(at - 1, -1, -1))
    after, blanks_after = _next_indent(lines, range(at + 1, len(lines)))
    penalty = 0
    if before is None and not blanks_before:
        penalty += _AT_START
    if at >= len(lines):
        penalty += _AT_END
    following = 1 + blanks_after if here is None else 0
    blanks = blanks_before + following
    penalty += _PER_BLANK * blanks + _PER_BLANK_AFTER * following
    indent = after if here is None else here
    if indent is None:
        return _Score(-1, penalty)
    if before is not None:
        penalty += _step(indent, before, after, has_blanks=bool(blanks))
    return _Score(indent, penalty)


def _step(indent: int, before: int, after: int | None, *, has_blanks: bool) -> int:
    """Return the penalty for a line that is more or less indented than the one before."""
    if indent > before:
        return _DEEPER_WITH_BLANK if has_blanks else _DEEPER
    if indent == before:
        return 0
    if after is not None and after > indent:
        return _OUTER_WITH_BLANK if has_blanks else _OUTER
    return _SHALLOWER_WITH_BLANK if has_blanks else _SHALLOWER


def _next_indent(lines: Sequence[bytes], places: range) -> tuple[int | None, int]:
    """Return the indentation of the next line that is not blank, and the blank ones before it."""
    blanks = 0
    for place in places:
        found = _indent(lines[place])
        if found is not None:
            return found, blanks
        blanks += 1
        if blanks == _MOST_BLANKS:
            return 0, blanks
    return None, blanks


def _indent(line: bytes) -> int | None:
    """Return how many columns a line is indented; `None` if it is blank."""
    indent = 0
    for byte in line:
        if byte == 0x20:  # noqa: PLR2004 - a space
            indent += 1
        elif byte == 0x09:  # noqa: PLR2004 - a tab
            indent += _TAB - indent % _TAB
        elif not bytes((byte,)).isspace():
            return indent
        if indent >= _MOST_INDENT:
            return _MOST_INDENT
    return None
