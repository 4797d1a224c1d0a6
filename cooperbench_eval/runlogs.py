"""Agents' patches in CooperBench's run logs, in both layouts.

- the paper's pipeline: `<setting>/<repo>/task<id>/feature<i>_feature<j>/` with
  `patch_<model>_k<k>_feature<n>.patch`;
- today's runner: `<run>/<setting>/<repo>/<id>/f<i>_f<j>/` with `agent<n>.patch`
  or, for a solo agent, `solo.patch`.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Self

from attrs import frozen

from cooperbench_eval.errors import DatasetError, PatchError
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

    In `solo` both are the same patch. A file that holds no patch gives one that
    cannot be applied.

    Raises:
        DatasetError: No log holds them, several runs do, or a file cannot be read.
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
    first, second = map(_patch, files)
    return first, second


def _patch(file: Path) -> Patch:
    try:
        data = file.read_bytes()
    except OSError as exc:
        raise DatasetError(f"cannot be read ({exc.strerror})", str(file)) from exc
    try:
        return Patch.parse(data, origin=str(file))
    except PatchError as exc:
        return Patch.unreadable(exc)


# --- the paper's layout --------------------------------------------------------


def _paper_files(root: Path, wanted: _Wanted) -> tuple[Path, Path] | None:
    """Find the two files; `None` where the pair has no folder in this layout.

    Both are of one model's name: of the asked one, or of the only family word
    that fits it.
    """
    task = root / wanted.setting.value / wanted.repo_name / f"task{wanted.task_id}"
    found = [_paper_models(task, wanted, number) for number in wanted.numbers]
    if not any(found):
        return None
    first, second = found
    name = _one_model(first.keys() | second.keys(), wanted, task)
    for number, models in zip(wanted.numbers, found, strict=True):
        if name not in models:
            raise DatasetError(f"has no patch of {name!r} for feature {number}", str(task))
    return first[name], second[name]


def _paper_models(task: Path, wanted: _Wanted, number: int) -> dict[str, Path]:
    """Return a feature's patch by the model's name in the file."""
    folders = dict.fromkeys(f"feature{i}_feature{j}" for i, j in wanted.orders)
    suffixes = [f"feature{number}"]
    if wanted.setting is Setting.SINGLE:
        folders = dict.fromkeys([f"feature{number}", *folders])
    elif wanted.setting is Setting.SOLO:
        suffixes = [f"feature{i}_feature{j}" for i, j in wanted.orders] + suffixes
    found: dict[str, Path] = {}
    for folder in folders:
        for suffix in dict.fromkeys(suffixes):
            name = re.compile(rf"patch_(.+)_k{wanted.k}_{suffix}\.patch")
            for file in sorted((task / folder).glob("patch_*.patch")):
                if match := name.fullmatch(file.name):
                    found.setdefault(match.group(1), file)
    return found


def _one_model(names: Iterable[str], wanted: _Wanted, task: Path) -> str:
    """Choose the name in the files that means the asked model.

    The peer writes a family's word for a model (`claude`, `qwen_coder`, `gpt5`),
    others its own name without the characters that a file cannot have.

    Raises:
        DatasetError: None does, or several do equally well.
    """
    known = sorted(names)
    plain = _letters(wanted.model)
    fitting = [name for name in known if name == wanted.model]
    fitting = fitting or [name for name in known if _letters(name) == plain]
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
        f"features {wanted.numbers[0]} and {wanted.numbers[1]}; models there: {listed}",
        str(task),
    )


def _is_family(name: str, plain: str) -> bool:
    """Whether every word of *name* is in the model's name, and a version ends there.

    `gpt5` stands for `gpt-5-2025-08-07`, not for `gpt-5-mini`.
    """
    words = [_letters(word) for word in name.split("_") if _letters(word)]
    return bool(words) and all(
        re.search(word + (r"(?![a-z])" if word[-1].isdigit() else ""), plain) for word in words
    )


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


# --- today's layout --------------------------------------------------------------


def _run_files(root: Path, wanted: _Wanted, run_name: str | None) -> tuple[Path, Path]:
    folder = _run_folder(root, wanted, run_name)
    recorded = _model_of(folder)
    if recorded is not None and _letters(recorded) != _letters(wanted.model):
        raise DatasetError(f"is a run of model {recorded!r}, not {wanted.model!r}", str(folder))
    if wanted.k != 1:
        raise DatasetError(f"this layout has no k; k={wanted.k} was asked for", str(folder))
    names = [f"agent{number}.patch" for number in wanted.numbers]
    if wanted.setting is Setting.SOLO:
        names = ["solo.patch", "solo.patch"]
    for name in names:
        if not (folder / name).is_file():
            raise DatasetError("is missing", str(folder / name))
    return folder / names[0], folder / names[1]


def _run_folder(root: Path, wanted: _Wanted, run_name: str | None) -> Path:
    """Find the pair's folder: of the run that was named, or of the only one that fits."""
    runs = [root / run_name] if run_name else sorted(root.iterdir())
    found = [folder for run in runs for folder in _pair_folders(run, wanted)]
    if len(found) > 1:
        plain = _letters(wanted.model)
        found = [each for each in found if _letters(_model_of(each) or "") == plain] or found
    if len(found) > 1:
        listed = ", ".join(sorted(folder.relative_to(root).parts[0] for folder in found))
        raise DatasetError(f"several runs hold the pair: {listed}; pass run_name=...", str(root))
    if not found:
        first, second = wanted.numbers
        problem = (
            f"holds no patches of model {wanted.model!r}, k{wanted.k}, features {first} and "
            f"{second} of {wanted.setting.value}/{wanted.repo_name}, task {wanted.task_id}"
        )
        raise DatasetError(problem, str(root))
    return found[0]


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
