"""Keeps libgit2 away from damaged loose objects: it never stops reading one that is cut off."""

import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path

import pygit2

_PIECE = 1 << 16
_AFTER_PACKS = 2
"""The priority of packs in libgit2, which asks them first if a later source has the same."""


class _Guard(pygit2.OdbBackend):
    """A source of objects that has none, but refuses to go on to a loose one that is damaged."""

    def __init__(self, folders: Iterable[str]) -> None:
        super().__init__()
        self._folders = folders

    def read_cb(self, oid: object) -> None:
        self.read_prefix_cb(str(oid))

    def read_prefix_cb(self, prefix: str) -> None:
        for path in _files(self._folders, prefix):
            if _is_damaged(path):
                raise pygit2.GitError(f"the file of a loose object is damaged: {path}")
        raise KeyError(prefix)

    def read_header_cb(self, oid: object) -> None:
        raise KeyError(oid)

    def exists_cb(self, oid: object) -> bool:  # noqa: ARG002 - called by pygit2
        return False

    def exists_prefix_cb(self, prefix: str) -> None:
        raise KeyError(prefix)

    def refresh_cb(self) -> None:
        """Do nothing."""


def guarded(repository: pygit2.Repository) -> pygit2.Repository:
    """Let a repository raise `GitError`, and return it.

    Only one thread may use the repository, because libgit2 keeps others waiting during a check.
    """
    repository.odb.add_backend(_Guard(_folders(repository.path)), _AFTER_PACKS)
    return repository


def safe_for(repository: pygit2.Repository, object_id: str) -> pygit2.Repository:
    """Return a repository that can read an object: a guarded one if its loose file is damaged.

    The same object may also be in a pack.
    """
    folder, name = object_id[:2], object_id[2:]
    for top in _folders(repository.path):
        path = f"{top}/{folder}/{name}"
        if _is_damaged(path):
            return guarded(pygit2.Repository(repository.path))
    return repository


def common_folder(git_folder: str) -> Path:
    """Return the folder that all worktrees of a repository share, by the one of any of them."""
    folder = Path(git_folder)
    return (folder / os.fsdecode(contents(folder / "commondir").rstrip(b"\r\n"))).resolve()


def contents(file: Path) -> bytes:
    """Return the contents of a file; nothing if it cannot be read."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


@lru_cache(maxsize=64)
def _folders(git_folder: str) -> tuple[str, ...]:
    """Return the folders with a repository's objects: its own, then those that it borrows."""
    found = [common_folder(git_folder) / "objects"]
    for folder in found:  # which grows
        for line in contents(folder / "info" / "alternates").splitlines():
            other = folder / os.fsdecode(line)
            if line and other not in found:
                found.append(other)
    return tuple(map(str, found))


def _files(folders: Iterable[str], prefix: str) -> Iterator[str]:
    """Yield the files of loose objects whose ids start with a prefix."""
    for top in folders:
        with suppress(OSError):
            paths = [each.path for each in os.scandir(f"{top}/{prefix[:2]}")]
            yield from (
                each for each in paths if each.startswith(f"{top}/{prefix[:2]}/{prefix[2:]}")
            )


def _is_damaged(path: str) -> bool:
    """Whether there is a file of a loose object from which its contents cannot be read."""
    if not os.access(path, os.F_OK):
        return False
    reader = zlib.decompressobj()
    try:
        with Path(path).open("rb") as file:
            for piece in iter(partial(file.read, _PIECE), b""):
                reader.decompress(piece)
    except (OSError, zlib.error):
        return True
    return not reader.eof
