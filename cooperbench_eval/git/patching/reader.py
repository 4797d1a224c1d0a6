"""Reads the text of a patch, line by line, and the file names in it.

Text between diffs is prose. A hunk has as many lines as its header states; if the header
is wrong, the hunk ends at the first line that cannot be part of one.
"""

import re
import stat
from collections.abc import Iterator
from io import BytesIO

from attrs import evolve

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.patching.binary import MOST_BYTES, read_change
from cooperbench_eval.git.patching.patch_parts import FileChange, FilePatch, Hunk
from cooperbench_eval.git.trees.entries import FileMode, entry_problem

_QUOTED = rb'"(?:[^"\\]|\\.)*"'
_TWO_NAMES = re.compile(rb"(%s) (.+)|([^\"]*) (%s)" % (_QUOTED, _QUOTED))
_EPOCH = re.compile(rb"(19(?:69-12-31|70-01-01)) (\d\d):(\d\d):00(?:\.0+)? ([-+]\d\d):?(\d\d)\s*")
_PREFIX = re.compile(r"[abciwo12]/")  # git's default and mnemonic prefixes
_ESCAPES = dict(zip('abtnvfr"\\', '\a\b\t\n\v\f\r"\\', strict=True))


def read_name(line: bytes) -> str | None:
    """Return the path of a `---` or `+++` line; `None` for /dev/null.

    As in `git apply`, the path ends before the first tab or carriage return.
    """
    text, tab, _ = line[4:].rstrip(b"\n").partition(b"\t")
    text = end_at_carriage_return(text)
    text = text if tab else text.rstrip(b" ")
    name = unquote(text)
    return None if name == "/dev/null" else _strip_prefix(name)


def end_at_carriage_return(text: bytes) -> bytes:
    """Return the part of an unquoted name that git reads."""
    return text.partition(b"\r")[0]


def split_names(line: bytes) -> tuple[str | None, str | None]:
    """Split the `a/x b/x` of a line; two `None` if the names differ: later lines repeat them.

    A carriage return after both names is part of them, as in `git apply`. After only the
    second one, it is part of the line end.
    """
    names = _split_equal(line)
    return _split_equal(line.rstrip(b"\r")) if names == (None, None) else names


def _split_equal(rest: bytes) -> tuple[str | None, str | None]:
    if rest.startswith(b'"') or rest.endswith(b'"'):
        quoted = _TWO_NAMES.fullmatch(rest)
        if not quoted:
            return None, None
        old, new = (_strip_prefix(unquote(part)) for part in quoted.groups() if part)
        return (old, new) if old == new else (None, None)
    middle = len(rest) // 2
    old, new = unquote(rest[:middle]), unquote(rest[middle + 1 :])
    if rest[middle : middle + 1] == b" " and _strip_prefix(old) == _strip_prefix(new):
        return _strip_prefix(old), _strip_prefix(new)
    return None, None


def is_of_epoch(line: bytes) -> bool:
    """Whether a name has the date that `diff -N` gives a missing file."""
    found = _EPOCH.fullmatch(line.partition(b"\t")[2])
    if not found:
        return False
    hour, minute, zone_hour, zone_minute = (int(found.group(i)) for i in range(2, 6))
    zone = zone_hour * 60 + (-zone_minute if found.group(4)[:1] == b"-" else zone_minute)
    days = 1 if found.group(1) == b"1969-12-31" else 0
    return hour * 60 + minute - zone == days * 24 * 60


def _strip_prefix(name: str) -> str:
    bare = name[2:] if _PREFIX.match(name) else name
    while bare.startswith("./"):
        bare = bare[2:]
    return bare


def unquote(text: bytes) -> str:
    """Undo git's C-style quoting of a path."""
    if not (text.startswith(b'"') and text.endswith(b'"') and len(text) > 1):
        return text.decode("utf-8", "surrogateescape")

    def byte(match: re.Match[str]) -> str:
        code = match.group(1)
        if len(code) > 1:
            return chr(int(code, 8))
        if code not in _ESCAPES:
            raise PatchError(f"a quoted name has the unknown escape \\{code}")
        return _ESCAPES[code]

    inner = text[1:-1].decode("latin-1")
    raw = re.sub(r"\\([0-3][0-7]{2}|.?)", byte, inner, flags=re.DOTALL).encode("latin-1")
    return raw.decode("utf-8", "surrogateescape")


_HUNK = re.compile(
    rb"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@(.*)", re.DOTALL
)
_INDEX = re.compile(rb"index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?")
_SIMILARITY = re.compile(rb"(?:dis)?similarity index ")
_RENAMED = re.compile(rb"(rename|copy) (from|to) (.+)", re.DOTALL)
_MODED = re.compile(rb"(old mode|new mode|deleted file mode|new file mode) (.*)", re.DOTALL)
_NO_NEWLINE = b"\\ "

