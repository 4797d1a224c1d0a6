"""Evaluates a pair or a team. This is the only module that knows the whole pipeline."""

import datetime as dt
import functools
from collections.abc import Iterable
from typing import Any, TypeVar, overload

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.evaluation.features_alone import Alone, FeaturesAlone, Placing
from cooperbench_eval.evaluation.fold import merge_sides
from cooperbench_eval.evaluation.pairs import FeaturePair, FeatureTeam
from cooperbench_eval.evaluation.scoring import ConflictScorer
from cooperbench_eval.evaluation.sides import pair_merge_input
from cooperbench_eval.evaluation.suite_runs import SuiteRuns
from cooperbench_eval.evaluation.teams import TeamEvaluation
from cooperbench_eval.evaluation.tracing import trace_failures
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.git.patching.placements import ApplyPolicy, PatchStatus
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.languages.hazards import find_hazards
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting import Attempt, Failure, FeatureReport, MergeReport, PatchReport
from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.reporting.losses import lost_tests_of
from cooperbench_eval.reporting.teams import GroupReport, TeamAttempt, TeamReport
from cooperbench_eval.reporting.traces import FailureTrace
from cooperbench_eval.running import TestRunner
from cooperbench_eval.running.judgements import JudgeRule
from cooperbench_eval.strategies.protocol import MergeInput, MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.strategies.run import implementation_of
from cooperbench_eval.support.arguments import able_to, checked_fields, follows
from cooperbench_eval.support.systems import versions

__all__ = ["Evaluator", "report_failure"]

_Row = TypeVar("_Row", Attempt, TeamAttempt)


