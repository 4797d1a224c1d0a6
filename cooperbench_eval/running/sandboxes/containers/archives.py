"""Packs and unpacks the tar archives that containers exchange, as streams of pieces."""

import io
import os
import tarfile
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import IO

from cooperbench_eval.git.trees.entries import local_name_problem

END_OF_ARCHIVE = bytes(2 * tarfile.BLOCKSIZE)
"""The blocks that close an archive."""

_PIECE = 1 << 18
_EXECUTABLE = 0o100
_FOR_ALL = 0o666
_FOR_ALL_TO_ENTER = 0o777


class Unpacked(Enum):
    """How the reading of an archive ended."""

    COMPLETE = "complete"
    """At the end of the archive."""
    BOUNDED = "bounded"
    """At a bound; the archive has more files."""
    DAMAGED = "damaged"
    """In the middle of a file, or before any file."""


class Packer:
    """Makes the pieces of an archive whose files all have one owner.

    Paths in the archive are absolute. Links stay links; sockets, devices and pipes are left
    out.
    """

    def __init__(self, user: int | None = 0, group: int = 0) -> None:
        """Name the owner by numbers; without a user's number, all users may read and write."""
        self._user = user
        self._group = group

    def folder(self, path: str) -> bytes:
        """Return the entry of a new folder."""
        info = tarfile.TarInfo(path.lstrip("/"))
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        return self._header(info)

    def file(self, path: str, data: bytes) -> bytes:
        """Return the entry of a small file."""
        info = tarfile.TarInfo(path.lstrip("/"))
        info.size = len(data)
        return self._header(info) + data + _padding(info.size)

    def tree(self, directory: Path, at: str) -> Iterator[bytes]:
        """Yield the entries of *directory* and its contents, at the path *at*.

        If a file cannot be read, or changes while it is read, raise an `OSError`.
        """
        yield self.folder(at)
        folders = [(str(directory), at)]
        while folders:
            folder, place = folders.pop()
            with os.scandir(folder) as entries:
                for entry in entries:
                    path = f"{place}/{entry.name}"
                    yield from self._entry(entry, path)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append((entry.path, path))

    def _entry(self, entry: os.DirEntry[str], path: str) -> Iterator[bytes]:
        info = tarfile.TarInfo(path.lstrip("/"))
        status = entry.stat(follow_symlinks=False)
        info.mode, info.mtime = status.st_mode & 0o7777, int(status.st_mtime)
        if os.name == "nt":  # where no file is marked as a program, so all of them are
            info.mode = 0o755
        if entry.is_symlink():
            info.type, info.linkname = tarfile.SYMTYPE, os.readlink(entry)  # noqa: PTH115 - as it is
        elif entry.is_dir(follow_symlinks=False):
            info.type = tarfile.DIRTYPE
        elif entry.is_file(follow_symlinks=False):
            info.size = status.st_size
        else:
            return
        yield self._header(info)
        if info.isreg():
            yield from _contents(entry.path, info.size)

    def _header(self, info: tarfile.TarInfo) -> bytes:
        if self._user is None:
            is_entered = info.isdir() or info.mode & _EXECUTABLE
            info.mode |= _FOR_ALL_TO_ENTER if is_entered else _FOR_ALL
        else:
            info.uid, info.gid = self._user, self._group
        return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")


def _contents(path: str, size: int) -> Iterator[bytes]:
    left = size
    with open(path, "rb") as file:  # noqa: PTH123 - a name as scandir gave it
        while left:
            data = file.read(min(left, _PIECE))
            if not data:
                raise OSError(f"{path} shrank while it was read")
            left -= len(data)
            yield data
    yield _padding(size)


def _padding(size: int) -> bytes:
    return bytes(-size % tarfile.BLOCKSIZE)


def unpack(
    archive: Iterable[bytes],
    destination: Path,
    *,
    files: int,
    size: int,
    is_wanted: Callable[[PurePosixPath], bool] = lambda _: True,
) -> Unpacked:
    """Write the plain files of an archived directory below *destination*.

    The archive has one directory, whose own name is dropped. Its contents are not trusted: links,
    devices and sparse files are left out, and so are names that lead out of the directory or that
    the file system rejects. An existing file is replaced; if it is a link, its target does not
    change. Of a file's metadata only the executable bit is kept.

    No other process may write to *destination*. Reading stops after a number of plain *files*, or
    of bytes, which include those of files that are not wanted.
    """
    pieces = _Pieces(archive)
    try:
        with tarfile.open(
            fileobj=io.BufferedReader(pieces, _PIECE),
            mode="r|",
            bufsize=_PIECE,
            encoding="utf-8",
            errors="surrogateescape",
        ) as tar:
            if not _unpack(tar, destination, files, size, is_wanted):
                return Unpacked.BOUNDED
    except (tarfile.TarError, EOFError):
        return Unpacked.DAMAGED
    # tarfile accepts an archive that stops between two files.
    return Unpacked.COMPLETE if pieces.end_in_zeros() else Unpacked.DAMAGED


def _unpack(
    tar: tarfile.TarFile,
    destination: Path,
    files_left: int,
    size_left: int,
    is_wanted: Callable[[PurePosixPath], bool],
) -> bool:
    for member in tar:
        tar.members.clear()  # type: ignore[attr-defined]  # or it would grow with every file
        size_left -= member.size
        path = _inside(member)
        files_left -= path is not None
        if size_left < 0 or files_left < 0:
            return False
        source = tar.extractfile(member) if path and is_wanted(path) else None
        if path and source:
            _write(destination, path, source, executable=bool(member.mode & _EXECUTABLE))
    return True


def _inside(member: tarfile.TarInfo) -> PurePosixPath | None:
    """Return the path of a plain file below the archived directory."""
    path = PurePosixPath(member.name)
    plain = member.isreg() and not member.issparse()
    if not plain or path.is_absolute() or ".." in path.parts:
        return None
    return PurePosixPath(*path.parts[1:]) if path.parts[1:] else None


def _write(destination: Path, path: PurePosixPath, source: IO[bytes], *, executable: bool) -> None:
    if local_name_problem(str(path)):
        return
    target = destination / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.parent.resolve().is_relative_to(destination.resolve()):
            return
        target.unlink(missing_ok=True)
        # "x", so that a link that appears here is not followed.
        file = target.open("xb")
    except (OSError, ValueError):
        return  # the name is too long, or a file has the name of a directory
    with file:
        while data := source.read(_PIECE):
            file.write(data)
    if executable:
        target.chmod(0o755)


class _Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""
        self._last = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = self._next()
        data, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def end_in_zeros(self) -> bool:
        """Read the remaining pieces; return whether the last block has only zeros."""
        while self._next():
            pass
        return len(self._last) == tarfile.BLOCKSIZE and not any(self._last)

    def _next(self) -> bytes:
        piece = next(filter(None, self._pieces), b"")
        self._last = (self._last + piece[-tarfile.BLOCKSIZE :])[-tarfile.BLOCKSIZE :]
        return piece
