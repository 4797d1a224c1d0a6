"""Places a patch on a snapshot, in memory, and says how each hunk was placed.

A ladder of rungs: the stated line, the nearest other place with the same lines
(as `git apply` does), and, if that does not place the whole patch, all of it
again with runs of white space taken as equal (as `git apply
--ignore-whitespace` does). All or nothing: if one hunk finds no place, no
change is made.
"""

import re
import stat
from collections.abc import Iterator
from enum import Enum, auto

from attrs import field, frozen

from cooperbench_eval.errors import PatchError
from cooperbench_eval.models import Entry, FileMode, HunkPlacement, PatchStatus, Rung
from cooperbench_eval.patching.binary import apply_change
from cooperbench_eval.patching.parse import FileChange, FilePatch, Hunk, Patch
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = ["ApplyResult", "apply_patch"]


@frozen(kw_only=True)
class ApplyResult:
    """A patch laid on a snapshot.

    Attributes:
        status: Whether it applied.
        changes: The edits it makes; none unless it applied.
        hunks: How each change was placed, in the order of the patch.
    """

    status: PatchStatus
    changes: Changes = field(factory=Changes, repr=False)
    hunks: tuple[HunkPlacement, ...] = field(default=(), converter=tuple[HunkPlacement, ...])

    @property
    def reason(self) -> str:
        """Why the patch failed: its first refusal, with the file; else empty."""
        for placement in self.hunks:
            if placement.reason:
                number = f" hunk {placement.hunk}" if placement.hunk else ""
                return f"{placement.path}{number}: {placement.reason}"
        return ""


def apply_patch(base: Snapshot, patch: Patch) -> ApplyResult:
    r"""Apply *patch* to *base*.

    Example:
        >>> base = Snapshot.from_files({"x": b"zero\nold\n"})
        >>> patch = Patch.parse("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n")
        >>> result = apply_patch(base, patch)
        >>> result.status.value, result.hunks[0].reason
        ('failed', 'its lines are not there')

    Raises:
        RepositoryError: A file that the patch touches cannot be read.
    """
    strict = _attempt(base, patch, ignores_space=False)
    if strict.status is not PatchStatus.FAILED:
        return strict
    return _attempt(base, patch, ignores_space=True)


def _attempt(base: Snapshot, patch: Patch, *, ignores_space: bool) -> ApplyResult:
    work = _WorkTree(base, patch, ignores_space=ignores_space)
    for file in patch.files:
        work.apply(file)
    hunks = tuple(work.placements)
    if any(placement.reason for placement in hunks):
        return ApplyResult(status=PatchStatus.FAILED, hunks=hunks)
    changes = work.changes()
    status = PatchStatus.APPLIED if changes else PatchStatus.EMPTY
    return ApplyResult(status=status, changes=changes, hunks=hunks)


class _RefusedError(Exception):
    """A change finds no place; ends the work on its file."""


class _Away(Enum):
    """Why a path of the snapshot may be taken by another entry."""

    LEAVING = auto()
    """A later change removes it."""
    GONE = auto()
    """An earlier change removed it."""


