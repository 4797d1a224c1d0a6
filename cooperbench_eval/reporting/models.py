"""The records that several results share: `ce.models`."""

from cooperbench_eval.git.merging.conflicts import (
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
)
from cooperbench_eval.git.patching.patch_parts import HunkPlacement, PatchStatus, Rung
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.worktrees.records import RefKind
from cooperbench_eval.languages.hazards.kinds import Hazard, HazardKind
from cooperbench_eval.reporting.agent_costs import AgentRun, AgentUsage
from cooperbench_eval.reporting.rows import FailureTrace, TracedFunction, TraceKind
from cooperbench_eval.running.results import (
    Judgement,
    JudgeRule,
    RepeatPolicy,
    TestCase,
    TestCaseStatus,
    TestResult,
    TestStatus,
)

__all__ = [
    "AgentRun",
    "AgentUsage",
    "Conflict",
    "ConflictBlock",
    "ConflictDetails",
    "ConflictKind",
    "Entry",
    "FailureTrace",
    "FileConflicts",
    "FileMode",
    "Hazard",
    "HazardKind",
    "HunkPlacement",
    "JudgeRule",
    "Judgement",
    "LedgerRow",
    "MergeStatus",
    "ModelUsage",
    "PatchStatus",
    "RefKind",
    "RepeatPolicy",
    "Replacement",
    "ResolutionKind",
    "Rung",
    "Severity",
    "TestCase",
    "TestCaseStatus",
    "TestResult",
    "TestStatus",
    "TraceKind",
    "TracedFunction",
]
