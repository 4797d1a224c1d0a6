"""What the sweeps have in common: their options, and an iterator that knows its length."""

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Generic, Literal, TypedDict, TypeVar

from attrs import frozen

from cooperbench_eval.batch.progress import Progress
from cooperbench_eval.batch.store import ReportStore
from cooperbench_eval.evaluator import Evaluator
from cooperbench_eval.running import TestRunner

__all__ = ["BatchOptions", "Counted", "Folder", "with_tests"]

Folder = str | os.PathLike[str]

_Item = TypeVar("_Item")


class BatchOptions(TypedDict, total=False):
    """Options that are passed on to `evaluate_many`."""

    executor: Executor | None
    store: ReportStore | Folder | None
    progress: Progress | bool | None
    on_error: Literal["record", "raise"]


def with_tests() -> Evaluator:
    """Return the evaluator that a sweep uses by default."""
    return Evaluator(runner=TestRunner())


@frozen
class Counted(Generic[_Item]):
    """An iterator that knows its length, for a progress bar."""

    items: Iterator[_Item]
    count: int

    def __iter__(self) -> Iterator[_Item]:
        return self.items

    def __len__(self) -> int:
        return self.count
