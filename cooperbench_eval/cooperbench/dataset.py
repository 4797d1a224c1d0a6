"""CooperBench's dataset on disk: its tasks, and its named subsets of pairs."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Unpack

from attrs import evolve, field, frozen

from cooperbench_eval.cooperbench.clones import Folder
from cooperbench_eval.cooperbench.tasks import Counted, PairOptions, Task
from cooperbench_eval.cooperbench.taskscripts import read_text
from cooperbench_eval.errors import ArgumentError, DatasetError
from cooperbench_eval.evaluation.pairs import FeaturePair
from cooperbench_eval.support.arguments import checked, checked_fields
from cooperbench_eval.support.error_texts import it_has

RepoDirs = Folder | Mapping[str, Folder]
"""A folder that holds clones, one clone, or a clone for each folder of the dataset."""

_TASK = re.compile(r"task\d+")


def _paths(given: RepoDirs | None) -> Path | dict[str, Path] | None:
    if isinstance(given, Mapping):
        return {name: Path(clone) for name, clone in given.items()}
    return None if given is None else Path(given)


@frozen(field_transformer=checked_fields)
class Dataset:
    """A folder in CooperBench's layout, `<repo>_task/task<id>/feature<n>/`.

    Attributes:
        directory: The folder that holds the repositories' folders.
        repo_dirs: Where the tasks' repositories are, so that tasks need no `repo_dir`: a folder
            that holds clones with any names, or a single clone, or a mapping from the name of
            each repository's folder in the dataset to its clone.

    Raises:
        DatasetError: *repo_dirs* has a key that is not a folder of the dataset.
    """

    directory: Path = field(converter=Path)
    repo_dirs: Path | Mapping[str, Path] | None = field(
        default=None, kw_only=True, converter=_paths, hash=False
    )

    @repo_dirs.validator
    def _check_names(self, _: object, given: Path | Mapping[str, Path] | None) -> None:
        if not isinstance(given, Mapping):
            return
        known = {folder.parent.name for folder in self._folders()}
        for name in given:
            if name not in known:
                problem = f"{name!r} is not a folder of {self.directory}; {it_has(name, known)}"
                raise DatasetError(problem, "repo_dirs")

    def tasks(self) -> tuple[Task, ...]:
        """Return every task that has features, sorted by repository and number.

        Raises:
            DatasetError: The folder is missing, or has no task.
        """
        every = (self._task(folder) for folder in self._folders())
        found = [task for task in every if task.features]
        if not found:
            raise DatasetError("has no task<id> folder with features", self._location)
        return tuple(sorted(found, key=lambda task: (task.repo_name, task.task_id)))

    @checked
    def task(self, repo_name: str, task_id: int) -> Task:
        """Return one task.

        Raises:
            DatasetError: There is no such task.
        """
        known: dict[str, dict[int, Path]] = {}
        for folder in self._folders():
            known.setdefault(folder.parent.name, {})[_number(folder)] = folder
        if repo_name not in known:
            problem = f"has no folder {repo_name!r}; {it_has(repo_name, known)}"
            raise DatasetError(problem, self._location)
        numbers = known[repo_name]
        if task_id not in numbers:
            problem = f"has no task {task_id!r} of {repo_name}; {it_has(task_id, numbers)}"
            raise DatasetError(problem, self._location)
        return self._task(numbers[task_id])

    @checked
    def subset(self, name: str) -> tuple[tuple[Task, tuple[int, int]], ...]:
        """Return the pairs of `subsets/<name>.json`, each with its task.

        Raises:
            DatasetError: The subset does not exist, or has another format.
        """
        file = self.directory / "subsets" / f"{name}.json"
        if not file.is_file():
            known = [each.stem for each in file.parent.glob("*.json")]
            raise DatasetError(f"has no subset {name!r}; {it_has(name, known)}", self._location)
        try:
            rows = json.loads(read_text(file))["tasks"]
            return tuple(
                (self.task(row["repo"], row["task_id"]), (int(first), int(second)))
                for row in rows
                for first, second in row["pairs"]
            )
        except (KeyError, TypeError, ValueError) as exc:
            raise DatasetError(f"is not a subset of the dataset ({exc!r})", str(file)) from exc

    @checked
    def all_pairs(
        self,
        *,
        repo_name: str | None = None,
        subset: str | None = None,
        **options: Unpack[PairOptions],
    ) -> Counted[FeaturePair]:
        """Return an iterator over every pair of every task, for `evaluate_many`.

        Each pair is made when it is asked for, so only one task's base is in memory. If a
        task lacks something, the error is raised at once.

        Args:
            repo_name: Take only the pairs of this repository.
            subset: Take only the pairs of this subset, as they are listed there.
            options: See `Task.pair`. *patches* must be a function, because tasks share numbers.

        Raises:
            ArgumentError: An argument is wrong, or *patches* is not a function.
            DatasetError: No pair matches the arguments, or a task lacks something.
            RepositoryError: No clone has the base commit of a task.
        """
        if isinstance(options.get("patches"), Mapping):
            problem = "must be a function of the task and a feature's number: there are many tasks"
            raise ArgumentError("patches", problem)
        if subset is None:
            every = [(task, pair) for task in self.tasks() for pair in task.pairs]
        else:
            every = list(self.subset(subset))
        found = [each for each in every if repo_name in {None, each[0].repo_name}]
        if repo_name is not None and not found:
            known = {task.repo_name for task, _ in every}
            problem = f"has no pair of {repo_name!r}; {it_has(repo_name, known)}"
            raise DatasetError(problem, self._location)
        by_task: dict[Task, list[tuple[int, int]]] = {}
        for task, numbers in found:
            by_task.setdefault(task, []).append(numbers)
        for task, (numbers, *_) in by_task.items():
            task.pair(*numbers, **options | {"patches": None})  # raises now, not hours later
        made = (pair for task, each in by_task.items() for pair in task.all_pairs(each, **options))
        return Counted(made, len(found))

    def _folders(self) -> list[Path]:
        """Return the folder of every task, including those without features."""
        if not self.directory.is_dir():
            raise DatasetError("is not a directory", self._location)
        found = self.directory.glob("*/task*")
        folders = [each for each in found if _TASK.fullmatch(each.name) and each.is_dir()]
        if not folders:
            inside = self.directory / "dataset"
            hint = f"; pass {str(inside)!r}" if inside.is_dir() else ""
            raise DatasetError(f"has no task<id> folder{hint}", self._location)
        _refuse_doubles((folder, _number(folder)) for folder in folders)
        return folders

    @property
    def _location(self) -> str:
        return str(self.directory)

    def _task(self, folder: Path) -> Task:
        children = [child for child in folder.iterdir() if child.is_dir()]
        found = {child: re.fullmatch(r"feature(\d+)", child.name) for child in children}
        features = {child: int(match[1]) for child, match in found.items() if match}
        _refuse_doubles(features.items())
        name, clones = folder.parent.name, self.repo_dirs
        return Task(
            repo_name=name,
            task_id=_number(folder),
            directory=folder,
            features=sorted(features.values()),
            repo_dir=clones.get(name) if isinstance(clones, Mapping) else clones,
        )


def _number(folder: Path) -> int:
    return int(folder.name.removeprefix("task"))


def _refuse_doubles(numbered: Iterable[tuple[Path, int]]) -> None:
    """Refuse folders in one place that have the same number, such as `task1` and `task01`."""
    known: dict[tuple[Path, int], Path] = {}
    for folder, number in sorted(numbered):
        other = known.setdefault((folder.parent, number), folder)
        if other is not folder:
            problem = f"has both {other.name!r} and {folder.name!r}, which have one number"
            raise DatasetError(problem, str(folder.parent))


def as_dataset(given: Folder | Dataset, repo_dirs: RepoDirs | None = None) -> Dataset:
    """Return *given* as a dataset, with *repo_dirs* if they are given."""
    dataset = given if isinstance(given, Dataset) else Dataset(given)
    return dataset if repo_dirs is None else evolve(dataset, repo_dirs=repo_dirs)
