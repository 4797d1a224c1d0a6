"""The origin of each changed line of a merge, for the margin of its diff.

Most hunks of a merge are those of the features, so their origin needs no search. For the others,
`provenance_of` follows the lines in trees that are rebuilt from the diffs, as a report does not
have the base. Of a file of the base, the diffs show the lines that they change and the lines
around these. A placeholder stands for each run of lines between them. No diff touches the lines
that it replaces, so merges of such texts nearly always change the same lines as the whole texts'.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import TypeAlias

from attrs import define, evolve, field

from cooperbench_eval.errors import CooperBenchEvalError, PatchError
from cooperbench_eval.evaluation.auditing.provenance import provenance_of
from cooperbench_eval.evaluation.inputs import MergedTree
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.git.patching.binary import BinaryKind
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import FileChange, FilePatch, Hunk
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.reporting.provenance import FileKind, OriginKind
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
_SIGNS = {OriginKind.RESOLVER: "r", OriginKind.MARKER: "m", OriginKind.UNKNOWN: "u"}
_FEATURES = {(): ".", (1,): "f", (2,): "s", (1, 2): "b"}
Margin = Sequence[Sequence[str]]
"""For each file and hunk of a diff the origins of its changed lines: a letter and how often it
occurs, if more than once, such as `f3s`. The letters are `f` and `s` for the first and the second
feature, `b` for both, `r` for a strategy, `m` for a marker, `u` for unknown, and a dot for a line
of the base that was moved, or that no feature removes."""
_Diff: TypeAlias = Sequence[FilePatch]
_Sides: TypeAlias = Mapping[int, _Diff]
_Key: TypeAlias = tuple[str, int, tuple[bytes, ...]]
"""The path of a hunk, its place in the base, and its lines: equal changes share it."""


class Margins:
    """The margins of the merges of one pair."""

    def __init__(self, report: MergeReport) -> None:
        patches = [each.patch for each in (report.feature1, report.feature2)]
        self._diffs = [each.diff for each in patches if each.diff is not None]
        self._sides: _Sides = {}
        self._room, self._searches = MOST_LINES, MOST_SEARCHED
        self._problem = ""
        if len(self._diffs) < len(patches):
            self._problem = _NO_PATCH
        elif any(each.base_tree_id or each.base_commit for each in patches):
            self._problem = _OTHER_BASE

    def of(self, diff: bytes, attempts: Iterable[MergeRow]) -> tuple[Margin, str]:
        """Return the margin of a merge and an empty text, or why there is none."""
        if self._problem:
            return (), self._problem
        diffs = [*self._diffs, diff]
        self._room -= sum(each.count(b"\n") for each in diffs)
        if self._room < 0 or sum(map(len, diffs)) > _MOST_BYTES:
            return (), _TOO_LONG
        try:
            self._sides = self._sides or dict(enumerate(map(read_diff, self._diffs), start=1))
            is_open = any(each.status is MergeStatus.CONFLICTED for each in attempts)
            margin = self._margin(self._sides, read_diff(diff), is_open=is_open)
        except (CooperBenchEvalError, ValueError):
            return (), _MISFIT
        return ((), _TOO_LONG) if margin is None else (margin, "")

    def _margin(self, sides: _Sides, merge: _Diff, *, is_open: bool) -> Margin | None:
        """Return the margin of a merge; `None` if it would take too long."""
        found = _find_settled(sides, merge)
        rest = _without(merge, found)
        if any(file.hunks for file in rest):
            followed = {number: _without(diff, found) for number, diff in sides.items()}
            hunks = (h for diff in (*followed.values(), rest) for file in diff for h in file.hunks)
            self._searches -= sum(len(hunk.lines) for hunk in hunks)
            if self._searches < 0:
                return None
            found |= _search(followed, rest, is_open=is_open)
        return [[found[_key_of(file, hunk)] for hunk in file.hunks] for file in merge]


def _key_of(file: FilePatch, hunk: Hunk) -> _Key:
    return file.path, hunk.old_start, hunk.lines


def _runs(signs: Iterable[str]) -> str:
    """Write each run of equal letters as the letter and its length."""
    counts = ((sign, sum(1 for _ in same)) for sign, same in groupby(signs))
    return "".join(sign if count == 1 else f"{sign}{count}" for sign, count in counts)


# --- hunks that features have as the merge has them ---


def _find_settled(sides: _Sides, merge: _Diff) -> dict[_Key, str]:
    """Find the hunks of a merge that features have too, and that no other feature touches."""
    files = {number: {file.path: file for file in diff} for number, diff in sides.items()}
    found: dict[_Key, str] = {}
    for file in merge:
        versions = {n: each[file.path] for n, each in files.items() if file.path in each}
        if any(each.change is not FileChange.MODIFY for each in (file, *versions.values())):
            continue
        known = {n: {_key_of(each, h) for h in each.hunks} for n, each in versions.items()}
        touched = {n: {i for h in each.hunks for i in _lines(h)} for n, each in versions.items()}
        for hunk in file.hunks:
            key = _key_of(file, hunk)
            owners = tuple(n for n, keys in known.items() if key in keys)
            others = (lines for n, lines in touched.items() if n not in owners)
            if owners and all(each.isdisjoint(_lines(hunk)) for each in others):
                found[key] = _runs(_FEATURES[owners] for line in hunk.lines if line[:1] != b" ")
    return found


def _lines(hunk: Hunk) -> range:
    return range(hunk.old_start, hunk.old_start + max(len(hunk.old), 1))


def _without(diff: _Diff, settled: Mapping[_Key, str]) -> _Diff:
    rest = [(f, [hunk for hunk in f.hunks if _key_of(f, hunk) not in settled]) for f in diff]
    return [evolve(file, hunks=hunks) for file, hunks in rest if hunks or not file.hunks]


# --- other hunks ---


def _search(sides: _Sides, merge: _Diff, *, is_open: bool) -> dict[_Key, str]:
    base = _Base([*sides.values(), merge])
    merged = MergedTree(changes=base.changes(merge), has_resolver=True, has_markers=is_open)
    changes = {number: base.changes(diff) for number, diff in sides.items()}
    whole = {file.path: file for file in provenance_of(base.tree, changes, merged).files}
    removed = {number: set(_removed(diff)) for number, diff in sides.items()}
    found: dict[_Key, str] = {}
    for file in merge:
        signs: Sequence[str] = ()
        if each := whole.get(file.path):
            origins = [*each.origins]
            if each.kind in {FileKind.LINK, FileKind.SUBMODULE}:
                origins = [each.origin] * sum(len(hunk.new) for hunk in file.hunks)
            signs = [
                _SIGNS.get(one.kind) or _FEATURES[tuple(sorted(one.features))] for one in origins
            ]
        for hunk, start in zip(file.hunks, base.of(file).patched(file.hunks)[1], strict=True):
            # A file whose known part looks binary has no lines.
            new = iter(signs[start : start + len(hunk.new)])
            found[_key_of(file, hunk)] = _runs(_signs_of(file.path, hunk, new, removed))
    return found


def _removed(diff: _Diff) -> Iterator[tuple[str, int]]:
    for file in diff:
        for hunk in file.hunks:
            old = (line[:1] for line in hunk.lines if line[:1] != b"+")
            numbers = enumerate(old, hunk.old_start)
            yield from ((file.path, number) for number, sign in numbers if sign == b"-")


def _signs_of(
    path: str, hunk: Hunk, new: Iterator[str], removed: Mapping[int, set[tuple[str, int]]]
) -> Iterator[str]:
    """Yield a letter for each line that a hunk adds or removes; *new* has those of new lines."""
    number = hunk.old_start
    for line in hunk.lines:
        if line[:1] == b"-":
            yield _FEATURES[tuple(n for n, each in removed.items() if (path, number) in each)]
        else:
            letter = next(new, _FEATURES[()])
            if line[:1] == b"+":
                yield letter
        number += line[:1] != b"+"


# --- the trees, as far as the diffs show them ---

_CONTEXT = 3
_COMMIT = b"Subproject commit "
_PLAIN = {FileChange.MODIFY, FileChange.ADD, FileChange.DELETE}
# Long binary contents are left out, as they could inflate to far more than the report. The ids
# suffice to compare files.
_MOST_BINARY = 1_000_000
_SIZES = re.compile(rb"^(?:literal|delta) ([0-9]{1,12})$", re.MULTILINE)
_BINARY = re.compile(
    rb"^GIT binary patch\n(?:(?:literal|delta) [0-9]+\n(?:[A-Za-z][!-~]+\n)*\n)+", re.MULTILINE
)
_CONTENTS = re.compile(rb"^GIT binary patch", re.MULTILINE)
_DIFFERS = b"Binary files a and b differ\n"


def read_diff(diff: bytes) -> Sequence[FilePatch]:
    """Read a git diff of this library, without the contents of binary files if they are long."""
    if sum(map(int, _SIZES.findall(diff))) > _MOST_BINARY:
        diff = _BINARY.sub(_DIFFERS, diff)
        if _CONTENTS.search(diff):
            raise PatchError("has a binary file that cannot be read")
    files = Patch.parse(diff).files
    for file in files:
        if file.change not in _PLAIN:
            raise PatchError("states a rename, which a report's diff writes as two files")
        if any(hunk.stated or hunk.uncounted for hunk in file.hunks):
            raise PatchError("has a hunk whose header counts other lines")
    return files


def _is_binary(file: FilePatch) -> bool:
    return file.lacks_contents or file.binary is not None


@define(eq=False)
class _BaseFile:
    """What diffs show of a file of the base.

    Attributes:
        lines: Its known lines by their numbers. After `close`, they are in order, with a
            placeholder at the first number of each run of unknown lines.
        mode: Its mode, if known.
        object_id: The id of its contents, if it is binary.
        end: The number of its last line, if known.
    """

    lines: dict[int, bytes] = field(factory=dict)
    mode: FileMode | None = None
    object_id: str | None = None
    end: int | None = None

    def add(self, file: FilePatch) -> None:
        self.mode = self.mode or file.old_mode
        if _is_binary(file):
            self.object_id = file.old_id
            return
        number = 0
        for hunk in file.hunks:
            number = max(hunk.old_start - 1, 0)
            for number, line in enumerate(hunk.old, start=hunk.old_start):
                if self.lines.setdefault(number, line) != line:
                    raise PatchError("shows another base than another diff")
        # A file ends with a hunk if fewer lines follow its last change than elsewhere.
        last = file.hunks[-1].lines[-_CONTEXT:] if file.hunks else ()
        is_end = any(line[:1] != b" " or not line.endswith(b"\n") for line in last)
        if file.change is FileChange.DELETE or is_end:
            self.end = max(self.end or 0, number)

    def close(self, path: str) -> None:
        """Put a placeholder for each run of unknown lines; nothing is added after that."""
        numbers = [0, *sorted(self.lines)]
        gaps = [one for one, other in pairwise(numbers) if other > one + 1]
        if self.end is not None and numbers[-1] > self.end:
            raise PatchError("shows lines after the end of a file")
        if self.end is None and (self.lines or self.object_id is None):
            gaps.append(numbers[-1])
        name = path.encode("utf-8", "surrogateescape")
        unknown = {n + 1: b"\x01 unknown lines after %d of %s\n" % (n, name) for n in gaps}
        self.lines = dict(sorted((self.lines | unknown).items()))
        if any(not line.endswith(b"\n") for line in [*self.lines.values()][:-1]):
            raise PatchError("shows lines after one without a newline")

    def patched(self, hunks: Iterable[Hunk]) -> tuple[list[bytes], list[int]]:
        """Return the lines with hunks applied, and the place at which each of them begins."""
        old, places = [*self.lines.values()], {n: place for place, n in enumerate(self.lines)}
        lines: list[bytes] = []
        starts: list[int] = []
        end = 0
        for hunk in hunks:
            start = places.get(hunk.old_start, -1) if hunk.old else len(old)
            if start < end:
                raise PatchError("has hunks that overlap or have no place")
            lines += old[end:start]
            starts.append(len(lines))
            lines += hunk.new
            end = start + len(hunk.old)
        return [*lines, *old[end:]], starts


class _Base:
    """The base of several diffs: *tree* has all files that they touch."""

    def __init__(self, diffs: Iterable[_Diff]) -> None:
        self._files: dict[str, _BaseFile] = {}
        self._contents: dict[str, bytes] = {}
        added: set[str] = set()
        for diff in diffs:
            seen: set[str] = set()
            for file in diff:
                if file.old_path is not None:
                    self._files.setdefault(file.path, _BaseFile()).add(file)
                elif file.path not in seen:  # else it replaces a file of another kind
                    added.add(file.path)
                if file.new_id and file.binary and file.binary.kind is BinaryKind.LITERAL:
                    self._contents[file.new_id] = file.binary.data
                seen.add(file.path)
        if not added.isdisjoint(self._files):
            raise PatchError("adds a file that another diff changes")
        for path, old in self._files.items():
            old.close(path)
        self.tree = Snapshot.from_files(
            {path: self._entry(each, (), each.mode) for path, each in self._files.items()}
        )

    def of(self, file: FilePatch) -> _BaseFile:
        return _BaseFile() if file.old_path is None else self._files[file.path]

    def changes(self, diff: _Diff) -> Changes:
        return Changes({file.path: self._changed(file) for file in diff})

    def _changed(self, file: FilePatch) -> Entry | None:
        old = self.of(file)
        mode = file.new_mode or file.old_mode or old.mode
        if file.change is FileChange.DELETE:
            old.patched(file.hunks)  # checks that they fit
            return None
        if _is_binary(file):
            return self._entry(_BaseFile(object_id=file.new_id or ""), (), mode)
        return self._entry(old, file.hunks, mode)

    def _entry(self, old: _BaseFile, hunks: Sequence[Hunk], mode: FileMode | None) -> Entry:
        """Return a file with hunks applied; unknown contents are told apart by their id."""
        lines, _ = old.patched(hunks)
        if not lines and old.object_id is not None:
            data = self._contents.get(old.object_id, b"\0" + old.object_id.encode())
        else:
            data = b"".join(lines)
        if mode is FileMode.SUBMODULE:
            data = data.removeprefix(_COMMIT).strip()
        return Entry(data, mode or FileMode.FILE)
