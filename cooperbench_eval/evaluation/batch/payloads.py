"""What is sent to a worker for one pair or team, and the work that the worker does with it.

A payload is small: the base of a repository is a path and a commit, a patch is its text,
and the evaluator is its strategies and options. Sandboxes and clients are created where
they are used. A worker keeps the parts that the pairs of a task share. The workers of our own
pool get each of these parts once; other workers get them with every payload.
"""

import hashlib
import pickle
import signal
import threading
from functools import lru_cache
from typing import Any, Final

import attrs
from attrs import frozen

from cooperbench_eval.errors import (
    BatchError,
    DatasetError,
    PatchError,
    ReportError,
    RepositoryError,
    TestRunError,
)
from cooperbench_eval.evaluation.batch.packing import Packed, pack
from cooperbench_eval.evaluation.batch.store import ReportStore
from cooperbench_eval.evaluation.batch.workers import has_importable_main, received_parts
from cooperbench_eval.evaluation.evaluator import Evaluator
from cooperbench_eval.evaluation.pairs import FeatureGroup, FeaturePair, FeatureTeam
from cooperbench_eval.reporting import Failure, FailureKind
from cooperbench_eval.reporting.identity import name_features
from cooperbench_eval.reporting.teams import GroupReport
from cooperbench_eval.running import TestRunner
from cooperbench_eval.running.cache import share_with_copies
from cooperbench_eval.running.processes.worker import (
    PICKLING_FAILS,
    Pickler,
    Stopped,
    dumps,
    plain_dumps,
)
from cooperbench_eval.support.error_texts import describe_error
from cooperbench_eval.support.memo import IdentityMemo

_KEPT: Final = 64
_Part = tuple[str, bytes]
"""A pickle with its digest before it."""
_SHARED: Final = {"base", "feature1", "feature2", "features"}


class UndeliverableError(BatchError):
    """One pair cannot be pickled; other pairs are not affected."""


@frozen
class Payload:
    """A pair or team and its evaluator, pickled in parts.

    The evaluator, the base and the features are *shared* by the pairs and teams of a task. Each
    is a pickle, or the digest of one that the worker has received.
    """

    shared: tuple[bytes | str, ...]
    rest: bytes


@frozen
class Finished:
    """A report from a worker of this machine, which has stored it if there is a store.

    Like a report that was read from a file, it holds only values of this library's classes. The
    problem says why it could not be stored.
    """

    report: GroupReport
    problem: ReportError | None = None


class PayloadMaker:
    """Pickles pairs and teams for one evaluator."""

    def __init__(self, evaluator: Evaluator, *, own_processes: bool) -> None:
        """Pickle *evaluator* once for all of them.

        The workers of our own pool import the caller's main module. Other workers, and those
        of a notebook, cannot import it, so its functions and classes are pickled by value.
        """
        if isinstance(evaluator.runner, TestRunner):
            share_with_copies(evaluator.runner.cache)
        is_main_there = own_processes and has_importable_main()
        self._dumps: Pickler = plain_dumps if is_main_there else dumps
        try:
            self._evaluator = self._part(evaluator)
        except PICKLING_FAILS as exc:
            culprit = _culprit(evaluator, self._dumps)
            raise BatchError(f"cannot be sent to another process ({exc})", culprit) from exc
        # The pairs and teams of a task share their base and their features.
        self._pickled = IdentityMemo[_Part](_KEPT)

    def payload(self, pair: FeatureGroup) -> Payload:
        """Pickle a pair or team as a whole."""
        parts, rest = self._parts(pair)
        return Payload(tuple(data for _, data in parts), rest)

    def in_parts(self, pair: FeatureGroup) -> tuple[Payload, dict[str, bytes]]:
        """Pickle a pair or team; return its payload and, by digest, the parts to send with it."""
        parts, rest = self._parts(pair)
        return Payload(tuple(digest for digest, _ in parts), rest), dict(parts)

    def _parts(self, pair: FeatureGroup) -> tuple[list[_Part], bytes]:
        kind = FeatureTeam if isinstance(pair, FeatureTeam) else FeaturePair
        rest = {
            each.name: getattr(pair, each.name)
            for each in attrs.fields(kind)
            if each.name not in _SHARED
        }
        try:
            shared = [
                self._pickled.recall_for(each, self._part) for each in (pair.base, *pair.features)
            ]
            return [self._evaluator, *shared], self._dumps((kind, rest))
        except PICKLING_FAILS as exc:
            raise UndeliverableError(f"cannot be pickled ({exc!r})", pair_name(pair)) from exc

    def _part(self, thing: object) -> _Part:
        data = self._dumps(thing)
        return hashlib.sha256(data).hexdigest(), data


