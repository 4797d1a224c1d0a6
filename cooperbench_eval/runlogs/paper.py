"""The layout of the paper's pipeline."""

import re
from collections.abc import Iterable
from pathlib import Path

from cooperbench_eval.errors import DatasetError
from cooperbench_eval.runlogs.choices import Setting
from cooperbench_eval.runlogs.wanted import Wanted, letters

__all__ = ["paper_files"]


def paper_files(root: Path, wanted: Wanted) -> tuple[Path, Path] | None:
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


def _paper_models(task: Path, wanted: Wanted, number: int) -> dict[str, Path]:
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


def _one_model(names: Iterable[str], wanted: Wanted, task: Path) -> str:
    """Choose the name in the files that means the asked model.

    The peer writes a family's word for a model (`claude`, `qwen_coder`, `gpt5`),
    others its own name without the characters that a file cannot have.

    Raises:
        DatasetError: None does, or several do equally well.
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
        f"features {wanted.numbers[0]} and {wanted.numbers[1]}; models there: {listed}",
        str(task),
    )


def _is_family(name: str, plain: str) -> bool:
    """Whether every word of *name* is in the model's name, and a version ends there.

    `gpt5` stands for `gpt-5-2025-08-07`, not for `gpt-5-mini`.
    """
    words = [letters(word) for word in name.split("_") if letters(word)]
    return bool(words) and all(
        re.search(word + (r"(?![a-z])" if word[-1].isdigit() else ""), plain) for word in words
    )
