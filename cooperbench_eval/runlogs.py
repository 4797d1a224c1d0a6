"""Agents' patches in CooperBench's run logs, in both layouts.

- the paper's pipeline: `<setting>/<repo>/task<id>/feature<i>_feature<j>/` with
  `patch_<model>_k<k>_feature<n>.patch`;
- today's runner: `<run>/<setting>/<repo>/<id>/f<i>_f<j>/` with `agent<n>.patch`
  or, for a solo agent, `solo.patch`.
"""

import json
import os
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Self

from attrs import frozen

from cooperbench_eval.errors import DatasetError
from cooperbench_eval.patching import Patch

__all__ = ["PatchLocation", "Setting", "find_patches"]

_HUB_DATASET = "CodeConflict/experiments"


class _Choice(StrEnum):
    """Words of which an argument must be one."""

    @classmethod
    def of(cls, word: str) -> Self:
        """Return the member called *word*.

        Raises:
            DatasetError: There is none.
        """
        try:
            return cls(word)
        except ValueError:
            known = ", ".join(member.value for member in cls)
            argument = "setting" if cls is Setting else "patch_location"
            raise DatasetError(f"{word!r} is unknown; known: {known}", argument) from None


class Setting(_Choice):
    """How the benchmark let its agents work."""

    SINGLE = "single"
    """One agent, one feature; two such runs are paired."""
    SOLO = "solo"
    """One agent implements both features in one patch."""
    COOP = "coop"
    """Two agents that may talk."""
    COOP_ABLATION = "coop_ablation"
    """Two agents that may not."""
    TEAM = "team"
    """A lead and its members."""


class PatchLocation(_Choice):
    """Where the patches to evaluate are."""

    LOGS = "logs"
    """In a folder of run logs, `./logs` by default."""
    CACHE = "cache"
    """In the benchmark's download cache, `~/.cooperbench_cache` by default."""
    HF = "hf"
    """In the benchmark's public results on the Hugging Face hub."""
    GOLD = "gold"
    """In the dataset itself: its own solutions."""


@frozen(kw_only=True)
class _Wanted:
    """What is looked for."""

    setting: Setting
    repo_name: str
    task_id: int
    numbers: tuple[int, int]
    model: str
    k: int

    @property
    def orders(self) -> tuple[tuple[int, int], ...]:
        """The pair as folders may name it; the peer sorts, its subsets do not."""
        first, second = self.numbers
        return ((min(self.numbers), max(self.numbers)), (first, second), (second, first))


def find_patches(
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
) -> tuple[Patch, Patch]:
    """Read the patches of a pair, in the order of *numbers*.

    In `solo` both are the same patch.

    Raises:
        DatasetError: No log holds them, or several runs do.
        PatchError: A file is no patch.
    """
    wanted = _Wanted(
        setting=setting,
        repo_name=repo_name,
        task_id=task_id,
        numbers=numbers,
        model=model,
        k=k,
    )
    if location is PatchLocation.HF:
        return _from_hub(wanted)
    root = Path(logs_dir) if logs_dir is not None else _default_folder(location)
    if not root.is_dir():
        raise DatasetError("is no directory; pass logs_dir=...", str(root))
    if run_name is None and (files := _paper_files(root, wanted)):
        return _read(files)
    return _read(_run_files(root, wanted, run_name))


def _default_folder(location: PatchLocation) -> Path:
    return Path("logs") if location is PatchLocation.LOGS else Path.home() / ".cooperbench_cache"


def _read(files: tuple[Path, Path]) -> tuple[Patch, Patch]:
    first, second = files
    return Patch.read(first), Patch.read(second)


# --- the paper's layout --------------------------------------------------------


def _paper_files(root: Path, wanted: _Wanted) -> tuple[Path, Path] | None:
    """Find the two files; `None` where the task has no folder in this layout."""
    task = root / wanted.setting.value / wanted.repo_name / f"task{wanted.task_id}"
    if not task.is_dir():
        return None
    first, second = (
        _paper_file(task, wanted, folders, suffixes) for folders, suffixes in _paper_names(wanted)
    )
    return first, second


