"""Patches as records: bytes in, `Patch` out, and back to bytes.

Reads what `git diff`, `git format-patch` and `diff -u` write. Text between diffs is
prose, and so is what follows a hunk that is complete by its header, as `git apply`
has it. A broken diff is refused with the line where reading stopped.
"""

import os
import re
import stat
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Self

from attrs import evolve, field, frozen

from cooperbench_eval.errors import PatchError
from cooperbench_eval.models import FileMode
from cooperbench_eval.patching.binary import BinaryChange, read_change
from cooperbench_eval.patching.names import is_of_epoch, read_name, split_names, unquote
from cooperbench_eval.snapshot import path_problem

__all__ = ["FileChange", "FilePatch", "Hunk", "Patch"]

_HUNK = re.compile(
    rb"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@(.*)", re.DOTALL
)
_INDEX = re.compile(rb"index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?")
_SIMILARITY = re.compile(rb"(?:dis)?similarity index ")
_RENAMED = re.compile(rb"(rename|copy) (from|to) (.+)", re.DOTALL)
_MODED = re.compile(rb"(old mode|new mode|deleted file mode|new file mode) (.*)", re.DOTALL)
_NO_NEWLINE = b"\\ "
_BODIES = (b"--- ", b"+++ ", b"GIT binary patch", b"Binary files ", b"Files ")


class FileChange(StrEnum):
    """What a patch does to one file."""

    MODIFY = "modify"
    """Changes contents or mode in place."""
    ADD = "add"
    """Creates the file."""
    DELETE = "delete"
    """Removes the file."""
    RENAME = "rename"
    """Moves the file, perhaps changing it."""
    COPY = "copy"
    """Creates the file from another one, perhaps changing it."""


@frozen(kw_only=True)
class Hunk:
    """One run of changed lines with their context.

    Attributes:
        old_start: First line in the old file, counted from 1.
        new_start: First line in the new file, counted from 1.
        lines: Each with its sign (a space, `+` or `-`) and its newline, which
            only a last line may lack.
        section: What follows the header's second `@@`, newline included.
    """

    old_start: int
    new_start: int
    lines: tuple[bytes, ...] = field(converter=tuple[bytes, ...], repr=False)
    section: bytes = b"\n"

    @property
    def old(self) -> list[bytes]:
        """The lines the hunk expects to find, context included."""
        return [line[1:] for line in self.lines if line[:1] != b"+"]

    @property
    def new(self) -> list[bytes]:
        """The lines the hunk leaves, context included."""
        return [line[1:] for line in self.lines if line[:1] != b"-"]


@frozen(kw_only=True)
class FilePatch:
    """What a patch does to one file.

    Attributes:
        change: The kind of change.
        old_path: The file it starts from; `None` for a new one. An addition
            that names one fills that file if it is there and empty: a header
            without git's own words leaves it open.
        new_path: The file it leaves; `None` for a deleted one.
        old_mode: The mode it expects, where the patch says so.
        new_mode: The mode it leaves, where the patch says so.
        old_id: The blob it was made from, as far as the patch abbreviates it.
        new_id: The blob it leaves, likewise.
        hunks: The changed lines of a text file.
        binary: The new contents of a binary file, or how to derive them.
        lacks_contents: The patch only says that two binary files differ.
    """

    change: FileChange
    old_path: str | None
    new_path: str | None
    old_mode: FileMode | None = None
    new_mode: FileMode | None = None
    old_id: str | None = None
    new_id: str | None = None
    hunks: tuple[Hunk, ...] = field(default=(), converter=tuple[Hunk, ...])
    binary: BinaryChange | None = None
    lacks_contents: bool = False

    @property
    def path(self) -> str:
        """The file it leaves, or the one it deletes."""
        path = self.new_path if self.new_path is not None else self.old_path
        return path or ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path it names, old before new, each once."""
        both = (self.old_path, self.new_path)
        return tuple(dict.fromkeys(path for path in both if path is not None))


@frozen(kw_only=True)
class Patch:
    r"""What an agent wants changed, file by file.

    Attributes:
        files: The changes in the order of the text; one file may come twice.
        data: The text they were read from.

    Example:
        >>> patch = Patch.parse("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n")
        >>> patch.paths
        ('x',)
        >>> Patch.parse("no patch at all")
        Traceback (most recent call last):
        ...
        cooperbench_eval.errors.PatchError: patch: holds no diff
    """

    files: tuple[FilePatch, ...] = field(converter=tuple[FilePatch, ...])
    data: bytes = field(default=b"", repr=False, eq=False)

    @classmethod
    def parse(cls, data: "bytes | str | Patch", *, origin: str | None = None) -> "Patch":
        """Read a patch; blank text is an empty patch.

        Args:
            data: The text. A `str` is encoded as UTF-8, surrogate escapes kept.
            origin: The file it came from, for error messages.

        Raises:
            PatchError: The text holds no diff, a broken one, or a path that
                leaves the tree.
        """
        if isinstance(data, Patch):
            return data
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"a patch is bytes or str, not {type(data).__qualname__}")
        try:
            raw = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)
        except UnicodeEncodeError as exc:
            raise PatchError("holds half a surrogate pair", origin) from exc
        reader = _Reader(raw)
        try:
            files = tuple(reader.files())
        except PatchError as exc:
            raise PatchError(exc.reason, origin, exc.line or reader.line) from exc
        if not files and raw.strip():
            raise PatchError("holds no diff", origin)
        return cls(files=files, data=raw)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Patch":
        """Read a patch from a file.

        Raises:
            PatchError: The file cannot be read, or holds no good patch.
        """
        try:
            data = Path(path).read_bytes()
        except OSError as exc:
            raise PatchError(f"cannot be read ({exc.strerror})", str(path)) from exc
        return cls.parse(data, origin=str(path))

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path the patch names, sorted."""
        return tuple(sorted({path for file in self.files for path in file.paths}))

    def select(self, files: "tuple[FilePatch, ...]") -> Self:
        """Return the patch with only *files*, some of its own."""
        return evolve(self, files=files, data=b"")


