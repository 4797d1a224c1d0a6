"""Reads a working tree with its uncommitted changes, as `git add --all` would store it.

The result must be a tree that existed at some moment, although agents may write while it is read.
So the files that differ from the index are read first, and then their times. If one of them was
changed after the reading began, everything is read again.
"""

import os
import stat
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pygit2
from attrs import evolve
from pygit2.enums import RepositoryState

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.entries import Entry, FileMode, entry_problem, stored_entry
from cooperbench_eval.git.trees.objects import Node
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.git.worktrees.names import FoundWorktree, Names
from cooperbench_eval.git.worktrees.records import Head, RefKind, RefProblem
from cooperbench_eval.git.worktrees.scratch import PREFIX, Scratch
from cooperbench_eval.support.error_texts import listed
from cooperbench_eval.support.systems import OPEN_NO_LINK

_LOOKS = 3
_MOST_FAILURES = 6
_LARGE = 4 << 20
"""Files above this size are not kept in memory."""
_MOST_KEPT = 64 << 20
"""How many bytes of one working tree's files are kept in memory; others are read again."""
_SECOND = 1_000_000_000
_OPERATIONS = {
    "MERGE": "a merge",
    "REVERT": "a revert",
    "CHERRYPICK": "a cherry-pick",
    "BISECT": "a bisection",
    "REBASE": "a rebase",
    "APPLY_MAILBOX_OR": "`git am` or a rebase",
    "APPLY_MAILBOX": "`git am`",
}


def read_worktree(names: Names, name: str, found: FoundWorktree) -> Head:
    """Return the files of a working tree, uncommitted changes included.

    The caller gave it the *name*, and it was *found* among the names of its repository.

    Raises:
        RepositoryError: The folder is not the top of a worktree of this repository.
    """
    head = Head(name=name, kind=RefKind.WORKTREE, folder=found.folder)
    is_ours = found.is_known
    try:
        if not found.folder.is_dir():
            lock = f"; it is locked ({found.lock})" if found.lock else ""
            details = f"the folder {found.folder} of the worktree is missing{lock}"
            return evolve(head, problem=RefProblem.MISSING, details=details)
        repository = names.worktree(found.folder)
        is_ours = True
        return _settled(names, found.folder, repository, head)
    except (RepositoryError, OSError, ValueError, pygit2.GitError) as exc:
        if isinstance(exc, RepositoryError) and not is_ours:
            raise
        return evolve(head, problem=RefProblem.UNREADABLE, details=str(exc))


def has_uncommitted(names: Names, found: FoundWorktree) -> bool | None:
    """Return whether a worktree has changes that are not committed to its branch.

    The result is `None` if the worktree cannot be read.
    """
    try:
        if not found.folder.is_dir():
            return None if found.lock else False  # its disk may not be mounted
        return _Look(names, found.folder, names.worktree(found.folder)).is_dirty()
    except (RepositoryError, OSError, ValueError, pygit2.GitError):
        return None


def _settled(names: Names, folder: Path, repository: pygit2.Repository, head: Head) -> Head:
    """Look at the working tree until nothing changes during a look, a few times at most.

    Git may also fail because a file changes at a bad moment.
    """
    looks, failures = 0, list[str]()
    while True:
        try:
            found = _Look(names, folder, repository).complete(head)
        except RepositoryError as exc:
            failures.append(str(exc))
            is_lasting = failures[-_LOOKS:] == [str(exc)] * _LOOKS
            if is_lasting or len(failures) == _MOST_FAILURES:
                raise
            continue
        looks += 1
        if looks == _LOOKS or not found.unsettled:
            return found


