"""Reads a working tree with its uncommitted changes, as `git add --all` would store it.

The result must be a tree that existed at some moment, although agents may write while it is read.
So the files that differ from the index are read first, and then their times. If one of them was
changed after the reading began, everything is read again.
"""

import os
import stat
from collections.abc import Collection, Iterator, Mapping

from attrs import define, evolve, field

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.objects import folders_above, folders_of
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.git.worktrees.checkout import Checkout, Scan, head_of
from cooperbench_eval.git.worktrees.contents import (
    Cleaner,
    FileReader,
    MovingError,
    changed_at,
    clock,
)
from cooperbench_eval.git.worktrees.kinds import RefKind
from cooperbench_eval.git.worktrees.names import FoundWorktree, Names
from cooperbench_eval.git.worktrees.records import Head, RefProblem
from cooperbench_eval.git.worktrees.untracked import is_repository
from cooperbench_eval.support.error_texts import listed

__all__ = ["read_worktree"]

_LOOKS = 3
_MOST_FAILURES = 6


def read_worktree(names: Names, name: str, found: FoundWorktree) -> Head:
    """Return the files of a working tree, uncommitted changes included.

    Args:
        names: The names of its repository.
        name: The name that the caller gave it.
        found: Where it is.

    Raises:
        RepositoryError: The folder is not the top of a worktree of this repository.
    """
    head = Head(name=name, kind=RefKind.WORKTREE, folder=found.folder)
    try:
        if not found.folder.is_dir():
            lock = f"; it is locked ({found.lock})" if found.lock else ""
            details = f"the folder {found.folder} of the worktree is missing{lock}"
            return evolve(head, problem=RefProblem.MISSING, details=details)
        checkout = Checkout(names, found.folder)
    except RepositoryError as exc:
        if not found.is_known:
            raise
        return _unreadable(head, exc)
    except (OSError, ValueError) as exc:
        return _unreadable(head, exc)
    try:
        return _settled(names, head, checkout)
    except (RepositoryError, OSError, ValueError) as exc:
        return _unreadable(head, exc)


def _unreadable(head: Head, exc: Exception) -> Head:
    return evolve(head, problem=RefProblem.UNREADABLE, details=str(exc))


def _settled(names: Names, head: Head, checkout: Checkout) -> Head:
    """Look at the working tree until nothing changes meanwhile, a few times at most.

    A file that changes at a bad moment may also make libgit2 or a conversion fail.
    """
    looks = failures = 0
    while True:
        try:
            found = _Look(checkout).head(names, head)
        except RepositoryError:
            failures += 1
            if failures == _MOST_FAILURES:
                raise
            continue
        looks += 1
        if looks == _LOOKS or not found.unsettled:
            return found


