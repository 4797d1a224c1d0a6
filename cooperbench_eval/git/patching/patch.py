"""`Patch`: a patch as records, read from any form that a caller gives, and written as a diff."""

import os
import stat
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Self, TypeAlias

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError, PatchError
from cooperbench_eval.git.patching.binary import MOST_BYTES
from cooperbench_eval.git.patching.patch_parts import FileChange, FilePatch, Hunk
from cooperbench_eval.git.patching.reader import PatchReader
from cooperbench_eval.git.trees.diff_writing import binary_block, quote_path
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.support.arguments import checked, checked_fields
from cooperbench_eval.support.systems import OPEN_AT_ONCE


def _printed(file: FilePatch) -> Iterator[bytes]:
    """Yield a file's change as a diff; reading the diff gives the same record."""
    if file.change is FileChange.ADD and file.old_path is not None:
        # Git's header cannot express an addition that may fill an existing empty file. This
        # line separates the names below from the diff above.
        yield b"diff\n"
    else:
        yield from _header(file)
    # Without a mode, only the names show that a file is added or deleted.
    mode = file.old_mode if file.change is FileChange.DELETE else file.new_mode
    if file.hunks or (file.change in {FileChange.ADD, FileChange.DELETE} and mode is None):
        yield b"--- " + _named(b"a/", file.old_path)
        yield b"+++ " + _named(b"b/", file.new_path)
    for hunk in file.hunks:
        yield from _hunk(hunk)
    if file.binary:
        yield b"GIT binary patch\n"
        yield binary_block(file.binary.kind.value, file.binary.data)
    elif file.lacks_contents:
        yield b"Binary files differ\n"


def _header(file: FilePatch) -> Iterator[bytes]:
    old = file.path if file.old_path is None else file.old_path
    yield b"diff --git %s %s\n" % (quote_path("a/", old), quote_path("b/", file.path))
    match file.change:
        case FileChange.ADD if file.new_mode:
            yield b"new file mode %06o\n" % file.new_mode
        case FileChange.DELETE if file.old_mode:
            yield b"deleted file mode %06o\n" % file.old_mode
        case FileChange.RENAME | FileChange.COPY:
            word = file.change.value.encode()
            yield word + b" from " + quote_path("", old) + b"\n"
            yield word + b" to " + quote_path("", file.path) + b"\n"
    if file.change not in {FileChange.ADD, FileChange.DELETE}:
        if file.old_mode:
            yield b"old mode %06o\n" % file.old_mode
        if file.new_mode:
            yield b"new mode %06o\n" % file.new_mode
    if file.old_id and file.new_id:
        yield f"index {file.old_id}..{file.new_id}\n".encode()


def _named(prefix: bytes, path: str | None) -> bytes:
    if path is None:
        return b"/dev/null\n"
    # A tab ends the name, so that trailing spaces belong to it.
    return quote_path(prefix.decode(), path) + b"\t\n"


def _hunk(hunk: Hunk) -> Iterator[bytes]:
    old, new = hunk.stated or (len(hunk.old), len(hunk.new))
    yield b"@@ -%d,%d +%d,%d @@%s" % (hunk.old_start, old, hunk.new_start, new, hunk.section)
    for line in hunk.lines + hunk.uncounted:
        yield line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


