"""Evaluates a pair. This is the only module that knows the whole pipeline."""

import datetime as dt
import functools
import platform
import time
from collections.abc import Iterable, Mapping

from attrs import evolve, field, frozen, validators

from cooperbench_eval.errors import StrategyFailedError
from cooperbench_eval.hazards import find_hazards
from cooperbench_eval.memo import Memo
from cooperbench_eval.merging.linediff import DiffCache
from cooperbench_eval.models import JudgeRule, MergeStatus, PairId, PatchStatus, TestResult
from cooperbench_eval.pairs import Feature, FeaturePair
from cooperbench_eval.patching.apply import ApplyResult, apply_patch
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.patching.paths import PathKind, TestFileFilter, classify_path
from cooperbench_eval.patching.policy import ApplyPolicy
from cooperbench_eval.reporting import Attempt, Failure, FeatureReport, MergeReport, PatchReport
from cooperbench_eval.running import TestRunner, files_that_name_a_framework
from cooperbench_eval.scoring import ConflictScorer
from cooperbench_eval.sides import merge_input, patch_without_tests
from cooperbench_eval.snapshot import Changes, Snapshot
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome, MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.strategies.run import run_strategy
from cooperbench_eval.suiteruns import SuiteRuns

__all__ = ["Evaluator", "report_failure"]


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
        judge: Which cases must pass. With `"delta"`, these are the cases that the suite's
            patch adds or changes, and those that pass on the base. With `"absolute"`, and
            for suites without a run on the base, every case must pass.
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
    judge: JudgeRule = field(default=JudgeRule.DELTA, converter=JudgeRule)
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
        self._runs = SuiteRuns(
            pair, evaluator.runner, evaluator.judge, test_base=evaluator.test_base
        )
        self._alone_tests: tuple[TestResult | None, TestResult | None] = (None, None)
        # Several strategies often return the same tree.
        self._diff_of = functools.cache(functools.partial(Changes.diff, base=pair.base))

    def report(self) -> MergeReport:
        pair, began = self._pair, dt.datetime.now(dt.UTC)
        result1, feature1 = self._alone(pair.feature1, other=pair.feature2)
        result2, feature2 = self._alone(pair.feature2, other=pair.feature1)
        # Each suite has now shown which cases it runs.
        feature1, feature2 = (
            evolve(report, judgement=self._runs.judge(feature.tests, report.tests))
            for feature, report in ((pair.feature1, feature1), (pair.feature2, feature2))
        )
        given, base_joint, base_regression = None, None, None
        if feature1.patch.is_usable and feature2.patch.is_usable:
            base_joint, base_regression = map(
                self._runs.on_base_of_pair, (pair.joint, pair.regression)
            )
            feature1 = self._compared(feature1, result1)
            feature2 = self._compared(feature2, result2)
            given = merge_input(pair, result1.changes, result2.changes, self._shared.diffs)
        self._alone_tests = (feature1.tests, feature2.tests)
        attempts = self._attempts(given)
        merge = given.merge if given else None
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
            judge=self._evaluator.judge,
            base_joint_tests=base_joint,
            base_regression_tests=base_regression,
        )

    def _compared(self, feature: FeatureReport, result: ApplyResult) -> FeatureReport:
        """Add the runs of the pair's own suites on one side."""
        regression = self._runs.regression(result.changes)
        return evolve(
            feature,
            joint_tests=self._runs.plain(self._pair.joint, result.changes),
            regression_tests=regression.tests,
            regression_judgement=regression.judgement,
        )

    def _attempts(self, given: MergeInput | None) -> tuple[Attempt, ...]:
        """Run each strategy; if a side is missing, its row says that it was not tried."""
        strategies = self._evaluator.strategies
        if given is None:
            return tuple(map(_not_tried, strategies))
        return tuple(self._attempt(strategy, given) for strategy in strategies)

    def _alone(self, feature: Feature, *, other: Feature) -> tuple[ApplyResult, FeatureReport]:
        """Apply a feature's patch and test it on its own."""
        patch, dropped = patch_without_tests(self._pair, feature, self._evaluator.test_filter)
        placed = self._place(patch)
        report = evolve(placed.report, dropped_files=dropped)
        if dropped and not patch.files:
            report = evolve(report, reason="it contains only test files, which were dropped")
        changes, usable = placed.result.changes, report.is_usable
        with_other = usable and self._evaluator.test_other
        return placed.result, FeatureReport(
            number=feature.number,
            patch=report,
            tests=self._runs.plain(feature.tests, changes) if usable else None,
            base_tests=self._runs.on_base(feature),
            other_tests=self._runs.plain(other.tests, changes) if with_other else None,
        )

    def _place(self, patch: Patch) -> _Placed:
        """Apply a patch to the base, or return the result of an earlier application."""
        base, policy = self._pair.base, self._evaluator.apply_policy
        return self._shared.placed.recall((base, patch), lambda: _placed(base, patch, policy))

    def _attempt(self, strategy: MergeStrategy, given: MergeInput) -> Attempt:
        pair, began = self._pair, time.perf_counter()
        try:
            outcome = run_strategy(strategy, given)
        except StrategyFailedError as exc:
            outcome = MergeOutcome(changes=Changes(), failure=exc.problem)
        attempt = Attempt(
            strategy=strategy.name,
            implementation=_implementation(strategy),
            status=outcome.status,
            conflicts_met=len(given.conflicts),
            failure=outcome.failure,
            duration_seconds=time.perf_counter() - began,
            ledger=outcome.ledger,
            usage=outcome.usage,
            service_failed=outcome.service_failed,
        )
        if outcome.failure:
            return attempt
        attempt = evolve(
            attempt,
            conflict_details=self._evaluator.scorer.score(outcome.conflicts),
            tree_id=outcome.tree_id(pair.base),
            diff=self._diff_of(outcome.changes),
            replacements=given.merge.replacements(
                pair.base.overlay(outcome.changes), outcome.conflicts
            ),
        )
        is_merged = outcome.status in {MergeStatus.CLEAN, MergeStatus.RESOLVED}
        if not is_merged:
            return attempt
        hazards = find_hazards(
            pair.base,
            given.ours,
            given.theirs,
            outcome.changes,
            ours_feature=pair.feature2.number,
            theirs_feature=pair.feature1.number,
        )
        return self._tested(evolve(attempt, hazards=hazards), outcome.changes)

    def _tested(self, attempt: Attempt, changes: Changes) -> Attempt:
        """Add the runs of all suites on a merged tree."""
        pair, runs = self._pair, self._runs
        alone1, alone2 = self._alone_tests
        tests1 = runs.judged(pair.feature1.tests, changes, alone1)
        tests2 = runs.judged(pair.feature2.tests, changes, alone2)
        joint = runs.judged(pair.joint, changes)
        is_wrong = False in {tests1.outcome, tests2.outcome, joint.outcome}
        regression = runs.regression(changes, decides=not is_wrong)
        return evolve(
            attempt,
            feature1_tests=tests1.tests,
            feature1_judgement=tests1.judgement,
            feature2_tests=tests2.tests,
            feature2_judgement=tests2.judgement,
            joint_tests=joint.tests,
            joint_judgement=joint.judgement,
            regression_tests=regression.tests,
            regression_judgement=regression.judgement,
        )


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
