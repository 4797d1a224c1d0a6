"""Packs and unpacks the tar archives that containers exchange, as streams of pieces."""

import io
import os
import tarfile
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import IO

from attrs import frozen

from cooperbench_eval.git.trees.forbidden_paths import local_name_problem

__all__ = [
    "END_OF_ARCHIVE",
    "Bounds",
    "Owner",
    "Unpacked",
    "pack",
    "pack_directory",
    "pack_file",
    "unpack",
]

END_OF_ARCHIVE = bytes(2 * tarfile.BLOCKSIZE)
"""The blocks that close an archive."""

_PIECE = 1 << 18
_EXECUTABLE = 0o100
_FOR_ALL = 0o666
_FOR_ALL_TO_ENTER = 0o777


@frozen(kw_only=True)
class Owner:
    """The owner of the files in an archive.

    Attributes:
        user: The user's number. If only a name is known, it is `None`, and all users may
            read and write the files.
        group: The group's number.
    """

    user: int | None = 0
    group: int = 0


@frozen(kw_only=True)
class Bounds:
    """The most to read from an archive.

    Attributes:
        files: The number of plain files.
        size: The total number of bytes, including those of unwanted files.
    """

    files: int
    size: int


class Unpacked(Enum):
    """How the reading of an archive ended."""

    COMPLETE = "complete"
    """At the end of the archive."""
    BOUNDED = "bounded"
    """At a bound; the archive has more files."""
    DAMAGED = "damaged"
    """In the middle of a file, or before any file."""


def pack_directory(path: str, owner: Owner) -> bytes:
    """Return an archive's entry for a directory; *path* is absolute."""
    info = tarfile.TarInfo(path.lstrip("/"))
    info.type, info.mode = tarfile.DIRTYPE, 0o755
    return _header(info, owner)


def pack_file(path: str, data: bytes, owner: Owner) -> bytes:
    """Return an archive's entry for a small file; *path* is absolute."""
    info = tarfile.TarInfo(path.lstrip("/"))
    info.size = len(data)
    return _header(info, owner) + data + bytes(-info.size % tarfile.BLOCKSIZE)


def pack(directory: Path, at: str, owner: Owner) -> Iterator[bytes]:
    """Yield the entries for *directory* and its contents, at the absolute path *at*.

    Links stay links; sockets, devices and pipes are left out.

    Raises:
        OSError: A file cannot be read, or changes while it is read.
    """
    yield pack_directory(at, owner)
    folders = [(str(directory), at)]
    while folders:
        folder, place = folders.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                path = f"{place}/{entry.name}"
                yield from _pack_entry(entry, path, owner)
                if entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, path))


def _pack_entry(entry: os.DirEntry[str], path: str, owner: Owner) -> Iterator[bytes]:
    info = tarfile.TarInfo(path.lstrip("/"))
    status = entry.stat(follow_symlinks=False)
    info.mode, info.mtime = status.st_mode & 0o7777, int(status.st_mtime)
    if os.name == "nt":  # where no file is marked as a program, so all of them are
        info.mode = 0o755
    if entry.is_symlink():
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(entry)  # noqa: PTH115 - as it is
        yield _header(info, owner)
    elif entry.is_dir(follow_symlinks=False):
        info.type = tarfile.DIRTYPE
        yield _header(info, owner)
    elif entry.is_file(follow_symlinks=False):
        info.size = status.st_size
        yield _header(info, owner)
        yield from _contents(entry.path, info.size)


def _contents(path: str, size: int) -> Iterator[bytes]:
    left = size
    with open(path, "rb") as file:  # noqa: PTH123 - a name as scandir gave it
        while left:
            data = file.read(min(left, _PIECE))
            if not data:
                raise OSError(f"{path} shrank while it was read")
            left -= len(data)
            yield data
    yield bytes(-size % tarfile.BLOCKSIZE)


def _header(info: tarfile.TarInfo, owner: Owner) -> bytes:
    if owner.user is None:
        is_entered = info.isdir() or info.mode & _EXECUTABLE
        info.mode |= _FOR_ALL_TO_ENTER if is_entered else _FOR_ALL
    else:
        info.uid, info.gid = owner.user, owner.group
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")


def unpack(
    archive: Iterable[bytes],
    destination: Path,
    bounds: Bounds,
    *,
    wanted: Callable[[PurePosixPath], bool] = lambda _: True,
) -> Unpacked:
    """Write the plain files of an archived directory below *destination*.

    The archive has one directory, whose own name is dropped. Its contents are not trusted:
    links, devices and sparse files are left out, and so are names that lead out of the
    directory or that the file system rejects. An existing file is replaced; if it is a
    link, its target does not change. Of a file's metadata only the executable bit is kept.

    Args:
        archive: A tar archive in pieces; reading stops at a bound.
        destination: An existing directory that no other process writes to.
        bounds: How much to read.
        wanted: Returns, for a file's path, whether to write the file.

    Raises:
        OSError: The disk is full, or fails.
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
            if not _unpack(tar, destination, bounds, wanted):
                return Unpacked.BOUNDED
    except (tarfile.TarError, EOFError):
        return Unpacked.DAMAGED
    # tarfile accepts an archive that stops between two files.
    return Unpacked.COMPLETE if pieces.end_in_zeros() else Unpacked.DAMAGED


def _unpack(
    tar: tarfile.TarFile,
    destination: Path,
    bounds: Bounds,
    wanted: Callable[[PurePosixPath], bool],
) -> bool:
    files_left, size_left = bounds.files, bounds.size
    for member in tar:
        tar.members.clear()  # type: ignore[attr-defined]  # or it would grow with every file
        size_left -= member.size
        path = _inside(member)
        files_left -= path is not None
        if size_left < 0 or files_left < 0:
            return False
        source = tar.extractfile(member) if path and wanted(path) else None
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
