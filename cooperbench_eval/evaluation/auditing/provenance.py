"""`provenance` says where each line of a merged tree comes from."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from attrs import frozen

from cooperbench_eval.evaluation import placing
from cooperbench_eval.evaluation.auditing.counterparts import Place, find_moves
from cooperbench_eval.evaluation.auditing.lines import ABSENT
from cooperbench_eval.evaluation.auditing.tracking import TrackedFile, Tracking, track
from cooperbench_eval.evaluation.inputs import (
    GivenSide,
    GivenTree,
    MergedTree,
    read_features,
    read_merged,
)
from cooperbench_eval.evaluation.pairs import TestedGroup
from cooperbench_eval.git.merging.entry_merge import is_binary
from cooperbench_eval.git.merging.line_diff import split_lines
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy
from cooperbench_eval.git.trees.entries import Entry, FileMode, have_same_contents
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting.provenance import (
    FileKind,
    FileProvenance,
    LineRun,
    Origin,
    OriginKind,
    Provenance,
)
from cooperbench_eval.support.arguments import checked

_BASE = Origin(kind=OriginKind.BASE)
_RESOLVER = Origin(kind=OriginKind.RESOLVER)
_MARKER = Origin(kind=OriginKind.MARKER)
_UNKNOWN = Origin(kind=OriginKind.UNKNOWN)
_MARKERS = re.compile(rb"(?:<{7}|>{7}) |={7}\r?\n")
_KINDS = {FileMode.SYMLINK: FileKind.LINK, FileMode.SUBMODULE: FileKind.SUBMODULE}
_Moves = Mapping[Place, Place]


@checked
def provenance(
    base: Snapshot,
    sides: Iterable[GivenSide],
    merged: GivenTree,
    *,
    apply_policy: ApplyPolicy | None = None,
) -> Provenance:
    r"""Say where each line of a merged tree comes from.

    Args:
        base: The tree from which sides without a base of their own start.
        sides: The sides, in the order in which they were merged: `Changes`, patches of *base*
            or results of `apply_patch`, which are numbered by their position, from 1, or
            `Feature` objects.
        merged: The merged tree: a `Snapshot`, `Changes`, a patch of *base*, or the path of a
            folder. It may also be the outcome of `merge`, or the row of a strategy in a
            report. Then lines that the strategy wrote are distinguished from unknown ones.
        apply_policy: How leniently patches are placed.

    Raises:
        ArgumentError: An argument has the wrong type, *sides* is empty, two have the same
            number, or the merge failed.
        PatchError: A patch does not apply to its base, or a branch conflicts with *base*.
        RepositoryError: A file cannot be read, or a branch and *base* are unrelated.

    Example:
        >>> from cooperbench_eval import Entry
        >>> base = Snapshot.from_files({"a": b"1\n2\n3\n"})
        >>> sides = [Changes({"a": Entry(t)}) for t in (b"0\n1\n2\n3\n", b"1\n2\n4\n")]
        >>> found = provenance(base, sides, Changes({"a": Entry(b"0\n1\n2\n4\n")}))
        >>> print(found.annotate("a").decode())
        feature 1 1) 0
        base      2) 1
        base      3) 2
        feature 2 4) 4
        <BLANKLINE>
    """
    features = read_features(base, sides, "sides", None)
    group = TestedGroup(base=base, features=features)
    placed = placing.place(group, apply_policy or ApplyPolicy(), None)
    changes = placing.sides_on(base, placed, "sides")
    return provenance_of(base, changes, read_merged(base, merged, "merged"))


def provenance_of(base: Snapshot, sides: Mapping[int, Changes], merged: MergedTree) -> Provenance:
    """Say where each line of a merged tree comes from; see `provenance`."""
    tracking = track(base, sides, merged.changes, as_blame=True)
    moves = {new: old for old, new in find_moves(tracking.files).items()}
    finder = _Finder(tracking, moves, merged)
    files = [finder.file(each) for each in tracking.files if each.entry is not None]
    files += map(finder.deleted, tracking.deleted)
    return Provenance(
        features=tuple(sides),
        files=sorted(files, key=lambda file: file.path),
        tree=tracking.merged,
    )


@frozen(eq=False)
class _Finder:
    tracking: Tracking
    moves: _Moves
    merged: MergedTree

    def file(self, file: TrackedFile) -> FileProvenance:
        entry = file.entry
        assert entry is not None  # noqa: S101 - the caller ensures it
        kind = _kind_of(entry)
        old = self._base_path(file)
        same = [_same_mode] if kind is FileKind.TEXT else [_same_entry, have_same_contents]
        origins = (self._whole(file, old, entry, each) for each in same)
        return FileProvenance(
            path=file.path,
            kind=kind,
            origin=next(filter(None, origins), _UNKNOWN),
            runs=_runs(self._lines(file)) if kind is FileKind.TEXT else (),
            renamed_from=None if old == file.path else old,
        )

    def deleted(self, path: str) -> FileProvenance:
        by = [n for n, side in self.tracking.sides.items() if side.get(path) is None]
        return FileProvenance(
            path=path, kind=FileKind.DELETED, origin=_by_features(by) if by else _UNKNOWN
        )

    def _base_path(self, file: TrackedFile) -> str:
        if file.expected is None:
            return file.path
        for number, path in file.expected.paths.items():
            old = self.tracking.sides[number].base_path(path)
            return old if self.tracking.base.get(old) is not None else file.path
        return file.expected.path

    def _whole(
        self, file: TrackedFile, old: str, entry: Entry, same: Callable[[Entry, Entry], bool]
    ) -> Origin | None:
        """Return who else has an entry that is the same; `None` for nobody."""

        def has_it(other: Entry | None) -> bool:
            return other is not None and same(other, entry)

        if has_it(self.tracking.base.get(old)):
            return _BASE
        by = [n for n, path in file.paths.items() if has_it(self.tracking.sides[n].get(path))]
        return _by_features(by) if by else None

    def _lines(self, file: TrackedFile) -> Iterator[Origin]:
        markers = set(self._markers(file.path))
        written = self._written(file)
        for line, place in enumerate(file.expected_places):
            if line in markers:
                yield _MARKER
            elif place != ABSENT:
                yield _by_features(file.owners[place])
            elif line in file.restored:
                yield _BASE
            elif (file, line) in self.moves:
                source, expected = self.moves[file, line]
                yield _by_features(source.owners[expected])
            else:
                is_marker = self.merged.has_markers and _MARKERS.match(file.lines[line])
                yield _MARKER if is_marker else _RESOLVER if line in written else _UNKNOWN

    def _markers(self, path: str) -> Iterator[int]:
        """Yield the lines of the three markers of each conflict in a file."""
        for conflict in self.merged.conflicts:
            if conflict.path == path and conflict.line is not None:
                first, versions = conflict.line - 1, (conflict.ours, conflict.theirs)
                ours, theirs = (len(split_lines(each or b"")) for each in versions)
                yield from (first, first + 1 + ours, first + 2 + ours + theirs)

    def _written(self, file: TrackedFile) -> set[int]:
        """Return the lines that a strategy wrote in the place of conflicts."""
        expected = file.expected
        if expected is None or not self.merged.has_resolver:
            return set()
        places = file.expected_places
        if expected.is_disputed:
            return set(range(len(places)))
        found: set[int] = set()
        start, before = 0, -1
        for line, place in enumerate([*places, len(expected.lines)]):
            if place == ABSENT:
                continue
            around = range(max(before, 0), place + 1)
            if any(each in expected.disputed for each in around):
                found.update(range(start, line))
            start, before = line + 1, place
        return found


def _kind_of(entry: Entry) -> FileKind:
    if entry.mode in _KINDS:
        return _KINDS[entry.mode]
    return FileKind.BINARY if is_binary(entry.data) else FileKind.TEXT


def _same_mode(one: Entry, other: Entry) -> bool:
    return one.mode is other.mode


def _same_entry(one: Entry, other: Entry) -> bool:
    return one.mode is other.mode and have_same_contents(one, other)


def _by_features(numbers: Sequence[int]) -> Origin:
    if not numbers:
        return _BASE
    kind = OriginKind.SEVERAL if len(numbers) > 1 else OriginKind.FEATURE
    return Origin(kind=kind, features=tuple(numbers))


def _runs(origins: Iterable[Origin]) -> Iterator[LineRun]:
    first = 1
    for origin, lines in groupby(origins):
        last = first + sum(1 for _ in lines) - 1
        yield LineRun(first=first, last=last, origin=origin)
        first = last + 1
