"""Keeps a bounded number of pairs and teams in flight at an executor, and retries lost ones."""

import uuid
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from queue import Empty, SimpleQueue
from typing import Any, Final

from attrs import evolve, frozen

from cooperbench_eval.errors import BatchError
from cooperbench_eval.evaluation.batch.packing import Packed
from cooperbench_eval.evaluation.batch.payloads import (
    Finished,
    PayloadMaker,
    evaluate_and_store,
    evaluate_payload,
    try_evaluate,
)
from cooperbench_eval.evaluation.batch.store import ReportStore
from cooperbench_eval.evaluation.batch.workers import WorkerPool, usable_cores
from cooperbench_eval.evaluation.evaluator import Evaluator
from cooperbench_eval.evaluation.pairs import FeatureGroup
from cooperbench_eval.reporting import Failure, FailureKind
from cooperbench_eval.reporting.teams import GroupReport

_TRIES: Final = 2
"""How many times a pair is sent before it is given up. A third-party executor may lose a
pair because of another one, so there it is sent a third time, with no other pair in flight."""
_PER_WORKER: Final = 4
"""Pairs in flight for each worker, if the number of workers is known."""
_UNKNOWN_WORKERS: Final = 64
_LOOK_AHEAD: Final = 64
"""How many pairs may wait for a worker, so that workers can be given pairs of different tasks."""

Outcome = Finished | Packed | GroupReport | Failure


@frozen
class QueuedPair:
    """A pair or team that is to be evaluated, with its key in a store.

    Its *group* is the tree id of its base. It was sent *tries* times, this time included.
    """

    key: str
    pair: FeatureGroup
    group: str = ""
    tries: int = 1


