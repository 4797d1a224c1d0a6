"""Evaluates a pair or a team. This is the only module that knows the whole pipeline."""

import datetime as dt
import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.evaluation.merge_queue import Landed, MergeKey, MergeQueue
from cooperbench_eval.evaluation.pairs import FeatureGroup, FeaturePair, FeatureTeam
from cooperbench_eval.evaluation.placing import Options, placed_with, used_options
from cooperbench_eval.evaluation.sides import Merged, Side
from cooperbench_eval.evaluation.suite_runs import Runs, SuiteRuns, evaluate_alone
from cooperbench_eval.evaluation.tracing import trace_failures
from cooperbench_eval.git.merging.conflicts import ConflictScorer, MergeStatus, worst_end
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
_Report = TypeVar("_Report", MergeReport, TeamReport)


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
        return _Evaluation(pair, self).report_pair()

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
        return _Evaluation(team, self).report_team()

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
    """The evaluation of a team, or of a pair, which is merged like the team of features 2 and 1."""

    def __init__(self, group: FeatureGroup, options: Evaluator) -> None:
        self._began = dt.datetime.now(dt.UTC)
        self._group = group
        self._base = group.base
        self._options = options
        is_pair = isinstance(group, FeaturePair)
        placed = placed_with(options, group)
        runs = None if options.runner is None else Runs(options.runner)
        self._runs = SuiteRuns(group, runs, options.judge, test_base=options.test_base)
        test_other = is_pair and options.test_other
        policy = options.apply_policy
        self._alone = evaluate_alone(group, placed, self._runs, policy, test_other=test_other)
        self._order = self._alone.reports[::-1] if is_pair else self._alone.reports
        self._sides = {each.number: each.side for each in placed if each.is_usable}
        if is_pair:  # its base is the merge base of its features
            self._sides = {n: evolve(each, starts=()) for n, each in self._sides.items()}
        self._given: dict[MergeKey, MergeInput] = {}
        # Several strategies often return the same tree, and lose the same tests on it.
        self._diff_of = functools.cache(functools.partial(Changes.diff, base=self._base))
        self._hazards_of = functools.cache(self._hazards)
        self._trace_of = functools.cache(self._trace)

    def report_pair(self) -> MergeReport:
        feature1, feature2 = self._alone.reports
        steps = self._queue(NaiveStrategy()).land().steps.values()
        merge = next((merged.given.merge for merged, _ in steps), None)
        return self._begun(MergeReport)(
            feature1=feature1,
            feature2=feature2,
            conflict_details=self._options.scorer.score(merge.conflicts) if merge else None,
            conflicts=merge.conflicts if merge else (),
            diff=self._diff_of(merge.changes) if merge else None,
            attempts=tuple(map(self._pair_row, self._options.strategies)),
        )

    def report_team(self) -> TeamReport:
        return self._begun(TeamReport)(
            features=self._alone.reports,
            merges=self._steps(self._queue(NaiveStrategy()).land()),
            attempts=tuple(map(self._team_row, self._options.strategies)),
        )

    def _begun(self, kind: type[_Report]) -> Callable[..., _Report]:
        """Return a constructor of reports that fills in the fields that all reports share."""
        options = self._options
        scorer = options.scorer if type(options.scorer) is ConflictScorer else None
        return functools.partial(
            _about(kind, PairId.of(self._group), self._began),
            base_tree_id=self._base.tree_id,
            base_commit=self._base.commit_id,
            judge=options.judge,
            options=evolve(used_options(options, self._group), scorer=scorer),
            base_joint_tests=self._alone.base_joint,
            base_regression_tests=self._alone.base_regression,
        )

    def _pair_row(self, strategy: MergeStrategy) -> Attempt:
        """Merge feature 1 into feature 2; if one is missing, the row says that it was not tried."""
        if len(self._sides) < len(self._order):
            return _not_tried(strategy, Attempt)
        landed = self._queue(strategy).land()
        ((key, (merged, side)),) = landed.steps.items()
        attempt = Attempt(
            strategy=strategy.name,
            implementation=implementation_of(strategy),
            **self._row(*key, merged, side),
        )
        if not merged.is_complete:
            return attempt
        number1, number2 = self._group.numbers
        names = {number1: "feature1", number2: "feature2"}
        runs: dict[str, Any] = {}
        for each in self._runs_on(landed.side):
            name = each.suite.value if each.feature is None else names[each.feature]
            runs |= {f"{name}_tests": each.tests, f"{name}_judgement": each.judgement}
        changes = merged.outcome.changes
        attempt = evolve(attempt, hazards=self._hazards_of(landed.numbers, changes), **runs)
        feature1, feature2 = self._alone.reports
        blame = find_blame(feature1, feature2, attempt, self._alone.base_regression)
        failures = {each.name: each.message for each in lost_tests_of(attempt, blame)}
        if not failures:
            return attempt
        return evolve(attempt, trace=self._trace_of(changes, tuple(failures.items())))

    def _team_row(self, strategy: MergeStrategy) -> TeamAttempt:
        queue = self._queue(strategy)
        whole = landed = queue.land()
        tests = landed_tests = self._runs_on(whole.side)
        if any(each.broken for each in tests):
            landed = queue.land(self._broken_on)
            landed_tests = self._runs_on(landed.side)
        is_whole = len(whole.numbers) == len(self._order)
        changes = landed.side.changes if landed.side else Changes()
        return TeamAttempt(
            strategy=strategy.name,
            implementation=implementation_of(strategy),
            status=_status(whole, is_complete=len(self._sides) == len(self._order)),
            landed=landed.numbers,
            left_out=landed.left_out,
            steps=self._steps(whole, landed),
            tree_id=changes.tree_id(self._base),
            diff=self._diff_of(changes),
            tests=tests if is_whole else (),
            landed_tests=() if is_whole and landed is whole else landed_tests,
            hazards=self._hazards_of(whole.numbers, whole.side.changes) if whole.side else (),
        )

    def _queue(self, strategy: MergeStrategy) -> MergeQueue:
        return MergeQueue(self._base, strategy, self._order, self._sides, self._given)

    def _hazards(self, numbers: tuple[int, ...], changes: Changes) -> tuple[Hazard, ...]:
        sides = {number: self._sides[number].changes for number in numbers}
        return find_hazards(self._base, sides, changes) if len(sides) > 1 else ()

    def _trace(self, changes: Changes, failures: tuple[tuple[str, str], ...]) -> FailureTrace:
        ours, theirs = (self._sides[each.number].changes for each in self._order)
        return trace_failures(self._base, theirs, ours, changes, dict(failures))

    def _steps(self, *landed: Landed) -> tuple[TeamStep, ...]:
        steps = {key: step for each in landed for key, step in each.steps.items()}
        return tuple(
            TeamStep(
                feature=number,
                into=into,
                conflicts=merged.outcome.conflicts,
                **self._row(into, number, merged, side),
            )
            for (into, number), (merged, side) in steps.items()
        )

    def _row(
        self, into: tuple[int, ...], number: int, merged: Merged, side: Side
    ) -> dict[str, Any]:
        """Return the fields of a `MergeRow`; those that a failed merge lacks are left out."""

        def features_at(path: str) -> tuple[int, ...]:
            name = merged.name_on_a_side(path)
            touching = (each for each in into if name in self._sides[each].changes)
            # If nobody touches it under this name, it was renamed.
            return (*(tuple(touching) or into), number)

        given, outcome = merged.given, merged.outcome
        row: dict[str, Any] = {
            "status": outcome.status,
            "conflicts_met": len(given.conflicts),
            "failure": outcome.failure,
            "duration_seconds": merged.seconds,
            "ledger": tuple(evolve(row, features=features_at(row.path)) for row in outcome.ledger),
            "usage": outcome.usage,
            "service_failed": outcome.service_failed,
        }
        if outcome.failure:
            return row
        tree = given.base.overlay(outcome.changes)
        return row | {
            "conflict_details": self._options.scorer.score(outcome.conflicts),
            "tree_id": tree.tree_id,
            "diff": self._diff_of(side.changes),
            "replacements": given.merge.replacements(tree, outcome.conflicts),
        }

    def _runs_on(self, side: Side | None) -> tuple[SuiteRun, ...]:
        if self._options.runner is None or side is None:
            return ()
        changes, alone = side.changes, self._alone.tests
        return tuple(self._runs.of_features(side.numbers, lambda _: changes, alone))

    def _broken_on(self, side: Side) -> tuple[BrokenTests, ...]:
        return tuple(filter(None, (each.broken for each in self._runs_on(side))))