class _WorkTree:
    """The snapshot as the patch leaves it, by the order rules of `git apply`.

    One file may come several times: a change starts from what the change before
    it left, a rename or copy from the snapshot. In the end all removals are made
    before all writes, so that two files may swap their names, and a file that is
    created and then deleted stays.
    """

    def __init__(self, base: Snapshot, patch: Patch, *, ignores_space: bool) -> None:
        self._base = base
        self._ignores_space = ignores_space
        self._leaving = {file.old_path for file in patch.files if _removes(file)}
        self._latest: dict[str | None, Entry | _Away] = dict.fromkeys(self._leaving, _Away.LEAVING)
        self._removed: list[str] = []
        self._written: dict[str, Entry] = {}
        self.placements: list[HunkPlacement] = []

    def changes(self) -> Changes:
        edits: dict[str, Entry | None] = dict.fromkeys(self._removed) | self._written
        return Changes({path: e for path, e in edits.items() if self._base.get(path) != e})

    def apply(self, file: FilePatch) -> None:
        try:
            new = self._new_entry(file, self._old_entry(file))
        except _RefusedError as exc:
            self.placements.append(HunkPlacement(path=file.path, reason=str(exc)))
            return
        if file.new_path and new:
            self._written[file.new_path] = self._latest[file.new_path] = new
        if _removes(file) and file.old_path:
            self._removed.append(file.old_path)
            self._latest[file.old_path] = _Away.GONE

    def _old_entry(self, file: FilePatch) -> Entry | None:
        if file.new_path and file.new_path != file.old_path:
            self._require_free(file.new_path)
        if file.old_path is None:
            return None
        moves = file.change in {FileChange.RENAME, FileChange.COPY}
        latest = None if moves else self._latest.get(file.old_path)
        if latest is _Away.GONE:
            raise _RefusedError("an earlier change of the patch removes the file")
        old = latest if isinstance(latest, Entry) else self._base.get(file.old_path)
        if old is None and file.change is FileChange.ADD:
            self._require_free(file.old_path)
            return None
        if old is None:
            raise _RefusedError("there is no such file")
        if file.old_mode and stat.S_IFMT(file.old_mode) != stat.S_IFMT(old.mode):
            raise _RefusedError("the file is of another kind")
        return old

    def _require_free(self, path: str) -> None:
        """Refuse to create *path* where the snapshot has something that stays."""
        parts = path.split("/")
        above = {"/".join(parts[:end]) for end in range(1, len(parts))}
        for folder in above:
            if folder in self._written or self._stays(folder):
                raise _RefusedError("a file stands where its folder should be")
        away = isinstance(self._latest.get(path), _Away)
        if not away and self._base.get(path) is not None:
            raise _RefusedError("the file already exists")
        below = self._base.paths(path) if self._base.is_directory(path) else ()
        inside = path + "/"
        if any(map(self._stays, below)) or any(w.startswith(inside) for w in self._written):
            raise _RefusedError("a folder stands at its path")

    def _stays(self, path: str) -> bool:
        return path not in self._leaving and self._base.get(path) is not None

    def _new_entry(self, file: FilePatch, old: Entry | None) -> Entry | None:
        mode = file.new_mode or (old.mode if old else FileMode.FILE)
        if old and file.new_path and stat.S_IFMT(mode) != stat.S_IFMT(old.mode):
            raise _RefusedError("the file is of another kind")
        before = _patchable(old)
        is_binary = file.binary or file.lacks_contents
        after = self._binary(file, before) if is_binary else self._text(file, before)
        if file.change is FileChange.DELETE:
            if after:
                raise _RefusedError("the deleted file holds more lines")
            return None
        if not file.hunks:
            self.placements.append(HunkPlacement(path=file.path, rung=Rung.EXACT))
        if mode is FileMode.SUBMODULE:
            return Entry(_submodule_id(after), mode)
        return Entry(after, mode)

    def _binary(self, file: FilePatch, before: bytes) -> bytes:
        if file.old_id and file.old_path and not Entry(before).id.startswith(file.old_id):
            raise _RefusedError("the binary file is not the one the patch was made from")
        if file.change is FileChange.DELETE and file.old_id:
            return b""  # the id says that it is the file to delete
        if file.binary is None:
            raise _RefusedError("the patch does not hold the binary contents")
        try:
            after = apply_change(file.binary, before)
        except PatchError as exc:
            raise _RefusedError(exc.reason) from exc
        if file.new_id and file.new_path and not Entry(after).id.startswith(file.new_id):
            raise _RefusedError("the binary contents are not those the patch names")
        return after

    def _text(self, file: FilePatch, before: bytes) -> bytes:
        image = _Image(before, ignores_space=self._ignores_space)
        for number, hunk in enumerate(file.hunks, start=1):
            found = image.place(hunk)
            if found is None:
                self.placements.append(
                    HunkPlacement(path=file.path, hunk=number, reason="its lines are not there")
                )
                continue
            rung, offset = found
            self.placements.append(
                HunkPlacement(path=file.path, hunk=number, rung=rung, offset=offset)
            )
        return image.data()


