"""The sides of a merge, and the tree that keeps the lines of all of them.

That tree is the result of merging the sides one after another, with both versions of each
conflict. An actual merged tree differs little from it, so a diff of the two finds which
lines are the same with far fewer doubts than a diff of a side with the merged tree.

Git joins conflicts that are close together, so that the lines between them are in both versions.
Whoever merges by hand keeps them once. Therefore there are two such trees.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from attrs import define, evolve, field, frozen

from cooperbench_eval.evaluation.auditing.lines import (
    ABSENT,
    closed,
    inverse,
    lines_of,
    map_lines,
    through,
)
from cooperbench_eval.git.merging.entry_merge import Side, Slot
from cooperbench_eval.git.merging.line_diff import diff_lines
from cooperbench_eval.git.merging.regions import Origin, Region, Texts, find_blocks, find_regions
from cooperbench_eval.git.merging.renames import find_renames
from cooperbench_eval.git.merging.tree_merge import align_versions
from cooperbench_eval.git.trees.entries import Entry, with_mode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

_MOST_COMPARISONS = 100_000
"""If files could be renamed in more ways, only equal files and equal names are paired."""


class SideTree:
    """What a feature changes in the base, with the lines of its files."""

    def __init__(
        self, base: Snapshot, number: int, changes: Changes, *, as_blame: bool = False
    ) -> None:
        """Prepare to diff files as `git diff` does, or as `git blame` does."""
        self._as_blame = as_blame
        self.number = number
        self.changes = changes
        self._base = base
        self._lines: dict[str, list[bytes] | None] = {}
        self._places: dict[str, list[int]] = {}

    def get(self, path: str) -> Entry | None:
        """Return the entry at *path* in the side's tree."""
        if path in self.changes:
            return self.changes[path]
        return self._base.get(path)

    def lines(self, path: str) -> Sequence[bytes]:
        """Return the lines of a text file; none for anything else."""
        if path not in self._lines:
            self._lines[path] = lines_of(self.get(path))
        return self._lines[path] or ()

    @cached_property
    def renames(self) -> Mapping[str, str]:
        """The path in the base of each file that the side renamed."""
        was = {p: self._base.get(p) for p in self.changes}
        return renamed_files(
            {p: e for p, e in was.items() if e and self.changes[p] is None},
            {p: e for p, e in self.changes.items() if e and was[p] is None},
        )

    def base_path(self, path: str) -> str:
        """Return the path in the base of the side's file at *path*."""
        return self.renames.get(path, path)

    def base_places(self, path: str) -> Sequence[int]:
        """Return for each line of a file its place in the base's file."""
        if path not in self._places:
            lines = self.lines(path)
            old = self._base.get(self.base_path(path))
            if old is not None and old == self.get(path):
                self._places[path] = list(range(len(lines)))
            else:
                self._places[path] = map_lines(lines_of(old) or (), lines, as_blame=self._as_blame)
        return self._places[path]

    def added(self, path: str) -> Iterator[int]:
        """Yield the lines of a file that the base lacks, counted from 0."""
        places = self.base_places(path)
        return (line for line, place in enumerate(places) if place == ABSENT)

    def removed(self, path: str) -> Iterator[int]:
        """Yield the lines of the base's file that the side's file at *path* lacks."""
        old = lines_of(self._base.get(self.base_path(path))) or ()
        found = inverse(self.base_places(path), len(old))
        return (line for line, place in enumerate(found) if place == ABSENT)

    def put_for(self, path: str, removed: int) -> Iterator[int]:
        """Yield the lines that the side put in the place of a removed line of the base."""
        places = self.base_places(path)
        before = bisect_left([each for each in places if each != ABSENT], removed)
        kept = [line for line, place in enumerate(places) if place != ABSENT]
        start = kept[before - 1] + 1 if before else 0
        end = kept[before] if before < len(kept) else len(places)
        yield from range(start, end)


def renamed_files(deleted: Mapping[str, Entry], added: Mapping[str, Entry]) -> dict[str, str]:
    """Return the deleted path of each added file that is a renamed one."""

    def find_decided(_: Mapping[str, str], pending: Collection[str]) -> Collection[str]:
        return pending if len(pending) * len(added) > _MOST_COMPARISONS else ()

    found = find_renames(deleted, added, frozenset(deleted), find_decided=find_decided)
    return {new: old for old, new in found.items()}


