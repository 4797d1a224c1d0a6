"""Evaluates many pairs and teams in parallel, with a store; one that fails does not stop the rest.

In this package, a *pair* is a pair or a team, unless its class says otherwise.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Executor
from functools import partial
from typing import Any, Final, Literal, Self, TypedDict, Unpack, overload

from attrs import frozen

from cooperbench_eval.errors import BatchError, ReportError, RepositoryError
from cooperbench_eval.evaluation.batch.dispatch import Dispatcher, Outcome, QueuedPair
from cooperbench_eval.evaluation.batch.keys import PairKeys
from cooperbench_eval.evaluation.batch.packing import Packed, pack
from cooperbench_eval.evaluation.batch.payloads import (
    Finished,
    UndeliverableError,
    failure_of,
    pair_name,
)
from cooperbench_eval.evaluation.batch.progress import (
    BatchEvent,
    EventKind,
    Progress,
    ignore,
    listener,
)
from cooperbench_eval.evaluation.batch.store import ReportStore
from cooperbench_eval.evaluation.batch.store_view import Claim, StoreView
from cooperbench_eval.evaluation.batch.workers import is_importing_main
from cooperbench_eval.evaluation.evaluator import Evaluator, report_failure
from cooperbench_eval.evaluation.pairs import FeatureGroup, FeaturePair, FeatureTeam
from cooperbench_eval.reporting import Failure, FailureKind, MergeReport
from cooperbench_eval.reporting.agent_costs import AgentRun
from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.reporting.teams import GroupReport, TeamReport, with_agents
from cooperbench_eval.support.arguments import able_to, checked, rule_of

_POLL_SECONDS: Final = 0.1
_WAKE_SECONDS: Final = 1.0
"""The longest single wait. It is short because, with a library's signal handler installed, an
interrupt may not end the wait."""
_LOOK_AHEAD_SECONDS: Final = 0.1
"""How long to take further pairs while a report is ready to be yielded."""
_READY: Final = 1 << 17
"""How many reports may be ready; only the key or name of each is held."""
_WAITING: Final = 1 << 10
"""How many pairs may wait for other batches."""


class BatchOptions(TypedDict, total=False):
    """The optional arguments of `evaluate_many`."""

    executor: Executor | None
    store: ReportStore | str | os.PathLike[str] | None
    progress: Progress | bool | None
    on_error: Literal["record", "raise"]


@overload
def evaluate_many(
    pairs: Iterable[FeaturePair | MergeReport],
    *,
    evaluator: Evaluator,
    **options: Unpack[BatchOptions],
) -> Iterator[MergeReport]: ...
@overload
def evaluate_many(
    pairs: Iterable[FeatureTeam | TeamReport],
    *,
    evaluator: Evaluator,
    **options: Unpack[BatchOptions],
) -> Iterator[TeamReport]: ...
@overload
def evaluate_many(
    pairs: Iterable[FeatureGroup | GroupReport],
    *,
    evaluator: Evaluator,
    **options: Unpack[BatchOptions],
) -> Iterator[GroupReport]: ...
@checked(pairs=rule_of(Iterable[Any]), executor=able_to("submit"))
def evaluate_many(
    pairs: Iterable[FeatureGroup | GroupReport],
    *,
    evaluator: Evaluator,
    executor: Executor | None = None,
    store: ReportStore | str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    on_error: Literal["record", "raise"] = "record",
) -> Iterator[MergeReport] | Iterator[TeamReport] | Iterator[GroupReport]:
    r"""Evaluate every pair and team, and yield each report as it is finished.

    Reports come in the order in which pairs finish. For tables and pages in the order of the pairs,
    iterate over a store afterwards.

    Pairs are taken from the iterable one by one as work proceeds, so it may be a generator.
    A few are taken for each worker. If the default pool has several processes, up to 64 more
    are taken, so that pairs with the same base can go to the same process, which caches what
    it computed for the base.

    Every pair gives one `MergeReport`. If a pair cannot be evaluated, its report has a
    `failure`, and the other pairs go on. That happens if its repository is missing, if its
    worker died at every try, or if the same pair was given before. All of this holds for teams
    too; every team gives one `TeamReport`.

    Args:
        pairs: The pairs and teams, in any mixture. If one of them could not be built, pass a
            report with its failure instead; it is announced and yielded, but not stored.
        evaluator: Evaluates the pairs.
        executor: Where to evaluate them: any `concurrent.futures.Executor`, or an object
            that behaves like one, such as Dask's `client.get_executor()`. By default one
            process for each usable core; scripts then need `if __name__ == "__main__":`.
            Threads share *evaluator*; for processes it is pickled. Workers on this
            machine share the results of test runs. If a process pool of
            the caller breaks, the default pool takes its place. The caller's executor is
            never shut down here.
        store: A directory that keeps the reports. Stored reports are yielded without
            another evaluation. Failures are tried again, and so are test runs in which
            the sandbox failed. Several processes may share a store; only one of them
            evaluates each pair.
        progress: `True` for a tqdm bar, which is shown only in terminals and notebooks, or a
            function that is called with every event.
        on_error: `"raise"` to stop at the first failure.

    Raises:
        BatchError: Something in *evaluator* cannot be pickled; the executor accepts no
            work; or, with `on_error="raise"`, a pair or team could not be evaluated.
        ReportError: The store has a newer schema, or cannot be written to. The pairs in
            flight are finished and yielded first.

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
    if is_importing_main():
        # With a store, it would wait for the process that started it, which waits for it.
        problem = (
            "a worker process imports this script, so the script must do its work under "
            '`if __name__ == "__main__":`'
        )
        raise BatchError(problem, "evaluate_many")
    if store is not None and not isinstance(store, ReportStore):
        store = ReportStore(store)
    batch = _Batch(pairs, evaluator, executor, store, raises=on_error == "raise")
    return batch.reports(progress, len(pairs) if isinstance(pairs, Sized) else None)