def evaluate_payload(payload: Payload, call: str = "") -> Packed | Failure:
    """Evaluate the pair or team of *payload*; an exception becomes part of the answer.

    An exception that is raised in a worker could break the whole pool. *call* makes this
    call different from others with the same payload.
    """
    del call
    answer = _evaluated(payload)
    if isinstance(answer, Failure):
        return answer
    try:
        return pack(answer)
    except Exception as exc:  # noqa: BLE001 - a plug-in may put anything into a report
        return failure_of(exc)


def evaluate_and_store(payload: Payload, store: ReportStore | None, key: str) -> Finished | Failure:
    """Evaluate the pair or team of *payload* on the caller's machine, and store the report.

    The caller then only has to unpickle the report.
    """
    packed = evaluate_payload(payload)
    if isinstance(packed, Failure):
        return packed
    try:
        report = packed.unpack()
    except Exception as exc:  # noqa: BLE001 - a plug-in may put anything into a report
        return failure_of(exc)
    try:
        if store is not None:
            store.put_packed(key, packed)
    except ReportError as exc:
        return Finished(report, exc)
    return Finished(report)


def _evaluated(payload: Payload) -> GroupReport | Failure:
    try:
        evaluator, pair = _rebuilt(payload)
    except RepositoryError as exc:
        return failure_of(exc)
    # The classes of plug-ins may raise anything when they are unpickled.
    except Exception as exc:  # noqa: BLE001
        problem = f"cannot be rebuilt in the worker ({exc!r})"
        return Failure(kind=FailureKind.NOT_DELIVERED, problem=problem, error=_class_of(exc))
    return try_evaluate(evaluator, pair)


def _rebuilt(payload: Payload) -> tuple[Evaluator, FeatureGroup]:
    evaluator, base, *features = (
        received_parts.value(part) if isinstance(part, str) else _unpickled(part)
        for part in payload.shared
    )
    kind, rest = pickle.loads(payload.rest)  # noqa: S301 - as in `_unpickled`
    if kind is FeatureTeam:
        return evaluator, FeatureTeam(base=base, features=features, **rest)
    feature1, feature2 = features
    return evaluator, FeaturePair(base=base, feature1=feature1, feature2=feature2, **rest)


@lru_cache(maxsize=_KEPT)
def _unpickled(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301 - pickled by `PayloadMaker`


def try_evaluate(evaluator: Evaluator, pair: FeatureGroup) -> GroupReport | Failure:
    """Evaluate a pair or team; return any exception as a failure."""
    try:
        if isinstance(pair, FeatureTeam):
            return evaluator.evaluate_team(pair)
        return evaluator.evaluate(pair)
    except Stopped:
        raise
    # One pair's failure must not stop the others, even if a plug-in exits or cancels.
    except BaseException as exc:
        if isinstance(exc, KeyboardInterrupt) and _may_be_interrupted():
            raise
        return failure_of(exc)


def _may_be_interrupted() -> bool:
    """Whether a user can interrupt this thread; if not, a plug-in raised the exception."""
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def failure_of(exc: BaseException) -> Failure:
    """Return the record of an exception."""
    kinds = {
        RepositoryError: FailureKind.REPOSITORY,
        DatasetError: FailureKind.DATASET,
        PatchError: FailureKind.DATASET,
        TestRunError: FailureKind.TEST_RUN,
    }
    kind = next((k for c, k in kinds.items() if isinstance(exc, c)), FailureKind.ERROR)
    problem = describe_error(exc) if kind is FailureKind.ERROR else str(exc)
    return Failure(kind=kind, problem=problem, error=_class_of(exc))


def pair_name(pair: FeatureGroup | GroupReport) -> str:
    """Return a name of a pair or team for people."""
    return f"{pair.repo_name}, task {pair.task_id}, {name_features(pair.numbers)}"


def _culprit(evaluator: Evaluator, dumps: Pickler) -> str:
    for strategy in evaluator.strategies:
        try:
            dumps(strategy)
        except PICKLING_FAILS:
            return f"strategy {strategy.name!r}"
    return "the evaluator"


def _class_of(exc: BaseException) -> str:
    return f"{type(exc).__module__}:{type(exc).__qualname__}"
