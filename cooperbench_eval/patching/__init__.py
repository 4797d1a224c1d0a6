"""Patches: reading them, sorting their paths, and placing them on a tree."""

from cooperbench_eval.patching.apply import ApplyResult, apply_patch
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.patching.paths import PathKind, TestFileFilter, classify_path
from cooperbench_eval.patching.policy import ApplyPolicy
from cooperbench_eval.patching.records import FileChange, FilePatch, Hunk

__all__ = [
    "ApplyPolicy",
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
