"""Finds the untracked files of a working tree that `git add` would store. It only reads."""

import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from attrs import frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.git.trees.entries import FileMode
from cooperbench_eval.git.trees.objects import decode_path
from cooperbench_eval.git.worktrees.ignoring import IgnoreRules

__all__ = ["Untracked", "is_repository"]

_HEAD = re.compile(rb"ref:\s*refs/|[0-9a-f]{40}")
_HEAD_BYTES = 256
_LINK_BYTES = 1 << 20
_LINK = b"gitdir: "


@frozen(kw_only=True)
class Untracked:
    """Finds untracked files.

    Attributes:
        top: The top folder of the working tree.
        rules: Says what git ignores.
        mode_of: Returns the mode of a path in the index; 0 if the index lacks it.
        tracked_folders: Returns the folders in which the index has files.
    """

    top: Path
    rules: IgnoreRules
    mode_of: Callable[[str], int]
    tracked_folders: Callable[[], Collection[str]]

    def counts(self, path: str) -> bool:
        """Whether git would add an untracked file."""
        return not self.rules.has(path, is_folder=False)

    def below(self, folder: str) -> Iterator[str]:
        """Yield what git would add of a folder, "" for the top: files and other repositories.

        Raises:
            RepositoryError: A folder cannot be read.
        """
        folders = [folder]
        while folders:
            folder = folders.pop()
            if folder:
                is_submodule = self.mode_of(folder) == FileMode.SUBMODULE
                if is_submodule or self.rules.has(folder, is_folder=True):
                    continue
                if self._is_other_repository(folder):
                    yield folder
                    continue
            for path, is_folder in self._in(folder):
                if is_folder:
                    folders.append(path)
                elif not self.mode_of(path) and self.counts(path):
                    yield path

    def _is_other_repository(self, folder: str) -> bool:
        """Whether git takes a folder for a repository; one with tracked files is a mere folder."""
        return is_repository(self.top / folder) and folder not in self.tracked_folders()

    def _in(self, folder: str) -> list[tuple[str, bool]]:
        found = []
        try:
            with os.scandir(self.top / folder) as entries:
                for each in entries:
                    if each.name != ".git":
                        is_folder = each.is_dir(follow_symlinks=False)
                        name = decode_path(os.fsencode(each.name))
                        found.append((f"{folder}/{name}" if folder else name, is_folder))
        except (FileNotFoundError, NotADirectoryError):
            return []  # it vanished
        except OSError as exc:
            problem = f"the folder {folder} cannot be read ({exc})"
            raise RepositoryError(str(self.top), problem) from exc
        return found


def is_repository(folder: Path) -> bool:
    """Whether git takes a folder for another repository.

    A folder with a useless `.git`, such as an empty one, is like any other folder.
    """
    git = folder / ".git"
    try:
        found = git.stat()
        if stat.S_ISDIR(found.st_mode):
            return _is_git_folder(git)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LINK_BYTES:
            return False
    except OSError:
        return False
    try:
        text = git.read_bytes()
    except OSError:
        return True  # git does not look into what it cannot judge
    target = text.removeprefix(_LINK).rstrip(b"\r\n")
    is_link = text.startswith(_LINK) and bool(target) and b"\0" not in target
    return is_link and _is_git_folder(folder / os.fsdecode(target))


def _is_git_folder(folder: Path) -> bool:
    shared = folder
    try:
        link = (folder / "commondir").read_bytes().rstrip(b"\r\n")
        shared = folder / os.fsdecode(link)
    except (OSError, ValueError):
        pass
    parts = (shared / "objects", shared / "refs")
    return _is_head(folder / "HEAD") and all(os.access(each, os.X_OK) for each in parts)


def _is_head(path: Path) -> bool:
    try:
        if path.is_symlink():
            return os.fsencode(path.readlink()).startswith(b"refs/")
        with path.open("rb") as file:
            return bool(_HEAD.match(file.read(_HEAD_BYTES)))
    except OSError:
        return False
