"""Follows the lines of the expected tree into an actual merged tree, and back.

Files are paired by their paths, and renamed ones by their contents. A line diff of their texts
leaves doubts: a missing or added block could often begin a few lines earlier or later. Among these
blocks, one is preferred that consists of whole additions of one side, or of lines of the base that
a side removed.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from attrs import define, field

from cooperbench_eval.evaluation.auditing.expected import (
    ExpectedFile,
    Files,
    SideTree,
    expect,
    renamed_files,
    untouched_file,
)
from cooperbench_eval.evaluation.auditing.lines import (
    ABSENT,
    closed,
    inverse,
    lines_of,
    map_lines,
    same_lines,
)
from cooperbench_eval.git.merging.line_diff import Change, DiffAlgorithm, diff_lines
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

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


# --- files ---


@define(eq=False, slots=False)
class TrackedFile:
    """A file of the merged tree with the expected one that it corresponds to.

    Attributes:
        path: The path in the merged tree; that of the expected file if the merged tree
            lacks it.
        entry: The merged entry; `None` if there is none.
        owners: Who added each expected line.
        restored: The places in the base of merged lines that a side removed, by the merged line.
    """

    path: str
    entry: Entry | None
    expected: ExpectedFile | None
    lines: Sequence[bytes]
    base_path: str
    owners: Sequence[Owners]
    base_places: Sequence[int]
    expected_places: list[int]
    restored: dict[int, int] = field(factory=dict)

    @property
    def expected_lines(self) -> Sequence[bytes]:
        """The lines that are expected; none if no file is expected."""
        return self.expected.lines if self.expected else ()

    @property
    def paths(self) -> Mapping[int, str]:
        """The path of the expected file in each side that has it, by the side's number."""
        return self.expected.paths if self.expected else {}

    @cached_property
    def merged_places(self) -> Sequence[int]:
        """For each expected line its place in the merged file."""
        return inverse(self.expected_places, len(self.expected_lines))

    @property
    def missing(self) -> Iterator[int]:
        """The expected lines without a counterpart in the merged file."""
        return (line for line, place in enumerate(self.merged_places) if place == ABSENT)

    @property
    def gaps(self) -> Iterator[tuple[list[int], list[int]]]:
        """The missing and the foreign lines between lines that are in both texts."""
        foreign: list[int] = []
        ahead = set(self.foreign)
        before = -1
        for line, place in enumerate([*self.expected_places, len(self.owners)]):
            if place == ABSENT:
                if line in ahead:
                    foreign.append(line)
                continue
            if foreign:
                yield list(range(before + 1, place)), foreign
            foreign, before = [], place

    @cached_property
    def replaced(self) -> Mapping[int, Sequence[int]]:
        """The missing lines at the place of each foreign line."""
        return {line: missing for missing, foreign in self.gaps for line in foreign}

    @property
    def foreign(self) -> Iterator[int]:
        """The merged lines that are neither expected nor restored."""
        places = enumerate(self.expected_places)
        return (line for line, place in places if place == ABSENT and line not in self.restored)


@define(eq=False)
class Tracking:
    """A merged tree with its sides, by number in the order in which they were merged.

    *files* are those that a side or the merge touches, by path. *deleted* are the paths of the base
    that the merged tree lacks, without renamed files.
    """

    base: Snapshot
    merged: Snapshot
    sides: Mapping[int, SideTree]
    files: tuple[TrackedFile, ...]
    deleted: tuple[str, ...]


def track(
    base: Snapshot,
    sides: Mapping[int, Changes],
    merged: Changes,
    *,
    as_blame: bool = False,
) -> Tracking:
    """Find the lines of *sides* in a merged tree.

    With *as_blame*, the base's lines of a side are found as `git blame` does it, not as `git diff`
    does.
    """
    trees = {n: SideTree(base, n, changes, as_blame=as_blame) for n, changes in sides.items()}
    tree = base.overlay(merged)
    changed = Changes.between(base, tree)
    found = _pairs(base, tree, changed, trees)

    def tracked(path: str, file: ExpectedFile | None) -> TrackedFile:
        entry = tree.get(path)
        lines = lines_of(entry) or []
        if file is None:
            return TrackedFile(path, entry, None, lines, path, (), (), [ABSENT] * len(lines))
        names = (trees[number].base_path(name) for number, name in file.paths.items())
        old = next(names, file.path)
        owners, base_places = _owners(file, trees)
        restored: dict[int, int] = {}
        if list(file.lines) == lines:
            places = list(range(len(lines)))
        else:
            old_lines = lines_of(base.get(old)) or ()
            places, restored = match_texts(file.lines, lines, owners, old_lines, base_places)
        return TrackedFile(path, entry, file, lines, old, owners, base_places, places, restored)

    files = tuple(tracked(*each) for each in sorted(found.items()))
    kept = {file.base_path for file in files if file.entry is not None and file.expected}
    gone = (path for path, entry in changed.items() if entry is None)
    return Tracking(base, tree, trees, files, tuple(path for path in gone if path not in kept))


