"""The patches of one pair, wherever they are."""

import os
from pathlib import Path

from cooperbench_eval.errors import DatasetError
from cooperbench_eval.patching import Patch
from cooperbench_eval.runlogs.choices import PatchLocation, Setting
from cooperbench_eval.runlogs.hub import hub_files
from cooperbench_eval.runlogs.paper import paper_files
from cooperbench_eval.runlogs.reading import read_patch
from cooperbench_eval.runlogs.runs import run_files
from cooperbench_eval.runlogs.wanted import Wanted

__all__ = ["find_patches"]


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
    wanted = Wanted(
        setting=setting,
        repo_name=repo_name,
        task_id=task_id,
        numbers=numbers,
        model=model,
        k=k,
    )
    if location is PatchLocation.HF:
        return _read(hub_files(wanted))
    root = Path(logs_dir) if logs_dir is not None else _default_folder(location)
    if not root.is_dir():
        raise DatasetError("is no directory; pass logs_dir=...", str(root))
    if run_name is None and (files := paper_files(root, wanted)):
        return _read(files)
    return _read(run_files(root, wanted, run_name))


def _default_folder(location: PatchLocation) -> Path:
    return Path("logs") if location is PatchLocation.LOGS else Path.home() / ".cooperbench_cache"


def _read(files: tuple[Path, Path]) -> tuple[Patch, Patch]:
    first, second = map(read_patch, files)
    return first, second