@define(eq=False)
class ExpectedFile:
    """A file of the expected tree.

    Attributes:
        entry: The entry; the first side's if the sides conflict about a whole file.
        paths: The path of the file in each side that has it, by the side's number.
        places: For each line its place in the side's file, by the side's number.
        disputed: The lines in regions that both sides changed, if `git merge` leaves a
            conflict there.
        others: The versions of the other sides, if the file has no lines that could be merged.
        is_joined: Whether conflicts are joined, so that lines between them occur twice.
    """

    path: str
    entry: Entry
    lines: Sequence[bytes] = ()
    paths: dict[int, str] = field(factory=dict)
    places: Mapping[int, Sequence[int]] = field(factory=dict)
    disputed: set[int] = field(factory=set)
    is_disputed: bool = False
    others: tuple["ExpectedFile", ...] = ()
    is_joined: bool = False


Files = dict[str, ExpectedFile | None]
"""The touched files by path; `None` for a path at which no file is expected."""


def expect(base: Snapshot, sides: Mapping[int, SideTree], *, join: bool = True) -> Files:
    """Merge all sides in their order, and follow their lines; *join* joins close conflicts."""
    files: Files = {}
    seen: list[SideTree] = []
    for side in sides.values():
        files = _Fold(base, files, seen, side, join).run()
        seen.append(side)
    return files


def untouched_file(path: str, entry: Entry, numbers: Sequence[int]) -> ExpectedFile:
    """Return a file that the sides with these numbers have as it is."""
    lines = lines_of(entry) or ()
    whole = range(len(lines))
    return ExpectedFile(
        path, entry, lines, dict.fromkeys(numbers, path), dict.fromkeys(numbers, whole)
    )


@frozen(eq=False)
class _Fold:
    """Adds one side to the files that are expected so far."""

    _base: Snapshot
    _files: Files
    _seen: Sequence[SideTree]
    _side: SideTree
    _joins: bool

    def run(self) -> Files:
        so_far = Changes({p: f.entry if f else None for p, f in _fitting(self._files)})
        slots = align_versions(self._base, so_far, self._side.changes)
        return {path: self._join(path, slots[path]) for path in slots}

    def _join(self, path: str, slot: Slot) -> ExpectedFile | None:
        base, ours, theirs = slot.versions
        if slot.is_gone:
            return None
        if ours is not None and theirs is not None:
            return self._merge(path, slot, ours, theirs)
        present = ours or theirs
        if present is None or (base == present and slot.kind is None):
            return None
        file = (self._earlier if ours else self._later)(path, slot, present)
        file.is_disputed = file.is_disputed or base is not None
        return file

    def _merge(self, path: str, slot: Slot, ours: Entry, theirs: Entry) -> ExpectedFile:
        base = slot.versions[Side.BASE]
        one, other = self._earlier(path, slot, ours), self._later(path, slot, theirs)
        if lines_of(ours) is None or lines_of(theirs) is None:
            kept = other if ours == base else one
            kept.paths = one.paths | other.paths
            if base not in {ours, theirs} and ours != theirs:
                kept.is_disputed = True
                kept.others = (*one.others, other)
            return kept
        mode = theirs.mode if base is not None and ours.mode is base.mode else ours.mode
        texts = lines_of(base) or (), one.lines, other.lines
        rows, disputed, is_joined = _combined(texts, join=self._joins)
        lines = [one.lines[o] if o != ABSENT else other.lines[t] for o, t in rows]
        lines = [*closed(lines[:-1]), *lines[-1:]]  # only the last one may lack its newline
        in_ours, in_theirs = zip(*rows, strict=True) if rows else ((), ())
        places: dict[int, Sequence[int]] = {
            **{number: through(in_ours, each) for number, each in one.places.items()},
            self._side.number: through(in_theirs, other.places[self._side.number]),
        }
        place_of = {o: i for i, (o, _) in enumerate(rows) if o != ABSENT}
        return ExpectedFile(
            path=path,
            entry=with_mode(Entry(b"".join(lines), mode), mode),
            lines=lines,
            paths=one.paths | other.paths,
            places=places,
            disputed=disputed | {place_of[o] for o in one.disputed if o in place_of},
            is_disputed=one.is_disputed,
            is_joined=one.is_joined or is_joined,
        )

    def _earlier(self, path: str, slot: Slot, entry: Entry) -> ExpectedFile:
        """Return the file that is expected so far, at its new path."""
        name = slot.names[Side.OURS]
        file = self._files.get(name)
        if file is None:
            source = self._base.get(name) or entry
            numbers = [side.number for side in self._seen if side.get(name) == source]
            file = untouched_file(name, source, numbers)
        return self._at(path, file, entry)

    def _later(self, path: str, slot: Slot, entry: Entry) -> ExpectedFile:
        """Return the file of the side that is added, at its new path."""
        name, number = slot.names[Side.THEIRS], self._side.number
        file = untouched_file(name, self._side.get(name) or entry, [number])
        return self._at(path, file, entry)

    def _at(self, path: str, file: ExpectedFile, entry: Entry) -> ExpectedFile:
        """Return a file at another path, with the contents that the merge gave it there."""
        lines = lines_of(entry) or ()
        found = evolve(file, path=path, entry=entry, lines=lines, disputed=set(file.disputed))
        if lines == file.lines:
            return found
        # Both sides renamed the file, and git merged the two versions before.
        rows = map_lines(file.lines, lines)
        places = {number: through(rows, each) for number, each in file.places.items()}
        paths = dict(file.paths)
        for side, name in self._versions_of(file):
            paths[side.number], places[side.number] = name, map_lines(side.lines(name), lines)
        held = [i for i in range(len(lines)) if any(each[i] != ABSENT for each in places.values())]
        found.paths = paths
        found.lines = [lines[i] for i in held]
        found.places = {n: [each[i] for i in held] for n, each in places.items()}
        found.disputed = {i for i, line in enumerate(held) if rows[line] in file.disputed}
        return found

    def _versions_of(self, file: ExpectedFile) -> Iterator[tuple[SideTree, str]]:
        """Yield the sides that have the file under another name, with the name."""
        sides = (*self._seen, self._side)
        old = {s.base_path(file.paths[s.number]) for s in sides if s.number in file.paths}
        for side in sides:
            names = [new for new, source in side.renames.items() if source in old]
            if names and side.number not in file.paths:
                yield side, names[0]


