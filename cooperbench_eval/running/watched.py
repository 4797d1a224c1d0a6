"""Finds the files that decide a verdict, and those of them that a run changed.

Code under test runs with the rights of the tests. It could rewrite a test before its
framework reads it, and restore it before the end.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from cooperbench_eval.git.patching.path_kinds import PathKind, classify_path
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.objects import folders_above
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running.folder_moves import MoveWatch
from cooperbench_eval.running.verdict import SOURCES
from cooperbench_eval.support.memo import Memo

__all__ = ["FileWatch", "Stamp", "files_to_watch", "stamp"]

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
    """Return the files that an honest run leaves as they are.

    These are the files of the tests patch, except lists of dependencies, which package
    managers update. From the rest of the tree, these are the test sources and the files
    that control a run. Other files in test folders are left out, because tests write to
    their own data.

    Args:
        base: A tree from which *tree* differs little.
        tree: The tree that is tested.
        brought: The changes that the tests patch made to it.

    Returns:
        The paths, sorted.
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
        return _GENERATED.isdisjoint(pure.parts) and not _is_metadata(pure)
    return kind is PathKind.TESTS and pure.suffix in SOURCES


def _is_metadata(path: PurePosixPath) -> bool:
    # Installing a project rewrites these.
    return any(part.lower().endswith(("-info", ".pyc", ".pyo")) for part in path.parts)


class FileWatch:
    """Notices which files of a folder are changed.

    A file also counts as changed if a folder above it was moved or replaced.
    """

    def __init__(self, root: Path, paths: Iterable[str]) -> None:
        """Note the stamps of files below *root*, and watch the folders above them."""
        self._root = root
        self._paths = tuple(paths)
        folders = {folder for path in self._paths for folder in folders_above(path)}
        self._folders = tuple(sorted(folders))
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
