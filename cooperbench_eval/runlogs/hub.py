"""The benchmark's public results on the Hugging Face hub."""

from pathlib import Path

from cooperbench_eval.errors import DatasetError
from cooperbench_eval.runlogs.paper import paper_files
from cooperbench_eval.runlogs.wanted import Wanted

__all__ = ["hub_files"]

_DATASET = "CodeConflict/experiments"


def hub_files(wanted: Wanted) -> tuple[Path, Path]:
    """Download a task's patches and find the pair's among them.

    Raises:
        DatasetError: The client is not installed, the hub fails, or has none.
    """
    try:
        from huggingface_hub import snapshot_download  # noqa: PLC0415 - optional
    except ImportError as exc:
        raise DatasetError(
            "needs huggingface-hub; install cooperbench-eval[hf]", "patch_location='hf'"
        ) from exc
    task = f"{wanted.setting.value}/{wanted.repo_name}/task{wanted.task_id}"
    try:
        root = snapshot_download(
            _DATASET, repo_type="dataset", allow_patterns=[f"{task}/*/patch_*.patch"]
        )
    # The hub's client raises its own, requests' and the operating system's errors.
    except Exception as exc:
        raise DatasetError(f"cannot be had from the hub ({exc!r})", task) from exc
    files = paper_files(Path(root), wanted)
    if files is None:
        raise DatasetError("is not among the public results", task)
    return files
