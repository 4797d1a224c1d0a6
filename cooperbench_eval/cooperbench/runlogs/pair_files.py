"""Finds the patches of one pair and their agents' costs, in run logs or on the hub."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from cooperbench_eval.cooperbench.runlogs.reading import (
    letters,
    model_of,
    patch_files,
    read_agents,
    read_patch,
)
from cooperbench_eval.errors import DatasetError
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.reporting.agent_costs import AgentRun
from cooperbench_eval.reporting.cooperbench_results import PatchLocation, Setting
from cooperbench_eval.reporting.identity import PairId

__all__ = ["PatchLocation", "Setting", "find_work"]

_HUB_DATASET = "CodeConflict/experiments"


@frozen(kw_only=True)
class _Wanted(PairId):
    """The pair whose patches are wanted; its setting and model are known."""

    setting: Setting
    model: str

    @property
    def orders(self) -> tuple[tuple[int, int], ...]:
        """The orders in which folder names may list the features; the benchmark sorts them."""
        low, high = sorted(self.features)
        return (low, high), (high, low)


def _hub_files(wanted: _Wanted) -> tuple[Path, Path]:
    """Download a task's patches from the benchmark's public results and find the pair's files."""
    try:
        from huggingface_hub import snapshot_download  # noqa: PLC0415 - optional
    except ImportError as exc:
        raise DatasetError(
            "huggingface-hub is missing: pip install 'cooperbench-eval[hf]'", "patch_location='hf'"
        ) from exc
    task = f"{wanted.setting.value}/{wanted.repo_name}/task{wanted.task_id}"
    try:
        root = snapshot_download(
            _HUB_DATASET, repo_type="dataset", allow_patterns=[f"{task}/*/patch_*.patch"]
        )
    # The client raises its own errors, and those of requests and the operating system.
    except Exception as exc:
        raise DatasetError(f"cannot be downloaded from the hub ({exc!r})", task) from exc
    files = _paper_files(Path(root), wanted)
    if files is None:
        raise DatasetError("is not among the public results", task)
    return files


def _paper_files(root: Path, wanted: _Wanted) -> tuple[Path, Path] | None:
    """Find the two files; `None` if the pair has no folder in this layout.

    Both files have the same model name: that of the wanted model, or the only matching
    name of a model family.
    """
    task = root / wanted.setting.value / wanted.repo_name / f"task{wanted.task_id}"
    found = [_files_by_model(task, wanted, number) for number in wanted.features]
    if not any(found):
        return None
    first, second = found
    name = _one_model(first.keys() | second.keys(), wanted, task)
    for number, models in zip(wanted.features, found, strict=True):
        if name not in models:
            raise DatasetError(f"has no patch of {name!r} for feature {number}", str(task))
    return first[name], second[name]


def _files_by_model(task: Path, wanted: _Wanted, number: int) -> dict[str, Path]:
    folders = [f"feature{i}_feature{j}" for i, j in wanted.orders]
    suffixes = [f"feature{number}"]
    if wanted.setting is Setting.SINGLE:
        folders = [f"feature{number}", *folders]
    elif wanted.setting is Setting.SOLO:
        suffixes = folders + suffixes
    found: dict[str, Path] = {}
    for folder in folders:
        for suffix in suffixes:
            name = re.compile(rf"patch_(.+)_k{wanted.k}_{suffix}\.patch")
            for file in sorted((task / folder).glob("patch_*.patch")):
                if match := name.fullmatch(file.name):
                    found.setdefault(match.group(1), file)
    return found


def _one_model(names: Iterable[str], wanted: _Wanted, task: Path) -> str:
    """Choose the name in the files that means the wanted model.

    CooperBench's own files have the name of a model family (`claude`, `qwen_coder`, `gpt5`). Other
    files have the model's name without the characters that a file name cannot contain.
    """
    known = sorted(names)
    plain = letters(wanted.model)
    fitting = [name for name in known if name == wanted.model]
    fitting = fitting or [name for name in known if letters(name) == plain]
    if not fitting:
        families = [name for name in known if _is_family(name, plain)]
        longest = max(map(len, families), default=0)
        fitting = [name for name in families if len(name) == longest]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(known)
    problem = "has several patches" if fitting else "has no patches"
    raise DatasetError(
        f"{problem} of model {wanted.model!r}, k{wanted.k}, "
        f"features {wanted.features[0]} and {wanted.features[1]}; models there: {listed}",
        str(task),
    )


def _is_family(name: str, plain: str) -> bool:
    """Whether a model's plain name has every word of *name*, and no letters after a version.

    So `gpt5` matches `gpt-5-2025-08-07`, but not `gpt-5-mini`.
    """
    words = [letters(word) for word in name.split("_") if letters(word)]
    return bool(words) and all(
        re.search(word + (r"(?![a-z])" if word[-1].isdigit() else ""), plain) for word in words
    )


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
) -> tuple[tuple[Patch, Patch], tuple[AgentRun | None, ...]]:
    """Read the work of a pair's agents, in the order of *numbers*: patches, and what they cost.

    A cost that no record gives is `None`. In `solo`, both patches are the same. A file that cannot
    be parsed gives a patch that fails to apply.

    Raises:
        DatasetError: No log has the patches, several runs have them, or a file cannot be
            read.
    """
    wanted = _Wanted(
        setting=setting,
        repo_name=repo_name,
        task_id=task_id,
        features=numbers,
        model=model,
        k=k,
    )
    first, second = _files(wanted, location, logs_dir, run_name)
    patches = read_patch(first), read_patch(second)
    return patches, read_agents(first.parent, setting, numbers)


def _files(
    wanted: _Wanted,
    location: PatchLocation,
    logs_dir: str | os.PathLike[str] | None,
    run_name: str | None,
) -> tuple[Path, Path]:
    if location is PatchLocation.HF:
        return _hub_files(wanted)
    default = "logs" if location is PatchLocation.LOGS else Path.home() / ".cooperbench_cache"
    root = Path(default if logs_dir is None else logs_dir)
    if not root.is_dir():
        raise DatasetError("is not a directory; pass logs_dir=...", str(root))
    if run_name is None and (files := _paper_files(root, wanted)):
        return files
    return _run_files(root, wanted, run_name)


def _run_files(root: Path, wanted: _Wanted, run_name: str | None) -> tuple[Path, Path]:
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


def _run_folder(root: Path, wanted: _Wanted, run_name: str | None) -> Path:
    """Find the pair's folder, in the named run or else in the only run that fits."""
    runs = [root / run_name] if run_name else sorted(root.iterdir())
    task = Path(wanted.setting.value, wanted.repo_name, str(wanted.task_id))
    names = [f"f{i}_f{j}" for i, j in wanted.orders]
    found: list[Path] = []
    for run in runs:
        found += [run / task / name for name in names if (run / task / name).is_dir()][:1]
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


def _model_of(folder: Path) -> str | None:
    return model_of(folder, folder.parents[3])
