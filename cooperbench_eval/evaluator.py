"""Evaluates a pair. This is the only module that knows the whole pipeline.

Feature 1 is merged into feature 2, as in the benchmark. In the terms of the merge core,
*ours* is feature 2 and *theirs* is feature 1. No other module depends on that choice.
"""

import datetime as dt
import functools
import operator
import platform
import time
from collections.abc import Iterable, Mapping

from attrs import evolve, field, frozen, validators

from cooperbench_eval.errors import PatchError, StrategyFailedError
from cooperbench_eval.memo import Memo
from cooperbench_eval.merging.linediff import DiffCache
from cooperbench_eval.merging.result import Labels, ThreeWayMerge
from cooperbench_eval.merging.tree import merge_changes
from cooperbench_eval.models import MergeStatus, PairId, PatchStatus, TestResult
from cooperbench_eval.patching.apply import ApplyResult, apply_patch
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.patching.paths import PathKind, TestFileFilter, classify_path
from cooperbench_eval.patching.policy import ApplyPolicy
from cooperbench_eval.reporting import Attempt, Failure, FeatureReport, MergeReport, PatchReport
from cooperbench_eval.running import TestRunner, TestSuite, files_that_name_a_framework
from cooperbench_eval.scoring import ConflictScorer
from cooperbench_eval.snapshot import Changes, Snapshot
from cooperbench_eval.strategies.protocol import (
    FeatureContext,
    MergeInput,
    MergeOutcome,
    MergeStrategy,
)
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.strategies.run import run_strategy

__all__ = ["Evaluator", "Feature", "FeaturePair", "report_failure"]


_TEXT = validators.optional(validators.instance_of(str))


def _as_patch(data: bytes | str | Patch) -> Patch:
    try:
        return Patch.parse(data)
    except PatchError as exc:
        return Patch.unreadable(exc)


@frozen(kw_only=True)
class Feature:
    """One feature of a pair: its agent's patch and its tests.

    Attributes:
        number: The feature's number in its task.
        patch: The agent's patch; bytes and `str` are parsed. Input that cannot be
            parsed becomes a patch that fails to apply.
        tests: The benchmark's suite for it; `None` if it has none.
        description: The issue text from which its agent worked.
    """

    number: int = field(converter=operator.index)
    patch: Patch = field(converter=_as_patch, repr=False)
    tests: TestSuite | None = field(default=None, repr=False)
    description: str = field(default="", repr=False)


@frozen(kw_only=True)
class FeaturePair:
    """Two features on one base.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number.
        base: The tree from which both patches start.
        feature1: The feature that is merged into feature 2.
        feature2: The feature into which feature 1 is merged.
        model: The model that wrote the patches, if known.
        setting: The benchmark's setting, if known.
        k: Which of the model's tries this is, counted from 1.
    """

    repo_name: str = field(validator=validators.instance_of(str))
    task_id: int = field(converter=operator.index)
    base: Snapshot = field(repr=False)
    feature1: Feature
    feature2: Feature = field()
    model: str | None = field(default=None, validator=_TEXT)
    setting: str | None = field(default=None, validator=_TEXT)
    k: int = field(default=1, converter=operator.index)

    @feature2.validator
    def _check_numbers(self, _: object, feature2: Feature) -> None:
        if feature2.number == self.feature1.number:
            raise ValueError(f"both features have the number {feature2.number}")


def _as_strategies(given: str | Iterable[str | MergeStrategy]) -> tuple[MergeStrategy, ...]:
    return tuple(as_strategy(each) for each in ([given] if isinstance(given, str) else given))


@frozen
class _Placed:
    """A patch on a base, and its part of the report, before any test runs."""

    result: ApplyResult
    report: PatchReport


@frozen
class _Shared:
    """Results that the pairs of a task share: only the first pair computes them.

    Attributes:
        diffs: Line diffs of the few files that all pairs change.
        placed: Patches on their bases; each feature is part of many pairs.
    """

    diffs: DiffCache = field(factory=DiffCache)
    placed: Memo[tuple[Snapshot, Patch], _Placed] = field(factory=lambda: Memo(32))


