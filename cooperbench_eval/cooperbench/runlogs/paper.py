"""The layout of the paper's pipeline, in local logs and on the Hugging Face hub."""

import re
from collections.abc import Iterable
from pathlib import Path

from cooperbench_eval.cooperbench.runlogs.wanted import Wanted, letters
from cooperbench_eval.errors import DatasetError
from cooperbench_eval.reporting.settings import Setting

__all__ = ["hub_files", "paper_files"]

_HUB_DATASET = "CodeConflict/experiments"


def hub_files(wanted: Wanted) -> tuple[Path, Path]:
    """Download a task's patches from the benchmark's public results and find the pair's files.

    Raises:
        DatasetError: The client is not installed, the download fails, or the results
            do not have the pair.
    """
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
    files = paper_files(Path(root), wanted)
    if files is None:
        raise DatasetError("is not among the public results", task)
    return files


def paper_files(root: Path, wanted: Wanted) -> tuple[Path, Path] | None:
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


def _files_by_model(task: Path, wanted: Wanted, number: int) -> dict[str, Path]:
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


def _one_model(names: Iterable[str], wanted: Wanted, task: Path) -> str:
    """Choose the name in the files that means the wanted model.

    CooperBench's own files have the name of a model family (`claude`, `qwen_coder`,
    `gpt5`). Other files have the model's name without the characters that a file name
    cannot contain.

    Raises:
        DatasetError: No name fits, or several fit equally well.
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
