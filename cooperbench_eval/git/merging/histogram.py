"""Line diff by the histogram of line occurrences, as `git merge` uses it.

Histogram diff extends B. Cohen's patience diff: it anchors on the rarest lines
that both files share, not only on unique ones. It was first written for JGit by
S. Pearce; the rules below state what `git diff --histogram` can be seen to do.

In a region of both files, the lines of *b* are visited in order. If a line also
occurs in *a*, each of its occurrences there is extended to the longest run of equal
lines; occurrences inside a run that was just found are skipped. The search in *b*
goes on after the furthest of these runs. The rarity of a run is the lowest number
of occurrences, in the region of *a*, of any of its lines. A run that is longer or
rarer than the best one so far replaces it, and lines with more occurrences than the
best run's rarity are no longer tried. The lines of the best run are unchanged, and
the regions before and after it are processed in the same way. If all shared lines
are too frequent to anchor anything, Myers's algorithm takes over.

Unlike Myers's algorithm, this one does not first remove the lines that the files
share at their start and end: these lines can decide which run is best.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from cooperbench_eval.git.merging import myers

_MAX_RARITY = 64
"""Runs whose lines all occur more often never anchor a region."""
_SCANS = 8
"""How many scans of a whole file cost about as much as building a table of its lines."""
_FEW_LINES = 32
"""The lines of a region with fewer in *a* are counted at once."""
_PROBES = 4
"""How many lines in the middle of a region are looked up before all lines are counted."""
_SMALL_SHARE = 16
"""A part reuses its region's counts if fewer lines were cut off than 1/16 of its own."""

_Run = tuple[int, int, int]
"""Consecutive equal lines: their start in *a*, their start in *b*, and their number."""


def mark_changes(a: Sequence[bytes], b: Sequence[bytes]) -> tuple[bytearray, bytearray]:
    """Mark the lines of *a* that *b* lacks, and those of *b* that *a* lacks.

    The result has one byte for each line of *a* and of *b*: 1 if it changed, else 0. The unchanged
    lines of both are equal and in the same order.
    """
    diff = _Diff(a, b)
    diff.solve()
    return diff.a_changed, diff.b_changed


class _Region(NamedTuple):
    """A range of lines of each file.

    Attributes:
        counts: The number of times each line occurs in the range of *a*, if known.
        longest: An upper bound for the length of runs of rarity 1, if known.
    """

    a_start: int
    a_end: int
    b_start: int
    b_end: int
    counts: dict[bytes, int] | None = None
    longest: int | None = None


class _Index:
    """Finds the occurrences of a line in a file.

    The first few searches scan the file. Later ones use a table.
    """

    __slots__ = ("_lines", "_places", "_scannable")

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines
        self._places: defaultdict[bytes, list[int]] = defaultdict(list)
        self._scannable = _SCANS * len(lines)

    def find(self, line: bytes, occurrences: int, start: int, end: int) -> list[int]:
        """List where *line* is in a range that is known to have *occurrences* of it."""
        if self._scannable <= 0:
            return self.look_up(line, start, end)
        places = []
        place = start - 1
        for _ in range(occurrences):
            place = self._lines.index(line, place + 1, end)
            places.append(place)
        self._scannable -= place - start
        return places

    def find_only(self, line: bytes, start: int, end: int, near: int) -> int:
        """Return where *line* is in a range that contains it once; search first from *near* on."""
        if self._scannable <= 0:
            return self.look_up(line, start, end)[0]
        try:
            place = self._lines.index(line, near, end)
            self._scannable -= place - near
        except ValueError:
            place = self._lines.index(line, start, near)
            self._scannable -= end - near + place - start
        return place

    def look_up(self, line: bytes, start: int, end: int) -> list[int]:
        """List where *line* is in a range, in order."""
        if not self._places:
            for i, each in enumerate(self._lines):
                self._places[each].append(i)
        places = self._places.get(line, [])
        return places[bisect_left(places, start) : bisect_left(places, end)]


