"""Frozen records, in the order in which a value passes through the pipeline.

No I/O and no logic beyond derived facts. Contents are bytes; paths are `str`
with `/`, undecodable bytes kept as surrogate escapes.
"""

from cooperbench_eval.models.merges import (
    Conflict,
    ConflictBlock,
    ConflictDetails,
    ConflictKind,
    FileConflicts,
    LedgerRow,
    MergeStatus,
    ModelUsage,
    Severity,
)
from cooperbench_eval.models.patches import HunkPlacement, PatchStatus, Rung
from cooperbench_eval.models.runs import (
    RepeatPolicy,
    TestCase,
    TestCaseStatus,
    TestResult,
    TestStatus,
)
from cooperbench_eval.models.trees import Entry, FileMode

__all__ = [
    "Conflict",
    "ConflictBlock",
    "ConflictDetails",
    "ConflictKind",
    "Entry",
    "FileConflicts",
    "FileMode",
    "HunkPlacement",
    "LedgerRow",
    "MergeStatus",
    "ModelUsage",
    "PatchStatus",
    "RepeatPolicy",
    "Rung",
    "Severity",
    "TestCase",
    "TestCaseStatus",
    "TestResult",
    "TestStatus",
]