class _Batch:
    def __init__(
        self,
        pairs: Iterable[FeatureGroup | GroupReport],
        evaluator: Evaluator,
        executor: Executor | None,
        store: ReportStore | None,
        *,
        raises: bool,
    ) -> None:
        self._source = iter(pairs)
        self._strategies = evaluator.strategies
        self._raises = raises
        self._dispatcher = Dispatcher(evaluator, executor, on_retry=self._report_retry, store=store)
        self._keys = PairKeys(evaluator)
        self._store = StoreView(store)
        self._seen: set[bytes] = set()
        self._ready: deque[Callable[[], GroupReport]] = deque()
        self._waiting: deque[QueuedPair] = deque()
        self._pending: list[QueuedPair] = []
        self._looked_seconds = 0.0
        self._fault: Exception | None = None
        self._progress: Progress = ignore

    def reports(self, progress: Progress | bool | None, total: int | None) -> Iterator[GroupReport]:
        """Yield every report; then raise the error that kept other pairs out, if any."""
        done = False
        try:
            with listener(progress, total) as (self._progress, aside):
                while (report := self._next()) is not None:
                    with aside():
                        yield report
            done = True
        finally:
            self._store.leave()
            self._dispatcher.close(
                at_once=not done, on_end=lambda queued: self._store.release(queued.key)
            )
        if self._fault:
            raise self._fault

    def _next(self) -> GroupReport | None:
        """Keep the executor supplied; return a finished report, or wait for one."""
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
        began = time.monotonic()
        if self._waiting and began - self._looked_seconds >= _POLL_SECONDS and not self._fault:
            for _ in range(len(self._waiting)):
                self._begin(self._waiting.popleft())
            self._looked_seconds = began
        while True:
            self._begin_pending()
            if not self._takes_more:
                return
            is_late = time.monotonic() - began > _LOOK_AHEAD_SECONDS
            if is_late and (self._ready or not self._dispatcher.has_room):
                return
            try:
                pair = next(self._source)
            except StopIteration:
                return
            # The caller's iterable failed. Raised once the pairs in flight are finished.
            except Exception as exc:  # noqa: BLE001
                self._fault = exc
                return
            if isinstance(pair, (MergeReport, TeamReport)):
                self._ready.append(partial(self._checked, pair, EventKind.FINISHED))
            else:
                self._admit(pair)

    @property
    def _takes_more(self) -> bool:
        has_space = len(self._ready) < _READY and len(self._waiting) < _WAITING
        has_use = self._dispatcher.has_room or len(self._pending) < self._dispatcher.look_ahead
        return has_use and has_space and not self._fault

    def _admit(self, pair: FeatureGroup) -> None:
        """Compute the key of a new pair, and decide whether it has to be evaluated."""
        if not isinstance(pair, (FeaturePair, FeatureTeam)):
            problem = f"{pair!r:.80} is not a FeaturePair or FeatureTeam"
            self._fault = BatchError(problem, "pairs")
            return
        identity = _Identity.of(pair)
        try:
            key = self._keys.key(pair)
        except RepositoryError as exc:
            self._ready.append(partial(self._failed, identity, failure_of(exc)))
            return
        if (digest := bytes.fromhex(key)) in self._seen:
            name = "team" if isinstance(pair, FeatureTeam) else "pair"
            problem = f"the same {name} was given before"
            failure = Failure(kind=FailureKind.DUPLICATE, problem=problem)
            self._ready.append(partial(self._failed, identity, failure))
            return
        self._seen.add(digest)
        if self._store.has(key):
            self._ready.append(partial(self._load, key, identity))
        else:
            self._store.note(key)
            self._pending.append(QueuedPair(key, pair, self._keys.base(pair)))

    def _begin_pending(self) -> None:
        """Begin pairs while the executor has room; prefer tasks with few pairs in flight."""
        while self._pending and self._dispatcher.has_room:
            wanted = filter(self._dispatcher.wants, self._pending)
            queued = next(wanted, self._pending[0])
            self._pending.remove(queued)
            if not self._begin(queued):
                name = pair_name(queued.pair)
                self._progress(BatchEvent(kind=EventKind.WAITING, pair=name))

    def _begin(self, queued: QueuedPair) -> bool:
        """Claim and send a pair, or queue it; return `False` if another batch has the claim."""
        if not self._dispatcher.has_room:
            self._waiting.append(queued)
            return True
        try:
            claim = self._store.claim(queued.key)
        except (BatchError, ReportError) as exc:
            self._stop(exc)
            return True
        match claim:
            case Claim.BUSY:
                self._waiting.append(queued)
            case Claim.STORED:
                self._ready.append(partial(self._load, queued.key, _Identity.of(queued.pair)))
            case Claim.TAKEN:
                self._send(queued)
        return claim is not Claim.BUSY

    def _send(self, queued: QueuedPair) -> None:
        try:
            self._dispatcher.send(queued)
        except UndeliverableError as exc:
            failure = Failure(kind=FailureKind.NOT_DELIVERED, problem=str(exc))
            self._ready.append(partial(self._finish, queued, failure))
        except BaseException:
            self._store.release(queued.key)
            raise
        else:
            self._progress(BatchEvent(kind=EventKind.SUBMITTED, pair=pair_name(queued.pair)))

    # --- from the executor to the caller ---

    def _finish(self, queued: QueuedPair, outcome: Outcome) -> GroupReport:
        if isinstance(outcome, Finished):
            report, problem = outcome.report, outcome.problem
            self._store.release(queued.key)
        else:
            report, packed = self._both_forms(queued.pair, outcome)
            problem = self._store.keep(queued.key, packed)
        if problem:
            self._stop(problem)
        return self._checked(report, EventKind.FINISHED)

    def _stop(self, exc: Exception) -> None:
        """Begin no other pairs; *exc* is raised once those in flight are finished."""
        self._fault = self._fault or exc
        self._pending.clear()

    def _both_forms(
        self, pair: FeatureGroup, outcome: Packed | GroupReport | Failure
    ) -> tuple[GroupReport, Packed]:
        try:
            if isinstance(outcome, Packed):
                return outcome.unpack(), outcome
            if not isinstance(outcome, Failure):
                return outcome, pack(outcome)
            failure = outcome
        # A plug-in put values into the report that JSON cannot hold.
        except Exception as exc:  # noqa: BLE001
            failure = failure_of(exc)
        report = self._failure_report(_Identity.of(pair), failure)
        return report, pack(report)

    def _failure_report(self, identity: "_Identity", failure: Failure) -> GroupReport:
        return report_failure(self._strategies, failure, identity.pair, identity.kind)

    def _load(self, key: str, identity: "_Identity") -> GroupReport:
        try:
            # The key does not cover what the agents cost, so the stored numbers may be older.
            report = with_agents(self._store.load(key), dict(identity.agents))
        except ReportError as exc:
            failure = Failure(kind=FailureKind.NOT_STORED, problem=str(exc))
            return self._failed(identity, failure)
        return self._checked(report, EventKind.STORED)

    def _failed(self, identity: "_Identity", failure: Failure) -> GroupReport:
        return self._checked(self._failure_report(identity, failure), EventKind.FAILED)

    def _checked(self, report: GroupReport, kind: EventKind) -> GroupReport:
        """Return *report* and announce it, or raise its failure if the caller wants that."""
        failure, name = report.failure, pair_name(report)
        if failure and self._raises:
            raise BatchError(f"{failure.problem} ({failure.kind})", name)
        if failure:
            kind = EventKind.FAILED
        problem = failure.problem if failure else ""
        self._progress(BatchEvent(kind=kind, pair=name, report=report, problem=problem))
        return report

    def _report_retry(self, queued: QueuedPair, exc: BaseException) -> None:
        name = pair_name(queued.pair)
        self._progress(BatchEvent(kind=EventKind.RETRIED, pair=name, problem=repr(exc)))


@frozen
class _Identity:
    """What is kept of a pair once its patches are no longer needed."""

    pair: PairId
    kind: type[GroupReport]
    agents: tuple[tuple[int, AgentRun | None], ...]

    @classmethod
    def of(cls, pair: FeatureGroup) -> Self:
        kind = TeamReport if isinstance(pair, FeatureTeam) else MergeReport
        return cls(
            PairId.of(pair), kind, tuple((each.number, each.agent) for each in pair.features)
        )