def _pairs(
    base: Snapshot, tree: Snapshot, changed: Changes, sides: Mapping[int, SideTree]
) -> dict[str, ExpectedFile | None]:
    """Return the expected file for each path of the merged tree that anyone touches."""
    expected = _nearest(tree, expect(base, sides), base, sides)
    renames = {old: new for side in sides.values() for new, old in side.renames.items()}
    touched = {path for side in sides.values() for path in side.changes}
    found: dict[str, ExpectedFile | None] = {}
    for path in sorted({*expected, *changed}):
        found[path] = expected.get(path)
    entries = {path: tree.get(path) for path in found}
    for path, old in ((path, base.get(path)) for path in [*found]):
        new = renames.get(path)
        if found.get(path) or old is None or (path in touched and not entries[path]):
            continue
        if new and found.get(new) and not entries[new]:
            found[path] = found.pop(new)  # a side renamed the file, and the merged tree did not
        else:
            # If a side removed or renamed it, the merged tree has it again.
            found[path] = untouched_file(path, old, () if path in touched else tuple(sides))
    lacking = {p: f.entry for p, f in found.items() if f and entries[p] is None}
    added = {p: e for p, e in entries.items() if e and found[p] is None}
    for new, old_path in renamed_files(lacking, added).items():
        found[new] = found.pop(old_path)
    for path, entry in entries.items():
        if entry is not None and path in found:
            found[path] = _like(entry, found[path]) or _copy(entry, sides)
    return {path: file for path, file in found.items() if file or entries.get(path)}


def _nearest(tree: Snapshot, files: Files, base: Snapshot, sides: Mapping[int, SideTree]) -> Files:
    """Return each file with conflicts joined or not, whichever is nearer to the merged tree."""
    if not any(file and file.is_joined for file in files.values()):
        return files
    single = expect(base, sides, join=False)
    found = dict(files)
    for path, file in files.items():
        lines, other = lines_of(tree.get(path)), single.get(path)
        if file and file.is_joined and other and lines is not None:
            found[path] = min((other, file), key=lambda each: _distance(each.lines, lines))
    return found


def _distance(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    changes = diff_lines(one, other)
    return sum(a_end - a_start + b_end - b_start for a_start, a_end, b_start, b_end in changes)


def _like(entry: Entry, file: ExpectedFile | None) -> ExpectedFile | None:
    """Return the version of a file that equals *entry*, or the file if none does."""
    if file is None:
        return None
    return next((each for each in file.others if each.entry == entry), file)


def _copy(entry: Entry, sides: Mapping[int, SideTree]) -> ExpectedFile | None:
    """Return a side's file with these contents, which the merged tree has at another path."""
    for number, side in sides.items():
        for path, known in side.changes.items():
            if known == entry:
                return untouched_file(path, known, [number])
    return None


def _owners(file: ExpectedFile, sides: Mapping[int, SideTree]) -> tuple[list[Owners], list[int]]:
    """Return who added each line of a file, and the places of the others in the base.

    A line is the base's if no side's own diff adds it. If all of them took it over, but
    from different places, the first side's place counts.
    """
    if not file.places:
        return [()] * len(file.lines), list(range(len(file.lines)))
    held = [
        (number, places, sides[number].base_places(file.paths[number]))
        for number, places in file.places.items()
    ]
    owners: list[Owners] = []
    found = []
    for line in range(len(file.lines)):
        added: list[int] = []
        base = ABSENT
        for number, places, base_places in held:
            place = places[line]
            if place == ABSENT:
                continue
            if base_places[place] == ABSENT:
                added.append(number)
            elif base == ABSENT:
                base = base_places[place]
        owners.append(tuple(added))
        found.append(ABSENT if added else base)
    return owners, found
