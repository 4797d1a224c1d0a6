"""Notices which files that decide a verdict a run changed.

Code under test runs with the rights of the tests. It could rewrite a test before its
framework reads it, and restore it before the end. It could also move a folder and move it
back.
"""

import os
import stat
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from cooperbench_eval.git.patching.path_kinds import PathKind, classify_path
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.objects import folders_above, folders_of
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running.verdict import SOURCES
from cooperbench_eval.support.memo import Memo
from cooperbench_eval.support.systems import after_fork

_MOVED = 0x800
_OVERFLOWED = 0x4000
_ONLY_FOLDERS = 0x1000000
_HEADER = struct.Struct("iIII")
"""An event: the watch, what happened, a cookie, and the length of the name after it."""
_PIECE = 1 << 16
_MOST_KEPT = 8
_KEPT: list[int] = []
"""Open queues without watches, to be used again: closing a queue takes milliseconds."""


class MoveWatch:
    """Asks the kernel to report moves of folders.

    A moved folder has new times, but so has one in which a file was created. The kernel
    reports which folder was moved, whichever process moved it and by whichever path that
    process sees it. On systems other than Linux, and if the kernel has no more watches to
    give, nothing is reported.
    """

    def __init__(self) -> None:
        """Start without any folder."""
        self._names: dict[int, str] = {}
        self._queue = -1
        if sys.platform == "linux":
            import ctypes  # noqa: PLC0415 - only Linux has what is called here

            with suppress(OSError, AttributeError):
                self._kernel = ctypes.CDLL(None, use_errno=True)
                self._queue = self._open()

    def _open(self) -> int:
        with suppress(IndexError):
            return _KEPT.pop()
        queue: int = self._kernel.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        return queue

    def add(self, name: str, folder: str) -> None:
        """Watch *folder*, which `moved` calls *name*."""
        if self._queue >= 0:
            number = self._kernel.inotify_add_watch(
                self._queue, os.fsencode(folder), _MOVED | _ONLY_FOLDERS
            )
            if number >= 0:
                self._names[number] = name

    def moved(self) -> frozenset[str]:
        """Return the names of the folders that were moved since they were added."""
        moved: set[str] = set()
        while data := self._read():
            while data:
                number, event, _, length = _HEADER.unpack_from(data)
                data = data[_HEADER.size + length :]
                if event & _OVERFLOWED:
                    moved.update(self._names.values())
                elif event & _MOVED:
                    moved.add(self._names[number])
        return frozenset(moved)

    def _read(self) -> bytes:
        # Without events, reading fails instead of waiting.
        with suppress(OSError):
            return os.read(self._queue, _PIECE)
        return b""

    def close(self) -> None:
        """Stop watching."""
        if self._queue < 0:
            return
        for number in self._names:
            self._kernel.inotify_rm_watch(self._queue, number)
        while self._read():  # the next use must not see these events
            pass
        if len(_KEPT) < _MOST_KEPT:
            _KEPT.append(self._queue)
        else:
            os.close(self._queue)
        self._queue = -1


# A forked child would take its parent's events out of a queue that they share.
after_fork(_KEPT.clear)


Stamp = tuple[int, int, int, int]
"""Inode, time of its last change, size, mode.

A program cannot set the time of the last change without setting the clock, which a sandbox
forbids. So a change is detected even if the file's other times were set back.
"""
_GENERATED = frozenset({"__pycache__", "node_modules"})
"""Folders into which the tools of an honest run write."""


_WATCHED: Memo[str, frozenset[str]] = Memo(8)
"""The files of a base that are watched, by its tree id; every run of a task needs them."""


def files_to_watch(base: Snapshot, tree: Snapshot, brought: Changes) -> tuple[str, ...]:
    """Return the paths of the files that an honest run leaves as they are, sorted.

    These are the files of the tests patch, except lists of dependencies, which package
    managers update. From the rest of the tree, these are the test sources and the files
    that control a run. Other files in test folders are left out, because tests write to
    their own data.

    The *tree* is tested; it differs little from *base*. The tests patch has *brought* changes.
    """
    known = _WATCHED.recall(base.tree_id, lambda: frozenset(filter(_decides, base.paths())))
    changes = Changes.between(base, tree)
    kept = known - changes.keys()
    changed = (path for path, entry in changes.items() if entry is not None and _decides(path))
    data = (path for path, entry in brought.items() if entry is not None and _is_data(path, entry))
    return tuple(sorted(kept.union(changed, data)))


def _is_data(path: str, entry: Entry) -> bool:
    is_file = entry.mode is not FileMode.SUBMODULE
    return is_file and classify_path(path) is not PathKind.DEPENDENCIES


def _decides(path: str) -> bool:
    kind, pure = classify_path(path), PurePosixPath(path)
    if kind is PathKind.RUNNER_CONTROL:
        # Installing a project rewrites its metadata.
        is_metadata = any(each.lower().endswith(("-info", ".pyc", ".pyo")) for each in pure.parts)
        return _GENERATED.isdisjoint(pure.parts) and not is_metadata
    return kind is PathKind.TESTS and pure.suffix in SOURCES


class FileWatch:
    """Notices which files of a folder are changed.

    A file also counts as changed if a folder above it was moved or replaced.
    """

    def __init__(self, root: Path, paths: Iterable[str]) -> None:
        """Note the stamps of files below *root*, and watch the folders above them."""
        self._root = root
        self._paths = tuple(paths)
        self._folders = tuple(sorted(folders_of(self._paths)))
        self._moves = MoveWatch()
        self._before = self._stamps()
        if self._paths:
            self._moves.add("", str(root))
            # The parent is this run's own, so nothing else has a reason to move it.
            self._moves.add("", str(root.parent))
        for folder in self._folders:
            self._moves.add(folder, f"{root}/{folder}")

    def changed(self) -> tuple[str, ...]:
        """Return the files that were changed since the watch was made."""
        after = self._stamps()
        moved = self._moves.moved()
        if after == self._before and not moved:
            return ()
        changed = {path for path, found in after.items() if found != self._before[path]} | moved
        return tuple(
            path
            for path in self._paths
            if path in changed or not changed.isdisjoint(("", *folders_above(path)))
        )

    def _stamps(self) -> dict[str, Stamp | int | None]:
        stamps: dict[str, Stamp | int | None] = {}
        for folder in self._folders:
            found = self._look(folder)
            # Only the inode is compared, because honest runs create files in the folder.
            stamps[folder] = found.st_ino if found and stat.S_ISDIR(found.st_mode) else None
        for path in self._paths:
            found = self._look(path)
            stamps[path] = stamp(found) if found else None
        return stamps

    def _look(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(f"{self._root}/{path}")
        except OSError:
            return None

    def close(self) -> None:
        """Stop watching."""
        self._moves.close()


def stamp(found: os.stat_result) -> Stamp:
    """Return the stamp of a file."""
    return found.st_ino, found.st_ctime_ns, found.st_size, found.st_mode
