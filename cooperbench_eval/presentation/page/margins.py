"""The origin of each changed line of a merge, for the margin of its diff.

Most hunks of a merge are those of the features, so their origin needs no search. Only what is
left is followed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from attrs import evolve

from cooperbench_eval.errors import CooperBenchEvalError
from cooperbench_eval.evaluation.auditing.provenance import provenance_of
from cooperbench_eval.evaluation.inputs import MergedTree
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.git.patching.patch_parts import FileChange, FilePatch, Hunk
from cooperbench_eval.presentation.page.sparse import Diff, SparseBase, read_diff
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.reporting.provenance import FileKind, FileProvenance, Origin, OriginKind
from cooperbench_eval.reporting.rows import MergeRow

MOST_LINES = 50_000
"""How many lines of diffs are read for a pair; one takes about 5 microseconds."""
MOST_SEARCHED = 8_000
"""How many of them are searched for; one takes about 20 microseconds, and at worst 200."""
_MOST_BYTES = 100 * MOST_LINES
_NOT_SHOWN = "Where its lines come from is not shown"
_NO_PATCH = f"{_NOT_SHOWN}, because the report does not have both patches."
_OTHER_BASE = f"{_NOT_SHOWN}, because a patch starts from another tree than the merge."
_TOO_LONG = f"{_NOT_SHOWN}, because the diffs are too long."
_MISFIT = f"{_NOT_SHOWN}, because the diffs of the report do not fit together."
_NOBODY = "."
_SIGNS = {
    OriginKind.RESOLVER: "r",
    OriginKind.MARKER: "m",
    OriginKind.UNKNOWN: "u",
}
_BOTH = "b"
_FEATURES = {1: "f", 2: "s"}
_Removed = Mapping[str, set[int]]
Margin = Sequence[Sequence[str]]
"""For each file and hunk of a diff the origins of its changed lines: a letter and how often it
occurs, if more than once, such as `f3s`. The letters are `f` and `s` for the first and the second
feature, `b` for both, `r` for a strategy, `m` for a marker, `u` for unknown, and a dot for a line
of the base that was moved, or that no feature removes."""
_Key: TypeAlias = tuple[int, tuple[bytes, ...]]
"""The place of a hunk in the base, and its lines."""
_Settled: TypeAlias = Mapping[str, Mapping[_Key, tuple[int, ...]]]
"""The features that have a hunk of the merge, by its path and its key."""


class Margins:
    """The margins of the merges of one pair."""

    def __init__(self, report: MergeReport) -> None:
        """Read the features' patches."""
        patches = [each.patch for each in (report.feature1, report.feature2)]
        self._diffs = [each.diff for each in patches if each.diff is not None]
        self._sides: dict[int, Diff] | None = None
        self._room, self._searches = MOST_LINES, MOST_SEARCHED
        self._problem = ""
        if len(self._diffs) < len(patches):
            self._problem = _NO_PATCH
        elif any(each.base_tree_id or each.base_commit for each in patches):
            self._problem = _OTHER_BASE

    def of(self, diff: bytes, attempts: Iterable[MergeRow]) -> tuple[Margin, str]:
        """Return the margin of a merge, or why there is none.

        Args:
            diff: The merge as a diff.
            attempts: The rows that have it.
        """
        if self._problem:
            return (), self._problem
        diffs = [*self._diffs, diff]
        self._room -= sum(each.count(b"\n") for each in diffs)
        if self._room < 0 or sum(map(len, diffs)) > _MOST_BYTES:
            return (), _TOO_LONG
        try:
            if self._sides is None:
                self._sides = dict(enumerate(map(read_diff, self._diffs), start=1))
            is_open = any(each.status is MergeStatus.CONFLICTED for each in attempts)
            margin = self._margin(self._sides, read_diff(diff), is_open=is_open)
        except (CooperBenchEvalError, ValueError):
            return (), _MISFIT
        return ((), _TOO_LONG) if margin is None else (margin, "")

    def _margin(self, sides: Mapping[int, Diff], merge: Diff, *, is_open: bool) -> Margin | None:
        """Return the margin of a merge; `None` if it would take too long.

        Raises:
            CooperBenchEvalError: The diffs do not fit together, or are not those of trees.
        """
        settled = _find_settled(sides, merge)
        rest = _without(merge, settled)
        searched: dict[tuple[str, _Key], str] = {}
        if any(file.hunks for file in rest):
            followed = {number: _without(diff, settled) for number, diff in sides.items()}
            self._searches -= sum(map(_size, [*followed.values(), rest]))
            if self._searches < 0:
                return None
            searched = _search(followed, rest, is_open=is_open)
        return [
            [
                _of_owners(hunk, owners)
                if (owners := settled.get(file.path, {}).get(_key_of(hunk)))
                else searched[file.path, _key_of(hunk)]
                for hunk in file.hunks
            ]
            for file in merge
        ]


def _size(diff: Diff) -> int:
    return sum(len(hunk.lines) for file in diff for hunk in file.hunks)


def _of_owners(hunk: Hunk, owners: Sequence[int]) -> str:
    """Return the margin of a hunk that features have as the merge has it."""
    return _runs(_letter_of(owners) for line in hunk.lines if line[:1] != b" ")


