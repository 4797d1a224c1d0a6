"""Patches: reading them, sorting their paths, and placing them on a tree."""

from cooperbench_eval.patching.apply import ApplyResult, apply_patch
from cooperbench_eval.patching.parse import FileChange, FilePatch, Hunk, Patch
from cooperbench_eval.patching.paths import PathKind, TestFileFilter, classify_path

__all__ = [
    "ApplyResult",
    "FileChange",
    "FilePatch",
    "Hunk",
    "Patch",
    "PathKind",
    "TestFileFilter",
    "apply_patch",
    "classify_path",
]
