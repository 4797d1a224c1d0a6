"""Evaluates a pair or a team. This is the only module that knows the whole pipeline."""

import datetime as dt
import functools
from collections.abc import Iterable, Iterator
from typing import TypeVar

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.evaluation.features_alone import Alone
from cooperbench_eval.evaluation.merge_queue import Landed, MergeQueue
from cooperbench_eval.evaluation.options import Options
from cooperbench_eval.evaluation.pairs import FeatureGroup, FeaturePair, FeatureTeam
from cooperbench_eval.evaluation.sides import Merged, Side, merge_sides, pair_merge_input
from cooperbench_eval.evaluation.suite_runs import Runs, SuiteRuns
from cooperbench_eval.evaluation.tracing import trace_failures
from cooperbench_eval.git.merging.conflicts import ConflictScorer, MergeStatus
from cooperbench_eval.git.patching.patch_parts import PatchStatus
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.languages.hazards.finding import find_hazards
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting import Attempt, Failure, FeatureReport, MergeReport, PatchReport
from cooperbench_eval.reporting.blame import find_blame, lost_tests_of
from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.reporting.landings import BrokenTests, SuiteRun
from cooperbench_eval.reporting.rows import FailureTrace
from cooperbench_eval.reporting.teams import GroupReport, TeamAttempt, TeamReport, TeamStep
from cooperbench_eval.strategies.naive import NaiveStrategy
from cooperbench_eval.strategies.protocol import MergeInput, MergeStrategy
from cooperbench_eval.strategies.run import implementation_of
from cooperbench_eval.support.arguments import checked_fields
from cooperbench_eval.support.systems import versions

_Row = TypeVar("_Row", Attempt, TeamAttempt)
_FEWEST_TO_MERGE = 2


def _check_pair(pair: object) -> None:
    _check_group(pair, "pair", FeaturePair, "evaluate_team() takes a FeatureTeam")


def _check_group(given: object, name: str, kind: type, other: str) -> None:
    if not isinstance(given, kind):
        found = type(given).__qualname__
        raise ArgumentError(name, f"must be a {kind.__name__}, not {found}; {other}")