@define
class _Look:
    """One look at a working tree.

    Attributes:
        checkout: The working tree.
        began: When the look began, as the system stamps files.
        unfiltered: Files that a program would convert.
        moving: Files that changed meanwhile.
    """

    checkout: Checkout
    began: int = field(factory=clock)
    unfiltered: list[str] = field(factory=list)
    moving: set[str] = field(factory=set)
    _folders: dict[str, bool] = field(factory=dict)

    def head(self, names: Names, head: Head) -> Head:
        """Complete *head* with what is there now."""
        scan = self.checkout.scan()
        head = evolve(head, commit_id=scan.commit_id)
        if problem := _problem(scan):
            return evolve(head, problem=problem[0], details=problem[1])
        assert scan.tree_id is not None  # noqa: S101 - `_problem` has returned if it is `None`
        base = names.snapshot(scan.tree_id, scan.commit_id)
        entries = names.entries(scan.tree_id, scan.staged)
        uncommitted = self._uncommitted(scan.touched)
        entries |= dict.fromkeys(_in_the_way(uncommitted, scan.left_alone)) | uncommitted
        if self.checkout.mark() != scan.mark:
            self.moving.add("HEAD or the index")
        try:
            changes = Changes.between(base, base.overlay(Changes(entries)))
        except ValueError as exc:  # a path that no tree may contain
            raise RepositoryError(str(self.checkout.folder), f"is not a tree: {exc}") from exc
        return evolve(
            head,
            tree=base.overlay(changes) if changes else base,
            is_dirty=bool(changes),
            unfiltered=sorted(self.unfiltered),
            unsettled=sorted(self.moving),
        )

    # --- reading ---

    def _uncommitted(self, touched: Mapping[str, int]) -> dict[str, Entry | None]:
        """Return what the working tree has where it differs from the index."""
        reader = FileReader(str(self.checkout.folder), self._cleaner)
        found: dict[str, Entry | None] = {}
        for path, mode in touched.items():
            try:
                if not self._is_kept(path, mode):
                    found[path] = self._entry(path, mode, reader)
            except MovingError:
                self.moving.add(path)
            except (FileNotFoundError, NotADirectoryError):
                found[path] = None  # it vanished
            except (OSError, ValueError) as exc:
                problem = f"the file {path} cannot be read ({exc})"
                raise RepositoryError(str(self.checkout.folder), problem) from exc
        self.moving.update(path for path in touched if self._has_moved(path))
        return found

    def _entry(self, path: str, mode: int, reader: FileReader) -> Entry | None:
        """Return a path's entry; *mode* is that of the index."""
        if not self._is_in_folders(path):
            return None
        found = self._stat(path)
        if stat.S_ISDIR(found.st_mode):
            return self._repository(path)
        if stat.S_ISLNK(found.st_mode):
            return reader.link(path)
        if not stat.S_ISREG(found.st_mode):
            return None
        if mode == FileMode.SYMLINK and not self.checkout.has_links:
            return reader.file(path, FileMode.SYMLINK)
        is_executable = bool(found.st_mode & stat.S_IXUSR)
        if not self.checkout.trusts_permissions:
            is_executable = mode == FileMode.EXECUTABLE
        return reader.file(path, FileMode.EXECUTABLE if is_executable else FileMode.FILE)

    def _repository(self, path: str) -> Entry | None:
        """Return the commit of another repository; `None` if git adds nothing there."""
        folder = self.checkout.folder / path
        if not is_repository(folder):
            return None
        commit = head_of(folder)
        if commit is None and self.checkout.ignores_folder(path):
            return None  # it took the place of a tracked file
        if commit is None:
            problem = f"the repository {path} in it has no commit, so git cannot add it"
            raise RepositoryError(str(self.checkout.folder), problem)
        return Entry(commit.encode(), FileMode.SUBMODULE)

    def _is_kept(self, path: str, mode: int) -> bool:
        """Whether what the index has at a path counts, although libgit2 says that it changed."""
        if mode in {FileMode.FILE, FileMode.EXECUTABLE}:
            return self._is_filtered_already(path, mode)
        # The folder of a submodule may not say which commit is in it.
        folder = self.checkout.folder / path
        if mode != FileMode.SUBMODULE or not folder.is_dir() or folder.is_symlink():
            return False
        return not is_repository(folder) or head_of(folder) is None

    def _is_filtered_already(self, path: str, mode: int) -> bool:
        """Whether the index has what a program made of a file, and the file is still the same.

        Libgit2 compares the contents, and not the times, of a file that is hardly older than the
        index. On disk, a filtered file never has the contents that the program made.
        """
        if not self.checkout.filter_program(path) or not self._is_in_folders(path):
            return False
        found = self._stat(path)
        is_executable = bool(found.st_mode & stat.S_IXUSR)
        is_same_mode = is_executable == (mode == FileMode.EXECUTABLE)
        if not is_same_mode and self.checkout.trusts_permissions:
            return False
        if not self.checkout.is_recorded(path, found):
            return False
        if not self.checkout.is_older_than_index(found):
            self.unfiltered.append(path)  # git would ask the program again
        return True

    def _is_in_folders(self, path: str) -> bool:
        """Whether everything above a path is a folder; a link's target is not part of the tree."""
        return all(map(self._is_folder, folders_above(path)))

    def _is_folder(self, path: str) -> bool:
        if path not in self._folders:
            try:
                self._folders[path] = stat.S_ISDIR(self._stat(path).st_mode)
            except OSError:
                self._folders[path] = False
        return self._folders[path]

    def _stat(self, path: str) -> os.stat_result:
        return os.lstat(f"{self.checkout.folder}/{path}")

    def _has_moved(self, path: str) -> bool:
        """Whether a file was changed, made or removed since the look began."""
        while True:
            try:
                return changed_at(self._stat(path)) >= self.began
            except OSError:
                if not path:
                    return True
                path = path.rpartition("/")[0]  # its removal changed the folder

    # --- conversions ---

    def _cleaner(self, path: str) -> Cleaner | None:
        """Return what converts the contents of a file when git stores them."""
        if self.checkout.filter_program(path):
            self.unfiltered.append(path)
            return None
        return self.checkout.cleaner(path)


def _in_the_way(
    uncommitted: Mapping[str, Entry | None], left_alone: Collection[str]
) -> Iterator[str]:
    """Yield the files that git drops, although it does not look at them.

    An added file takes the place of a folder, or needs a folder in the place of a file.
    """
    added = {path for path, entry in uncommitted.items() if entry}
    folders = folders_of(added)
    for path in left_alone:
        if path in folders or not added.isdisjoint(folders_above(path)):
            yield path


def _problem(scan: Scan) -> tuple[RefProblem, str] | None:
    if scan.operation:
        return RefProblem.IN_PROGRESS, f"the worktree is in the middle of {scan.operation}"
    if scan.unmerged:
        return RefProblem.IN_PROGRESS, f"the worktree has unmerged files: {listed(scan.unmerged)}"
    if scan.tree_id is None:
        return RefProblem.UNBORN, "nothing has been committed to the worktree's branch yet"
    return None