@frozen(kw_only=True)
class Evaluator:
    """Finds out whether a pair's patches apply, merge and pass their tests.

    Attributes:
        strategies: The merge strategies to try, independently of each other; names are
            looked up at once.
        runner: Runs the tests; `None` to merge and score only.
        scorer: Measures conflicts.
        test_filter: Removes the agents' own test files from their patches.
        apply_policy: How leniently their patches are placed.
        test_base: Whether to also run each feature's tests on the base: a test that
            passes there says nothing about the feature.
        test_other: Whether to also run each feature's tests on the base with only the
            other feature's patch: a test that passes there does not need the merge.
    """

    strategies: tuple[MergeStrategy, ...] = field(
        default=("naive", "union"), converter=_as_strategies
    )
    runner: TestRunner | None = None
    scorer: ConflictScorer = field(factory=ConflictScorer)
    test_filter: TestFileFilter = field(factory=TestFileFilter)
    apply_policy: ApplyPolicy = field(
        factory=ApplyPolicy, validator=validators.instance_of(ApplyPolicy)
    )
    test_base: bool = True
    test_other: bool = False
    _shared: _Shared = field(factory=_Shared, init=False, eq=False, repr=False)

    @strategies.validator
    def _check_strategies(self, _: object, strategies: tuple[MergeStrategy, ...]) -> None:
        names = [strategy.name for strategy in strategies]
        if len(set(names)) < len(names):
            raise ValueError(f"two strategies share a name: {', '.join(names)}")

    def evaluate(self, pair: FeaturePair) -> MergeReport:
        """Evaluate *pair* in the calling thread.

        A patch that does not apply, a conflict, a failed strategy, and tests that
        fail or time out are all results, not errors.

        Raises:
            RepositoryError: The base cannot be read.
            TestRunError: A test command cannot be started.
        """
        return _Evaluation(self, pair, self._shared).report()

    async def aevaluate(self, pair: FeaturePair) -> MergeReport:
        """Evaluate *pair* in a process of its own, for asyncio.

        The event loop is not blocked. If the awaiting task is cancelled, everything that
        the evaluation started, tests and containers included, ends before the await
        raises `CancelledError`. The caller limits how many run at a time, for example
        with an `asyncio.Semaphore`.

        A call takes about 0.3 seconds longer than `evaluate`. Results that pairs share
        are lost when the process ends; a runner whose cache is a file keeps its own.

        Raises:
            WorkerError: The process could not be started or died, or something in the
                evaluator or the pair cannot be pickled.
            RepositoryError: The base cannot be read.
            TestRunError: A test command cannot be started.
        """
        from cooperbench_eval.processes.awaiting import await_in_process  # noqa: PLC0415 - imports asyncio

        return await await_in_process(self.evaluate, pair)


def report_failure(
    strategies: Iterable[MergeStrategy], failure: Failure, pair: PairId
) -> MergeReport:
    """Return the report of a pair that could not be evaluated.

    Args:
        strategies: Each gets a row that says it was not tried.
        failure: Why there is no result.
        pair: The identity of the pair.
    """
    not_tried = PatchReport(status=PatchStatus.NOT_TRIED)
    feature1, feature2 = (FeatureReport(number=number, patch=not_tried) for number in pair.features)
    return MergeReport(
        repo_name=pair.repo_name,
        task_id=pair.task_id,
        timestamp=dt.datetime.now(dt.UTC),
        feature1=feature1,
        feature2=feature2,
        conflict_details=None,
        attempts=tuple(map(_not_tried, strategies)),
        model=pair.model,
        setting=pair.setting,
        k=pair.k,
        versions=_versions(),
        failure=failure,
    )