class _Diff:
    def __init__(self, a: Sequence[bytes], b: Sequence[bytes]) -> None:
        self._a, self._b = a, b
        self._a_index, self._b_index = _Index(a), _Index(b)
        self.a_changed, self.b_changed = bytearray(len(a)), bytearray(len(b))

    def solve(self) -> None:
        # A list instead of Python's stack: regions may nest as deep as there are lines.
        regions = [_Region(0, len(self._a), 0, len(self._b))]
        while regions:
            region = regions.pop()
            a_start, a_end, b_start, b_end, counts, _ = region
            if a_start < a_end and b_start < b_end:
                if counts is None:
                    if run := self._middle_run(region):
                        regions += _around(region, run)
                        continue
                    counts = self._counts(a_start, a_end)
                run, rarity = self._best_run(region, counts)
                if rarity > _MAX_RARITY:
                    self._fall_back(region)
                    continue
                if run:
                    regions += self._cut(region, counts, run, rarity)
                    continue
            self.a_changed[a_start:a_end] = b"\1" * (a_end - a_start)
            self.b_changed[b_start:b_end] = b"\1" * (b_end - b_start)

    def _middle_run(self, region: _Region) -> _Run | None:
        """Find the best run without counting lines, if it is most of a large region.

        A line is looked for that is unique in *a*, in the middle of *b*. The full search finds
        its run, because no other run has this line. Before that it finds only runs that end
        before this line, and later only runs of rarity 1, which start after it. So the run is
        the best one if it is longer than both of these parts of *b*.
        """
        a_start, a_end, b_start, b_end, _, _ = region
        if a_end - a_start < _FEW_LINES:
            return None
        lines = self._a[a_start:a_end]
        middle = (b_start + b_end) // 2
        for j in range(middle, min(middle + _PROBES, b_end)):
            line = self._b[j]
            if lines.count(line) == 1:
                run = self._grow(region, a_start + lines.index(line), j)
                return run if run[2] > max(j - b_start, b_end - j) else None
        return None

    def _counts(self, start: int, end: int) -> dict[bytes, int]:
        lines = self._a[start:end]
        counts = dict.fromkeys(lines, 1)
        return counts if len(counts) == len(lines) else Counter(lines)

    def _best_run(self, region: _Region, counts: dict[bytes, int]) -> tuple[_Run | None, int]:
        """Find the run that anchors a region, and its rarity.

        The rarity is 0 if the two files share no line in the region. It is above the
        limit if all shared lines are too frequent to anchor the region.
        """
        b, get = self._b, counts.get
        j = region.b_start
        is_shared = False
        while j < region.b_end and (occurrences := get(b[j], 0)) != 1:
            is_shared = is_shared or occurrences > 0
            j += 1
        if j == region.b_end and not is_shared:
            return None, 0
        run = self._best_of_rarity_1(region, counts, j) if j < region.b_end else None
        return (run, 1) if run else self._search(region, counts)

    def _best_of_rarity_1(
        self, region: _Region, counts: dict[bytes, int], first: int
    ) -> _Run | None:
        """Find the best run if it is certain to be of rarity 1, without a full search.

        A line of *b* that is unique in *a* belongs to only one run. So runs of rarity 1 do not make
        the full search skip each other. It finds them in their order in *b*, and tries only unique
        lines once the best run is of rarity 1.

        The full search can lose only the first of them: it may find it at a frequent line before
        the first unique one, together with other runs, and a longer one of these replaces it. But
        those runs end before that unique line.
        """
        b, get, find_only, grow = self._b, counts.get, self._a_index.find_only, self._grow
        a_start, a_end, b_start, b_end, _, longest = region
        best = start, b_run_start, size = grow(
            region, find_only(b[first], a_start, a_end, a_start), first
        )
        if b_run_start < first and size < first - b_start:
            return None
        j, near, best_size = b_run_start + size, start + size, size
        while j < b_end and best_size != longest:
            if get(b[j]) != 1:
                j += 1
                continue
            run = start, b_run_start, size = grow(region, find_only(b[j], a_start, a_end, near), j)
            if size > best_size:
                best, best_size = run, size
            j, near = b_run_start + size, start + size
        return best

    def _search(self, region: _Region, counts: dict[bytes, int]) -> tuple[_Run | None, int]:
        """Find the best run of a region by trying every line that is not too frequent."""
        a, b, get, find, grow = self._a, self._b, counts.get, self._a_index.find, self._grow
        a_start, a_end, b_start, b_end, _, longest = region
        best, best_size, rarity = None, 1, _MAX_RARITY + 1
        j = b_start
        while j < b_end:
            line, next_j = b[j], j + 1
            occurrences = get(line, 0)
            if not 0 < occurrences <= rarity:
                j = next_j
                continue
            passed = a_start
            for i in find(line, occurrences, a_start, a_end):
                if i < passed:
                    continue
                run, size, rarest = (i, j, 1), 1, occurrences
                if (i > a_start and j > b_start and a[i - 1] == b[j - 1]) or (
                    i + 1 < a_end and j + 1 < b_end and a[i + 1] == b[j + 1]
                ):
                    run = run_start, b_run_start, size = grow(region, i, j)
                    passed = run_start + size
                    next_j = max(next_j, b_run_start + size)
                    rarest = min(map(counts.__getitem__, a[run_start:passed]))
                if size > best_size or rarest < rarity:
                    best, best_size, rarity = run, size, rarest
            if rarity == 1 and best_size == longest:
                break
            j = next_j
        return best, rarity

    def _grow(self, region: _Region, i: int, j: int) -> _Run:
        """Extend the equal lines at *i* and *j* in both directions, within the region."""
        a_start, a_end, b_start, b_end, _, _ = region
        before = _equal_before(self._a, i, self._b, j, min(i - a_start, j - b_start))
        after = _equal_after(self._a, i, self._b, j, min(a_end - i, b_end - j))
        return i - before, j - before, before + after

    def _cut(
        self, region: _Region, counts: dict[bytes, int], run: _Run, rarity: int
    ) -> tuple[_Region, _Region]:
        """Return the regions before and after the best run.

        The larger part inherits the counts of the whole if it is only a little
        smaller. Without that, a file with a change on every other line would be
        counted again for each change.
        """
        a_start, a_end, _, _, _, _ = region
        i, _, size = run
        before, after = _around(region, run)
        longest = size if rarity == 1 else 0
        if (after.a_start - a_start) * _SMALL_SHARE < a_end - after.a_start:
            after = self._inherit(after, counts, self._a[a_start : after.a_start], longest)
        elif (a_end - i) * _SMALL_SHARE < i - a_start:
            before = self._inherit(before, counts, self._a[i:a_end], longest)
        return before, after

    def _inherit(
        self, part: _Region, counts: dict[bytes, int], removed: Sequence[bytes], longest: int
    ) -> _Region:
        """Return *part* with the counts of the whole, less the *removed* lines.

        Its bound for runs of rarity 1 stays *longest*, unless a longer run contains a
        line that the removal made unique.
        """
        for line in removed:
            counts[line] -= 1
        for line in set(removed):
            if counts[line] == 1 and (
                places := self._b_index.look_up(line, part.b_start, part.b_end)
            ):
                i = self._a_index.find_only(line, part.a_start, part.a_end, part.a_start)
                longest = max(longest, *(self._grow(part, i, j)[2] for j in places))
        return part._replace(counts=counts, longest=longest)

    def _fall_back(self, region: _Region) -> None:
        a = slice(region.a_start, region.a_end)
        b = slice(region.b_start, region.b_end)
        self.a_changed[a], self.b_changed[b] = myers.mark_changes(self._a[a], self._b[b])


def _around(region: _Region, run: _Run) -> tuple[_Region, _Region]:
    a_start, a_end, b_start, b_end, _, _ = region
    i, j, size = run
    return _Region(a_start, i, b_start, j), _Region(i + size, a_end, j + size, b_end)


def _equal_after(a: Sequence[bytes], i: int, b: Sequence[bytes], j: int, room: int) -> int:
    """Count the consecutive equal lines from *i* and *j* on; the first is known to be equal.

    Slices are compared, each twice as long as the one before, until one differs.
    Halved slices then find the first difference.
    """
    size, step = 1, 1
    while step <= room - size and a[i + size : i + size + step] == b[j + size : j + size + step]:
        size += step
        step *= 2
    while step := step // 2:
        if step <= room - size and (a[i + size : i + size + step] == b[j + size : j + size + step]):
            size += step
    return size


def _equal_before(a: Sequence[bytes], i: int, b: Sequence[bytes], j: int, room: int) -> int:
    size, step = 0, 1
    while step <= room - size and a[i - size - step : i - size] == b[j - size - step : j - size]:
        size += step
        step *= 2
    while step := step // 2:
        if step <= room - size and (a[i - size - step : i - size] == b[j - size - step : j - size]):
            size += step
    return size