def _as_strategies(
    given: str | MergeStrategy | Iterable[str | MergeStrategy],
) -> tuple[MergeStrategy, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        if not isinstance(given, str) and not hasattr(given, "merge"):
            problem = f"must be a strategy, its name, or a list of these, not {given!r:.80}"
            raise ArgumentError("strategies", problem)
        return (as_strategy(given),)
    return tuple(map(as_strategy, given))


def _check_pair(pair: object) -> None:
    _check_group(pair, "pair", FeaturePair, "evaluate_team() takes a FeatureTeam")


def _check_group(given: object, name: str, kind: type, other: str) -> None:
    if not isinstance(given, kind):
        found = type(given).__qualname__
        raise ArgumentError(name, f"must be a {kind.__name__}, not {found}; {other}")


@frozen(kw_only=True, field_transformer=checked_fields)
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
    runner: TestRunner | None = field(default=None, metadata=follows(able_to("run")))
    scorer: ConflictScorer = field(factory=ConflictScorer)
    test_filter: TestFileFilter = field(factory=TestFileFilter)
    apply_policy: ApplyPolicy = field(factory=ApplyPolicy)
    test_base: bool = True
    test_other: bool = False
    judge: JudgeRule = field(default=JudgeRule.DELTA, converter=JudgeRule)

    @strategies.validator
    def _check_strategies(self, _: object, strategies: tuple[MergeStrategy, ...]) -> None:
        names = [strategy.name for strategy in strategies]
        if len(set(names)) < len(names):
            problem = f"must have different names, not {', '.join(names)}"
            raise ArgumentError("strategies", problem)

    def evaluate(self, pair: FeaturePair) -> MergeReport:
        """Evaluate *pair* in the calling thread.

        A patch that does not apply, a conflict, a failed strategy, and tests that
        fail or time out are all results, not errors.

        Raises:
            ArgumentError: *pair* is not a `FeaturePair`.
            RepositoryError: The base cannot be read.
            TestRunError: A test command cannot be started.
        """
        _check_pair(pair)
        return _Evaluation(self, pair).report()

    def evaluate_team(self, team: FeatureTeam) -> TeamReport:
        """Evaluate *team* in the calling thread: find out which of its features land.

        The features are taken in their order, as in a merge queue. One that conflicts or makes
        tests fail is left out, and the next one is merged into those that have landed. The
        suites first run on the tree of all features that merge; the features are tested one
        after another only if a suite fails there. A failing suite is run a second time before
        a feature is left out because of it.

        The verdict follows from the tree of all features, as it does for a pair. For a team
        with the features 2 and 1, in this order, it is the verdict of `evaluate`, unless a
        suite is flaky: here, a case that fails and then passes on the same tree is ignored.

        Raises:
            ArgumentError: *team* is not a `FeatureTeam`.
            RepositoryError: The base cannot be read.
            TestRunError: A test command cannot be started.
        """
        _check_group(team, "team", FeatureTeam, "evaluate() takes a FeaturePair")
        return TeamEvaluation(
            team=team,
            strategies=self.strategies,
            runner=self.runner,
            scorer=self.scorer,
            placing=Placing(self.test_filter, self.apply_policy),
            judge=self.judge,
            test_base=self.test_base,
        ).report()

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
        from cooperbench_eval.running.processes.calls import (  # noqa: PLC0415 - imports asyncio
            await_in_process,
        )

        _check_pair(pair)
        return await await_in_process(self.evaluate, pair)


@overload
def report_failure(
    strategies: Iterable[MergeStrategy],
    failure: Failure,
    pair: PairId,
    kind: type[MergeReport] = ...,
) -> MergeReport: ...
@overload
def report_failure(
    strategies: Iterable[MergeStrategy], failure: Failure, pair: PairId, kind: type[TeamReport]
) -> TeamReport: ...
@overload
def report_failure(
    strategies: Iterable[MergeStrategy], failure: Failure, pair: PairId, kind: type[GroupReport]
) -> GroupReport: ...
def report_failure(
    strategies: Iterable[MergeStrategy],
    failure: Failure,
    pair: PairId,
    kind: type[GroupReport] = MergeReport,
) -> GroupReport:
    """Return the report of a pair or team that could not be evaluated.

    Args:
        strategies: Each gets a row that says it was not tried.
        failure: Why there is no result.
        pair: The identity of the pair or team.
        kind: The class of the report.
    """
    not_tried = PatchReport(status=PatchStatus.NOT_TRIED)
    features = [FeatureReport(number=number, patch=not_tried) for number in pair.features]
    known: dict[str, Any] = {
        "repo_name": pair.repo_name,
        "task_id": pair.task_id,
        "timestamp": dt.datetime.now(dt.UTC),
        "model": pair.model,
        "setting": pair.setting,
        "k": pair.k,
        "versions": versions(),
        "failure": failure,
    }
    if kind is TeamReport:
        rows = [_not_tried(each, TeamAttempt) for each in strategies]
        return TeamReport(**known, features=features, attempts=rows)
    feature1, feature2 = features
    return MergeReport(
        **known,
        feature1=feature1,
        feature2=feature2,
        conflict_details=None,
        attempts=[_not_tried(each, Attempt) for each in strategies],
    )


class _Evaluation:
    def __init__(self, evaluator: Evaluator, pair: FeaturePair) -> None:
        self._evaluator = evaluator
        self._pair = pair
        self._runs = SuiteRuns(
            pair, evaluator.runner, evaluator.judge, test_base=evaluator.test_base
        )
        self._alone = Alone(
            group=pair,
            runs=self._runs,
            placing=Placing(evaluator.test_filter, evaluator.apply_policy),
            test_other=evaluator.test_other,
        )
        # Several strategies often return the same tree.
        self._diff_of = functools.cache(functools.partial(Changes.diff, base=pair.base))
        self._hazards: dict[Changes, tuple[Hazard, ...]] = {}
        self._merged: dict[str, Changes] = {}

    def report(self) -> MergeReport:
        pair, began = self._pair, dt.datetime.now(dt.UTC)
        alone = self._alone.evaluate()
        feature1, feature2 = alone.reports
        given = None
        if alone.is_complete:
            side1, side2 = (alone.sides[number] for number in pair.numbers)
            given = pair_merge_input(pair, side1, side2)
        attempts = tuple(self._attempt(each, given, alone) for each in self._evaluator.strategies)
        merge = given.merge if given else None
        report = MergeReport(
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
            versions=versions(),
            judge=self._evaluator.judge,
            base_joint_tests=alone.base_joint,
            base_regression_tests=alone.base_regression,
        )
        return self._traced(report, given) if given else report

    def _traced(self, report: MergeReport, given: MergeInput) -> MergeReport:
        """Add where the failures of lost tests lead, once for equal trees and failures."""
        known: dict[tuple[Changes, tuple[tuple[str, str], ...]], FailureTrace] = {}
        rows: list[Attempt] = []
        for attempt in report.attempts:
            lost = lost_tests_of(attempt, report.blame(attempt.strategy))
            failures = {each.name: each.message for each in lost}
            if failures:
                changes = self._merged[attempt.strategy]
                key = changes, tuple(failures.items())
                if key not in known:
                    known[key] = trace_failures(
                        self._pair.base, given.theirs, given.ours, changes, failures
                    )
                rows.append(evolve(attempt, trace=known[key]))
            else:
                rows.append(attempt)
        return evolve(report, attempts=rows)

    def _attempt(
        self, strategy: MergeStrategy, given: MergeInput | None, alone: FeaturesAlone
    ) -> Attempt:
        """Run a strategy; if a side is missing, its row says that it was not tried."""
        if given is None:
            return _not_tried(strategy, Attempt)
        pair, merged = self._pair, merge_sides(strategy, given)
        numbers = pair.numbers
        attempt = Attempt(
            strategy=strategy.name,
            implementation=implementation_of(strategy),
            **merged.row(
                pair.base, self._evaluator.scorer, self._diff_of, lambda _: reversed(numbers)
            ),
        )
        if not merged.is_complete:
            return attempt
        changes = self._merged[strategy.name] = merged.outcome.changes
        hazards = self._hazards_of(given, changes)
        return self._tested(evolve(attempt, hazards=hazards), changes, alone)

    def _hazards_of(self, given: MergeInput, changes: Changes) -> tuple[Hazard, ...]:
        """Find the hazards of a merged tree, once for all strategies that return it."""
        if changes not in self._hazards:
            self._hazards[changes] = find_hazards(
                self._pair.base,
                given.ours,
                given.theirs,
                changes,
                ours_feature=self._pair.feature2.number,
                theirs_feature=self._pair.feature1.number,
            )
        return self._hazards[changes]

    def _tested(self, attempt: Attempt, changes: Changes, alone: FeaturesAlone) -> Attempt:
        """Add the runs of all suites on a merged tree."""
        pair, runs = self._pair, self._runs
        alone1, alone2 = (each.tests for each in alone.reports)
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


def _not_tried(strategy: MergeStrategy, kind: type[_Row]) -> _Row:
    return kind(
        strategy=strategy.name,
        implementation=implementation_of(strategy),
        status=MergeStatus.NOT_TRIED,
    )