def _letter_of(features: Sequence[int]) -> str:
    if not features:
        return _NOBODY
    return _BOTH if len(features) > 1 else _FEATURES[features[0]]


def _search(
    sides: Mapping[int, Diff], merge: Diff, *, is_open: bool
) -> dict[tuple[str, _Key], str]:
    """Return the margins of hunks with `provenance_of`, each by its path and key."""
    base = SparseBase([*sides.values(), merge])
    merged = MergedTree(changes=base.changes(merge), has_resolver=True, has_markers=is_open)
    changes = {number: base.changes(diff) for number, diff in sides.items()}
    found = {file.path: file for file in provenance_of(base.tree, changes, merged).files}
    removed = {number: _removed(diff) for number, diff in sides.items()}
    return {
        (file.path, _key_of(hunk)): runs
        for file in merge
        for hunk, runs in zip(
            file.hunks,
            _of_file(file, base.starts(file), found.get(file.path), removed),
            strict=True,
        )
    }


def _removed(diff: Diff) -> _Removed:
    """Return the numbers of the base's lines that a diff removes."""
    found: dict[str, set[int]] = {}
    for file in diff:
        numbers = found.setdefault(file.path, set())
        for hunk in file.hunks:
            old = (line for line in hunk.lines if line[:1] != b"+")
            numbers |= {n for n, line in enumerate(old, hunk.old_start) if line[:1] == b"-"}
    return found


def _of_file(
    file: FilePatch,
    starts: Sequence[int],
    found: FileProvenance | None,
    removed: Mapping[int, _Removed],
) -> Sequence[str]:
    origins = list(found.origins) if found else []
    if found and found.kind in {FileKind.LINK, FileKind.SUBMODULE}:
        origins = [found.origin] * sum(len(hunk.new) for hunk in file.hunks)
    by = {number: each.get(file.path, set()) for number, each in removed.items()}
    return [
        _runs(_signs(hunk, origins[start : start + len(hunk.new)], by))
        for hunk, start in zip(file.hunks, starts, strict=True)
    ]


def _signs(hunk: Hunk, origins: Sequence[Origin], removed: Mapping[int, set[int]]) -> Iterator[str]:
    """Yield a letter for each line that a hunk adds or removes."""
    place, number = 0, hunk.old_start
    for line in hunk.lines:
        if line[:1] == b"+":
            # A file whose known part looks binary has no lines.
            yield _sign_of(origins[place]) if place < len(origins) else _NOBODY
        elif line[:1] == b"-":
            yield _letter_of([n for n, each in removed.items() if number in each])
        place += line[:1] != b"-"
        number += line[:1] != b"+"


def _sign_of(origin: Origin) -> str:
    return _SIGNS.get(origin.kind) or _letter_of(origin.features)


def _runs(signs: Iterable[str]) -> str:
    """Write each run of equal letters as the letter and its length."""
    counts = ((sign, sum(1 for _ in same)) for sign, same in groupby(signs))
    return "".join(sign if count == 1 else f"{sign}{count}" for sign, count in counts)


# --- hunks that features have as the merge has them ---


def _key_of(hunk: Hunk) -> _Key:
    """Return a key that equal changes at one place of the base share."""
    return hunk.old_start, hunk.lines


def _find_settled(sides: Mapping[int, Diff], merge: Diff) -> _Settled:
    """Find the hunks of a merge that features have too, and that no other feature touches."""
    files = {number: {file.path: file for file in diff} for number, diff in sides.items()}
    found: dict[str, Mapping[_Key, tuple[int, ...]]] = {}
    for file in merge:
        versions = {n: each[file.path] for n, each in files.items() if file.path in each}
        if all(each.change is FileChange.MODIFY for each in (file, *versions.values())):
            found[file.path] = _settled(file, versions)
    return found


def _settled(file: FilePatch, versions: Mapping[int, FilePatch]) -> dict[_Key, tuple[int, ...]]:
    known = {n: {_key_of(hunk) for hunk in each.hunks} for n, each in versions.items()}
    touched = {
        n: {line for hunk in each.hunks for line in _lines(hunk)} for n, each in versions.items()
    }
    found: dict[_Key, tuple[int, ...]] = {}
    for hunk in file.hunks:
        key = _key_of(hunk)
        owners = tuple(n for n, keys in known.items() if key in keys)
        others = (touched[n] for n in versions if n not in owners)
        if owners and all(each.isdisjoint(_lines(hunk)) for each in others):
            found[key] = owners
    return found


def _lines(hunk: Hunk) -> range:
    """Return the numbers of the base's lines that a hunk shows."""
    return range(hunk.old_start, hunk.old_start + max(len(hunk.old), 1))


def _without(diff: Diff, settled: _Settled) -> Diff:
    """Return a diff without the hunks that are settled."""
    rest: list[FilePatch] = []
    for file in diff:
        keys = settled.get(file.path, {})
        hunks: Sequence[Hunk] = [hunk for hunk in file.hunks if _key_of(hunk) not in keys]
        if hunks or not file.hunks:
            rest.append(file if len(hunks) == len(file.hunks) else evolve(file, hunks=hunks))
    return rest
