"""Matches the lines of an expected text with those of the merged text.

A line diff leaves doubts: a missing or added block could often begin a few lines earlier
or later. Among these blocks, one is preferred that consists of whole additions of one side, or
of lines of the base that a side removed.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate

from cooperbench_eval.evaluation.auditing.lines import ABSENT, closed, map_lines, same_lines
from cooperbench_eval.git.merging.line_diff import Change, DiffAlgorithm, diff_lines

Owners = tuple[int, ...]
"""The sides that added a line, in their order; empty for a line of the base."""
_Block = tuple[int, int]
_Fitness = Callable[[int, int], tuple[int, ...]]


def match_texts(
    expected: Sequence[bytes],
    merged: Sequence[bytes],
    owners: Sequence[Owners],
    base: Sequence[bytes],
    base_places: Sequence[int],
) -> tuple[list[int], dict[int, int]]:
    """Find where the lines of a merged text come from.

    *owners* says who added each expected line, and *base_places* where the base has it.

    Returns:
        For each merged line its place in the expected text, and, by the merged line, the places in
        the base of lines that a side removed.
    """
    if not merged or merged[-1:] != base[-1:] or merged[-1:] == expected[-1:]:
        expected, merged, base = closed(expected), closed(merged), closed(base)
    changes = diff_lines(expected, merged, algorithm=DiffAlgorithm.MYERS)
    ghosts = _Ghosts(base, base_places)
    settled = _settled(expected, merged, changes, owners, ghosts)
    places = same_lines(settled, len(merged))
    restored: dict[int, int] = {}
    for change in settled:
        if change.b_start == change.b_end:
            continue
        window = ghosts.between(change.a_start, change.a_end)
        found = map_lines([base[i] for i in window], merged[change.b_start : change.b_end])
        for line, place in enumerate(found, change.b_start):
            if place != ABSENT:
                restored[line] = window[place]
    if ghosts.missing:
        _prefer_base(places, restored, map_lines(base, merged), base_places, len(base))
    return places, restored


def _prefer_base(
    places: list[int],
    restored: dict[int, int],
    in_base: Sequence[int],
    base_places: Sequence[int],
    base_size: int,
) -> None:
    """Let lines come from the base where the merged text is nearer to it than to the expected one.

    If a side moved lines and the merged text has them at their old place, a diff with the
    expected text finds them anyway, and so it does with equal lines that a side added.
    """
    expected_at = {old: line for line, old in enumerate(base_places) if old != ABSENT}
    anchors = [
        (line, place, old)
        for line, (place, old) in enumerate(zip(places, in_base, strict=True))
        if ABSENT not in {place, old} and base_places[place] == old
    ]
    ends = [*anchors, (len(places), len(base_places), base_size)]
    for start, end in zip([(-1, -1, -1), *anchors], ends, strict=True):
        lines = range(start[0] + 1, end[0])
        of_expected, of_base = (end[n] - start[n] - 1 for n in (1, 2))
        if _lacking(lines, places, of_expected) <= _lacking(lines, in_base, of_base):
            continue
        for line in lines:
            old = in_base[line]
            if old != ABSENT:
                places[line] = expected_at.get(old, ABSENT)
                if old not in expected_at:
                    restored[line] = old


def _lacking(lines: range, places: Sequence[int], count: int) -> int:
    """Count the lines that only one text has; the old text has *count* lines there."""
    both = sum(places[line] != ABSENT for line in lines)
    return len(lines) + count - 2 * both


class _Ghosts:
    """The lines of the base that are not expected, because a side removed them."""

    def __init__(self, base: Sequence[bytes], base_places: Sequence[int]) -> None:
        self._base = base
        held, end = set(base_places), len(base)
        self.missing = [i for i in range(end) if i not in held]
        # The last line of the base before each expected line, and the first one at or after it.
        self._before = list(accumulate(base_places, max, initial=ABSENT))
        after = (end if place == ABSENT else place for place in reversed(base_places))
        self._after = list(accumulate(after, min, initial=end))[::-1]

    def between(self, start: int, end: int) -> list[int]:
        """Return those that were around the expected lines from *start* up to *end*."""
        first = bisect_left(self.missing, self._before[start])
        last = bisect_left(self.missing, self._after[end])
        return self.missing[first:last]

    def count_among(self, lines: Sequence[bytes], at: int) -> int:
        """Count those of *lines*, added before expected line *at*, that were there."""
        there = Counter(self._base[i] for i in self.between(at, at))
        return (there & Counter(lines)).total() if there else 0


def _settled(
    expected: Sequence[bytes],
    merged: Sequence[bytes],
    changes: Sequence[Change],
    owners: Sequence[Owners],
    ghosts: _Ghosts,
) -> list[Change]:
    """Move each missing or added block to where it fits best."""
    found: list[Change] = []
    for i, change in enumerate(changes):
        a_start, a_end, b_start, b_end = change
        after = changes[i + 1] if i + 1 < len(changes) else None
        shift = 0
        if b_start == b_end:
            bounds = found[-1].a_end if found else 0, after.a_start if after else len(expected)
            shift = _shift(expected, (a_start, a_end), bounds, _fit_to_owners(owners))
        elif a_start == a_end:
            bounds = found[-1].b_end if found else 0, after.b_start if after else len(merged)
            fit = _fit_to_ghosts(merged, ghosts, a_start - b_start)
            shift = _shift(merged, (b_start, b_end), bounds, fit)
        found.append(Change(*(each + shift for each in change)))
    return found


def _shift(lines: Sequence[bytes], block: _Block, bounds: _Block, fitness: _Fitness) -> int:
    """Return by how many lines a block should move; equal lines must remain around it."""
    first, last = block
    start, end = first, last
    while start > bounds[0] and lines[start - 1] == lines[end - 1]:
        start, end = start - 1, end - 1
    highest = start
    best, most = first, fitness(first, last)
    while True:
        found = fitness(start, end)
        if found > most:
            best, most = start, found
        if end >= bounds[1] or lines[start] != lines[end] or start - highest > len(lines):
            return best - first
        start, end = start + 1, end + 1


def _fit_to_owners(owners: Sequence[Owners]) -> _Fitness:
    def fitness(start: int, end: int) -> tuple[int, ...]:
        added = [each for each in owners[start:end] if each]
        starts_new = start == 0 or owners[start - 1] != owners[start]
        ends_whole = end == len(owners) or owners[end - 1] != owners[end]
        return len(added), -len(set(added)), starts_new + ends_whole

    return fitness


def _fit_to_ghosts(merged: Sequence[bytes], ghosts: _Ghosts, shift: int) -> _Fitness:
    def fitness(start: int, end: int) -> tuple[int, ...]:
        return (ghosts.count_among(merged[start:end], start + shift),)

    return fitness
