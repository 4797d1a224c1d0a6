# As in `cooperbench_eval/__init__.pyi`.
from .evaluating import evaluate_many as evaluate_many
from .progress import BatchEvent as BatchEvent
from .progress import EventKind as EventKind
from .store import ReportStore as ReportStore
