"""Frozen records, in the order in which a value passes through the pipeline.

They do no I/O, and their only logic is to derive facts. Contents are bytes. Paths are
`str` with `/`; bytes that cannot be decoded are kept as surrogate escapes.
"""

from cooperbench_eval.models.agents import AGENT_USAGE as AGENT_USAGE
from cooperbench_eval.models.agents import MOST_USAGE as MOST_USAGE
from cooperbench_eval.models.agents import AgentRun as AgentRun
from cooperbench_eval.models.agents import AgentUsage as AgentUsage
from cooperbench_eval.models.agents import total_agents as total_agents
from cooperbench_eval.models.hazards import Hazard as Hazard
from cooperbench_eval.models.hazards import HazardKind as HazardKind
from cooperbench_eval.models.judgements import BAD as BAD
from cooperbench_eval.models.judgements import Judgement as Judgement
from cooperbench_eval.models.judgements import JudgeName as JudgeName
from cooperbench_eval.models.judgements import JudgeRule as JudgeRule
from cooperbench_eval.models.judgements import outcome_of as outcome_of
from cooperbench_eval.models.merges import USAGE as USAGE
from cooperbench_eval.models.merges import Conflict as Conflict
from cooperbench_eval.models.merges import ConflictBlock as ConflictBlock
from cooperbench_eval.models.merges import ConflictDetails as ConflictDetails
from cooperbench_eval.models.merges import ConflictKind as ConflictKind
from cooperbench_eval.models.merges import FileConflicts as FileConflicts
from cooperbench_eval.models.merges import LedgerRow as LedgerRow
from cooperbench_eval.models.merges import MergeStatus as MergeStatus
from cooperbench_eval.models.merges import ModelUsage as ModelUsage
from cooperbench_eval.models.merges import Replacement as Replacement
from cooperbench_eval.models.merges import ResolutionKind as ResolutionKind
from cooperbench_eval.models.merges import Severity as Severity
from cooperbench_eval.models.merges import UsageTotals as UsageTotals
from cooperbench_eval.models.merges import total_usage as total_usage
from cooperbench_eval.models.pairs import PairId as PairId
from cooperbench_eval.models.pairs import PairKey as PairKey
from cooperbench_eval.models.pairs import PairOrigin as PairOrigin
from cooperbench_eval.models.pairs import beginning_with as beginning_with
from cooperbench_eval.models.pairs import inherited_after as inherited_after
from cooperbench_eval.models.pairs import name_features as name_features
from cooperbench_eval.models.patches import HunkPlacement as HunkPlacement
from cooperbench_eval.models.patches import PatchStatus as PatchStatus
from cooperbench_eval.models.patches import Rung as Rung
from cooperbench_eval.models.refs import RefKind as RefKind
from cooperbench_eval.models.runs import COUNTS as COUNTS
from cooperbench_eval.models.runs import CaseCounts as CaseCounts
from cooperbench_eval.models.runs import Ended as Ended
from cooperbench_eval.models.runs import RepeatPolicy as RepeatPolicy
from cooperbench_eval.models.runs import TestCase as TestCase
from cooperbench_eval.models.runs import TestCaseStatus as TestCaseStatus
from cooperbench_eval.models.runs import TestResult as TestResult
from cooperbench_eval.models.runs import TestStatus as TestStatus
from cooperbench_eval.models.runs import count_cases as count_cases
from cooperbench_eval.models.runs import lost_cases as lost_cases
from cooperbench_eval.models.runs import name_counts as name_counts
from cooperbench_eval.models.traces import FailureTrace as FailureTrace
from cooperbench_eval.models.traces import TracedFunction as TracedFunction
from cooperbench_eval.models.traces import TraceKind as TraceKind
from cooperbench_eval.models.trees import Entry as Entry
from cooperbench_eval.models.trees import FileMode as FileMode

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


def __dir__() -> list[str]:
    """Return the public names; other modules of the library also import internal ones."""
    return __all__
