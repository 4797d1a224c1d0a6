"""Reads from an index, with libgit2, what pygit2 does not offer."""

import os
import stat
from collections.abc import Iterator
from typing import Any

import pygit2
from pygit2.enums import DiffOption, FileMode
from pygit2.errors import check_error
from pygit2.ffi import C, ffi

from cooperbench_eval.git.trees.objects import encode_path

__all__ = [
    "IndexFiles",
    "differences",
    "entry_of",
    "has_recorded",
    "id_of",
    "is_intended",
    "is_left_alone",
    "is_skipped",
    "left_alone",
    "mode_of",
    "paths_of",
]

_FLAGS = (
    DiffOption.INCLUDE_UNTRACKED
    | DiffOption.RECURSE_UNTRACKED_DIRS
    | DiffOption.INCLUDE_TYPECHANGE
    | DiffOption.INCLUDE_TYPECHANGE_TREES
    | DiffOption.INCLUDE_UNREADABLE
    | DiffOption.INCLUDE_IGNORED  # libgit2 reports untracked repositories as ignored folders
)
_IGNORE_DIRTY = 3  # GIT_SUBMODULE_IGNORE_DIRTY: only the commit of a submodule counts
# Flags of an index entry, as git's documentation of the index describes them.
_ASSUME_UNCHANGED = 1 << 15
_SKIP_WORKTREE = 1 << 14  # of the extended flags
_INTENT_TO_ADD = 1 << 13  # of the extended flags
_SECOND = 1_000_000_000
_MOST = 1 << 32  # the index keeps the lower 32 bits of a number


def differences(repository: pygit2.Repository, index: pygit2.Index) -> pygit2.Diff:
    """Return how the working tree differs from the index.

    Settings may say that `git diff` does not look at submodules; `git add` looks nevertheless.
    """
    options = ffi.new("git_diff_options *")
    check_error(C.git_diff_options_init(options, 1))
    options.flags = int(_FLAGS)
    options.ignore_submodules = _IGNORE_DIRTY
    found = ffi.new("git_diff **")
    own, others = repository._repo, index._index  # noqa: SLF001 - they have no other name
    check_error(C.git_diff_index_to_workdir(found, own, others, options))
    return pygit2.Diff.from_c(bytes(ffi.buffer(found)[:]), repository)


def entry_of(index: pygit2.Index, raw: bytes) -> Any:
    """Return libgit2's entry of a path, or `None`; that of pygit2 lacks the flags."""
    found = C.git_index_get_bypath(index._index, raw, 0)  # noqa: SLF001 - it has no other name
    return None if found == ffi.NULL else found


def mode_of(index: pygit2.Index, raw: bytes) -> int:
    """Return the mode of a path; 0 if the index lacks it."""
    found = entry_of(index, raw)
    return int(found.mode) if found else 0


def paths_of(index: pygit2.Index) -> Iterator[bytes]:
    """Yield the paths of all entries; pygit2 refuses those that are not UTF-8."""
    return (ffi.string(entry.path) for entry in _entries(index))


def left_alone(index: pygit2.Index) -> Iterator[tuple[bytes, bool]]:
    """Yield the path of each file that git does not look at, and whether it assumes no change.

    Otherwise, sparse checkout left the file out.
    """
    for each in _entries(index):
        if is_left_alone(each):
            yield ffi.string(each.path), bool(each.flags & _ASSUME_UNCHANGED)


def _entries(index: pygit2.Index) -> Iterator[Any]:
    own = index._index  # noqa: SLF001 - it has no other name
    return (C.git_index_get_byindex(own, place) for place in range(len(index)))


class IndexFiles:
    """The files in the index of a repository, by their paths."""

    def __init__(self, repository: pygit2.Repository) -> None:
        """Read the index of *repository* whenever it is asked."""
        self._repository = repository

    def is_skipped(self, path: str) -> bool:
        """Whether sparse checkout left a file out."""
        entry = self._entry(path)
        return entry is not None and is_skipped(entry)

    def is_left_alone(self, path: str) -> bool:
        """Whether git does not look at a file."""
        entry = self._entry(path)
        return entry is not None and is_left_alone(entry)

    def contents(self, path: str) -> bytes | None:
        """Return the contents of a file; `None` if the index lacks it."""
        entry = self._entry(path)
        if entry is None:
            return None
        try:
            _, data, *_ = self._repository.read(id_of(entry))
        except (KeyError, ValueError, pygit2.GitError):
            return None
        return bytes(data)

    def _entry(self, path: str) -> Any:
        return entry_of(self._repository.index, encode_path(path))


def id_of(entry: Any) -> pygit2.Oid:
    """Return the id of an entry's contents."""
    return pygit2.Oid(raw=bytes(ffi.buffer(entry.id.id)))


def is_left_alone(entry: Any) -> bool:
    """Whether git does not look at the file of an entry."""
    return bool(entry.flags_extended & _SKIP_WORKTREE or entry.flags & _ASSUME_UNCHANGED)


def is_skipped(entry: Any) -> bool:
    """Whether sparse checkout left out the file of an entry."""
    return bool(entry.flags_extended & _SKIP_WORKTREE)


def is_intended(entry: Any) -> bool:
    """Whether an entry only says that the file is to be added later."""
    return bool(entry.flags_extended & _INTENT_TO_ADD)


def has_recorded(entry: Any, found: os.stat_result, *, trusts_ctime: bool) -> bool:
    """Whether an entry has the size, the times and the inode number of a file, and its kind.

    An index may lack the inode number, or the parts of times below a second.
    """
    mode = int(entry.mode)
    is_same_kind = mode in {FileMode.BLOB, FileMode.BLOB_EXECUTABLE} and stat.S_ISREG(found.st_mode)
    return (
        is_same_kind
        and entry.file_size == found.st_size % _MOST
        and entry.ino in {0, found.st_ino % _MOST}
        and _is_time(entry.mtime, found.st_mtime_ns)
        and (
            not trusts_ctime or not entry.ctime.seconds or _is_time(entry.ctime, found.st_ctime_ns)
        )
    )


def _is_time(recorded: Any, nanoseconds: int) -> bool:
    seconds, rest = divmod(nanoseconds, _SECOND)
    is_second = recorded.seconds % _MOST == seconds % _MOST
    return is_second and recorded.nanoseconds in {0, rest}
