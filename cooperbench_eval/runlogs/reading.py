"""Reads the files in the folder of a pair or team."""

import json
from collections.abc import Iterable
from pathlib import Path

from cooperbench_eval.errors import DatasetError, PatchError
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.runlogs.choices import Setting

__all__ = ["model_of", "patch_files", "read_patch", "recorded"]


def patch_files(folder: Path, setting: Setting, numbers: Iterable[int]) -> tuple[Path, ...]:
    """Return where today's runner writes the patch of each feature."""
    is_solo = setting is Setting.SOLO
    return tuple(
        folder / ("solo.patch" if is_solo else f"agent{number}.patch") for number in numbers
    )


def read_patch(file: Path) -> Patch:
    """Read a patch; a file that cannot be parsed gives a patch that fails to apply.

    Raises:
        DatasetError: The file cannot be read.
    """
    try:
        data = file.read_bytes()
    except OSError as exc:
        raise DatasetError(f"cannot be read ({exc.strerror})", str(file)) from exc
    try:
        return Patch.parse(data, origin=str(file))
    except PatchError as exc:
        return Patch.unreadable(exc)


def model_of(folder: Path, run: Path) -> str | None:
    """Return the model that the record of the agents or of the run names."""
    model = recorded(folder / "result.json", "model")
    return recorded(run / "config.json", "model") if model is None else model


def recorded(file: Path, key: str) -> str | None:
    """Return the string under *key* in a JSON file; `None` if the file is broken."""
    try:
        value = json.loads(file.read_bytes()).get(key)
    # Deeply nested brackets exceed the parser's recursion limit.
    except (OSError, ValueError, AttributeError, RecursionError):
        return None
    return value if isinstance(value, str) else None