def _status(whole: Landed, *, is_complete: bool) -> MergeStatus:
    if not is_complete:
        return MergeStatus.NOT_TRIED
    return worst_end(merged.outcome.status for merged, _ in whole.steps.values())


# --- what was not tried ------------------------------------------------------


def report_failure(
    strategies: Iterable[MergeStrategy],
    failure: Failure,
    pair: PairId,
    kind: type[GroupReport],
) -> GroupReport:
    """Return the report of a pair or team that could not be evaluated."""
    patch = PatchReport(status=PatchStatus.NOT_TRIED)
    features = [FeatureReport(number=number, patch=patch) for number in pair.features]
    now = dt.datetime.now(dt.UTC)
    if kind is TeamReport:
        attempts = [_not_tried(each, TeamAttempt) for each in strategies]
        team = _about(TeamReport, pair, now)
        return team(features=features, attempts=attempts, failure=failure)
    return _about(MergeReport, pair, now)(
        feature1=features[0],
        feature2=features[1],
        conflict_details=None,
        attempts=[_not_tried(each, Attempt) for each in strategies],
        failure=failure,
    )


def _about(kind: type[_Report], pair: PairId, timestamp: dt.datetime) -> Callable[..., _Report]:
    """Return a constructor of reports that fills in which pair or team it is, and when."""
    return functools.partial(
        kind,
        repo_name=pair.repo_name,
        task_id=pair.task_id,
        timestamp=timestamp,
        model=pair.model,
        setting=pair.setting,
        k=pair.k,
        versions=versions(),
    )


def _not_tried(strategy: MergeStrategy, kind: type[_Row]) -> _Row:
    return kind(
        strategy=strategy.name,
        implementation=implementation_of(strategy),
        status=MergeStatus.NOT_TRIED,
    )
