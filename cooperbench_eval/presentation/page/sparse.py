"""Rebuilds the parts of trees that diffs against one base show.

A report has diffs, but not the base. Of a file of the base, they show the lines that they change
and the lines around these. One placeholder stands for each run of lines between them. No diff
touches the lines that it replaces, so diffs and merges of such texts nearly always change the same
lines as those of the whole texts.
"""

import re
from collections.abc import Iterable, Sequence

from attrs import define, field

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.binary import BinaryKind
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import FileChange, FilePatch, Hunk
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

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
Diff = Sequence[FilePatch]
"""The files of a diff, in its order."""


def read_diff(diff: bytes) -> Diff:
    """Read a git diff of this library, without the contents of binary files if they are long.

    Raises:
        PatchError: It is not such a diff.
    """
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


@define(eq=False)
class _BaseFile:
    """What diffs show of a file of the base.

    Attributes:
        known: Its known lines by their numbers.
        mode: Its mode, if known.
        object_id: The id of its contents, if it is binary.
        end: The number of its last line, if known.
        lines: The known lines and the placeholders between them, once `close` was called.
        places: The place of each known line in these, by its number.
    """

    known: dict[int, bytes] = field(factory=dict)
    mode: FileMode | None = None
    object_id: str | None = None
    end: int | None = None
    lines: Sequence[bytes] = ()
    places: dict[int, int] = field(factory=dict)

    def add(self, file: FilePatch) -> None:
        """Add what a diff shows.

        Raises:
            PatchError: Another diff shows something else.
        """
        self.mode = self.mode or file.old_mode
        if _is_binary(file):
            self.object_id = file.old_id
            return
        last = 0
        for hunk in file.hunks:
            last = self._add_hunk(hunk)
        if file.change is FileChange.DELETE or (file.hunks and _ends(file.hunks[-1])):
            self.end = max(self.end or 0, last)

    def _add_hunk(self, hunk: Hunk) -> int:
        """Return the number of the last line that a hunk shows."""
        number = hunk.old_start - 1
        for number, line in enumerate(hunk.old, start=hunk.old_start):
            if self.known.setdefault(number, line) != line:
                raise PatchError("shows another base than another diff")
        return max(number, 0)

    def close(self, path: str) -> None:
        """Put a placeholder for each run of unknown lines; nothing is added after that."""
        lines: list[bytes] = []
        last = 0
        for number in sorted(self.known):
            if number > last + 1:
                lines.append(_placeholder(path, last))
            self.places[number] = len(lines)
            lines.append(self.known[number])
            last = number
        if self.end is None:
            lines.append(_placeholder(path, last))
        elif last > self.end:
            raise PatchError("shows lines after the end of a file")
        if any(not line.endswith(b"\n") for line in lines[:-1]):
            raise PatchError("shows lines after one without a newline")
        self.lines = lines

    def patched(self, hunks: Iterable[Hunk]) -> tuple[list[bytes], list[int]]:
        """Return the lines with hunks applied, and the place at which each of them begins."""
        lines: list[bytes] = []
        starts: list[int] = []
        end = 0
        for hunk in hunks:
            start = self.places.get(hunk.old_start, -1) if hunk.old else len(self.lines)
            if start < end:
                raise PatchError("has hunks that overlap or have no place")
            lines += self.lines[end:start]
            starts.append(len(lines))
            lines += hunk.new
            end = start + len(hunk.old)
        return [*lines, *self.lines[end:]], starts


class SparseBase:
    """The base of several diffs, and the trees to which they lead.

    Attributes:
        tree: The base, with all files that the diffs touch.
    """

    def __init__(self, diffs: Iterable[Diff]) -> None:
        """Read the base from diffs.

        Raises:
            PatchError: They cannot have the same base.
        """
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
            {path: self._old(each, each.lines) for path, each in self._files.items()}
        )

    def changes(self, diff: Diff) -> Changes:
        """Return what one of the diffs changes.

        Raises:
            PatchError: Its hunks do not fit.
        """
        return Changes({file.path: self._changed(file) for file in diff})

    def starts(self, file: FilePatch) -> Sequence[int]:
        """Return the place in the new text at which each hunk of a file begins."""
        return self._base_of(file).patched(file.hunks)[1]

    def _base_of(self, file: FilePatch) -> _BaseFile:
        return _BaseFile() if file.old_path is None else self._files[file.path]

    def _changed(self, file: FilePatch) -> Entry | None:
        old = self._base_of(file)
        lines, _ = old.patched(file.hunks)
        if file.change is FileChange.DELETE:
            return None
        mode = file.new_mode or file.old_mode or old.mode
        if _is_binary(file):
            return self._binary(file.new_id, mode)
        if not file.hunks:
            return Entry(self._old(old, lines).data, mode or FileMode.FILE)
        return _entry(lines, mode)

    def _old(self, file: _BaseFile, lines: Sequence[bytes]) -> Entry:
        """Return a file of the base."""
        if file.object_id is not None and not file.known:
            return self._binary(file.object_id, file.mode)
        return _entry(lines, file.mode)

    def _binary(self, object_id: str | None, mode: FileMode | None) -> Entry:
        """Return a file of which the diffs show at least the id."""
        unknown = b"\0" + (object_id or "").encode()
        return Entry(self._contents.get(object_id or "", unknown), mode or FileMode.FILE)


def _ends(hunk: Hunk) -> bool:
    """Whether a file ends with a hunk.

    Then fewer lines follow its last change than elsewhere, or the last line has no newline.
    """
    last = hunk.lines[-_CONTEXT:]
    return any(line[:1] != b" " for line in last) or not last[-1].endswith(b"\n")


def _placeholder(path: str, after: int) -> bytes:
    """Return a line that stands for the unknown lines after a line, and that no text has."""
    return b"\x01 unknown lines after %d of %s\n" % (after, path.encode("utf-8", "surrogateescape"))


def _is_binary(file: FilePatch) -> bool:
    return file.lacks_contents or file.binary is not None


def _entry(lines: Sequence[bytes], mode: FileMode | None) -> Entry:
    data = b"".join(lines)
    if mode is FileMode.SUBMODULE:
        data = data.removeprefix(_COMMIT).strip()
    return Entry(data, mode or FileMode.FILE)