class _Look:
    def __init__(self, names: Names, folder: Path, repository: pygit2.Repository) -> None:
        self._names = names
        self._folder = folder
        self._repository = repository
        self._began = _clock()
        self._moving: set[str] = set()

    def complete(self, head: Head) -> Head:
        """Return *head* with what the working tree contains now."""
        mark = self._mark()
        try:
            is_unborn = self._repository.head_is_unborn
            commit = None if is_unborn else self._repository.head.peel(pygit2.Commit)
        except (KeyError, ValueError, pygit2.GitError) as exc:
            raise RepositoryError(str(self._folder), f"HEAD cannot be read ({exc})") from exc
        head = evolve(head, commit_id=commit and str(commit.id))
        with self._scratch() as scratch:
            scratch.compare()
            if details := self._in_progress(scratch.unmerged):
                return evolve(head, problem=RefProblem.IN_PROGRESS, details=details)
            if commit is None:
                details = "nothing has been committed to the worktree's branch yet"
                return evolve(head, problem=RefProblem.UNBORN, details=details)
            self._refuse_forbidden(scratch.added)
            touched = {*scratch.removed, *scratch.added}
            unfiltered = scratch.set_filters_aside()
            nodes = scratch.changes(str(commit.tree_id))
        base = self._names.snapshot(str(commit.tree_id), str(commit.id))
        entries = self._entries(base, nodes)
        self._moving.update(filter(self._has_moved, touched))
        if self._mark() != mark:
            self._moving.add("HEAD or the index")
        try:
            changes = Changes(entries)
        except ValueError as exc:  # a path that no tree may contain
            raise RepositoryError(str(self._folder), f"is not a tree: {exc}") from exc
        return evolve(
            head,
            tree=base.overlay(changes) if changes else base,
            is_dirty=bool(changes),
            unfiltered=unfiltered,
            unsettled=sorted(self._moving),
        )

    def is_dirty(self) -> bool:
        """Whether something is not committed, such as half of a rebase."""
        with self._scratch() as scratch:
            scratch.compare()
            scratch.set_filters_aside()
            return scratch.is_dirty or bool(self._in_progress(()))

    def _refuse_forbidden(self, paths: Iterable[str]) -> None:
        """Refuse what `git add` refuses; `git update-index` only warns of some of it."""
        for path in paths:
            is_link = os.path.islink(f"{self._folder}/{path}")  # noqa: PTH114 - for many paths
            problem = entry_problem(path, FileMode.SYMLINK if is_link else FileMode.FILE)
            if problem:
                raise RepositoryError(str(self._folder), f"is not a tree: {problem}")

    @contextmanager
    def _scratch(self) -> Iterator[Scratch]:
        with tempfile.TemporaryDirectory(prefix=PREFIX) as own:
            yield Scratch(Path(own), self._folder, self._repository, self._names.common)

    def _in_progress(self, unmerged: Collection[str]) -> str:
        """Return what the worktree is in the middle of, as a clause; empty if nothing."""
        state = RepositoryState(self._repository.state()).name
        operation = next((_OPERATIONS[each] for each in _OPERATIONS if state.startswith(each)), "")
        if not operation and Path(self._repository.path, "sequencer/todo").exists():
            # Between two picks there is nothing but the list of those that are left.
            operation = "a cherry-pick or a revert of several commits"
        if operation:
            return f"the worktree is in the middle of {operation}"
        return f"the worktree has unmerged files: {listed(unmerged)}" if unmerged else ""

    # --- contents ---

    def _entries(self, base: Snapshot, nodes: Mapping[str, Node | None]) -> dict[str, Entry | None]:
        """Return the entries of nodes. Files whose contents the repository lacks are read."""
        store = self._names.store(base.tree_id)
        found: dict[str, Entry | None] = {}
        small: dict[str, Node] = {}
        kept = 0
        for path, node in nodes.items():
            if node is None:
                found[path] = None
            elif node.mode == FileMode.SUBMODULE or node.id in self._repository:
                found[path] = store.entry(path, node)
            elif (size := self._size(path)) > _LARGE or kept + size > _MOST_KEPT:
                again = partial(self._read_again, path, node)
                found[path] = stored_entry(node.id, FileMode(node.mode), again)
            else:
                kept += size
                small[path] = node
        return found | self._read(small)

    def _read(self, nodes: Mapping[str, Node]) -> dict[str, Entry | None]:
        """Read files as git stores them; one that was changed is returned as it is on disk."""
        found = {path: _entry(f"{self._folder}/{path}", node) for path, node in nodes.items()}
        others = [path for path, entry in found.items() if entry and entry.id != nodes[path].id]
        if others:
            with self._scratch() as scratch:
                stored = scratch.contents(others)
            for path in others:
                mode, object_id = nodes[path]
                if object_id in stored:
                    found[path] = Entry(stored[object_id], FileMode(mode))
        for path, entry in found.items():
            if entry is None or entry.id != nodes[path].id:
                self._moving.add(path)
        return found

    def _read_again(self, path: str, node: Node) -> bytes:
        entry = self._read({path: node})[path]
        if entry is None or entry.id != node.id:
            problem = f"the uncommitted file {path} has changed since it was first read"
            raise RepositoryError(str(self._folder), problem)
        return entry.data

    # --- times ---

    def _mark(self) -> object:
        """Return a value that changes whenever the commit or the index does."""
        index = head = None
        with suppress(OSError):
            found = Path(self._repository.path, "index").stat()
            index = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        with suppress(KeyError, ValueError, pygit2.GitError):
            head = str(self._repository.head.target)
        return index, head

    def _size(self, path: str) -> int:
        try:
            return os.lstat(f"{self._folder}/{path}").st_size
        except OSError:
            return 0

    def _has_moved(self, path: str) -> bool:
        """Whether a file was changed, made or removed since the look began."""
        while True:
            try:
                return _changed_at(os.lstat(f"{self._folder}/{path}")) >= self._began
            except OSError:
                if not path:
                    return True
                path = path.rpartition("/")[0]  # its removal changed the folder


def _entry(place: str, node: Node) -> Entry | None:
    """Read a regular file or a link; `None` if it is gone. A pipe in its place does not block."""
    try:
        if os.path.islink(place):  # noqa: PTH114 - plain strings
            data = os.readlink(os.fsencode(place))  # noqa: PTH115 - as bytes
        else:
            with os.fdopen(os.open(place, os.O_RDONLY | OPEN_NO_LINK), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                data = file.read()
    except OSError:
        return None
    return Entry(data, FileMode(node.mode))


def _clock() -> int:
    """Return the time with which the system stamps files now, in nanoseconds."""
    coarse = getattr(time, "CLOCK_REALTIME_COARSE", None)
    return time.time_ns() if coarse is None else time.clock_gettime_ns(coarse)


def _changed_at(found: os.stat_result) -> int:
    """Return the latest possible time of a file's last change, in nanoseconds.

    Programs can set all other times of a file. Some file systems only store whole seconds.
    """
    time_ = found.st_mtime_ns if sys.platform == "win32" else found.st_ctime_ns
    return time_ if time_ % _SECOND else time_ + _SECOND - 1