@frozen(kw_only=True, field_transformer=checked_fields)
class Evaluator(Options):
    """Finds out whether a pair's patches apply, merge and pass their tests.

    Attributes:
        strategies: The merge strategies to try, independently of each other; names are
            looked up at once.
        runner: Runs the tests; `None` to merge and score only.
        scorer: Measures conflicts.
        test_filter: Which test files of the agents are dropped. By default, all are dropped if a
            suite brings tests of its own, and all are kept if none does.
        apply_policy: How leniently patches are placed.
        test_base: Whether to also run each feature's tests on the base: a test that
            passes there says nothing about the feature.
        test_other: Whether to also run each feature's tests on the base with only the
            other feature's patch: a test that passes there does not need the merge.
        judge: Which cases must pass. With `"delta"`, these are the cases that the suite's
            patch adds or changes, and those that pass on the base. With `"absolute"`, and
            for suites without a run on the base, every case must pass.
    """

    scorer: ConflictScorer = field(factory=ConflictScorer)
    test_base: bool = True
    test_other: bool = False

    def __attrs_post_init__(self) -> None:
        names = [strategy.name for strategy in self.strategies]
        if len(set(names)) < len(names):
            problem = f"must have different names, not {', '.join(names)}"
            raise ArgumentError("strategies", problem)

    def evaluate(self, pair: FeaturePair) -> MergeReport:
        """Evaluate *pair* in the calling thread.

        A patch that does not apply, a conflict, a failed strategy, and tests that
        fail, time out or cannot be run are all results, not errors.

        Raises:
            ArgumentError: *pair* is not a `FeaturePair`.
            RepositoryError: The base cannot be read.
        """
        _check_pair(pair)
        return _evaluate_pair(pair, self)

    def evaluate_team(self, team: FeatureTeam) -> TeamReport:
        """Evaluate *team* in the calling thread: find out which of its features land.

        The features are taken in their order, as in a merge queue. One that conflicts or makes
        tests fail is left out, and the next one is merged into those that have landed. The
        suites first run on the tree of all features that merge; the features are tested one
        after another only if a suite fails there.

        The verdict follows from the tree of all features, as it does for a pair. For a team
        with the features 2 and 1, in this order, it is the verdict of `evaluate`.

        Raises:
            ArgumentError: *team* is not a `FeatureTeam`.
            RepositoryError: The base cannot be read.
        """
        _check_group(team, "team", FeatureTeam, "evaluate() takes a FeaturePair")
        return _evaluate_team(team, self)

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
        """
        from cooperbench_eval.running.processes.calls import (  # noqa: PLC0415 - imports asyncio
            await_in_process,
        )

        _check_pair(pair)
        return await await_in_process(self.evaluate, pair)


class _Evaluation:
    """What the strategies' attempts at a pair or team share.

    Attributes:
        alone: Each feature without the others.
        diff_of: Returns changes as a diff against the base.
    """

    def __init__(self, group: FeatureGroup, options: Evaluator, *, test_other: bool) -> None:
        self.options = options
        scorer = options.scorer if type(options.scorer) is ConflictScorer else None
        self.used = evolve(options.used(group), scorer=scorer)
        self.placed = options.place(group)
        runs = None if options.runner is None else Runs(options.runner)
        self.runs = SuiteRuns(group, runs, options.judge, test_base=options.test_base)
        self.alone = Alone(
            group, self.placed, self.runs, options.apply_policy, test_other=test_other
        ).evaluate()
        # Several strategies often return the same tree.
        self.diff_of = functools.cache(functools.partial(Changes.diff, base=group.base))


# --- a pair ------------------------------------------------------------------


def _evaluate_pair(pair: FeaturePair, options: Evaluator) -> MergeReport:
    """Evaluate a pair; see `Evaluator.evaluate`."""
    began = dt.datetime.now(dt.UTC)
    work = _PairEvaluation(pair, options, test_other=options.test_other)
    alone = work.alone
    feature1, feature2 = alone.reports
    given = None
    if alone.is_complete:
        side1, side2 = (alone.sides[number] for number in pair.numbers)
        given = pair_merge_input(pair, side1, side2)
    merge = given.merge if given else None
    return MergeReport(
        repo_name=pair.repo_name,
        task_id=pair.task_id,
        timestamp=began,
        feature1=feature1,
        feature2=feature2,
        conflict_details=options.scorer.score(merge.conflicts) if merge else None,
        conflicts=merge.conflicts if merge else (),
        diff=work.diff_of(merge.changes) if merge else None,
        attempts=tuple(work.attempts(given)),
        base_tree_id=pair.base.tree_id,
        base_commit=pair.base.commit_id,
        model=pair.model,
        setting=pair.setting,
        k=pair.k,
        versions=versions(),
        judge=options.judge,
        options=work.used,
        base_joint_tests=alone.base_joint,
        base_regression_tests=alone.base_regression,
    )


class _PairEvaluation(_Evaluation):
    def __init__(self, pair: FeaturePair, options: Evaluator, *, test_other: bool) -> None:
        super().__init__(pair, options, test_other=test_other)
        self._pair = pair

    def attempts(self, given: MergeInput | None) -> Iterator[Attempt]:
        """Run each strategy; if a side is missing, its row says that it was not tried."""
        if given is None:
            yield from (_not_tried(each, Attempt) for each in self.options.strategies)
            return
        base, (one, two) = self._pair.base, self.alone.reports

        # Once for all strategies that return the same tree, and lose the same tests on it.
        hazards_of = functools.cache(
            functools.partial(
                find_hazards, base, {two.number: given.ours, one.number: given.theirs}
            )
        )

        @functools.cache
        def trace_of(changes: Changes, failures: tuple[tuple[str, str], ...]) -> FailureTrace:
            return trace_failures(base, given.theirs, given.ours, changes, dict(failures))

        for strategy in self.options.strategies:
            merged = merge_sides(strategy, given)
            attempt = self._merged(strategy, merged)
            if merged.is_complete:
                changes = merged.outcome.changes
                attempt = evolve(self._tested(attempt, changes), hazards=hazards_of(changes))
                blame = find_blame(one, two, attempt, self.alone.base_regression)
                failures = {each.name: each.message for each in lost_tests_of(attempt, blame)}
                if failures:
                    attempt = evolve(attempt, trace=trace_of(changes, tuple(failures.items())))
            yield attempt

    def _merged(self, strategy: MergeStrategy, merged: Merged) -> Attempt:
        """Return the row of a strategy before any test runs."""
        number1, number2 = self._pair.numbers
        return Attempt(
            strategy=strategy.name,
            implementation=implementation_of(strategy),
            **merged.row(
                self._pair.base, self.options.scorer, self.diff_of, lambda _: (number2, number1)
            ),
        )

    def _tested(self, attempt: Attempt, changes: Changes) -> Attempt:
        """Add the runs of all suites on a merged tree."""
        pair, runs = self._pair, self.runs
        alone1, alone2 = (each.tests for each in self.alone.reports)
        tests1 = runs.confirmed(pair.feature1.tests, changes, alone1)
        tests2 = runs.confirmed(pair.feature2.tests, changes, alone2)
        joint = runs.confirmed(pair.joint, changes)
        is_wrong = False in {tests1.outcome, tests2.outcome, joint.outcome}
        regression = (runs.judged if is_wrong else runs.confirmed)(pair.regression, changes)
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


# --- a team ------------------------------------------------------------------


def _evaluate_team(team: FeatureTeam, options: Evaluator) -> TeamReport:
    """Evaluate a team; see `Evaluator.evaluate_team`."""
    began = dt.datetime.now(dt.UTC)
    work = _TeamEvaluation(team, options)
    alone = work.alone
    return TeamReport(
        repo_name=team.repo_name,
        task_id=team.task_id,
        timestamp=began,
        features=alone.reports,
        merges=work.rows(work.queue(NaiveStrategy()).land()),
        attempts=tuple(map(work.attempt, options.strategies)),
        base_tree_id=team.base.tree_id,
        base_commit=team.base.commit_id,
        model=team.model,
        setting=team.setting,
        k=team.k,
        versions=versions(),
        judge=options.judge,
        options=work.used,
        base_joint_tests=alone.base_joint,
        base_regression_tests=alone.base_regression,
    )


class _TeamEvaluation(_Evaluation):
    def __init__(self, team: FeatureTeam, options: Evaluator) -> None:
        super().__init__(team, options, test_other=False)
        self._base = team.base
        self._sides = {
            each.number: each.side for each in self.placed if each.number in self.alone.sides
        }

    def queue(self, strategy: MergeStrategy) -> MergeQueue:
        """Return the features as they wait to be merged by a strategy."""
        return MergeQueue(self._base, strategy, self.alone.reports, self._sides)

    def attempt(self, strategy: MergeStrategy) -> TeamAttempt:
        """Land the features with one strategy."""
        queue = self.queue(strategy)
        whole = queue.land()
        tests = self._runs_on(whole.side)
        landed, landed_tests = whole, tests
        if any(each.broken for each in tests):
            landed = queue.land(self._broken_on)
            landed_tests = self._runs_on(landed.side)
        is_whole = len(whole.numbers) == len(self.alone.reports)
        changes = landed.side.changes if landed.side else Changes()
        return TeamAttempt(
            strategy=strategy.name,
            implementation=implementation_of(strategy),
            status=_status(whole, is_complete=self.alone.is_complete),
            landed=landed.numbers,
            left_out=landed.left_out,
            steps=self.rows(whole, landed),
            tree_id=changes.tree_id(self._base),
            diff=self.diff_of(changes),
            tests=tests if is_whole else (),
            landed_tests=() if is_whole and landed is whole else landed_tests,
            hazards=self._hazards(whole),
        )

    def _hazards(self, landed: Landed) -> tuple[Hazard, ...]:
        """Return what looks wrong in the tree of all features that merge."""
        if landed.side is None or len(landed.numbers) < _FEWEST_TO_MERGE:
            return ()
        sides = {number: self._sides[number].changes for number in landed.numbers}
        return find_hazards(self._base, sides, landed.side.changes)

    def rows(self, *landed: Landed) -> tuple[TeamStep, ...]:
        """Return the records of all merges, each once."""
        steps = {key: merged for each in landed for key, merged in each.steps.items()}
        return tuple(self._row(into, number, merged) for (into, number), merged in steps.items())

    def _row(self, into: tuple[int, ...], number: int, merged: Merged) -> TeamStep:
        def features_at(path: str) -> tuple[int, ...]:
            name = merged.name_on_a_side(path)
            touching = (each for each in into if name in self._sides[each].changes)
            # If nobody touches it under this name, it was renamed.
            return (*(tuple(touching) or into), number)

        return TeamStep(
            feature=number,
            into=into,
            conflicts=merged.outcome.conflicts,
            **merged.row(self._base, self.options.scorer, self.diff_of, features_at),
        )

    def _runs_on(self, side: Side | None) -> tuple[SuiteRun, ...]:
        if self.options.runner is None or side is None:
            return ()
        return tuple(self.runs.of_features(side.numbers, side.changes, self.alone.tests))

    def _broken_on(self, side: Side) -> tuple[BrokenTests, ...]:
        found = (each.broken for each in self._runs_on(side))
        return tuple(each for each in found if each is not None)


def _status(whole: Landed, *, is_complete: bool) -> MergeStatus:
    """Return how the merge of all features ended: as the merge that ended worst."""
    if not is_complete:
        return MergeStatus.NOT_TRIED
    found = {merged.outcome.status for merged in whole.steps.values()}
    worst_first = (MergeStatus.FAILED, MergeStatus.CONFLICTED, MergeStatus.RESOLVED)
    return next((each for each in worst_first if each in found), MergeStatus.CLEAN)


# --- what was not tried ------------------------------------------------------


def report_failure(
    strategies: Iterable[MergeStrategy],
    failure: Failure,
    pair: PairId,
    kind: type[GroupReport],
) -> GroupReport:
    """Return the report of a pair or team that could not be evaluated.

    Args:
        strategies: Each gets a row that says it was not tried.
        failure: Why there is no result.
        pair: The identity of the pair or team.
        kind: The class of the report.
    """
    patch = PatchReport(status=PatchStatus.NOT_TRIED)
    features = [FeatureReport(number=number, patch=patch) for number in pair.features]
    if kind is TeamReport:
        return TeamReport(
            repo_name=pair.repo_name,
            task_id=pair.task_id,
            timestamp=dt.datetime.now(dt.UTC),
            features=features,
            attempts=[_not_tried(each, TeamAttempt) for each in strategies],
            model=pair.model,
            setting=pair.setting,
            k=pair.k,
            versions=versions(),
            failure=failure,
        )
    feature1, feature2 = features
    return MergeReport(
        repo_name=pair.repo_name,
        task_id=pair.task_id,
        timestamp=dt.datetime.now(dt.UTC),
        feature1=feature1,
        feature2=feature2,
        conflict_details=None,
        attempts=[_not_tried(each, Attempt) for each in strategies],
        model=pair.model,
        setting=pair.setting,
        k=pair.k,
        versions=versions(),
        failure=failure,
    )


def _not_tried(strategy: MergeStrategy, kind: type[_Row]) -> _Row:
    """Return the row of a strategy for which there was nothing to merge."""
    return kind(
        strategy=strategy.name,
        implementation=implementation_of(strategy),
        status=MergeStatus.NOT_TRIED,
    )
