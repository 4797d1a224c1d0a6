"""Where settled text stands in another merge, and whether it could stand elsewhere.

Texts that follow one another have one place each in a larger text where the first
places that they can have, sought from the front, are the last ones, sought from the
back: every other choice lies between these. Where the two differ nobody knows which
is meant.

Lines that no diff shows are wildcards: each may be the same as any other line. What has
one place as texts with placeholders is therefore sought again with wildcards. That is
done naively, line by line, for there are few such lines to move; where it takes
long, nothing is said to have one place.
"""

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Final

__all__ = ["find_in_order", "lines_of"]

_MOST_LINES: Final = 200_000
_MOST_COMPARISONS: Final = 1_000_000


def lines_of(text: str) -> list[str]:
    r"""Cut a text behind each ``\n``, and nowhere else."""
    return StringIO(text).readlines()


def find_in_order(
    needles: Sequence[str], text: str, gaps: Mapping[str, int]
) -> list[int | None] | None:
    """Find texts that stand in *text*, one behind the other.

    They are sought as whole lines first, then anywhere.

    Args:
        needles: The texts.
        text: Where they are sought.
        gaps: What stands for lines that no diff shows, with how many these are.

    Returns:
        Where each of them stands; `None` for one that may stand at several places.
        `None` if they do not all stand there.
    """
    for edge in ("\n", ""):
        edged = [edge + needle for needle in needles]
        first = _first_places(edged, edge + text, overlap=len(edge))
        if first is not None:
            last = _last_places(edged, edge + text, overlap=len(edge))
            stay = _cannot_move(needles, text, gaps, within_lines=not edge)
            return [
                one if one == two and stays else None
                for one, two, stays in zip(first, last, stay, strict=True)
            ]
    return None


def _first_places(needles: Iterable[str], text: str, *, overlap: int) -> list[int] | None:
    found = []
    at = 0
    for needle in needles:
        at = text.find(needle, at)
        if at < 0:
            return None
        found.append(at)
        at += len(needle) - overlap
    return found


def _last_places(needles: Sequence[str], text: str, *, overlap: int) -> list[int]:
    # Backwards, as `str.rfind` takes quadratic time where `str.find` takes linear.
    backwards = [needle[::-1] for needle in reversed(needles)]
    found = _first_places(backwards, text[::-1], overlap=overlap) or []
    ends = [len(text) - at for at in reversed(found)]
    return [end - len(needle) for end, needle in zip(ends, needles, strict=True)]


def _cannot_move(
    needles: Iterable[str], text: str, gaps: Mapping[str, int], *, within_lines: bool
) -> list[bool]:
    """Say of each text whether it has one place, whatever the gaps' lines are.

    Args:
        needles: The texts, which stand in *text* in this order.
        text: Where they stand.
        gaps: As for `find_in_order`.
        within_lines: Whether any of the texts may begin within a line.
    """
    cut = [lines_of(needle) for needle in needles]
    have_gaps = [not gaps.keys().isdisjoint(lines) for lines in cut]
    if not any(have_gaps):
        return [True] * len(cut)
    lines = lines_of(text)
    if sum(gaps.get(line, 1) for line in lines) > _MOST_LINES:
        return [False] * len(cut)
    search = _WildcardSearch(_with_wildcards(lines, gaps))
    sought = [
        (_with_wildcards(each, gaps), within_lines or has_gap)
        for each, has_gap in zip(cut, have_gaps, strict=True)
    ]
    try:
        return search.have_one_place(sought)
    except _GivenUpError:
        return [False] * len(cut)


# A line; `None` is a wildcard.
_Lines = list[str | None]


def _with_wildcards(lines: Iterable[str], gaps: Mapping[str, int]) -> _Lines:
    out: _Lines = []
    for line in lines:
        out += [None] * gaps[line] if line in gaps else [line]
    return out


class _GivenUpError(Exception):
    """The search takes too long, or finds nothing."""


class _WildcardSearch:
    """The search for lines among others, either of which may be wildcards."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self._comparisons = 0

    def have_one_place(self, sought: Sequence[tuple[_Lines, bool]]) -> list[bool]:
        """Say of each whether its first and its last possible place are one.

        Args:
            sought: What is sought, in order, and whether it may begin within a line.

        Raises:
            _GivenUpError: It would take too long.
        """
        size = len(self._lines)
        first, at = [], 0
        for needle, within in sought:
            at = self._seek(needle, range(at, size - len(needle) + 1), within=within)
            first.append(at)
            at += len(needle)
        last, at = [], size
        for needle, within in reversed(sought):
            at = self._seek(needle, range(at - len(needle), -1, -1), within=within)
            last.append(at)
        return [one == two for one, two in zip(first, reversed(last), strict=True)]

    def _seek(self, needle: _Lines, places: range, *, within: bool) -> int:
        """Return the first of *places* where the lines may stand."""
        for at in places:
            if self._may_stand(needle, at, within=within):
                return at
        raise _GivenUpError

    def _may_stand(self, needle: _Lines, at: int, *, within: bool) -> bool:
        for i, line in enumerate(needle, at):
            self._comparisons += 1
            if self._comparisons > _MOST_COMPARISONS:
                raise _GivenUpError
            there = self._lines[i]
            if line is None or there is None or line == there:
                continue
            if not (within and i == at and there.endswith(line)):
                return False
        return True
