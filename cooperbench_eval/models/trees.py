"""Entries of a tree."""

import hashlib
from enum import IntEnum

from attrs import field, frozen

__all__ = [
    "Entry",
    "FileMode",
]


class FileMode(IntEnum):
    """The kind of an entry, as in git's mode bits."""

    FILE = 0o100644
    """A regular file."""
    EXECUTABLE = 0o100755
    """An executable file."""
    SYMLINK = 0o120000
    """A symbolic link; the entry's data is its target."""
    SUBMODULE = 0o160000
    """A commit of another repository; the entry's data is its id in hex."""

    @property
    def is_regular(self) -> bool:
        """Whether the entry is a file, executable or not."""
        return self in {FileMode.FILE, FileMode.EXECUTABLE}


@frozen
class Entry:
    """One file, link or submodule of a tree.

    Attributes:
        data: The contents: file bytes, link target, or submodule commit in hex.
        mode: The kind of the entry.
    """

    data: bytes = field(repr=False)
    mode: FileMode = field(default=FileMode.FILE, converter=FileMode)

    @property
    def id(self) -> str:
        """The git object id in hex: a blob's id, or the submodule's commit."""
        if self.mode is FileMode.SUBMODULE:
            return self.data.decode("ascii")
        header = b"blob %d\0" % len(self.data)
        return hashlib.sha1(header + self.data, usedforsecurity=False).hexdigest()
