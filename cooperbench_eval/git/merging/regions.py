"""Groups the changes of two sides against one base into regions and conflicts.

All positions are line numbers, as half-open ranges. The changes of both sides against
the base are visited together, in order. Changes that overlap or touch form one region.
A region with changes of both sides is a conflict, unless both made the same change.
Conflicts are then refined: ours is diffed against theirs, so that the lines they share
are no longer disputed. Conflicts that are close together are joined again. The rules
and numbers are those that the behaviour of `git merge` shows.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple

from cooperbench_eval.git.merging.line_diff import Change, DiffAlgorithm, diff_lines

_CLOSE_LINES = 3
"""Conflicts with at most this number of lines between them are joined."""


class Origin(StrEnum):
    """The side from which the lines of the merged text come."""

    OURS = "ours"
    THEIRS = "theirs"
    BOTH = "both"
    """The lines of both sides are equal."""
    DISPUTED = "disputed"
    """The sides conflict."""


class Region(NamedTuple):
    """A range of each of the three texts, and the origin of the merged lines."""

    origin: Origin
    base_start: int
    base_end: int
    ours_start: int
    ours_end: int
    theirs_start: int
    theirs_end: int


class Block(NamedTuple):
    """A disputed region before it was refined, and the refined conflicts in it."""

    whole: Region
    conflicts: tuple[Region, ...]


Texts = tuple[Sequence[bytes], Sequence[bytes], Sequence[bytes]]
"""The lines of base, ours and theirs."""
Diff = Sequence[Change]
"""The changes from base to a side."""


def find_regions(
    texts: Texts,
    ours_changes: Diff,
    theirs_changes: Diff,
    *,
    refine: bool = True,
    join: bool = True,
    algorithm: DiffAlgorithm = DiffAlgorithm.HISTOGRAM,
) -> list[Region]:
    """Find the regions in which a side changed lines, in order.

    Between two regions, ours and theirs have the same lines. To *refine* is to split conflicts at
    the lines that both sides share. To *join* is to join refined conflicts of several regions, as
    git does if they are close together. Those of one region are joined in any case.
    """
    _, ours, theirs = texts
    regions = _walk(ours, theirs, ours_changes, theirs_changes)
    if not refine:
        return list(regions)
    refined: list[Region] = []
    for region in regions:
        parts = [region]
        if region.origin is Origin.DISPUTED:
            parts = _refine(ours, theirs, region, ours_changes, algorithm)
        refined += parts if join else _join(parts)
    return _join(refined) if join else refined


def find_blocks(texts: Texts, ours_changes: Diff, theirs_changes: Diff) -> list[Block]:
    """Group git's conflicts by the region from which they were refined, in order.

    If conflicts of several regions were joined, these regions form one block. The
    arguments are those of `find_regions`.
    """
    _, ours, theirs = texts
    disputed = [
        region
        for region in _walk(ours, theirs, ours_changes, theirs_changes)
        if region.origin is Origin.DISPUTED
    ]
    refined = find_regions(texts, ours_changes, theirs_changes)
    blocks: list[Block] = []
    at = 0  # both lists are in order
    for conflict in (region for region in refined if region.origin is Origin.DISPUTED):
        while not _meet(disputed[at], conflict):
            at += 1
        first = disputed[at]
        while at + 1 < len(disputed) and _meet(disputed[at + 1], conflict):
            at += 1
        conflicts: tuple[Region, ...] = (conflict,)
        if blocks and _meet(blocks[-1].whole, first):
            first, earlier = blocks.pop()
            conflicts = (*earlier, conflict)
        blocks.append(Block(_spanning(first, disputed[at]), conflicts))
    return blocks


def _spanning(first: Region, last: Region) -> Region:
    return first._replace(
        base_end=last.base_end, ours_end=last.ours_end, theirs_end=last.theirs_end
    )


def _meet(one: Region, other: Region) -> bool:
    """Whether two regions overlap or touch, in ours and in theirs."""
    return (
        one.ours_start <= other.ours_end
        and other.ours_start <= one.ours_end
        and one.theirs_start <= other.theirs_end
        and other.theirs_start <= one.theirs_end
    )


def _walk(
    ours: Sequence[bytes],
    theirs: Sequence[bytes],
    ours_changes: Diff,
    theirs_changes: Diff,
) -> Iterator[Region]:
    i = j = ours_shift = theirs_shift = 0
    ours_count, theirs_count = len(ours_changes), len(theirs_changes)
    while i < ours_count or j < theirs_count:
        first_i, first_j = i, j
        if j == theirs_count or (i < ours_count and ours_changes[i][0] <= theirs_changes[j][0]):
            start = end = ours_changes[i].a_start
        else:
            start = end = theirs_changes[j].a_start
        ours_start, theirs_start = start + ours_shift, start + theirs_shift
        while True:
            if i < ours_count and ours_changes[i][0] <= end:
                _, a_end, _, b_end = ours_changes[i]
                ours_shift = b_end - a_end
                i += 1
            elif j < theirs_count and theirs_changes[j][0] <= end:
                _, a_end, _, b_end = theirs_changes[j]
                theirs_shift = b_end - a_end
                j += 1
            else:
                break
            end = max(end, a_end)
        ours_end, theirs_end = end + ours_shift, end + theirs_shift
        if j == first_j:
            origin = Origin.OURS
        elif i == first_i:
            origin = Origin.THEIRS
        elif (
            # Both sides replaced the same base lines by the same new lines.
            i - first_i == j - first_j == 1
            and ours_changes[first_i][:2] == theirs_changes[first_j][:2]
            and ours[ours_start:ours_end] == theirs[theirs_start:theirs_end]
        ):
            # Left out, so that the conflicts before and after it can still be joined.
            continue
        else:
            origin = Origin.DISPUTED
        yield Region(origin, start, end, ours_start, ours_end, theirs_start, theirs_end)


def _refine(
    ours: Sequence[bytes],
    theirs: Sequence[bytes],
    region: Region,
    ours_changes: Diff,
    algorithm: DiffAlgorithm,
) -> list[Region]:
    """Split a conflict at the lines that ours and theirs share."""
    _, _, _, ours_start, ours_end, theirs_start, theirs_end = region
    ours_lines, theirs_lines = ours[ours_start:ours_end], theirs[theirs_start:theirs_end]
    if set(ours_lines).isdisjoint(theirs_lines):  # true for most conflicts
        return [region]
    differences = diff_lines(ours_lines, theirs_lines, algorithm=algorithm)
    if not differences:
        return [region._replace(origin=Origin.BOTH)]
    return [
        Region(
            Origin.DISPUTED,
            _consumed(ours_changes, ours_start + a_start, is_end=False),
            _consumed(ours_changes, ours_start + a_end, is_end=True),
            ours_start + a_start,
            ours_start + a_end,
            theirs_start + b_start,
            theirs_start + b_end,
        )
        for a_start, a_end, b_start, b_end in differences
    ]


def _consumed(changes: Diff, point: int, *, is_end: bool) -> int:
    """Return the base position that corresponds to line *point* of ours.

    Inside a change, the n-th line of ours corresponds to the n-th line of the base.
    Base lines that were removed exactly at *point* come before it if a range ends
    there (*is_end*), and after it if a range starts there.
    """
    bisect = bisect_right if is_end else bisect_left
    i = bisect(changes, point, key=attrgetter("b_start"))
    if not i:
        return point
    a_start, a_end, b_start, b_end = changes[i - 1]
    if point < b_end:
        return min(a_start + point - b_start, a_end)
    return a_end + point - b_end


def _join(regions: list[Region]) -> list[Region]:
    """Join neighbouring conflicts that are close together."""
    joined = regions[:1]
    for region in regions[1:]:
        last = joined[-1]
        is_close = region.ours_start - last.ours_end <= _CLOSE_LINES
        if is_close and last.origin is region.origin is Origin.DISPUTED:
            joined[-1] = _spanning(last, region)
        else:
            joined.append(region)
    return joined
