"""Repositories for the benchmarks: found below any folder, or made to write into."""

from collections.abc import Iterator
from pathlib import Path

import pygit2

from cooperbench_eval import (
    Changes,
    DatasetError,
    Feature,
    FeaturePair,
    RepositoryError,
    Snapshot,
    Task,
)

__all__ = ["Repositories", "Scratch", "untested_gold_pairs"]


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


def untested_gold_pairs(task: Task, base: Snapshot) -> list[FeaturePair]:
    """Make every pair of a task's gold patches, to be merged and scored without tests."""
    features = {n: Feature(number=n, patch=task.gold_patch(n)) for n in task.features}
    return [
        FeaturePair(
            repo_name=task.repo_name,
            task_id=task.task_id,
            base=base,
            feature1=features[first],
            feature2=features[second],
        )
        for first, second in task.pairs
    ]


class Scratch:
    """A bare repository that borrows another one's objects."""

    def __init__(self, folder: str, source: Path) -> None:
        """Make it in *folder*."""
        self.path = Path(folder)
        self.repository = pygit2.init_repository(folder, bare=True)
        objects = pygit2.Repository(str(source)).path + "objects"
        (self.path / "objects/info/alternates").write_text(objects + "\n")
        self.repository = pygit2.Repository(folder)

    def commit(self, base: Snapshot, changes: Changes, parents: list[str]) -> str:
        """Write the tree of *base* with *changes* as a commit; return its id."""
        index = pygit2.Index()
        tree = self.repository[base.tree_id].peel(pygit2.Tree)
        index.read_tree(tree)
        for path, entry in changes.items():
            if entry is None:
                index.remove(path)
            else:
                blob = self.repository.create_blob(entry.data)
                mode = pygit2.enums.FileMode(int(entry.mode))
                index.add(pygit2.IndexEntry(path, blob, mode))
        author = pygit2.Signature("a", "a@example.org", 0, 0)
        tree_id = index.write_tree(self.repository)
        created = self.repository.create_commit(None, author, author, "", tree_id, list(parents))
        return str(created)
