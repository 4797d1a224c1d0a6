"""Frozen records, in the order in which a value passes through the pipeline.

No I/O and no logic beyond derived facts. Contents are bytes; paths are `str`
with `/`, undecodable bytes kept as surrogate escapes.
"""

from cooperbench_eval.models.merges import (
    USAGE,
    Conflict,
    ConflictBlock,
    ConflictDetails,
    ConflictKind,
    FileConflicts,
    LedgerRow,
    MergeStatus,
    ModelUsage,
    Replacement,
    ResolutionKind,
    Severity,
    UsageTotals,
    total_usage,
)
from cooperbench_eval.models.pairs import PairId, PairKey
from cooperbench_eval.models.patches import HunkPlacement, PatchStatus, Rung
from cooperbench_eval.models.runs import (
    COUNTS,
    CaseCounts,
    Ended,
    RepeatPolicy,
    TestCase,
    TestCaseStatus,
    TestResult,
    TestStatus,
    count_cases,
)
from cooperbench_eval.models.trees import Entry, FileMode

__all__ = [
    "COUNTS",
    "USAGE",
    "CaseCounts",
    "Conflict",
    "ConflictBlock",
    "ConflictDetails",
    "ConflictKind",
    "Ended",
    "Entry",
    "FileConflicts",
    "FileMode",
    "HunkPlacement",
    "LedgerRow",
    "MergeStatus",
    "ModelUsage",
    "PairId",
    "PairKey",
    "PatchStatus",
    "RepeatPolicy",
    "Replacement",
    "ResolutionKind",
    "Rung",
    "Severity",
    "TestCase",
    "TestCaseStatus",
    "TestResult",
    "TestStatus",
    "UsageTotals",
    "count_cases",
    "total_usage",
]
