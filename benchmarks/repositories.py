"""Tasks with their repositories for the benchmarks, and scratch repositories."""

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pygit2

from cooperbench_eval import Changes, Dataset, Feature, FeaturePair, Snapshot, Task
from cooperbench_eval.errors import DatasetError, RepositoryError

__all__ = ["Scratch", "add_dataset_options", "tasks_with_bases", "untested_gold_pairs"]


def add_dataset_options(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add `--dataset` and `--repos`."""
    parser.add_argument(
        "--dataset", type=Path, required=required, help="folder in the dataset layout"
    )
    parser.add_argument(
        "--repos", type=Path, required=required, help="folder above the repositories"
    )


def tasks_with_bases(
    options: argparse.Namespace, names: Collection[str] | None = None
) -> Iterator[tuple[str, Task, Snapshot]]:
    """Yield the name, the task and its base for each task of `--dataset`.

    A task whose base commit is in no repository below `--repos` is printed and skipped.

    Args:
        options: The parsed options.
        names: The names of the tasks, as `pallets_click_task/2068`; `None` for all tasks.
    """
    dataset, repositories = Dataset(options.dataset), tuple(_repositories(options.repos))
    tasks = {f"{task.repo_name}/{task.task_id}": task for task in dataset.tasks()}
    for name in tasks if names is None else dict.fromkeys(names):
        if name not in tasks:
            print(f"{name}: the dataset has no such task", file=sys.stderr)
            continue
        base = _base_of(tasks[name], repositories)
        if base is None:
            print(f"{name:<38} passed over: no repository below --repos holds its base commit")
        else:
            yield name, tasks[name], base


def _base_of(task: Task, repositories: Iterable[Path]) -> Snapshot | None:
    try:
        commit = task.base_commit()
    except DatasetError:
        return None
    for path in repositories:
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
    """A bare repository that borrows the objects of another."""

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