def _combined(texts: Texts, *, join: bool) -> tuple[list[tuple[int, int]], set[int], bool]:
    """Merge three texts; a conflict becomes the lines of ours and then those of theirs.

    Returns:
        For each line its place in ours and in theirs, which lines are in conflicts, and whether
        conflicts were joined.
    """
    base, ours, theirs = texts
    diffs = diff_lines(base, ours), diff_lines(base, theirs)
    regions = single = find_regions(texts, *diffs, join=False)
    if join:
        regions = find_regions(texts, *diffs)
    rows: list[tuple[int, int]] = []
    o = t = 0
    for region in regions:
        rows += zip(range(o, region.ours_start), range(t, region.theirs_start), strict=True)
        rows += _rows_of(region)
        o, t = region.ours_end, region.theirs_end
    rows += zip(range(o, len(ours)), range(t, len(theirs)), strict=True)
    if all(region.origin is not Origin.DISPUTED for region in regions):
        return rows, set(), False
    blocks = [block.whole for block in find_blocks(texts, *diffs)]
    ours_disputed = {o for each in blocks for o in range(each.ours_start, each.ours_end)}
    theirs_disputed = {t for each in blocks for t in range(each.theirs_start, each.theirs_end)}
    disputed = {
        line for line, (o, t) in enumerate(rows) if o in ours_disputed or t in theirs_disputed
    }
    return rows, disputed, len(regions) < len(single)


def _rows_of(region: Region) -> Iterator[tuple[int, int]]:
    ours = range(region.ours_start, region.ours_end)
    theirs = range(region.theirs_start, region.theirs_end)
    if region.origin is Origin.BOTH:
        yield from zip(ours, theirs, strict=True)
        return
    if region.origin is not Origin.THEIRS:
        yield from ((o, ABSENT) for o in ours)
    if region.origin is not Origin.OURS:
        yield from ((ABSENT, t) for t in theirs)


def _fitting(files: Files) -> Iterator[tuple[str, ExpectedFile | None]]:
    """Yield the files that one tree can hold: a file gives way to a folder of the same name."""
    above = {
        path[:i] for path, file in files.items() if file for i, c in enumerate(path) if c == "/"
    }
    for path, file in files.items():
        yield path, None if path in above else file
