"""Pairs at an executor: a bounded number of them, and what is done when one is lost."""

import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from queue import Empty, SimpleQueue
from typing import Any, Final

from attrs import evolve, frozen

from cooperbench_eval.batch.jobs import JobMaker, attempt, run_job
from cooperbench_eval.batch.packing import Packed
from cooperbench_eval.batch.workers import WorkerPool, usable_cores
from cooperbench_eval.errors import BatchError
from cooperbench_eval.evaluator import Evaluator, FeaturePair
from cooperbench_eval.reporting import Failure, FailureKind, MergeReport

__all__ = ["Dispatcher", "Flight", "Outcome"]

_TRIES: Final = 2
"""How often a pair is sent. Other executors than ours may blame it for a neighbour's deed:
there it is sent once more, without neighbours."""
_A_WORKER: Final = 4
"""Pairs at the executor for each of its workers, where their number is known."""
_UNKNOWN_WORKERS: Final = 64

Outcome = Packed | MergeReport | Failure


@frozen
class Flight:
    """A pair at the executor.

    Attributes:
        key: Its key.
        pair: The pair.
        tries: How often it went there.
    """

    key: str
    pair: FeaturePair
    tries: int = 1


class Dispatcher:
    """Sends pairs to an executor and takes answers from it, in the order they come."""

    def __init__(
        self,
        evaluator: Evaluator,
        executor: Executor | None,
        *,
        on_retry: Callable[[Flight, BaseException], None],
    ) -> None:
        """Use *executor*, or a pool of our own.

        Raises:
            BatchError: The evaluator cannot be sent to other processes.
        """
        self._evaluator = evaluator
        self._own = WorkerPool() if executor is None else None
        self._executor: Any = executor or self._own
        self._on_retry = on_retry
        workers = getattr(self._executor, "_max_workers", None)
        if isinstance(self._executor, WorkerPool):
            workers = self._executor.workers
        self._workers = workers if isinstance(workers, int) else None
        self._limit = _A_WORKER * (self._workers or _UNKNOWN_WORKERS)
        self._flights: dict[Any, Flight] = {}
        self._suspects: deque[Flight] = deque()
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._in_process = isinstance(executor, ThreadPoolExecutor)
        if not self._in_process:
            imports_main = isinstance(self._executor, WorkerPool)
            self._jobs = JobMaker(evaluator, own_processes=imports_main)

    @property
    def has_room(self) -> bool:
        """Whether another pair may be sent."""
        is_one_alone = any(flight.tries > _TRIES for flight in self._flights.values())
        return len(self._flights) < self._limit and not self._suspects and not is_one_alone

    @property
    def is_busy(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._flights or self._suspects)

    def send(self, flight: Flight) -> None:
        """Send a pair; see `answer` for the rest.

        Raises:
            UndeliverableError: The pair cannot be pickled.
            BatchError: The executor takes no work.
        """
        if self._in_process:
            self._submit(flight, attempt, self._evaluator, flight.pair)
        else:
            # The word makes it another call for an executor that remembers calls, as Dask does:
            # else that would answer a second try with what became of the first.
            self._submit(flight, run_job, self._jobs.job(flight.pair), uuid.uuid4().hex)

    def answer(self, timeout_seconds: float | None) -> tuple[Flight, Outcome] | None:
        """Wait for the next answer; `None` if there is none in time.

        Whatever worked at a pair may be lost, with a process or a machine. The pair
        is then sent once more. Lost again, it is a failure, if it is clear that it was
        this pair; else it is sent a third time, when nothing else is at the executor:
        until then there is no room for others.

        Raises:
            BatchError: The executor cannot go on.
        """
        while True:
            if self._suspects and not self._flights:
                self.send(self._suspects[0])
                self._suspects.popleft()
            try:
                future = self._done.get(timeout=timeout_seconds)
            except Empty:
                return None
            flight = self._flights[future]
            outcome = self._outcome(flight, future)
            # Not before: where something raised, `close` has to find the pair.
            del self._flights[future]
            if outcome is not None:
                return flight, outcome

    def close(self, *, at_once: bool, on_end: Callable[[Flight], None]) -> None:
        """End a pool of our own; another's is left to them, but for what waits in it.

        Args:
            at_once: Whether to stop what is under way.
            on_end: Is told of each pair that was under way when nobody works at it any
                more, in whichever thread that is.
        """
        for flight in self._suspects:
            on_end(flight)
        for future, flight in self._flights.items():
            future.cancel()
            future.add_done_callback(lambda _, flight=flight: on_end(flight))
        if self._own and at_once:
            self._own.kill()
        elif self._own:
            self._own.shutdown()

    def _outcome(self, flight: Flight, future: Any) -> Outcome | None:
        """Return what became of a pair; `None` if it was lost, and is tried again."""
        exc = _exception_of(future)
        if exc is None:
            outcome: Outcome = future.result()
            return outcome
        if isinstance(exc, BatchError):
            raise exc
        return self._lost(flight, exc)

    def _lost(self, flight: Flight, exc: BaseException) -> Failure | None:
        """See that a lost pair is tried again; return the failure where that is in vain."""
        if flight.tries >= _TRIES + (not isinstance(self._executor, WorkerPool)):
            return Failure(
                kind=FailureKind.WORKER_LOST,
                problem=str(exc) or repr(exc),
                error=f"{type(exc).__module__}:{type(exc).__qualname__}",
                tries=flight.tries,
            )
        self._on_retry(flight, exc)
        again = evolve(flight, tries=flight.tries + 1)
        if again.tries > _TRIES:
            self._suspects.append(again)
        else:
            self.send(again)
        return None

    def _submit(self, flight: Flight, fn: Callable[..., Outcome], *args: object) -> None:
        try:
            future = self._executor.submit(fn, *args)
        except BrokenProcessPool:
            self._replace()
            future = self._executor.submit(fn, *args)
        except RuntimeError as exc:
            raise BatchError(f"takes no work ({exc})", "executor") from exc
        self._flights[future] = flight
        future.add_done_callback(self._done.put)

    def _replace(self) -> None:
        """Go on without a pool of processes that broke: with one that does not."""
        if self._own is None:
            self._executor = self._own = WorkerPool(self._workers or usable_cores())


def _exception_of(future: Any) -> BaseException | None:
    """Return what *future* ended with; each executor has exceptions of its own."""
    try:
        exc: BaseException | None = future.exception()
    except CancelledError as cancelled:
        return cancelled
    return exc
