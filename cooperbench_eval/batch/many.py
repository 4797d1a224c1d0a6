"""Evaluates many pairs: in other processes, with a store, whatever happens to one."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Executor
from functools import partial
from typing import Final, Literal, TypedDict

from cooperbench_eval.batch.dispatch import Dispatcher, Flight, Outcome
from cooperbench_eval.batch.jobs import UndeliverableError, failure_of, pair_name
from cooperbench_eval.batch.keys import PairKeys
from cooperbench_eval.batch.packing import Packed, pack, unpack
from cooperbench_eval.batch.progress import BatchEvent, EventKind, Progress, listener
from cooperbench_eval.batch.shelf import Begun, Shelf
from cooperbench_eval.batch.store import ReportStore
from cooperbench_eval.errors import BatchError, ReportError, RepositoryError
from cooperbench_eval.evaluator import Evaluator, FeaturePair, report_failure
from cooperbench_eval.reporting import Failure, FailureKind, MergeReport

__all__ = ["evaluate_many"]

_POLL_SECONDS: Final = 0.1
_WAKE_SECONDS: Final = 1.0
"""How long an interrupt may go unnoticed where a library's handler lets waits go on."""
_LOOK_AHEAD_SECONDS: Final = 0.1
"""How long work is looked for while a report is ready to be yielded."""
_READY: Final = 1 << 17
"""How many reports may be ready, each but a key or a name."""
_WAITING: Final = 1 << 10
"""How many pairs may wait for other batches."""


def evaluate_many(
    pairs: Iterable[FeaturePair | MergeReport],
    *,
    evaluator: Evaluator,
    executor: Executor | None = None,
    store: ReportStore | str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    on_error: Literal["record", "raise"] = "record",
) -> Iterator[MergeReport]:
    r"""Evaluate every pair, and yield each report as it is finished.

    The pairs are taken one by one as work proceeds, a few for each worker, so any
    iterable will do. Every pair gives one report. A pair that could not be evaluated
    gives one with a `failure`, and stops no other: its repository has gone, whatever
    worked at it was lost each time that it was tried, it is the same pair as one before.

    Args:
        pairs: What to evaluate. A report among them is that of a pair which could not
            even be made; it is told and yielded, and not stored.
        evaluator: How.
        executor: Where: any `concurrent.futures.Executor`, or what looks like one, such
            as Dask's `client.get_executor()`. By default one process for each usable
            core; scripts then need `if __name__ == "__main__":`. Threads share
            *evaluator*; to processes it is pickled. A pool of processes that breaks is
            replaced by the default one, and is not shut down here.
        store: Keeps the reports, in a directory. What it has is not evaluated again but
            yielded from it. Failures, and reports of test runs in which the sandbox
            failed, are tried again. Several processes may share a store; no pair is
            evaluated by two of them.
        progress: `True` for a bar by tqdm, or a function that is told of everything.
        on_error: `"raise"` to end with the first failure.

    Raises:
        BatchError: Something in *evaluator* cannot be pickled, the executor takes no
            work, or, with `on_error="raise"`, a pair could not be evaluated.
        ReportError: The store is of a newer schema, or cannot be written to. What was
            under way by then is yielded before.

    Example:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> from cooperbench_eval import Feature, Snapshot
        >>> base = Snapshot.from_files({"a": b"1\n"})
        >>> diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+{}\n"
        >>> one, two = (Feature(number=n, patch=diff.format(n)) for n in (2, 3))
        >>> pair = FeaturePair(repo_name="r", task_id=0, base=base, feature1=one, feature2=two)
        >>> with ThreadPoolExecutor(1) as threads:
        ...     for report in evaluate_many([pair], evaluator=Evaluator(), executor=threads):
        ...         print(report.merge_status.value)
        conflicts
    """
    if on_error not in {"record", "raise"}:
        raise ValueError(f"on_error is 'record' or 'raise', not {on_error!r}")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is a function, or true or false, not {progress!r:.80}")
    if store is not None and not isinstance(store, ReportStore):
        store = ReportStore(store)
    batch = _Batch(pairs, evaluator, executor, store, raises=on_error == "raise")
    return batch.reports(progress, len(pairs) if isinstance(pairs, Sized) else None)