def _removes(file: FilePatch) -> bool:
    return file.change in {FileChange.DELETE, FileChange.RENAME}


def _patchable(entry: Entry | None) -> bytes:
    if entry is None:
        return b""
    if entry.mode is FileMode.SUBMODULE:
        return b"Subproject commit %s\n" % entry.data
    return entry.data


def _submodule_id(text: bytes) -> bytes:
    found = re.fullmatch(rb"Subproject commit ([0-9a-f]{40})\n?", text)
    if not found:
        raise _RefusedError("the submodule's commit is no object id")
    return found.group(1)


class _Image:
    """A file being patched: its lines, and which of them a hunk already claimed."""

    def __init__(self, data: bytes, *, ignores_space: bool) -> None:
        self._key = _squeeze if ignores_space else bytes
        lines = data.split(b"\n")
        tail = lines.pop()
        self._lines = [line + b"\n" for line in lines] + ([tail] if tail else [])
        self._keys = list(map(self._key, self._lines))
        self._claimed = bytearray(len(self._lines))

    def data(self) -> bytes:
        return b"".join(self._lines)

    def place(self, hunk: Hunk) -> tuple[Rung, int] | None:
        """Put the hunk's new lines in place; say how, or `None` if nowhere."""
        old = hunk.old
        stated = max(hunk.new_start - 1, 0)
        at = self._find(hunk, list(map(self._key, old)), stated)
        if at is None:
            return None
        is_same = self._lines[at : at + len(old)] == hunk.old
        self._replace(at, hunk)
        rung = Rung.EXACT if at == stated else Rung.OFFSET
        return rung if is_same else Rung.WHITESPACE, at - stated

    def _find(self, hunk: Hunk, old: list[bytes], stated: int) -> int | None:
        """Find the keys *old*, nearest to *stated* first, later before earlier.

        As in `git apply`, a hunk that starts at the top of the file must be
        found there, and one without context behind its changes at the end.
        """
        last = len(self._lines) - len(old)
        if last < 0:
            return None
        at_top = hunk.old_start <= 1
        at_end = hunk.lines[-1][:1] != b" "
        if at_top and at_end and last != 0:
            return None
        if at_top or at_end:
            place = 0 if at_top else last
            return place if self._fits(old, place) else None
        start = min(stated, len(self._lines))
        # Only where the hunk's first line stands can the hunk stand.
        places = [place for place in _places(self._keys, old[0]) if place <= last]
        places.sort(key=lambda place: (abs(place - start), place < start))
        return next((place for place in places if self._fits(old, place)), None)

    def _fits(self, old: list[bytes], place: int) -> bool:
        end = place + len(old)
        return self._keys[place:end] == old and not any(self._claimed[place:end])

    def _replace(self, at: int, hunk: Hunk) -> None:
        """Swap the lines; context keeps the file's own white space."""
        new: list[bytes] = []
        taken = at
        for line in hunk.lines:
            if line[:1] == b"+":
                new.append(line[1:])
                continue
            if line[:1] == b" ":
                new.append(self._lines[taken])
            taken += 1
        self._lines[at:taken] = new
        self._keys[at:taken] = map(self._key, new)
        self._claimed[at:taken] = b"\1" * len(new)


def _places(lines: list[bytes], line: bytes) -> Iterator[int]:
    """Yield where *line* stands among *lines*."""
    at = -1
    while True:
        try:
            at = lines.index(line, at + 1)
        except ValueError:
            return
        yield at


_SPACE = re.compile(rb"[ \t\r\n]+")


def _squeeze(line: bytes) -> bytes:
    """Take every run of white space as one space, and the line's ending as none."""
    return _SPACE.sub(b" ", line.rstrip(b"\r\n"))
