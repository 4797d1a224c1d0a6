"""Reads files while others may write them."""

import errno
import hashlib
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.entries import Entry, FileMode, stored_entry
from cooperbench_eval.support.memo import Memo

__all__ = [
    "Cleaner",
    "FileReader",
    "MovingError",
    "changed_at",
    "clock",
    "contents_of",
    "is_settled",
    "stamp_of",
]

_PIECE = 1 << 20
_TRIES = 3
_LARGE = 4 << 20
"""Files above this size are not kept in memory, and are hashed again only if they changed."""
_SECOND = 1_000_000_000
_SETTLED = 2 * _SECOND
"""A file that was written more recently may be written again without a new time stamp."""
_MOST_KEPT = 64 << 20
"""How many bytes of one working tree's files are kept in memory; others are read again."""
_MOST_RULES = 100 << 20
"""A file with rules of this size does not count, as in git."""
_NO_BLOCK = getattr(os, "O_NONBLOCK", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)

Cleaner = Callable[[bytes], bytes]
_Stamp = tuple[int, ...]
_IDS = Memo[tuple[str, _Stamp], str](4096)


class MovingError(Exception):
    """A file changed during each try to read it."""


def clock() -> int:
    """Return the time with which the system stamps files now, in nanoseconds."""
    coarse = getattr(time, "CLOCK_REALTIME_COARSE", None)
    return time.time_ns() if coarse is None else time.clock_gettime_ns(coarse)


def changed_at(found: os.stat_result) -> int:
    """Return the latest possible time of a file's last change, in nanoseconds.

    Programs can set all other times of a file. Some file systems only store whole seconds.
    """
    time_ = found.st_mtime_ns if sys.platform == "win32" else found.st_ctime_ns
    return time_ if time_ % _SECOND else time_ + _SECOND - 1


class FileReader:
    """Reads the files of a working tree as entries."""

    def __init__(self, folder: str, cleaner: Callable[[str], Cleaner | None]) -> None:
        """Prepare to read.

        Args:
            folder: The top folder.
            cleaner: Returns what converts the contents of a path as git does when it stores them;
                `None` if nothing does.
        """
        self._folder = folder
        self._cleaner = cleaner
        self._kept = 0

    def link(self, path: str) -> Entry:
        """Return a symbolic link.

        Raises:
            OSError: It is gone, or not a link.
        """
        target = os.readlink(os.fsencode(f"{self._folder}/{path}"))  # noqa: PTH115 - as bytes
        return Entry(target, FileMode.SYMLINK)

    def file(self, path: str, mode: FileMode) -> Entry:
        """Return a regular file, as it was at one moment.

        Raises:
            MovingError: It changed during each try.
            OSError: It is gone, or cannot be read, or is not a regular file.
        """
        clean = self._cleaner(path)
        for _ in range(_TRIES):
            entry = self._try(path, mode, clean)
            if entry is not None:
                return entry
        raise MovingError(path)

    def _try(self, path: str, mode: FileMode, clean: Cleaner | None) -> Entry | None:
        with _opened(f"{self._folder}/{path}") as handle:
            before = os.fstat(handle)
            if before.st_size > _LARGE and clean is None:
                object_id = _known_id(handle, f"{self._folder}/{path}", before)
                entry = self._lazy(path, mode, object_id, clean)
            else:
                data = _read(handle, before.st_size)
                if len(data) != before.st_size:
                    return None
                entry = Entry(clean(data) if clean else data, mode)
                self._kept += len(entry.data)
                if self._kept > _MOST_KEPT:
                    entry = self._lazy(path, mode, entry.id, clean)
            return entry if stamp_of(os.fstat(handle)) == stamp_of(before) else None

    def _lazy(self, path: str, mode: FileMode, object_id: str, clean: Cleaner | None) -> Entry:
        """Return an entry that reads its file again when its contents are used."""
        folder = self._folder

        def read() -> bytes:
            problem = f"the uncommitted file {path} has changed since it was first read"
            try:
                with _opened(f"{folder}/{path}") as handle:
                    data = _read(handle, os.fstat(handle).st_size)
            except OSError as exc:
                raise RepositoryError(folder, f"{problem} ({exc})") from exc
            entry = Entry(clean(data) if clean else data)
            if entry.id != object_id:
                raise RepositoryError(folder, problem)
            return entry.data

        return stored_entry(object_id, mode, read)


def contents_of(place: str) -> bytes:
    """Return the contents of a regular file with rules.

    Raises:
        OSError: It cannot be read, is a link or anything else, or is too large for git as well.
    """
    with _opened(place) as handle:
        size = os.fstat(handle).st_size
        if size >= _MOST_RULES:
            raise OSError(errno.EFBIG, "has too many rules", place)
        return _read(handle, size)


@contextmanager
def _opened(place: str) -> Iterator[int]:
    """Open a regular file; a pipe that has taken its place does not block.

    Raises:
        OSError: It cannot be opened, or it is not a regular file.
    """
    handle = os.open(place, os.O_RDONLY | _NO_BLOCK | _NO_FOLLOW | _BINARY)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", place)
        yield handle
    finally:
        os.close(handle)


def _known_id(handle: int, place: str, found: os.stat_result) -> str:
    """Return the blob id of a file; one that is known is not computed again."""
    if not is_settled(found):
        return _id(handle, found.st_size)
    return _IDS.recall((place, stamp_of(found)), lambda: _id(handle, found.st_size))


def _id(handle: int, size: int) -> str:
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    while piece := os.read(handle, _PIECE):
        digest.update(piece)
    return digest.hexdigest()


def _read(handle: int, size: int) -> bytes:
    """Read *size* bytes, and one byte more if the file is larger."""
    pieces = []
    left = size + 1
    while left > 0 and (piece := os.read(handle, min(_PIECE, left))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def is_settled(found: os.stat_result) -> bool:
    """Whether a later change of a file certainly gives it another stamp."""
    return changed_at(found) <= clock() - _SETTLED


def stamp_of(found: os.stat_result) -> _Stamp:
    """Return what the system says of a file; any change of a settled file changes it."""
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
