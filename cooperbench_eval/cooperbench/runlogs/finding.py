"""Finds the patches of one pair and their agents' costs, in run logs or on the hub."""

import os
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from cooperbench_eval.cooperbench.runlogs.agents import read_agents
from cooperbench_eval.cooperbench.runlogs.paper import hub_files, paper_files
from cooperbench_eval.cooperbench.runlogs.reading import model_of, patch_files, read_patch
from cooperbench_eval.cooperbench.runlogs.wanted import Wanted, letters
from cooperbench_eval.errors import DatasetError
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.reporting.agentcosts import AgentRun
from cooperbench_eval.reporting.settings import PatchLocation, Setting

__all__ = ["PatchLocation", "Setting", "Work", "find_work"]


@frozen(kw_only=True)
class Work:
    """What the agents of one pair made, in the order of its features.

    Attributes:
        patches: Their patches. In `solo`, the two are the same. A file that cannot be parsed
            gives a patch that fails to apply.
        agents: What their work cost; `None` if there is no record of it.
    """

    patches: tuple[Patch, Patch]
    agents: tuple[AgentRun | None, ...]


def find_work(
    setting: Setting,
    repo_name: str,
    task_id: int,
    numbers: tuple[int, int],
    *,
    model: str,
    location: PatchLocation = PatchLocation.LOGS,
    logs_dir: str | os.PathLike[str] | None = None,
    run_name: str | None = None,
    k: int = 1,
) -> Work:
    """Read the work of a pair's agents, in the order of *numbers*.

    Raises:
        DatasetError: No log has the patches, several runs have them, or a file cannot be
            read.
    """
    wanted = Wanted(
        setting=setting,
        repo_name=repo_name,
        task_id=task_id,
        features=numbers,
        model=model,
        k=k,
    )
    first, second = _files(wanted, location, logs_dir, run_name)
    return Work(
        patches=(read_patch(first), read_patch(second)),
        agents=read_agents(first.parent, setting, numbers),
    )


def _files(
    wanted: Wanted,
    location: PatchLocation,
    logs_dir: str | os.PathLike[str] | None,
    run_name: str | None,
) -> tuple[Path, Path]:
    if location is PatchLocation.HF:
        return hub_files(wanted)
    if logs_dir is not None:
        root = Path(logs_dir)
    elif location is PatchLocation.LOGS:
        root = Path("logs")
    else:
        root = Path.home() / ".cooperbench_cache"
    if not root.is_dir():
        raise DatasetError("is not a directory; pass logs_dir=...", str(root))
    if run_name is None and (files := paper_files(root, wanted)):
        return files
    return _run_files(root, wanted, run_name)


def _run_files(root: Path, wanted: Wanted, run_name: str | None) -> tuple[Path, Path]:
    folder = _run_folder(root, wanted, run_name)
    recorded = _model_of(folder)
    if recorded is not None and letters(recorded) != letters(wanted.model):
        raise DatasetError(f"is a run of model {recorded!r}, not {wanted.model!r}", str(folder))
    if wanted.k != 1:
        raise DatasetError(f"is in a layout without k, so k={wanted.k} is unknown", str(folder))
    first, second = patch_files(folder, wanted.setting, wanted.features)
    for file in (first, second):
        if not file.is_file():
            raise DatasetError("is missing", str(file))
    return first, second


def _run_folder(root: Path, wanted: Wanted, run_name: str | None) -> Path:
    """Find the pair's folder, in the named run or else in the only run that fits."""
    runs = [root / run_name] if run_name else sorted(root.iterdir())
    found = [folder for run in runs for folder in _pair_folders(run, wanted)]
    if len(found) > 1:
        plain = letters(wanted.model)
        found = [each for each in found if letters(_model_of(each) or "") == plain] or found
    if len(found) > 1:
        listed = ", ".join(sorted(folder.relative_to(root).parts[0] for folder in found))
        raise DatasetError(f"several runs have the pair: {listed}; pass run_name=...", str(root))
    if not found:
        first, second = wanted.features
        problem = (
            f"holds no patches of model {wanted.model!r}, k{wanted.k}, features {first} and "
            f"{second} of {wanted.setting.value}/{wanted.repo_name}, task {wanted.task_id}"
        )
        raise DatasetError(problem, str(root))
    return found[0]


def _pair_folders(run: Path, wanted: Wanted) -> Iterator[Path]:
    task = run / wanted.setting.value / wanted.repo_name / str(wanted.task_id)
    for i, j in wanted.orders:
        if (task / f"f{i}_f{j}").is_dir():
            yield task / f"f{i}_f{j}"
            return


def _model_of(folder: Path) -> str | None:
    return model_of(folder, folder.parents[3])
