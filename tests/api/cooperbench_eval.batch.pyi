"""The public names of `cooperbench_eval.batch`; `python docs/tools/public_api.py` writes this."""

class BatchEvent:
    def __init__(
        self,
        *,
        kind: EventKind,
        pair: str = '',
        report: GroupReport | None = None,
        problem: str = '',
    ) -> None: ...
    kind: EventKind
    pair: str
    problem: str
    report: GroupReport | None

class EventKind(StrEnum):
    FAILED = 'failed'
    FINISHED = 'finished'
    RETRIED = 'retried'
    STORED = 'stored'
    SUBMITTED = 'submitted'
    WAITING = 'waiting'

from cooperbench_eval import ReportStore as ReportStore

from cooperbench_eval import evaluate_many as evaluate_many
