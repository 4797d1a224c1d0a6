"""The report of one pair: its record, its JSON and its files."""

from cooperbench_eval.reporting.blame import Blame, BlameKind
from cooperbench_eval.reporting.failure import Failure, FailureKind
from cooperbench_eval.reporting.files import write_report
from cooperbench_eval.reporting.report import MergeReport, PairStatus
from cooperbench_eval.reporting.rows import Attempt, FeatureReport, PatchReport, Verdict

__all__ = [
    "Attempt",
    "Blame",
    "BlameKind",
    "Failure",
    "FailureKind",
    "FeatureReport",
    "MergeReport",
    "PairStatus",
    "PatchReport",
    "Verdict",
    "write_report",
]