class Dispatcher:
    """Sends pairs and teams to an executor and returns the answers as they arrive."""

    def __init__(
        self,
        evaluator: Evaluator,
        executor: Executor | None,
        *,
        on_retry: Callable[[QueuedPair, BaseException], None],
        store: ReportStore | None = None,
    ) -> None:
        """Use *executor*, or else a new `WorkerPool`.

        Worker processes on this machine write their reports to *store* themselves. Workers on
        other machines may not reach it, and threads would gain nothing.
        """
        self._evaluator = evaluator
        self._store = store
        self._own = WorkerPool() if executor is None else None
        self._executor: Any = executor or self._own
        self._on_retry = on_retry
        is_ours = isinstance(self._executor, WorkerPool)
        workers = getattr(self._executor, "workers" if is_ours else "_max_workers", None)
        self._workers = workers if isinstance(workers, int) else None
        self._limit = _PER_WORKER * (self._workers or _UNKNOWN_WORKERS)
        self._in_flight: dict[Any, QueuedPair] = {}
        self._groups: Counter[str] = Counter()
        self._suspects: deque[QueuedPair] = deque()
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._payloads: PayloadMaker | None = None
        if not isinstance(executor, ThreadPoolExecutor):
            self._payloads = PayloadMaker(evaluator, own_processes=is_ours)
        self._shares = is_ours
        self._is_local = isinstance(self._executor, WorkerPool | ProcessPoolExecutor)
        self.look_ahead = _LOOK_AHEAD if is_ours and (self._workers or 0) > 1 else 0

    def wants(self, queued: QueuedPair) -> bool:
        """Whether few pairs of the same task are in flight."""
        return self._groups[queued.group] < _PER_WORKER

    @property
    def has_room(self) -> bool:
        """Whether another pair may be sent."""
        is_suspect_in_flight = any(each.tries > _TRIES for each in self._in_flight.values())
        is_full = len(self._in_flight) >= self._limit
        return not (is_full or self._suspects or is_suspect_in_flight)

    @property
    def is_busy(self) -> bool:
        """Whether an answer is still expected."""
        return bool(self._in_flight or self._suspects)

    def send(self, queued: QueuedPair) -> None:
        """Send a pair; `answer` returns the result."""
        if self._payloads is None:
            self._submit(queued, try_evaluate, self._evaluator, queued.pair)
        elif self._shares:
            payload, parts = self._payloads.in_parts(queued.pair)
            arguments = (evaluate_and_store, payload, self._store, queued.key)
            self._submit(queued, *arguments, parts=parts, group=queued.group)
        elif self._is_local:
            payload = self._payloads.payload(queued.pair)
            self._submit(queued, evaluate_and_store, payload, self._store, queued.key)
        else:
            # Executors such as Dask's remember calls. Without the unique argument they would
            # answer a retry with the result of the first try.
            payload = self._payloads.payload(queued.pair)
            self._submit(queued, evaluate_payload, payload, uuid.uuid4().hex)

    def answer(self, timeout_seconds: float | None) -> tuple[QueuedPair, Outcome] | None:
        """Wait for the next answer; return `None` if there is none in time.

        A pair is lost if the process or machine that works on it dies. It is then sent
        again. In our own pool, a dead worker loses only its own job, so a second loss is
        reported as a failure. In another executor, a pair may be lost because of another
        one, so it gets a third try with no other pair in flight; until that try has ended,
        `has_room` is false.
        """
        while True:
            if self._suspects and not self._in_flight:
                self.send(self._suspects[0])
                self._suspects.popleft()
            try:
                future = self._done.get(timeout=timeout_seconds)
            except Empty:
                return None
            queued = self._in_flight[future]
            outcome = self._outcome(queued, future)
            # Only now: if something was raised above, `close` must still find the pair.
            del self._in_flight[future]
            self._groups[queued.group] -= 1
            self._groups += Counter()  # drops the groups that have no pairs
            if outcome is not None:
                return queued, outcome

    def close(self, *, at_once: bool, on_end: Callable[[QueuedPair], None]) -> None:
        """Shut down our own pool; in the caller's executor, cancel waiting pairs.

        *on_end* is called with each pair that was not finished, once no worker works on it
        any more. The call may come from any thread.
        """
        for queued in self._suspects:
            on_end(queued)
        for future, queued in self._in_flight.items():
            future.cancel()
            future.add_done_callback(lambda _, queued=queued: on_end(queued))
        if self._own and at_once:
            self._own.kill()
        elif self._own:
            self._own.shutdown()

    def _outcome(self, queued: QueuedPair, future: Any) -> Outcome | None:
        """Return the result for a pair; `None` if the pair was lost and is sent again."""
        try:
            lost: BaseException | None = future.exception()
        except CancelledError as exc:
            lost = exc
        if lost is None:
            outcome: Outcome = future.result()
            return outcome
        if isinstance(lost, BatchError):
            raise lost
        if queued.tries >= _TRIES + (not isinstance(self._executor, WorkerPool)):
            return Failure(
                kind=FailureKind.WORKER_LOST,
                problem=str(lost) or repr(lost),
                error=f"{type(lost).__module__}:{type(lost).__qualname__}",
                tries=queued.tries,
            )
        self._on_retry(queued, lost)
        again = evolve(queued, tries=queued.tries + 1)
        if again.tries > _TRIES:
            self._suspects.append(again)
        else:
            self.send(again)
        return None

    def _submit(
        self, queued: QueuedPair, fn: Callable[..., Outcome], *args: object, **sharing: object
    ) -> None:
        try:
            submit = self._executor.submit_sharing if sharing else self._executor.submit
            future = submit(fn, *args, **sharing)
        except BrokenProcessPool:
            # The caller's pool broke. Our own pool survives the death of a worker.
            if self._own is None:
                self._executor = self._own = WorkerPool(self._workers or usable_cores())
            future = self._executor.submit(fn, *args)
        except RuntimeError as exc:
            raise BatchError(f"accepts no work ({exc})", "executor") from exc
        self._in_flight[future] = queued
        self._groups[queued.group] += 1
        future.add_done_callback(self._done.put)
