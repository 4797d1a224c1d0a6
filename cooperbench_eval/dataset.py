"""CooperBench's dataset on disk: its tasks, and its named subsets of pairs."""

import json
import re
from pathlib import Path

from attrs import field, frozen

from cooperbench_eval.errors import DatasetError
from cooperbench_eval.runlogs import PatchLocation, Setting
from cooperbench_eval.tasks import Task, read_text

__all__ = ["Dataset", "PatchLocation", "Setting", "Task"]


@frozen
class Dataset:
    """A folder in CooperBench's layout, `<repo>_task/task<id>/feature<n>/`.

    Attributes:
        directory: The folder that holds the repositories' folders.
    """

    directory: Path = field(converter=Path)

    def tasks(self) -> tuple[Task, ...]:
        """Return every task that has features, sorted by repository and number.

        Raises:
            DatasetError: The folder is missing, or has no task.
        """
        self._require_directory()
        found = [
            task
            for folder in sorted(self.directory.glob("*/task*"))
            if (number := re.fullmatch(r"task(\d+)", folder.name)) and folder.is_dir()
            for task in [Task.of(folder, int(number.group(1)))]
            if task.features
        ]
        if not found:
            raise DatasetError("has no task<id> folder with features", str(self.directory))
        return tuple(sorted(found, key=lambda task: (task.repo_name, task.task_id)))

    def task(self, repo_name: str, task_id: int) -> Task:
        """Return one task.

        Raises:
            DatasetError: There is no such task.
        """
        self._require_directory()
        if "/" in repo_name or repo_name in {"", ".", ".."}:
            raise DatasetError("is not the name of a repository's folder", repr(repo_name))
        folder = self.directory / repo_name / f"task{task_id}"
        if not folder.is_dir():
            known = sorted(each.name for each in folder.parent.glob("task[0-9]*"))
            problem = f"is not a task of the dataset; {repo_name} has {', '.join(known) or 'none'}"
            raise DatasetError(problem, str(folder))
        return Task.of(folder, task_id)

    def subset(self, name: str) -> tuple[tuple[Task, tuple[int, int]], ...]:
        """Return the pairs of `subsets/<name>.json`, each with its task.

        Raises:
            DatasetError: The subset does not exist, or has another format.
        """
        file = self.directory / "subsets" / f"{name}.json"
        try:
            rows = json.loads(read_text(file))["tasks"]
            return tuple(
                (self.task(row["repo"], row["task_id"]), (int(first), int(second)))
                for row in rows
                for first, second in row["pairs"]
            )
        except (KeyError, TypeError, ValueError) as exc:
            raise DatasetError(f"is not a subset of the dataset ({exc!r})", str(file)) from exc

    def _require_directory(self) -> None:
        if not self.directory.is_dir():
            raise DatasetError("is not a directory", str(self.directory))
