"""Finds the repository that holds a task's base commit, below any folder."""

from collections.abc import Iterator
from pathlib import Path

from cooperbench_eval import DatasetError, RepositoryError, Snapshot, Task

__all__ = ["Repositories"]


class Repositories:
    """Every git repository, bare or with a work tree, below a folder."""

    def __init__(self, folder: Path) -> None:
        """Look for repositories below *folder*, not inside of one."""
        self._found = tuple(_repositories(folder))

    def base_of(self, task: Task) -> Snapshot | None:
        """Return the base of *task*, or `None` where no repository holds it."""
        try:
            commit = task.base_commit()
        except DatasetError:
            return None
        for path in self._found:
            try:
                return Snapshot.from_repo(path, commit)
            except RepositoryError:
                continue
        return None


def _repositories(folder: Path) -> Iterator[Path]:
    if (folder / ".git").exists() or all(
        (folder / name).exists() for name in ("HEAD", "objects", "refs")
    ):
        yield folder
    else:
        for child in sorted(folder.iterdir()):
            if child.is_dir() and not child.is_symlink():
                yield from _repositories(child)