class _Reader:
    """Reads one patch, line by line."""

    def __init__(self, data: bytes) -> None:
        # Whoever strips a patch takes its last newline; git would call it corrupt.
        whole = data if data.endswith(b"\n") else data + b"\n"
        self._lines = [line + b"\n" for line in whole.split(b"\n")[:-1]]
        self._at = 0

    @property
    def line(self) -> int:
        """The line being read, counted from 1."""
        return self._at + 1

    def _fail(self, reason: str) -> PatchError:
        return PatchError(reason, None, self.line)

    def _peek(self, ahead: int = 0) -> bytes:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else b""

    def files(self) -> Iterator[FilePatch]:
        while self._at < len(self._lines):
            line = self._peek()
            if line.startswith(b"diff --git "):
                file = self._git_file()
                if file is not None:
                    yield file
            elif self._at_plain_header():
                yield self._plain_file()
            elif _HUNK.match(line):
                raise self._fail("a hunk stands outside of any file")
            elif line.startswith((b"diff --cc ", b"diff --combined ")):
                raise self._fail("a diff of a merge cannot be applied")
            else:
                self._at += 1

    def _at_plain_header(self) -> bool:
        return (
            self._peek().startswith(b"--- ")
            and self._peek(1).startswith(b"+++ ")
            and self._peek(2).startswith(b"@@ -")
        )

    # --- one file ---

    def _plain_file(self) -> FilePatch:
        old_line, new_line = self._peek(), self._peek(1)
        old, new = self._names()
        hunks = self._hunks()
        change = FileChange.MODIFY
        if old is None or (new is not None and is_of_epoch(old_line)):
            change, old = FileChange.ADD, None
        elif new is None or is_of_epoch(new_line):
            # as `diff -u old new` names two files that are one
            change, old, new = FileChange.DELETE, new or old, None
        else:
            change = FileChange.ADD if _may_create(hunks) else FileChange.MODIFY
            old = new
        return self._checked(FilePatch(change=change, old_path=old, new_path=new, hunks=hunks))

    def _git_file(self) -> FilePatch | None:
        """Read one file of a git diff; `None` if the line was but prose."""
        start = self._at
        file = self._git_header()
        if self._peek().startswith(b"--- ") and self._peek(1).startswith(b"+++ "):
            file = self._named_again(file)
        elif self._at == start + 1 and not self._peek().startswith(_BODIES):
            return None
        if self._peek().startswith(b"GIT binary patch"):
            change, self._at = read_change(self._lines, self._at + 1)
            file = evolve(file, binary=change)
        elif self._peek().startswith((b"Binary files ", b"Files ")):
            file = evolve(file, lacks_contents=True)
            self._at += 1
        else:
            file = evolve(file, hunks=self._hunks())
        if file.change is FileChange.ADD:
            file = evolve(file, old_path=None)
        elif file.change is FileChange.DELETE:
            file = evolve(file, new_path=None)
        if not _changes_something(file):
            raise self._fail("the diff of a file changes nothing")
        return self._checked(file)

    def _named_again(self, header: FilePatch) -> FilePatch:
        """Read the names above the hunks; they say what the header left unsaid."""
        old, new = self._names()
        change = header.change
        named_old = change in {FileChange.RENAME, FileChange.COPY, FileChange.DELETE}
        named_new = change in {FileChange.RENAME, FileChange.COPY, FileChange.ADD}
        if (named_old and header.old_path not in {None, old}) or (
            named_new and header.new_path not in {None, new}
        ):
            raise self._fail("the diff names the file in two ways")
        if change is FileChange.MODIFY:
            if old is None:
                change = FileChange.ADD
            elif new is None:
                change = FileChange.DELETE
            elif old != new:
                change = FileChange.RENAME
        return evolve(header, change=change, old_path=old, new_path=new)

    def _git_header(self) -> FilePatch:
        old, new = split_names(self._peek()[len(b"diff --git ") :].rstrip(b"\r\n"))
        self._at += 1
        header = FilePatch(change=FileChange.MODIFY, old_path=old, new_path=new)
        while self._at < len(self._lines):
            more = self._extended(header, self._peek().rstrip(b"\r\n"))
            if more is None:
                break
            header = more
            self._at += 1
        named = header.old_path is not None and header.new_path is not None
        if not named and not self._peek().startswith(b"--- "):
            raise self._fail("the diff names no file")
        return header

    def _extended(  # noqa: PLR0911 - one return for each kind of header line
        self, header: FilePatch, line: bytes
    ) -> FilePatch | None:
        """Add what one of git's extended header lines says; `None` if it is none."""
        if renamed := _RENAMED.fullmatch(line):
            change = FileChange(renamed.group(1).decode())
            name = unquote(renamed.group(3))
            if renamed.group(2) == b"from":
                return evolve(header, change=change, old_path=name)
            return evolve(header, change=change, new_path=name)
        if moded := _MODED.fullmatch(line):
            mode = self._mode(moded.group(2))
            match moded.group(1):
                case b"old mode":
                    return evolve(header, old_mode=mode)
                case b"deleted file mode":
                    return evolve(header, change=FileChange.DELETE, old_mode=mode)
                case b"new file mode":
                    return evolve(header, change=FileChange.ADD, new_mode=mode)
            return evolve(header, new_mode=mode)
        if index := _INDEX.fullmatch(line):
            old_id, new_id = index.group(1).decode(), index.group(2).decode()
            header = evolve(header, old_id=old_id, new_id=new_id)
            if index.group(3):
                # Says what the file was, not what it shall be: its mode may have changed.
                header = evolve(header, old_mode=self._mode(index.group(3)))
            return header
        return header if _SIMILARITY.match(line) else None

    def _mode(self, text: bytes) -> FileMode:
        try:
            mode = int(text, 8)
            if stat.S_ISREG(mode):  # git knows two kinds of files: with x and without
                return FileMode.EXECUTABLE if mode & stat.S_IXUSR else FileMode.FILE
            return FileMode(mode)
        except (ValueError, OverflowError):
            raise self._fail(f"unknown file mode {text.decode('ascii', 'replace')!r}") from None

    def _checked(self, file: FilePatch) -> FilePatch:
        needs_old = file.change is not FileChange.ADD
        needs_new = file.change is not FileChange.DELETE
        if (needs_old and file.old_path is None) or (needs_new and file.new_path is None):
            raise self._fail("the diff names no file")
        for path in file.paths:
            if problem := path_problem(path):
                raise self._fail(problem)
        return file

    # --- names ---

    def _names(self) -> tuple[str | None, str | None]:
        old, new = read_name(self._peek()), read_name(self._peek(1))
        self._at += 2
        if old is None and new is None:
            raise self._fail("the diff names no file")
        return old, new

    # --- hunks ---

    def _hunks(self) -> tuple[Hunk, ...]:
        hunks = []
        while self._peek().startswith(b"@@ "):
            header = _HUNK.match(self._peek())
            if not header:
                raise self._fail("the hunk's header cannot be read")
            hunks.append(self._hunk(header))
        return tuple(hunks)

    def _hunk(self, header: re.Match[bytes]) -> Hunk:
        old_start, old_left, new_start, new_left = (
            1 if number is None else int(number) for number in header.groups()[:4]
        )
        lines: list[bytes] = []
        self._at += 1
        while old_left or new_left:
            line = self._peek()
            if line in {b"\n", b"\r\n"}:
                line = b" " + line  # mailers strip the space of a blank context line
            sign = line[:1]
            if sign not in {b" ", b"+", b"-"}:
                if line.startswith(_NO_NEWLINE) and lines:
                    lines[-1] = lines[-1].removesuffix(b"\n")
                    self._at += 1
                    continue
                raise self._fail("the hunk ends before its header says")
            old_left -= sign != b"+"
            new_left -= sign != b"-"
            if old_left < 0 or new_left < 0:
                raise self._fail("the hunk holds more lines than its header says")
            lines.append(line)
            self._at += 1
        if self._peek().startswith(_NO_NEWLINE) and lines:
            lines[-1] = lines[-1].removesuffix(b"\n")
            self._at += 1
        if all(line[:1] == b" " for line in lines):
            raise self._fail("the hunk changes nothing")
        return Hunk(
            old_start=old_start, new_start=new_start, lines=tuple(lines), section=header.group(5)
        )


def _may_create(hunks: tuple[Hunk, ...]) -> bool:
    return len(hunks) == 1 and not hunks[0].old


def _changes_something(file: FilePatch) -> bool:
    modes = {file.old_mode, file.new_mode} - {None}
    holds_contents = bool(file.hunks) or file.binary is not None or file.lacks_contents
    return holds_contents or file.change is not FileChange.MODIFY or len(modes) > 1
