"""Merge what two coding agents wrote, run both features' tests, and say how it went.

The evaluation phase of the CooperBench benchmark (arXiv 2601.13295) as a
library: a base commit and two patches go in, a typed `MergeReport` comes out.

Each name is imported from its room when it is first used, so that importing the
library costs next to nothing, and a script waits only for what it needs.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cooperbench_eval.dataset import Dataset, PatchLocation, Setting, Task, evaluate
    from cooperbench_eval.errors import (
        CooperBenchEvalError,
        DatasetError,
        DuplicateStrategyError,
        PatchError,
        ReportError,
        RepositoryError,
        SandboxError,
        StrategyError,
        StrategyFailedError,
        StrategyLoadError,
        TestRunError,
        UnknownStrategyError,
    )
    from cooperbench_eval.evaluator import Evaluator, Feature, FeaturePair
    from cooperbench_eval.llm.cassette import Replay
    from cooperbench_eval.llm.chat import ChatClient, ChatError, ChatFault, ChatReply, ChatRequest
    from cooperbench_eval.llm.prompts import Prompts
    from cooperbench_eval.merging.tree import Gone, Labels, ThreeWayMerge
    from cooperbench_eval.models import (
        Conflict,
        ConflictBlock,
        ConflictDetails,
        ConflictKind,
        Entry,
        FileConflicts,
        FileMode,
        HunkPlacement,
        LedgerRow,
        MergeStatus,
        ModelUsage,
        PatchStatus,
        RepeatPolicy,
        Rung,
        Severity,
        TestCase,
        TestCaseStatus,
        TestResult,
        TestStatus,
    )
    from cooperbench_eval.patching import (
        ApplyPolicy,
        ApplyResult,
        FileChange,
        FilePatch,
        Hunk,
        Patch,
        TestFileFilter,
        apply_patch,
    )
    from cooperbench_eval.reporting import (
        Attempt,
        Blame,
        BlameKind,
        FeatureReport,
        MergeReport,
        PairStatus,
        PatchReport,
        Verdict,
        write_report,
    )
    from cooperbench_eval.running import (
        ControlFiles,
        Delivery,
        Execution,
        LocalSandbox,
        ResultCache,
        Sandbox,
        TestRunner,
        TestSuite,
    )
    from cooperbench_eval.scoring import ConflictScorer
    from cooperbench_eval.snapshot import Changes, Snapshot
    from cooperbench_eval.strategies import (
        FeatureContext,
        MergeInput,
        MergeOutcome,
        MergeStrategy,
        Resolution,
        available_strategies,
        get_strategy,
        merge,
        resolve_blocks,
        resolve_conflicts,
    )
    from cooperbench_eval.strategies.cascade import cascade
    from cooperbench_eval.strategies.llm import LLMStrategy

__all__ = [
    "ApplyPolicy",
    "ApplyResult",
    "Attempt",
    "Blame",
    "BlameKind",
    "Changes",
    "ChatClient",
    "ChatError",
    "ChatFault",
    "ChatReply",
    "ChatRequest",
    "Conflict",
    "ConflictBlock",
    "ConflictDetails",
    "ConflictKind",
    "ConflictScorer",
    "ControlFiles",
    "CooperBenchEvalError",
    "Dataset",
    "DatasetError",
    "Delivery",
    "DuplicateStrategyError",
    "Entry",
    "Evaluator",
    "Execution",
    "Feature",
    "FeatureContext",
    "FeaturePair",
    "FeatureReport",
    "FileChange",
    "FileConflicts",
    "FileMode",
    "FilePatch",
    "Gone",
    "Hunk",
    "HunkPlacement",
    "LLMStrategy",
    "Labels",
    "LedgerRow",
    "LocalSandbox",
    "MergeInput",
    "MergeOutcome",
    "MergeReport",
    "MergeStatus",
    "MergeStrategy",
    "ModelUsage",
    "PairStatus",
    "Patch",
    "PatchError",
    "PatchLocation",
    "PatchReport",
    "PatchStatus",
    "Prompts",
    "RepeatPolicy",
    "Replay",
    "ReportError",
    "RepositoryError",
    "Resolution",
    "ResultCache",
    "Rung",
    "Sandbox",
    "SandboxError",
    "Setting",
    "Severity",
    "Snapshot",
    "StrategyError",
    "StrategyFailedError",
    "StrategyLoadError",
    "Task",
    "TestCase",
    "TestCaseStatus",
    "TestFileFilter",
    "TestResult",
    "TestRunError",
    "TestRunner",
    "TestStatus",
    "TestSuite",
    "ThreeWayMerge",
    "UnknownStrategyError",
    "Verdict",
    "apply_patch",
    "available_strategies",
    "cascade",
    "evaluate",
    "get_strategy",
    "merge",
    "resolve_blocks",
    "resolve_conflicts",
    "write_report",
]

_ROOMS = {
    "cooperbench_eval.dataset": ("Dataset", "PatchLocation", "Setting", "Task", "evaluate"),
    "cooperbench_eval.errors": (
        "CooperBenchEvalError",
        "DatasetError",
        "DuplicateStrategyError",
        "PatchError",
        "ReportError",
        "RepositoryError",
        "SandboxError",
        "StrategyError",
        "StrategyFailedError",
        "StrategyLoadError",
        "TestRunError",
        "UnknownStrategyError",
    ),
    "cooperbench_eval.evaluator": ("Evaluator", "Feature", "FeaturePair"),
    "cooperbench_eval.llm.cassette": ("Replay",),
    "cooperbench_eval.llm.chat": (
        "ChatClient",
        "ChatError",
        "ChatFault",
        "ChatReply",
        "ChatRequest",
    ),
    "cooperbench_eval.llm.prompts": ("Prompts",),
    "cooperbench_eval.merging.tree": ("Gone", "Labels", "ThreeWayMerge"),
    "cooperbench_eval.models": (
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
    ),
    "cooperbench_eval.patching": (
        "ApplyPolicy",
        "ApplyResult",
        "FileChange",
        "FilePatch",
        "Hunk",
        "Patch",
        "TestFileFilter",
        "apply_patch",
    ),
    "cooperbench_eval.reporting": (
        "Attempt",
        "Blame",
        "BlameKind",
        "FeatureReport",
        "MergeReport",
        "PairStatus",
        "PatchReport",
        "Verdict",
        "write_report",
    ),
    "cooperbench_eval.running": (
        "ControlFiles",
        "Delivery",
        "Execution",
        "LocalSandbox",
        "ResultCache",
        "Sandbox",
        "TestRunner",
        "TestSuite",
    ),
    "cooperbench_eval.scoring": ("ConflictScorer",),
    "cooperbench_eval.snapshot": ("Changes", "Snapshot"),
    "cooperbench_eval.strategies": (
        "FeatureContext",
        "MergeInput",
        "MergeOutcome",
        "MergeStrategy",
        "Resolution",
        "available_strategies",
        "get_strategy",
        "merge",
        "resolve_blocks",
        "resolve_conflicts",
    ),
    "cooperbench_eval.strategies.cascade": ("cascade",),
    "cooperbench_eval.strategies.llm": ("LLMStrategy",),
}
_HOMES = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