class _Evaluation:
    def __init__(self, evaluator: Evaluator, pair: FeaturePair, shared: _Shared) -> None:
        self._evaluator = evaluator
        self._shared = shared
        self._pair = pair
        # Several strategies often return the same tree.
        self._diff_of = functools.cache(functools.partial(Changes.diff, base=pair.base))

    def report(self) -> MergeReport:
        pair, began = self._pair, dt.datetime.now(dt.UTC)
        result1, feature1 = self._alone(pair.feature1, other=pair.feature2)
        result2, feature2 = self._alone(pair.feature2, other=pair.feature1)
        merge = None
        if feature1.patch.is_usable and feature2.patch.is_usable:
            merge = merge_changes(
                pair.base,
                ours=result2.changes,
                theirs=result1.changes,
                labels=Labels(
                    ours=f"feature{pair.feature2.number}", theirs=f"feature{pair.feature1.number}"
                ),
                cache=self._shared.diffs,
            )
        attempts = self._attempts(merge, result1, result2)
        return MergeReport(
            repo_name=pair.repo_name,
            task_id=pair.task_id,
            timestamp=began,
            feature1=feature1,
            feature2=feature2,
            conflict_details=self._evaluator.scorer.score(merge.conflicts) if merge else None,
            conflicts=merge.conflicts if merge else (),
            diff=self._diff_of(merge.changes) if merge else None,
            attempts=attempts,
            base_tree_id=pair.base.tree_id,
            base_commit=pair.base.commit_id,
            model=pair.model,
            setting=pair.setting,
            k=pair.k,
            versions=_versions(),
        )

    def _attempts(
        self, merge: ThreeWayMerge | None, result1: ApplyResult, result2: ApplyResult
    ) -> tuple[Attempt, ...]:
        """Run each strategy; if a side is missing, its row says that it was not tried."""
        pair, strategies = self._pair, self._evaluator.strategies
        if merge is None:
            return tuple(map(_not_tried, strategies))
        merge_input = MergeInput(
            base=pair.base,
            ours=result2.changes,
            theirs=result1.changes,
            merge=merge,
            ours_feature=_context(pair.feature2),
            theirs_feature=_context(pair.feature1),
        )
        return tuple(self._attempt(strategy, merge_input) for strategy in strategies)

    def _alone(self, feature: Feature, *, other: Feature) -> tuple[ApplyResult, FeatureReport]:
        """Apply a feature's patch and test it on its own."""
        suites = [each.tests for each in (self._pair.feature1, self._pair.feature2)]
        patch, dropped = self._evaluator.test_filter.split(
            feature.patch, [suite.patch for suite in suites if suite]
        )
        placed = self._place(patch)
        report = evolve(placed.report, dropped_files=dropped)
        if dropped and not patch.files:
            report = evolve(report, reason="it contains only test files, which were dropped")
        evaluator, changes, usable = self._evaluator, placed.result.changes, report.is_usable
        return placed.result, FeatureReport(
            number=feature.number,
            patch=report,
            tests=self._test(changes, feature) if usable else None,
            base_tests=self._test(Changes(), feature) if evaluator.test_base else None,
            other_tests=self._test(changes, other) if usable and evaluator.test_other else None,
        )

    def _place(self, patch: Patch) -> _Placed:
        """Apply a patch to the base, or return the result of an earlier application."""
        base, policy = self._pair.base, self._evaluator.apply_policy
        return self._shared.placed.recall((base, patch), lambda: _placed(base, patch, policy))

    def _attempt(self, strategy: MergeStrategy, merge_input: MergeInput) -> Attempt:
        pair, began = self._pair, time.perf_counter()
        try:
            outcome = run_strategy(strategy, merge_input)
        except StrategyFailedError as exc:
            outcome = MergeOutcome(changes=Changes(), failure=exc.problem)
        attempt = Attempt(
            strategy=strategy.name,
            implementation=_implementation(strategy),
            status=outcome.status,
            conflicts_met=len(merge_input.conflicts),
            failure=outcome.failure,
            duration_seconds=time.perf_counter() - began,
            ledger=outcome.ledger,
            usage=outcome.usage,
            service_failed=outcome.service_failed,
        )
        if outcome.failure:
            return attempt
        merged = outcome.status in {MergeStatus.CLEAN, MergeStatus.RESOLVED}
        return evolve(
            attempt,
            conflict_details=self._evaluator.scorer.score(outcome.conflicts),
            tree_id=outcome.tree_id(pair.base),
            diff=self._diff_of(outcome.changes),
            feature1_tests=self._test(outcome.changes, pair.feature1) if merged else None,
            feature2_tests=self._test(outcome.changes, pair.feature2) if merged else None,
            replacements=merge_input.merge.replacements(
                pair.base.overlay(outcome.changes), outcome.conflicts
            ),
        )

    def _test(self, changes: Changes, feature: Feature) -> TestResult | None:
        """Run a feature's tests on a tree; the runner remembers earlier results."""
        runner, suite = self._evaluator.runner, feature.tests
        if runner is None or suite is None:
            return None
        return runner.run(self._pair.base, changes, suite)


def _placed(base: Snapshot, patch: Patch, policy: ApplyPolicy) -> _Placed:
    result = apply_patch(base, patch, policy)
    report = PatchReport(
        status=result.status,
        reason=result.reason,
        touched_runner_control=tuple(
            path for path in patch.paths if classify_path(path) is PathKind.RUNNER_CONTROL
        ),
        names_test_framework=files_that_name_a_framework(base, result.changes),
        hunks=result.hunks,
    )
    return _Placed(result=result, report=report)


def _implementation(strategy: MergeStrategy) -> str:
    kind = type(strategy)
    return f"{kind.__module__}:{kind.__qualname__}"


def _not_tried(strategy: MergeStrategy) -> Attempt:
    return Attempt(
        strategy=strategy.name,
        implementation=_implementation(strategy),
        status=MergeStatus.NOT_TRIED,
    )


def _context(feature: Feature) -> FeatureContext:
    return FeatureContext(number=feature.number, description=feature.description)


@functools.cache
def _versions() -> Mapping[str, str]:
    """Return the versions in use; they do not change while a process runs."""
    # Imported late, because it would add much to the import time of the library.
    from importlib.metadata import version  # noqa: PLC0415

    return {
        "cooperbench_eval": version("cooperbench-eval"),
        "python": platform.python_version(),
        "pygit2": version("pygit2"),
    }