def _paper_names(wanted: _Wanted) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield for each feature the folders it may be in and the ends its name may have."""
    together = tuple(f"feature{i}_feature{j}" for i, j in wanted.orders)
    first, second = wanted.numbers
    for number in wanted.numbers:
        if wanted.setting is Setting.SINGLE:
            yield (f"feature{number}",), (f"feature{number}",)
        elif wanted.setting is Setting.SOLO:
            # The pipeline sorts the folder's numbers, the file's are in the order of the run.
            yield together, (f"feature{first}_feature{second}", f"feature{second}_feature{first}")
        else:
            yield together, (f"feature{number}",)


def _paper_file(
    task: Path, wanted: _Wanted, folders: tuple[str, ...], suffixes: tuple[str, ...]
) -> Path:
    models: dict[str, Path] = {}
    for suffix in suffixes:
        name = re.compile(rf"patch_(.+)_k{wanted.k}_{suffix}\.patch")
        for folder in folders:
            for file in sorted((task / folder).glob("*.patch")):
                if found := name.fullmatch(file.name):
                    models.setdefault(found.group(1), file)
    fitting = [model for model in models if _names_same_model(model, wanted.model)]
    if not fitting:
        known = ", ".join(models) or "none"
        raise DatasetError(
            f"has no patch of model {wanted.model!r}, k{wanted.k}, {suffixes[0]};"
            f" models there: {known}",
            str(task / folders[0]),
        )
    return models[max(fitting, key=len)]


def _names_same_model(short: str, model: str) -> bool:
    """Whether a name in a file means *model*.

    The peer writes a family's word for a model (`claude`, `qwen_coder`, `gpt5`),
    others the model's own name without the characters a file cannot have.
    """
    plain = _letters(model)
    return _letters(short) == plain or all(_letters(w) in plain for w in short.split("_") if w)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


# --- today's layout --------------------------------------------------------------


def _run_files(root: Path, wanted: _Wanted, run_name: str | None) -> tuple[Path, Path]:
    found = [
        folder
        for run in ([root / run_name] if run_name else sorted(root.iterdir()))
        for folder in _pair_folders(run, wanted)
    ]
    if len(found) > 1:
        found = [folder for folder in found if _model_of(folder) == wanted.model] or found
    if len(found) > 1:
        runs = ", ".join(sorted(folder.relative_to(root).parts[0] for folder in found))
        raise DatasetError(f"several runs hold the pair: {runs}; pass run_name=...", str(root))
    if not found:
        pair = "f{}_f{}".format(*wanted.orders[0])
        place = f"{wanted.setting.value}/{wanted.repo_name}/{wanted.task_id}/{pair}"
        raise DatasetError(f"holds no patches for {place} of {wanted.model}", str(root))
    names = [f"agent{number}.patch" for number in wanted.numbers]
    if wanted.setting is Setting.SOLO:
        names = ["solo.patch", "solo.patch"]
    for name in names:
        if not (found[0] / name).is_file():
            raise DatasetError("is missing", str(found[0] / name))
    return found[0] / names[0], found[0] / names[1]


def _pair_folders(run: Path, wanted: _Wanted) -> Iterator[Path]:
    task = run / wanted.setting.value / wanted.repo_name / str(wanted.task_id)
    for i, j in dict.fromkeys(wanted.orders):
        if (task / f"f{i}_f{j}").is_dir():
            yield task / f"f{i}_f{j}"
            return


def _model_of(folder: Path) -> str | None:
    """The model that a run says it used, from the pair's or the run's record."""
    for file in (folder / "result.json", folder.parents[3] / "config.json"):
        try:
            model = json.loads(file.read_bytes()).get("model")
        except (OSError, ValueError, AttributeError):
            continue
        if isinstance(model, str):
            return model
    return None


# --- the hub ---------------------------------------------------------------------


def _from_hub(wanted: _Wanted) -> tuple[Patch, Patch]:
    try:
        from huggingface_hub import snapshot_download  # noqa: PLC0415 - optional
    except ImportError as exc:
        raise DatasetError(
            "needs huggingface-hub; install cooperbench-eval[hf]", "patch_location='hf'"
        ) from exc
    task = f"{wanted.setting.value}/{wanted.repo_name}/task{wanted.task_id}"
    try:
        root = snapshot_download(
            _HUB_DATASET, repo_type="dataset", allow_patterns=[f"{task}/*/patch_*.patch"]
        )
    # The hub's client raises its own, requests' and the operating system's errors.
    except Exception as exc:
        raise DatasetError(f"cannot be had from the hub ({exc!r})", task) from exc
    files = _paper_files(Path(root), wanted)
    if files is None:
        raise DatasetError("is not among the public results", task)
    return _read(files)