_SIGNS = frozenset({b" ", b"+", b"-"})
_BLANK = frozenset({b"\n", b"\r\n"})
_ENDS = frozenset({b"--", b"```"})  # lines after a patch: of a signature or a code block
_HEADERS = (b"diff ", b"@@ -", b"--- ", b"Index: ")
_NO_DIFF = (b"*** Begin Patch", b"*** Update File: ", b"*** Add File: ", b"*** Delete File: ")
_SIGNATURE = b"-- "  # `git format-patch` and mail programs append this to a patch
_BODIES = (b"--- ", b"+++ ", b"GIT binary patch", b"Binary files ", b"Files ")


class PatchReader:
    """Reads one patch, line by line."""

    def __init__(self, data: bytes) -> None:
        # Stripping a patch removes its last newline. Git calls the rest corrupt; we do not.
        self._is_cut = not data.endswith(b"\n")
        whole = data + b"\n" if self._is_cut else data
        self._lines = BytesIO(whole).readlines()  # b"\n" is the only line ending
        self._at = 0
        self._room = MOST_BYTES

    @property
    def line(self) -> int:
        """The line being read, counted from 1."""
        return self._at + 1

    def _fail(self, reason: str) -> PatchError:
        return PatchError(reason, None, self.line)

    def _peek(self, ahead: int = 0) -> bytes:
        try:
            return self._lines[self._at + ahead]
        except IndexError:
            return b""

    def files(self) -> Iterator[FilePatch]:
        """Yield the patch of each file in order."""
        while self._at < len(self._lines):
            line = self._peek()
            if line.startswith(b"diff --git "):
                file = self._git_file()
                if file is not None:
                    yield file
            elif self._at_names() and self._peek(2).startswith(b"@@ -"):
                yield self._plain_file()
            elif _HUNK.match(line) or line.strip() == b"@@":
                raise self._fail("a hunk is outside of any file, or has no numbers")
            elif self._names_without_hunk():
                raise self._fail("a file is named, but it has no hunk that can be read")
            elif line.startswith(_NO_DIFF):
                raise self._fail("its format is not a diff")
            elif line.startswith((b"diff --cc ", b"diff --combined ")):
                raise self._fail("a diff of a merge cannot be applied")
            else:
                self._at += 1

    def _names_without_hunk(self) -> bool:
        """Whether file names precede a malformed hunk or the end of the patch."""
        third = self._peek(2)
        is_hunk = not third or third[:1] in _SIGNS or third.startswith(b"@@")
        return self._at_names() and is_hunk

    def _at_names(self) -> bool:
        return self._peek().startswith(b"--- ") and self._peek(1).startswith(b"+++ ")

    # --- one file ---

    def _plain_file(self) -> FilePatch:
        old_line, new_line = self._peek(), self._peek(1)
        old, new = self._names()
        if old and new and old != new and old.partition("/")[2] == new.partition("/")[2] != "":
            old = new = old.partition("/")[2]  # `diff -r` names two folders
        hunks = self._hunks()
        change = FileChange.MODIFY
        if old is None or (new is not None and is_of_epoch(old_line)):
            change, old = FileChange.ADD, None
        elif new is None or is_of_epoch(new_line):
            # `diff -u old new` names a file and its changed copy
            change, old, new = FileChange.DELETE, new or old, None
        else:
            may_create = len(hunks) == 1 and not hunks[0].old
            change = FileChange.ADD if may_create else FileChange.MODIFY
            old = new
        return self._checked(FilePatch(change=change, old_path=old, new_path=new, hunks=hunks))

    def _git_file(self) -> FilePatch | None:
        """Read one file of a git diff; `None` if the line was prose."""
        start = self._at
        header = file = self._git_header()
        if self._at_names():
            file = self._named_again(file)
        elif self._at == start + 1 and not self._peek().startswith(_BODIES):
            return None
        if self._peek().startswith(b"GIT binary patch"):
            change, self._at = read_change(self._lines, self._at + 1, self._room)
            self._room -= len(change.data)
            file = evolve(file, binary=change)
        elif self._peek().startswith((b"Binary files ", b"Files ")):
            file = evolve(file, lacks_contents=True)
            self._at += 1
        else:
            file = evolve(file, hunks=self._hunks())
        if file.change is FileChange.ADD:
            file = evolve(file, old_path=None, old_mode=None)
        elif file.change is FileChange.DELETE:
            file = evolve(file, new_path=None, new_mode=None)
        if not _changes_something(evolve(file, change=header.change)):
            raise self._fail("the diff of a file changes nothing")
        return self._checked(file)

    def _named_again(self, header: FilePatch) -> FilePatch:
        """Read the names above the hunks, which complete the header."""
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
        old, new = split_names(self._peek()[len(b"diff --git ") :].rstrip(b"\n"))
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
        """Add one of git's extended header lines; `None` if the line is not one."""
        if renamed := _RENAMED.fullmatch(line):
            change = FileChange(renamed.group(1).decode())
            name = unquote(end_at_carriage_return(renamed.group(3)))
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
                # This is the mode of the old file; the new file's may differ.
                header = evolve(header, old_mode=self._mode(index.group(3)))
            return header
        return header if _SIMILARITY.match(line) else None

    def _mode(self, text: bytes) -> FileMode:
        try:
            mode = int(text, 8)
            if stat.S_ISREG(mode):  # git has two modes for files: executable or not
                return FileMode.EXECUTABLE if mode & stat.S_IXUSR else FileMode.FILE
            return FileMode(mode)
        except (ValueError, OverflowError):
            raise self._fail(f"unknown file mode {text.decode('ascii', 'replace')!r}") from None

    def _checked(self, file: FilePatch) -> FilePatch:
        needs_old = file.change is not FileChange.ADD
        needs_new = file.change is not FileChange.DELETE
        if (needs_old and file.old_path is None) or (needs_new and file.new_path is None):
            raise self._fail("the diff names no file")
        mode = file.new_mode or file.old_mode or FileMode.FILE
        for path in file.paths:
            if problem := entry_problem(path, mode):
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
        old_start, old_count, new_start, new_count = (
            1 if number is None else int(number) for number in header.groups()[:4]
        )
        stated: tuple[int, int] | None = None
        uncounted: list[bytes] = []
        self._at += 1
        start = self._at
        lines = self._counted_lines(old_count, new_count)
        if lines is None:
            self._at, stated = start, (old_count, new_count)
            lines = self._hunk_like_lines()
            self._require_end(lines)
        else:
            more = self._hunk_like_lines()
            if more and (self._peek().startswith(b"@@ -") or not any(map(_is_change, lines))):
                lines, stated = lines + more, (old_count, new_count)
            else:
                uncounted = more
        if not any(map(_is_change, lines)):
            raise self._fail("the hunk changes nothing")
        return Hunk(
            old_start=old_start,
            new_start=new_start,
            lines=tuple(lines),
            section=header.group(5),
            stated=stated,
            uncounted=tuple(uncounted),
        )

    def _counted_lines(self, old_left: int, new_left: int) -> list[bytes] | None:
        """Read as many lines as the header states; `None` if another line comes first."""
        lines: list[bytes] = []
        while old_left > 0 or new_left > 0:
            line = self._peek()
            sign = line[:1]
            if sign == b"+":
                new_left -= 1
            elif sign == b"-":
                old_left -= 1
            elif sign == b" " or line in _BLANK:
                old_left -= 1
                new_left -= 1
                if sign != b" ":
                    line = b" " + line  # mail programs strip the space of a blank context line
            elif self._ends_without_newline(lines):
                continue
            else:
                return None
            lines.append(line)
            self._at += 1
        if old_left or new_left:  # the count includes a line that is not the hunk's
            return None
        self._ends_without_newline(lines)
        return lines

    def _hunk_like_lines(self) -> list[bytes]:
        """Read lines that look like a hunk's; trailing blank ones only if a hunk follows."""
        lines: list[bytes] = []
        kept = self._at
        while not self._at_end_of_hunk():
            line = self._peek()
            if self._ends_without_newline(lines):
                kept = self._at
                continue
            lines.append(b" " + line if line in _BLANK else line)
            self._at += 1
            if line not in _BLANK:
                kept = self._at
        if not self._peek().startswith(b"@@ -"):
            del lines[len(lines) - (self._at - kept) :]
            self._at = kept
        return lines

    def _require_end(self, lines: list[bytes]) -> None:
        """Refuse a miscounted hunk if it may be incomplete."""
        if self._at == len(self._lines):
            if self._is_cut and lines and _is_change(lines[-1]):
                raise self._fail("the patch is cut off in a hunk")
            return
        for line in self._lines[self._at :]:
            if line.startswith(_HEADERS) or line.rstrip() in _ENDS:
                return
            if line[:1] in {b"+", b"-"}:
                raise self._fail("the hunk has a line that cannot be part of a hunk")

    def _at_end_of_hunk(self) -> bool:
        line = self._peek()
        return (
            (line[:1] not in _SIGNS and line not in _BLANK and not line.startswith(_NO_NEWLINE))
            or line.rstrip(b"\r\n") == _SIGNATURE
            or self._at_names()
        )

    def _ends_without_newline(self, lines: list[bytes]) -> bool:
        """Read the note that the last of *lines* has no newline, if it comes next."""
        if not (lines and self._peek().startswith(_NO_NEWLINE)):
            return False
        lines[-1] = lines[-1].removesuffix(b"\n")
        self._at += 1
        return True


def _is_change(line: bytes) -> bool:
    return line[:1] != b" "


def _changes_something(file: FilePatch) -> bool:
    modes = {file.old_mode, file.new_mode} - {None}
    holds_contents = bool(file.hunks) or file.binary is not None or file.lacks_contents
    return holds_contents or file.change is not FileChange.MODIFY or len(modes) > 1
