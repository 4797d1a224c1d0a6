"""The files of a pair's folder, read one by one."""

import json
from pathlib import Path

from cooperbench_eval.errors import DatasetError, PatchError
from cooperbench_eval.patching import Patch

__all__ = ["model_of", "read_patch", "recorded"]


def read_patch(file: Path) -> Patch:
    """Read a patch; a file that holds none gives one that cannot be applied.

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
    """The model that a run says it used, from the pair's or the run's record."""
    model = recorded(folder / "result.json", "model")
    return recorded(run / "config.json", "model") if model is None else model


def recorded(file: Path, key: str) -> str | None:
    """The text that a JSON record has under *key*; a broken record has none."""
    try:
        value = json.loads(file.read_bytes()).get(key)
    # Brackets nested without end exhaust the reader.
    except (OSError, ValueError, AttributeError, RecursionError):
        return None
    return value if isinstance(value, str) else None
