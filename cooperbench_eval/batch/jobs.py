"""A pair on its way to a worker, and what a worker does with it.

What travels is small: a base of a repository is its path and commit, a patch its
text, the evaluator its strategies and options. Sandboxes and clients are made where
they are used. A worker keeps what the pairs of a task share.
"""

import pickle
import signal
import threading
from functools import lru_cache
from typing import Any, Final

import attrs
from attrs import frozen

from cooperbench_eval.apart.pickling import PICKLING_FAILS, Pickler, dumps, plain_dumps
from cooperbench_eval.apart.stopping import Stopped
from cooperbench_eval.batch.packing import Packed, pack
from cooperbench_eval.batch.workers import has_importable_main
from cooperbench_eval.errors import (
    BatchError,
    DatasetError,
    PatchError,
    RepositoryError,
    TestRunError,
)
from cooperbench_eval.evaluator import Evaluator, FeaturePair
from cooperbench_eval.memo import Memo
from cooperbench_eval.reporting import Failure, FailureKind, MergeReport

__all__ = [
    "Job",
    "JobMaker",
    "UndeliverableError",
    "attempt",
    "failure_of",
    "pair_name",
    "run_job",
]

_KEPT: Final = 64


class UndeliverableError(BatchError):
    """One pair cannot be pickled; others may well be."""


@frozen
class Job:
    """A pair and its evaluator, pickled in parts.

    Attributes:
        evaluator: The evaluator.
        shared: The base and the two features, which other pairs may have as well.
        rest: The pair's other fields.
    """

    evaluator: bytes
    shared: tuple[bytes, bytes, bytes]
    rest: bytes


class JobMaker:
    """Packs pairs that one evaluator is to evaluate."""

    def __init__(self, evaluator: Evaluator, *, own_processes: bool) -> None:
        """Pickle *evaluator* once for all pairs.

        Args:
            evaluator: The evaluator.
            own_processes: Whether the workers import the caller's main module.

        Raises:
            BatchError: Something in it cannot be pickled; says which strategy it is.
        """
        self._dumps = _pickler(own_processes=own_processes)
        try:
            self._evaluator = self._dumps(evaluator)
        except PICKLING_FAILS as exc:
            culprit = _culprit(evaluator, self._dumps)
            raise BatchError(f"cannot be sent to another process ({exc})", culprit) from exc
        # The pairs of a task share their base and their features.
        self._pickled: Memo[int, tuple[object, bytes]] = Memo(_KEPT)

    def job(self, pair: FeaturePair) -> Job:
        """Pack *pair*.

        Raises:
            UndeliverableError: It cannot be pickled.
        """
        rest = {
            each.name: getattr(pair, each.name)
            for each in attrs.fields(FeaturePair)
            if each.name not in _SHARED
        }
        try:
            base, first, second = (self._once(getattr(pair, name)) for name in _SHARED)
            return Job(self._evaluator, (base, first, second), self._dumps(rest))
        except PICKLING_FAILS as exc:
            raise UndeliverableError(f"cannot be pickled ({exc!r})", pair_name(pair)) from exc

    def _once(self, thing: object) -> bytes:
        """Pickle *thing* if it was not before; it is kept, so its id stays its own."""
        return self._pickled.recall(id(thing), lambda: (thing, self._dumps(thing)))[1]


def run_job(job: Job, call: str = "") -> Packed | Failure:
    """Evaluate the pair of *job*; whatever it raises is in the answer.

    An exception that crossed the boundary could break the whole pool.

    Args:
        job: The job.
        call: Tells this call from others with the same job.
    """
    del call
    try:
        evaluator = _evaluator(job.evaluator)
        shared = dict(zip(_SHARED, map(_shared, job.shared), strict=True))
        pair = FeaturePair(**shared, **pickle.loads(job.rest))  # noqa: S301 - packed by `JobMaker`
    except RepositoryError as exc:
        return failure_of(exc)
    # Whatever a plug-in's class does when it is rebuilt.
    except Exception as exc:  # noqa: BLE001
        problem = f"cannot be rebuilt in the worker ({exc!r})"
        return Failure(kind=FailureKind.NOT_DELIVERED, problem=problem, error=_class_of(exc))
    answer = attempt(evaluator, pair)
    if isinstance(answer, Failure):
        return answer
    try:
        return pack(answer)
    except Exception as exc:  # noqa: BLE001 - as above
        return failure_of(exc)


def attempt(evaluator: Evaluator, pair: FeaturePair) -> MergeReport | Failure:
    """Evaluate *pair*; whatever that raises becomes a failure."""
    try:
        return evaluator.evaluate(pair)
    except Stopped:
        raise
    # One pair's failure never stops the others, not even where a plug-in exits or cancels.
    except BaseException as exc:
        if isinstance(exc, KeyboardInterrupt) and _may_be_interrupted():
            raise
        return failure_of(exc)


def _may_be_interrupted() -> bool:
    """Whether an interrupt can come from the terminal here, and not from a plug-in alone."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def failure_of(exc: BaseException) -> Failure:
    """Make a record of an exception."""
    kinds = {
        RepositoryError: FailureKind.REPOSITORY,
        DatasetError: FailureKind.DATASET,
        PatchError: FailureKind.DATASET,
        TestRunError: FailureKind.TEST_RUN,
    }
    kind = next((k for c, k in kinds.items() if isinstance(exc, c)), FailureKind.ERROR)
    problem = repr(exc) if kind is FailureKind.ERROR else str(exc)
    return Failure(kind=kind, problem=problem, error=_class_of(exc))


def _pickler(*, own_processes: bool) -> Pickler:
    """Return what pickles for workers.

    A worker that is not started by multiprocessing, and any worker of a notebook,
    does not have the caller's `__main__`. What is defined there travels whole.
    """
    return plain_dumps if own_processes and has_importable_main() else dumps


def pair_name(pair: FeaturePair | MergeReport) -> str:
    """Name a pair for a person."""
    return (
        f"{pair.repo_name}, task {pair.task_id}, "
        f"features {pair.feature1.number} and {pair.feature2.number}"
    )


def _culprit(evaluator: Evaluator, dumps: Pickler) -> str:
    for strategy in evaluator.strategies:
        try:
            dumps(strategy)
        except PICKLING_FAILS:
            return f"strategy {strategy.name!r}"
    return "the evaluator"


def _class_of(exc: BaseException) -> str:
    return f"{type(exc).__module__}:{type(exc).__qualname__}"


@lru_cache(maxsize=4)
def _evaluator(data: bytes) -> Evaluator:
    evaluator = pickle.loads(data)  # noqa: S301 - packed by `JobMaker`
    assert isinstance(evaluator, Evaluator)  # noqa: S101 - for mypy
    return evaluator


@lru_cache(maxsize=64)
def _shared(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301 - packed by `JobMaker`


_SHARED = ("base", "feature1", "feature2")
