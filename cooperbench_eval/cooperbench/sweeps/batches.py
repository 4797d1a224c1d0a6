"""What the sweeps have in common: their options."""

from concurrent.futures import Executor
from typing import Literal, TypedDict, cast

from cooperbench_eval.cooperbench.clones import Folder
from cooperbench_eval.cooperbench.tasks import SuiteOptions
from cooperbench_eval.evaluation.batch.progress import Progress
from cooperbench_eval.evaluation.batch.store import ReportStore
from cooperbench_eval.evaluation.evaluator import Evaluator
from cooperbench_eval.running import TestRunner

__all__ = ["BatchOptions", "SweepOptions", "split", "with_tests"]


class BatchOptions(TypedDict, total=False):
    """Options that are passed on to `evaluate_many`."""

    executor: Executor | None
    store: ReportStore | Folder | None
    progress: Progress | bool | None
    on_error: Literal["record", "raise"]


def with_tests() -> Evaluator:
    """Return the evaluator that a sweep uses by default."""
    return Evaluator(runner=TestRunner())


class SweepOptions(BatchOptions, SuiteOptions, total=False):
    """Options that are passed on to `evaluate_many` or to `Task.suite`."""


def split(options: SweepOptions) -> tuple[SuiteOptions, BatchOptions]:
    """Return the options of `Task.suite` and those of `evaluate_many`."""
    given = dict(options)
    suite = {name: given.pop(name) for name in SuiteOptions.__annotations__ if name in given}
    return cast("SuiteOptions", suite), cast("BatchOptions", given)