_BLOCK = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@frozen(kw_only=True, field_transformer=checked_fields)
class Patch:
    r"""The changes that an agent wants to make, file by file.

    Attributes:
        files: The changes in the order of the text; a file may occur twice.
        data: The text that the patch was read from.
        problem: Why the text is not a patch, see `unreadable`; empty if it is one.
        changes: The changes that the patch was made from; `None` if it was made from text. The
            files of such a patch are known only on a base, see `on`.

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
    problem: str = ""
    changes: Changes | None = field(default=None, repr=False)

    @classmethod
    @checked
    def parse(
        cls, data: "bytes | bytearray | memoryview | str | Patch", *, origin: str | None = None
    ) -> "Patch":
        """Read a patch; blank text is an empty patch.

        Args:
            data: The text. A `str` is encoded as UTF-8, surrogate escapes kept.
            origin: The file that the text came from, for error messages.

        Raises:
            PatchError: The text has no diff, a malformed one, or a path that leads out
                of the tree.
        """
        if isinstance(data, Patch):
            return data
        try:
            raw = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)
        except UnicodeEncodeError as exc:
            raise PatchError("holds half a surrogate pair", origin) from exc
        reader = PatchReader(raw.removeprefix(_BYTE_ORDER_MARK))
        try:
            files = tuple(reader.files())
        except PatchError as exc:
            raise PatchError(exc.reason, origin, exc.line or reader.line) from exc
        if not files and raw.strip():
            raise PatchError("holds no diff", origin)
        return cls(files=files, data=raw)

    @classmethod
    @checked
    def read(cls, path: str | os.PathLike[str]) -> "Patch":
        """Read a patch from a file.

        Raises:
            PatchError: The file cannot be read, is not a regular one, has more than 256 MiB, or
                is not a valid patch.
        """
        return cls.parse(read_file(path), origin=printable(path))

    @classmethod
    @checked
    def of(cls, changes: Changes) -> Self:
        """Make a patch from changes; it has no files until it is put on a base."""
        return cls(files=(), changes=changes)

    @classmethod
    @checked
    def unreadable(cls, error: PatchError) -> Self:
        """Make a patch for text that cannot be parsed; it has no files and fails to apply.

        With it, an evaluation can report such a patch like any other.
        """
        return cls(files=(), problem=str(error))

    @checked
    def on(self, base: Snapshot) -> "Patch":
        """Return the patch on *base*: one made from changes gets its files, others are unchanged.

        Raises:
            RepositoryError: A changed file of the base cannot be read.
        """
        return self if self.changes is None else Patch.parse(self.changes.diff(base))

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the patch names, sorted."""
        named = {path for file in self.files for path in file.paths}
        return tuple(sorted(named.union(self.changes or ())))

    def __bytes__(self) -> bytes:
        """Return the patch as a diff without prose; reading the diff gives an equal patch.

        Raises:
            PatchError: The patch was made from changes; use `on` first.
        """
        if self.changes is not None:
            raise PatchError("was made from changes, so it has no text; call on(base) first")
        return b"".join(part for file in self.files for part in _printed(file))

    @checked
    def select(self, files: "tuple[FilePatch, ...]") -> Self:
        """Return the patch with only *files*, which must all be files of this patch."""
        return evolve(self, files=files, data=b"")


def read_file(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """Return the text of a regular file of at most *most* bytes, or raise `PatchError`.

    A pipe could block for ever, and a device may have no end.
    """
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | OPEN_AT_ONCE), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise PatchError("cannot be read (not a regular file)", printable(path))
            # The size of a file of the system, such as one in /proc, may be given as zero.
            blocks = iter(partial(file.read, _BLOCK), b"")
            is_small = found.st_size <= most
            data = b"".join(islice(blocks, most // _BLOCK + 1)) if is_small else b""
    except (OSError, ValueError) as exc:  # the second if the path contains a NUL
        if isinstance(exc, PatchError):
            raise
        reason = getattr(exc, "strerror", None) or exc
        raise PatchError(f"cannot be read ({reason})", printable(path)) from exc
    if not is_small or len(data) > most:
        raise PatchError(f"cannot be read (more than {most:,} bytes)", printable(path))
    return data


def printable(path: str | os.PathLike[str]) -> str:
    """Return a path for a message; what UTF-8 cannot hold is escaped."""
    return os.fspath(path).encode("utf-8", "backslashreplace").decode("utf-8")


GivenText: TypeAlias = Patch | bytes | bytearray | memoryview | str | os.PathLike[str]
"""A patch, its text, or the path of its file."""
GivenPatch: TypeAlias = GivenText | Changes
"""The same, or the changes that the patch makes."""
_FIRST_WORDS = ("diff ", "--- ", "+++ ", "@@ ", "index ", "Index: ", "From ", "Binary files ")
"""A single line that begins like this may be what is left of a diff."""
_LONGEST_PATH = 4096


def as_patch(given: GivenPatch, argument: str = "patch") -> Patch:
    """Return what was given as a patch; text that is not a patch becomes one that fails to apply.

    Raises:
        ArgumentError: It is a single line, which is most likely the name of a file. The error
            names the *argument*.
        PatchError: It is the path of a file that cannot be read.
    """
    if isinstance(given, Changes):
        return Patch.of(given)
    if isinstance(given, os.PathLike):
        text, origin = read_file(given), printable(given)
        try:
            return Patch.parse(text, origin=origin)
        except PatchError as exc:
            return Patch.unreadable(exc)
    try:
        return parse_given(given, argument)
    except PatchError as exc:
        return Patch.unreadable(exc)


def parse_given(given: GivenText, argument: str = "patch") -> Patch:
    """Return what was given as a patch, as `as_patch` does, but only if it can be parsed.

    Raises:
        ArgumentError: It is a single line, which is most likely the name of a file.
        PatchError: It cannot be read or parsed.
    """
    if isinstance(given, os.PathLike):
        return Patch.read(given)
    try:
        return Patch.parse(given)
    except PatchError:
        if isinstance(given, str) and _is_likely_a_path(given):
            raise ArgumentError(
                argument,
                f"is not a diff: {given!r:.200}; if it is the path of a patch, pass Path(...) or "
                "Patch.read(...)",
            ) from None
        raise


def _is_likely_a_path(text: str) -> bool:
    line = text.strip()
    if len(line) > _LONGEST_PATH or line.startswith(_FIRST_WORDS):
        return False
    return len(line.splitlines()) == 1
