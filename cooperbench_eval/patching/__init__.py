"""Patches: reading them, sorting their paths, and placing them on a tree."""

from cooperbench_eval.patching.apply import (
    ApplyResult,
    HunkPlacement,
    PatchStatus,
    Rung,
    apply_patch,
)
from cooperbench_eval.patching.parse import FileChange, FilePatch, Hunk, Patch

__all__ = [
    "ApplyResult",
    "FileChange",
    "FilePatch",
    "Hunk",
    "HunkPlacement",
    "Patch",
    "PatchStatus",
    "Rung",
    "apply_patch",
]