class _Batch:
    """One call of `evaluate_many`."""

    def __init__(
        self,
        pairs: Iterable[FeaturePair | MergeReport],
        evaluator: Evaluator,
        executor: Executor | None,
        store: ReportStore | None,
        *,
        raises: bool,
    ) -> None:
        self._source = iter(pairs)
        self._strategies = evaluator.strategies
        self._raises = raises
        self._dispatcher = Dispatcher(evaluator, executor, on_retry=self._tell_of_retry)
        self._keys = PairKeys(evaluator)
        self._shelf = Shelf(store)
        self._seen: set[bytes] = set()
        self._ready: deque[Callable[[], MergeReport]] = deque()
        self._waiting: deque[Flight] = deque()
        self._looked_seconds = 0.0
        self._fault: Exception | None = None
        self._tell: Progress = lambda _: None

    def reports(self, progress: Progress | bool | None, total: int | None) -> Iterator[MergeReport]:
        """Yield every report; then raise what kept more from being taken in."""
        done = False
        try:
            with listener(progress, total) as self._tell:
                while (report := self._next()) is not None:
                    yield report
            done = True
        finally:
            self._shelf.leave()
            self._dispatcher.close(
                at_once=not done, on_end=lambda flight: self._shelf.drop(flight.key)
            )
        if self._fault:
            raise self._fault

    def _next(self) -> MergeReport | None:
        """Keep the executor supplied; return what is there to yield, or wait for it."""
        while True:
            self._supply()
            if self._dispatcher.is_busy:
                wait = 0 if self._ready else _POLL_SECONDS if self._waiting else _WAKE_SECONDS
                if answer := self._dispatcher.answer(wait):
                    return self._finish(*answer)
            if self._ready:
                return self._ready.popleft()()
            if not self._dispatcher.is_busy:
                if self._fault or not self._waiting:
                    return None
                time.sleep(_POLL_SECONDS)

    # --- from the pairs to the executor ---

    def _supply(self) -> None:
        """Look for work until the executor has enough of it."""
        began = time.monotonic()
        if self._waiting and began - self._looked_seconds >= _POLL_SECONDS and not self._fault:
            for _ in range(len(self._waiting)):
                self._begin(self._waiting.popleft())
            self._looked_seconds = began
        while self._takes_more:
            if self._ready and time.monotonic() - began > _LOOK_AHEAD_SECONDS:
                return
            try:
                pair = next(self._source)
            except StopIteration:
                return
            # The caller's own: it is raised when what is under way has been yielded.
            except Exception as exc:  # noqa: BLE001
                self._fault = exc
                return
            if isinstance(pair, MergeReport):
                self._ready.append(partial(self._told, pair, EventKind.FINISHED))
            else:
                self._admit(pair)

    @property
    def _takes_more(self) -> bool:
        has_space = len(self._ready) < _READY and len(self._waiting) < _WAITING
        return self._dispatcher.has_room and has_space and not self._fault

    def _admit(self, pair: FeaturePair) -> None:
        """Give a new pair its key, and a report at once where it needs no work."""
        if not isinstance(pair, FeaturePair):
            self._fault = BatchError(f"{pair!r:.80} is no FeaturePair", "pairs")
            return
        try:
            key = self._keys.key(pair)
        except RepositoryError as exc:
            self._ready.append(partial(self._failed, _identity(pair), failure_of(exc)))
            return
        if (digest := bytes.fromhex(key)) in self._seen:
            self._ready.append(partial(self._failed, _identity(pair), _DUPLICATE))
            return
        self._seen.add(digest)
        if self._shelf.has(key):
            self._ready.append(partial(self._load, key, _identity(pair)))
        elif not self._begin(Flight(key, pair)):
            self._tell(BatchEvent(kind=EventKind.WAITING, pair=pair_name(pair)))

    def _begin(self, flight: Flight) -> bool:
        """Send a pair off; `False` where it has to wait for another batch, or for room."""
        if not self._dispatcher.has_room:
            self._waiting.append(flight)
            return True
        try:
            begun = self._shelf.begin(flight.key)
        except (BatchError, ReportError) as exc:
            self._fault = exc
            return True
        if begun is Begun.BUSY:
            self._waiting.append(flight)
        elif begun is Begun.STORED:
            self._ready.append(partial(self._load, flight.key, _identity(flight.pair)))
        else:
            self._send(flight)
        return begun is not Begun.BUSY

    def _send(self, flight: Flight) -> None:
        try:
            self._dispatcher.send(flight)
        except UndeliverableError as exc:
            failure = Failure(kind=FailureKind.NOT_DELIVERED, problem=str(exc))
            self._ready.append(partial(self._finish, flight, failure))
        except BaseException:
            self._shelf.drop(flight.key)
            raise
        else:
            self._tell(BatchEvent(kind=EventKind.SUBMITTED, pair=pair_name(flight.pair)))

    # --- from the executor to the caller ---

    def _finish(self, flight: Flight, outcome: Outcome) -> MergeReport:
        """Keep an answer in the store, and make a report of it."""
        try:
            report, packed = _both_forms(outcome)
        # A report that holds what no JSON holds, by a plug-in's doing.
        except Exception as exc:  # noqa: BLE001
            failure = outcome if isinstance(outcome, Failure) else failure_of(exc)
            report = report_failure(self._strategies, failure, **_identity(flight.pair))
            packed = pack(report)
        try:
            self._shelf.keep(flight.key, packed)
        except ReportError as exc:
            self._fault = self._fault or exc
        return self._told(report, EventKind.FINISHED)

    def _load(self, key: str, identity: "_Identity") -> MergeReport:
        """Return what the store has."""
        try:
            report = self._shelf.load(key)
        except ReportError as exc:
            failure = Failure(kind=FailureKind.NOT_STORED, problem=str(exc))
            report = report_failure(self._strategies, failure, **identity)
        return self._told(report, EventKind.STORED)

    def _failed(self, identity: "_Identity", failure: Failure) -> MergeReport:
        report = report_failure(self._strategies, failure, **identity)
        return self._told(report, EventKind.FAILED)

    def _told(self, report: MergeReport, kind: EventKind) -> MergeReport:
        """Tell of *report*, or raise its failure where that was asked for."""
        failure, name = report.failure, pair_name(report)
        if failure and self._raises:
            raise BatchError(f"{failure.problem} ({failure.kind})", name)
        if failure:
            kind = EventKind.FAILED
        problem = failure.problem if failure else ""
        self._tell(BatchEvent(kind=kind, pair=name, report=report, problem=problem))
        return report

    def _tell_of_retry(self, flight: Flight, exc: BaseException) -> None:
        name = pair_name(flight.pair)
        self._tell(BatchEvent(kind=EventKind.RETRIED, pair=name, problem=repr(exc)))


def _both_forms(outcome: Outcome) -> tuple[MergeReport, Packed]:
    """Return a report as it is yielded and as it is kept.

    Raises:
        TypeError: It is a failure, which is neither yet.
    """
    if isinstance(outcome, Packed):
        return unpack(outcome.head, outcome.parts.__getitem__), outcome
    if isinstance(outcome, MergeReport):
        return outcome, pack(outcome)
    raise TypeError(outcome)


_DUPLICATE: Final = Failure(kind=FailureKind.DUPLICATE, problem="the same pair was given before")


class _Identity(TypedDict):
    """Who a pair is, without its patches, which may be large."""

    repo_name: str
    task_id: int
    numbers: tuple[int, int]
    model: str | None
    setting: str | None
    k: int


def _identity(pair: FeaturePair) -> _Identity:
    return _Identity(
        repo_name=pair.repo_name,
        task_id=pair.task_id,
        numbers=(pair.feature1.number, pair.feature2.number),
        model=pair.model,
        setting=pair.setting,
        k=pair.k,
    )
