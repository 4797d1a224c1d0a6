"""Many pairs: where they are evaluated, and where their reports are kept."""

from cooperbench_eval.batch.jobs import failure_of
from cooperbench_eval.batch.many import evaluate_many
from cooperbench_eval.batch.progress import BatchEvent, EventKind
from cooperbench_eval.batch.store import ReportStore

__all__ = ["BatchEvent", "EventKind", "ReportStore", "evaluate_many", "failure_of"]
