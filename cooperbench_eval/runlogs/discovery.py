"""Every pair of a run, found without knowing what the run was about."""

import os
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from attrs import field, frozen

from cooperbench_eval.errors import DatasetError
from cooperbench_eval.patching import Patch
from cooperbench_eval.runlogs.choices import Setting
from cooperbench_eval.runlogs.reading import model_of, read_patch, recorded

__all__ = ["RunFolder", "RunPair", "discover_run", "run_folders", "told_setting"]

_SETTINGS = frozenset(setting.value for setting in Setting)


@frozen(kw_only=True)
class RunPair:
    """Two features that the agents of one run worked on.

    Attributes:
        directory: The folder with what the agents left. Where more than two
            agents worked together, several pairs have the same.
        setting: How they worked.
        repo_name: The repository's folder in the dataset.
        task_id: The task's number; 0 is a task like any other.
        numbers: The two features, in the folder's order: the first is the one
            that the benchmark merges into the second.
        model: The model that the run says it used, if it says so.
    """

    directory: Path
    setting: Setting
    repo_name: str
    task_id: int
    numbers: tuple[int, int]
    model: str | None

    def patches(self) -> tuple[Patch, Patch]:
        """Read what the agents handed in, in the order of `numbers`.

        A solo agent's one patch is both. An agent without a file handed in
        nothing, and its patch is empty; a file that holds no patch gives one
        that cannot be applied. Neither is an error.

        Raises:
            DatasetError: A file is there and cannot be read.
        """
        if self.setting is Setting.SOLO:
            patch = _handed_in(self.directory / "solo.patch")
            return patch, patch
        first, second = (self.directory / f"agent{number}.patch" for number in self.numbers)
        return _handed_in(first), _handed_in(second)


@frozen(kw_only=True)
class RunFolder:
    """A folder that is named after its features, whatever it holds.

    Attributes:
        directory: The folder.
        run: The folder of its run.
        setting: How the agents worked, if the folders or the agents' record say so.
        repo_name: The repository's folder in the dataset.
        task_id: The task's number.
        features: The features' numbers in the order of the name: two or more,
            all different.
        names: What lies in the folder.
    """

    directory: Path
    run: Path
    setting: Setting | None
    repo_name: str
    task_id: int
    features: tuple[int, ...] = field(converter=tuple[int, ...])
    names: frozenset[str]

    @property
    def was_written(self) -> bool:
        """Whether the runner or an agent left something to evaluate."""
        return any(name == "result.json" or name.endswith(".patch") for name in self.names)

    def pairs(self) -> Iterator[RunPair]:
        """Yield every two of the features."""
        setting = self.setting
        if setting is None:
            setting = Setting.SOLO if "solo.patch" in self.names else Setting.COOP
        model = model_of(self.directory, self.run)
        for numbers in combinations(self.features, 2):
            yield RunPair(
                directory=self.directory,
                setting=setting,
                repo_name=self.repo_name,
                task_id=self.task_id,
                numbers=numbers,
                model=model,
            )


def discover_run(logs_dir: str | os.PathLike[str], run_name: str) -> Iterator[RunPair]:
    """Find every pair of a run, in the layouts with and without a setting's level.

    Without that level the setting is what the agents' record says; failing that,
    a `solo.patch` tells. Repositories may have any name. What is no pair's folder
    is passed over, and so is one in which nothing was written: neither a record
    nor a patch.

    Args:
        logs_dir: The folder of all runs.
        run_name: The run's folder in it.

    Returns:
        The pairs by setting, repository, task and features, numbers as numbers.

    Raises:
        DatasetError: There is no such run, it holds no pair, or a folder of it
            cannot be read.
    """
    found = [
        pair
        for folder in run_folders(logs_dir, run_name)
        if folder.was_written
        for pair in folder.pairs()
    ]
    if not found:
        run = Path(logs_dir, run_name)
        raise DatasetError("holds nothing that a pair of agents wrote", str(run))
    return iter(
        sorted(found, key=lambda pair: (pair.setting, pair.repo_name, pair.task_id, pair.numbers))
    )


def run_folders(logs_dir: str | os.PathLike[str], run_name: str) -> tuple[RunFolder, ...]:
    """Find every folder of a run that is named after two features or more.

    Returns:
        The folders, sorted by their paths.

    Raises:
        DatasetError: There is no such run, or a folder of it cannot be read.
    """
    run = Path(logs_dir, run_name)
    return tuple(
        folder
        for child in _folders(run)
        for folder in (
            _below_level(run, child) if child.name in _SETTINGS else _of_repository(run, child)
        )
    )


def told_setting(directory: Path) -> Setting | None:
    """How the agents of a pair's folder worked, by the folders above it or their record.

    A level named after a setting is none where the run's own record lies in it: it
    is a run of that name, without such a level.
    """
    above = directory.absolute().parents
    if len(above) > 2 and above[2].name in _SETTINGS:  # noqa: PLR2004 - task, repository, setting
        level = above[2]
        if not (level / "config.json").is_file():
            return Setting(level.name)
    return _recorded_setting(directory)


def _below_level(run: Path, level: Path) -> Iterator[RunFolder]:
    for repository in _folders(level):
        yield from _of_repository(run, repository, Setting(level.name))


def _of_repository(
    run: Path, repository: Path, setting: Setting | None = None
) -> Iterator[RunFolder]:
    for task in _folders(repository):
        if re.fullmatch(r"0|[1-9][0-9]*", task.name) is None:
            continue
        for directory in _folders(task):
            features = _features(directory.name)
            if features:
                yield RunFolder(
                    directory=directory,
                    run=run,
                    setting=setting or _recorded_setting(directory),
                    repo_name=repository.name,
                    task_id=int(task.name),
                    features=features,
                    names=frozenset(child.name for child in _children(directory)),
                )


def _recorded_setting(directory: Path) -> Setting | None:
    word = recorded(directory / "result.json", "setting")
    return Setting(word) if word in _SETTINGS else None


def _features(name: str) -> tuple[int, ...]:
    """The numbers in a name like `f1_f2`; none if it is no such name."""
    if re.fullmatch(r"f(0|[1-9][0-9]*)(_f(0|[1-9][0-9]*))+", name) is None:
        return ()
    numbers = tuple(int(part[1:]) for part in name.split("_"))
    return numbers if len(set(numbers)) == len(numbers) else ()


def _folders(parent: Path) -> list[Path]:
    return [child for child in _children(parent) if child.is_dir()]


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as exc:
        raise DatasetError(f"cannot be read ({exc.strerror})", str(folder)) from exc


def _handed_in(file: Path) -> Patch:
    try:
        return read_patch(file)
    except DatasetError as exc:
        if isinstance(exc.__cause__, FileNotFoundError):
            return Patch.parse(b"")
        raise
