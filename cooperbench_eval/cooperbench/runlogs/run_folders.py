"""Finds every pair or team of a run from the names of its folders."""

import os
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from attrs import field, frozen

from cooperbench_eval.cooperbench.runlogs.reading import (
    features_in,
    model_of,
    patch_files,
    read_agents,
    read_patch,
    recorded,
)
from cooperbench_eval.errors import DatasetError
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.reporting.agent_costs import AgentRun
from cooperbench_eval.reporting.cooperbench_results import Setting

_SETTINGS = frozenset(setting.value for setting in Setting)


@frozen(kw_only=True)
class RunTeam:
    """Features that agents of one run worked on together: two of them, or all.

    Attributes:
        directory: The folder with the agents' files. If more than two agents worked
            together, several pairs have the same folder.
        numbers: The features, in the folder's order: CooperBench's evaluator merges the first
            into the second.
        model: The model, if the run's records name it.
    """

    directory: Path
    setting: Setting
    repo_name: str
    task_id: int
    numbers: tuple[int, ...]
    model: str | None

    def patches(self) -> tuple[Patch, ...]:
        """Read the agents' patches, in the order of `numbers`.

        A solo agent's patch is returned for each feature. If an agent submitted no file,
        its patch is empty. A file that cannot be parsed gives a patch that fails to
        apply. Neither is an error.

        Raises:
            DatasetError: A file exists but cannot be read.
        """
        files = patch_files(self.directory, self.setting, self.numbers)
        handed_in = {file: _handed_in(file) for file in dict.fromkeys(files)}
        return tuple(handed_in[file] for file in files)

    def agents(self) -> tuple[AgentRun | None, ...]:
        """Read what the agents' work cost, in the order of `numbers`; see `read_agents`."""
        return read_agents(self.directory, self.setting, self.numbers)


@frozen(kw_only=True)
class RunFolder:
    """A folder that is named after its features, with any contents.

    Attributes:
        run: The folder of its run.
        setting: How the agents worked, if the folders or the agents' record name it.
        features: The features' numbers in the order of the name: two or more,
            all different.
        names: The names of the files in the folder.
    """

    directory: Path
    run: Path
    setting: Setting | None
    repo_name: str
    task_id: int
    features: tuple[int, ...] = field(converter=tuple[int, ...])
    names: frozenset[str]

    def teams(self, *, whole: bool) -> Iterator[RunTeam]:
        """Yield the *whole* team, or every two of its features."""
        setting = self.setting
        if setting is None:
            setting = Setting.SOLO if "solo.patch" in self.names else Setting.COOP
        model = model_of(self.directory, self.run)
        for numbers in combinations(self.features, len(self.features) if whole else 2):
            yield RunTeam(
                directory=self.directory,
                setting=setting,
                repo_name=self.repo_name,
                task_id=self.task_id,
                numbers=numbers,
                model=model,
            )


def discover_run(
    logs_dir: str | os.PathLike[str], run_name: str, *, teams: bool = False
) -> Iterator[RunTeam]:
    """Find every pair of a run, in the layouts with and without a folder for the setting.

    Without that folder, the setting comes from the agents' record. If the record is
    missing, the setting is `solo` if there is a `solo.patch`, and `coop` otherwise.
    Folders that are not named like a pair are skipped, and so are folders with neither a
    record nor a patch.

    With *teams*, all features of each folder are one team instead. The pairs or teams are sorted
    by setting, repository, task and features; numbers are compared as numbers.

    Raises:
        DatasetError: The run does not exist, has no pair, or has a folder that cannot be
            read.
    """
    found = [
        team
        for folder in run_folders(logs_dir, run_name)
        if any(name == "result.json" or name.endswith(".patch") for name in folder.names)
        for team in folder.teams(whole=teams)
    ]
    if not found:
        run = Path(logs_dir, run_name)
        problem = "has no file that a pair or team of agents wrote"
        if unknown := _unknown_settings(run):
            known = ", ".join(sorted(_SETTINGS))
            problem += f"; it has unknown settings: {', '.join(unknown)} (known: {known})"
        raise DatasetError(problem, str(run))
    return iter(
        sorted(found, key=lambda team: (team.setting, team.repo_name, team.task_id, team.numbers))
    )


def run_folders(logs_dir: str | os.PathLike[str], run_name: str) -> tuple[RunFolder, ...]:
    """Find every folder of a run that is named after two or more features, sorted by path.

    If the run does not exist, or a folder of it cannot be read, raise `DatasetError`.
    """
    run = Path(logs_dir, run_name)
    found: list[RunFolder] = []
    for child in _folders(run):
        if child.name in _SETTINGS:
            setting = Setting(child.name)
            found += (each for r in _folders(child) for each in _of_repository(run, r, setting))
        else:
            found += _of_repository(run, child)
    return tuple(found)


def _unknown_settings(run: Path) -> list[str]:
    """Return the names of the folders that are laid out like those of settings."""
    return [
        child.name
        for child in _folders(run)
        if child.name not in _SETTINGS
        and any(True for each in _folders(child) for _ in _of_repository(run, each))
    ]


def setting_of(directory: Path) -> Setting | None:
    """Return how the agents of a pair worked, from the folders above it or their record.

    A folder that is named after a setting but holds a run's record is the folder of a run
    with that name, not of a setting.
    """
    above = directory.absolute().parents
    if len(above) > 2 and above[2].name in _SETTINGS:  # noqa: PLR2004 - task, repository, setting
        folder = above[2]
        if not (folder / "config.json").is_file():
            return Setting(folder.name)
    return _recorded_setting(directory)


def _of_repository(
    run: Path, repository: Path, setting: Setting | None = None
) -> Iterator[RunFolder]:
    for task in _folders(repository):
        if re.fullmatch(r"0|[1-9][0-9]*", task.name) is None:
            continue
        for directory in _folders(task):
            features = features_in(directory.name)
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
