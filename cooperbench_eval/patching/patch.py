"""A patch: read from bytes, held as records, written as bytes."""

import os
from pathlib import Path
from typing import Self

from attrs import evolve, field, frozen

from cooperbench_eval.errors import PatchError
from cooperbench_eval.patching.printing import print_file
from cooperbench_eval.patching.reader import PatchReader
from cooperbench_eval.patching.records import FilePatch

__all__ = ["Patch"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@frozen(kw_only=True)
class Patch:
    r"""The changes that an agent wants to make, file by file.

    Attributes:
        files: The changes in the order of the text; a file may occur twice.
        data: The text that the patch was read from.
        problem: Why the text is not a patch, see `unreadable`; empty if it is one.

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

    @classmethod
    def parse(cls, data: "bytes | str | Patch", *, origin: str | None = None) -> "Patch":
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
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"a patch must be bytes or str, not {type(data).__qualname__}")
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
    def read(cls, path: str | os.PathLike[str]) -> "Patch":
        """Read a patch from a file.

        Raises:
            PatchError: The file cannot be read, or it is not a valid patch.
        """
        try:
            data = Path(path).read_bytes()
        except OSError as exc:
            raise PatchError(f"cannot be read ({exc.strerror})", str(path)) from exc
        return cls.parse(data, origin=str(path))

    @classmethod
    def unreadable(cls, error: PatchError) -> Self:
        """Make a patch for text that cannot be parsed; it has no files and fails to apply.

        With it, an evaluation can report such a patch like any other.
        """
        return cls(files=(), problem=str(error))

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that the patch names, sorted."""
        return tuple(sorted({path for file in self.files for path in file.paths}))

    def __bytes__(self) -> bytes:
        """Return the patch as a diff without prose; reading the diff gives an equal patch."""
        return b"".join(map(print_file, self.files))

    def select(self, files: "tuple[FilePatch, ...]") -> Self:
        """Return the patch with only *files*, which must all be files of this patch."""
        return evolve(self, files=files, data=b"")
