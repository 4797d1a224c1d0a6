"""Applies a patch to a snapshot, in memory, and reports how each hunk was placed.

There are several ways (rungs) to place a hunk, from strict to lenient: at the stated line
or the nearest place with the same lines (as `git apply` does); with different runs of
white space (`--ignore-whitespace`); by a merge with the file that the patch was made from
(`--3way`); with recounted lines; at similar lines. The whole patch is tried with the
strictest rung, then with each further one that the policy allows, until it fits. By
default, a patch with one hunk that has no place changes nothing.
"""

import re
import stat
from collections.abc import Iterator
from enum import Enum, auto

from attrs import evolve, field, frozen

from cooperbench_eval.git.patching.fuzzy_placing import SearchBudget
from cooperbench_eval.git.patching.hunk_placing import (
    FileRefusedError,
    MergeConflictError,
    Patched,
    patch_contents,
    patch_three_way,
)
from cooperbench_eval.git.patching.patch import GivenPatch, Patch, as_patch
from cooperbench_eval.git.patching.patch_parts import (
    ApplyPolicy,
    FileChange,
    FilePatch,
    HunkPlacement,
    PatchStatus,
    Rung,
)
from cooperbench_eval.git.trees.diff_writing import diff_text
from cooperbench_eval.git.trees.entries import Entry, FileMode, is_stored
from cooperbench_eval.git.trees.objects import folders_above
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, cache_of
from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.memo import WeighedMemo

_LATER = (Rung.WHITESPACE, Rung.THREE_WAY, Rung.RECOUNT, Rung.FUZZY)
"""The rungs that are tried only if the patch does not apply without them."""
_KEPT_BYTES = 16 << 20
_LINE_BYTES = 41
"""The memory for a line of a patch besides its text: an object in a tuple."""
_PATCH_BYTES, _FILE_BYTES, _HUNK_BYTES = 800, 350, 200
"""The memory for the other objects of a patch and its result."""


@frozen(kw_only=True, field_transformer=named_fields)
class ApplyResult:
    """The result of applying a patch to a snapshot.

    Attributes:
        status: Whether the patch applied.
        changes: The edits that the patch makes; empty unless it applied.
        hunks: How each change was placed, in the order of the patch.
    """

    status: PatchStatus
    changes: Changes = field(factory=Changes, repr=False)
    hunks: tuple[HunkPlacement, ...] = field(default=(), converter=tuple[HunkPlacement, ...])

    @property
    def reason(self) -> str:
        """Why the patch failed: its first refusal, with the file; empty if nothing failed."""
        for placement in self.hunks:
            if placement.reason:
                number = f" hunk {placement.hunk}" if placement.hunk else ""
                where = f"{placement.path}{number}: " if placement.path else ""
                return where + placement.reason
        return ""


@checked
def apply_patch(
    base: Snapshot,
    patch: GivenPatch,
    policy: ApplyPolicy = ApplyPolicy(),  # noqa: B008 - frozen
) -> ApplyResult:
    r"""Apply *patch* to *base*.

    The results of the latest patches are cached with the base, so applying one again costs
    little. A refused patch may apply once the repository has the file version that it was made
    from; only a new snapshot notices that.

    Args:
        base: The tree that the patch is applied to.
        patch: A `Patch`, its text, a `Path` of its file, or the `Changes` that it makes. Text
            that cannot be parsed is a patch that fails to apply.
        policy: Which ways of placing a hunk are allowed.

    Example:
        >>> base = Snapshot.from_files({"x": b"zero\nold\n"})
        >>> patch = Patch.parse("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n")
        >>> result = apply_patch(base, patch)
        >>> result.status.value, result.hunks[0].reason
        ('failed', 'its lines are not there')

    Raises:
        ArgumentError: *patch* is a single line of text, which is most likely the name of a file.
        PatchError: *patch* is the `Path` of a file that cannot be read.
        RepositoryError: A file that the patch touches cannot be read.
    """
    if not isinstance(patch, Patch):
        patch = as_patch(patch)
    patch = patch.on(base)
    if patch.problem:
        refusal = HunkPlacement(path="", reason=patch.problem)
        return ApplyResult(status=PatchStatus.FAILED, hunks=(refusal,))
    placed, key = cache_of(base, _placed_patches), (patch, policy)
    known = placed.get(key)
    if known is not None:
        return known
    result = ApplyResult(status=PatchStatus.EMPTY)
    for each in _ladder(policy):
        result = _apply(base, patch, each)
        if result.status is not PatchStatus.FAILED:
            break
    size = _size(patch, result)
    return placed.keep(key, result, size=size) if size <= _KEPT_BYTES else result


