"""Reports: the record, its JSON, its files, and sums over many."""

from cooperbench_eval.reporting.files import write_report
from cooperbench_eval.reporting.report import (
    Attempt,
    FeatureReport,
    MergeReport,
    PairStatus,
    PatchReport,
    Verdict,
)

__all__ = [
    "Attempt",
    "FeatureReport",
    "MergeReport",
    "PairStatus",
    "PatchReport",
    "Verdict",
    "write_report",
]