def _placed_patches() -> WeighedMemo[tuple[Patch, ApplyPolicy], ApplyResult]:
    return WeighedMemo(_KEPT_BYTES)


def _size(patch: Patch, result: ApplyResult) -> int:
    """Return about how many bytes a patch and its result need."""
    hunks = [hunk for file in patch.files for hunk in file.hunks]
    lines = sum(len(hunk.lines) for hunk in hunks)
    binary = sum(len(file.binary.data) for file in patch.files if file.binary)
    entries = [entry for entry in result.changes.values() if entry and not is_stored(entry)]
    return (
        _PATCH_BYTES
        + _FILE_BYTES * len(patch.files)
        + _HUNK_BYTES * len(hunks)
        + 2 * len(patch.data)
        + _LINE_BYTES * lines
        + binary
        + sum(len(entry.data) for entry in entries)
    )


def _ladder(policy: ApplyPolicy) -> Iterator[ApplyPolicy]:
    """Yield policies from strict to lenient; only the last one may be partial."""
    rungs = policy.rungs.difference(_LATER)
    allowed = [rungs]
    for rung in filter(policy.allows, _LATER):
        rungs |= {rung}
        allowed.append(rungs)
    for step in allowed:
        yield evolve(policy, rungs=step, partial=policy.partial and step is allowed[-1])


def _apply(base: Snapshot, patch: Patch, policy: ApplyPolicy) -> ApplyResult:
    work = _PatchedTree(base, patch, policy)
    for file in patch.files:
        work.apply(file)
    hunks = tuple(work.placements)
    refused = any(placement.reason for placement in hunks)
    if refused and not policy.partial:
        return ApplyResult(status=PatchStatus.FAILED, hunks=hunks)
    changes = work.changes()
    if refused:
        status = PatchStatus.PARTIAL if changes else PatchStatus.FAILED
    else:
        status = PatchStatus.APPLIED if changes else PatchStatus.EMPTY
    return ApplyResult(status=status, changes=changes, hunks=hunks)


class _Freed(Enum):
    """Why another entry may take a path of the snapshot."""

    LEAVING = auto()
    """A later change removes the entry that has the path."""
    GONE = auto()
    """An earlier change removed the entry that had the path."""


class _PatchedTree:
    """The snapshot as the patch leaves it, by the order rules of `git apply`.

    A patch may change one file several times. A change starts from the result of the
    change before it; a rename or copy starts from the snapshot. All removals come before
    all writes, so that two files can swap names. As a consequence, a file that the patch
    creates and then deletes stays.
    """

    def __init__(self, base: Snapshot, patch: Patch, policy: ApplyPolicy) -> None:
        self._base = base
        self._policy = policy
        self._budget = SearchBudget()
        self._leaving = {file.old_path for file in patch.files if _removes(file)}
        self._latest: dict[str | None, Entry | _Freed]
        self._latest = dict.fromkeys(self._leaving, _Freed.LEAVING)
        self._removed: list[str] = []
        self._written: dict[str, Entry] = {}
        self._folders: set[str] = set()
        self.placements: list[HunkPlacement] = []

    def changes(self) -> Changes:
        edits: dict[str, Entry | None] = dict.fromkeys(self._removed) | self._written
        return Changes({path: e for path, e in edits.items() if self._base.get(path) != e})

    def apply(self, file: FilePatch) -> None:
        try:
            new = self._merged_addition(file) or self._new_entry(file, self._old_entry(file))
            if file.new_path and new:
                self._write(file.new_path, new)
        except FileRefusedError as exc:
            self.placements.append(HunkPlacement(path=file.path, reason=str(exc)))
            return
        if _removes(file) and file.old_path:
            self._removed.append(file.old_path)
            self._latest[file.old_path] = _Freed.GONE

    def _write(self, path: str, entry: Entry) -> None:
        above = set(folders_above(path))
        if not above.isdisjoint(self._written):
            raise FileRefusedError("a file is where its folder should be")
        if path in self._folders:
            raise FileRefusedError("a folder is at its path")
        self._written[path] = self._latest[path] = entry
        self._folders |= above

    def _old_entry(self, file: FilePatch) -> Entry | None:
        if file.new_path and file.new_path != file.old_path:
            self._require_free(file.new_path)
        if file.old_path is None:
            return None
        moves = file.change in {FileChange.RENAME, FileChange.COPY}
        latest = None if moves else self._latest.get(file.old_path)
        if latest is _Freed.GONE:
            raise FileRefusedError("an earlier change of the patch removes the file")
        old = latest if isinstance(latest, Entry) else self._base.get(file.old_path)
        if old is None and file.change is FileChange.ADD:
            self._require_free(file.old_path)
            return None
        if old is None:
            raise FileRefusedError("there is no such file")
        if file.old_mode and stat.S_IFMT(file.old_mode) != stat.S_IFMT(old.mode):
            raise FileRefusedError("the file is of another kind")
        return old

    def _require_free(self, path: str) -> None:
        """Refuse to create *path* where the snapshot has something that stays."""
        for folder in folders_above(path):
            if folder in self._written or self._stays(folder):
                raise FileRefusedError("a file is where its folder should be")
        is_freed = isinstance(self._latest.get(path), _Freed)
        if not is_freed and self._base.get(path) is not None:
            raise FileRefusedError("the file already exists")
        below = self._base.paths(path) if self._base.is_directory(path) else ()
        if path in self._folders or any(map(self._stays, below)):
            raise FileRefusedError("a folder is at its path")

    def _stays(self, path: str) -> bool:
        return path not in self._leaving and self._base.get(path) is not None

    def _new_entry(self, file: FilePatch, old: Entry | None) -> Entry | None:
        mode = file.new_mode or (old.mode if old else FileMode.FILE)
        if old and file.new_path and stat.S_IFMT(mode) != stat.S_IFMT(old.mode):
            raise FileRefusedError("the file is of another kind")
        before = diff_text(old)
        patched = self._merged(file, before) or patch_contents(
            file, before, self._policy, self._budget
        )
        self.placements += patched.placements
        after = patched.data
        if file.change in {FileChange.ADD, FileChange.COPY} and patched.is_void:
            return None  # without any hunk the patch creates nothing, not even an empty file
        if file.change is FileChange.DELETE:
            if after:
                raise FileRefusedError("the deleted file has more lines")
            return None
        if mode is FileMode.SUBMODULE:
            return Entry(_submodule_id(after), mode)
        return Entry(after, mode)

    # --- three-way merges ---

    def _merged_addition(self, file: FilePatch) -> Entry | None:
        """Merge an added file with an existing one; `None` if that is not possible."""
        path = file.new_path
        if not self._policy.allows(Rung.THREE_WAY) or file.change is not FileChange.ADD:
            return None
        there = self._latest.get(path, self._base.get(path)) if path else None
        if not isinstance(there, Entry) or file.old_path == path:
            return None
        mode = file.new_mode or there.mode
        if FileMode.SUBMODULE in {mode, there.mode}:
            return None
        try:
            merged = patch_three_way(file, b"", there.data, self._policy)
        except FileRefusedError:
            return None
        self.placements += merged.placements
        return Entry(merged.data, mode)

    def _merged(self, file: FilePatch, before: bytes) -> Patched | None:
        """Patch the old version and merge the result into *before*; `None` if impossible."""
        changes_lines = file.change is not FileChange.DELETE and (file.hunks or file.binary)
        if not (changes_lines and file.old_id and file.old_path):
            return None
        if not self._policy.allows(Rung.THREE_WAY):
            return None
        old = self._base.find_blob(file.old_id)
        if old is None:
            return None
        try:
            return patch_three_way(file, old, before, self._policy)
        except MergeConflictError:
            raise
        except FileRefusedError:
            return None  # the patch was made from another file


def _removes(file: FilePatch) -> bool:
    return file.change in {FileChange.DELETE, FileChange.RENAME}


def _submodule_id(text: bytes) -> bytes:
    found = re.fullmatch(rb"Subproject commit ([0-9a-f]{40})\n?", text)
    if not found:
        raise FileRefusedError("the submodule's commit is not an object id")
    return found.group(1)
