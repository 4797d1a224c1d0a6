"""Evaluates a team: which of its features land in their order under each strategy."""

import datetime as dt
import functools
from collections.abc import Mapping

from attrs import frozen

from cooperbench_eval.evaluation.features_alone import Alone, FeaturesAlone, Placing
from cooperbench_eval.evaluation.fold import Fold
from cooperbench_eval.evaluation.pairs import FeatureTeam
from cooperbench_eval.evaluation.queue import Landed, QueueStep, land_in_order
from cooperbench_eval.evaluation.scoring import ConflictScorer
from cooperbench_eval.evaluation.sides import Side
from cooperbench_eval.evaluation.suite_runs import SuiteRuns
from cooperbench_eval.evaluation.team_tests import Tester
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.reporting.landings import SuiteRun
from cooperbench_eval.reporting.teams import TeamAttempt, TeamReport, TeamStep
from cooperbench_eval.running import TestRunner
from cooperbench_eval.running.judgements import JudgeRule
from cooperbench_eval.strategies.naive import NaiveStrategy
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.run import implementation_of
from cooperbench_eval.support.systems import versions

__all__ = ["TeamEvaluation"]


@frozen(kw_only=True)
class TeamEvaluation:
    """The evaluation of one team; see `Evaluator` for the meaning of its options."""

    team: FeatureTeam
    strategies: tuple[MergeStrategy, ...]
    runner: TestRunner | None
    scorer: ConflictScorer
    placing: Placing
    judge: JudgeRule
    test_base: bool

    def report(self) -> TeamReport:
        """Evaluate the team."""
        team, began = self.team, dt.datetime.now(dt.UTC)
        runs = SuiteRuns(team, self.runner, self.judge, test_base=self.test_base)
        alone = Alone(group=team, runs=runs, placing=self.placing).evaluate()
        sides = {
            each.number: Side.of(each, alone.sides[each.number])
            for each in team.features
            if each.number in alone.sides
        }
        tester = None if self.runner is None else Tester(team, runs, alone.tests)
        work = _Work(self, alone, sides, tester)
        naive = land_in_order(work.fold(NaiveStrategy()), alone.reports, sides)
        return TeamReport(
            repo_name=team.repo_name,
            task_id=team.task_id,
            timestamp=began,
            features=alone.reports,
            merges=tuple(map(work.row, naive.steps)),
            attempts=tuple(map(work.attempt, self.strategies)),
            base_tree_id=team.base.tree_id,
            base_commit=team.base.commit_id,
            model=team.model,
            setting=team.setting,
            k=team.k,
            versions=versions(),
            judge=self.judge,
            base_joint_tests=alone.base_joint,
            base_regression_tests=alone.base_regression,
        )


class _Work:
    """What the strategies' attempts at a team share."""

    def __init__(
        self,
        options: TeamEvaluation,
        alone: FeaturesAlone,
        sides: Mapping[int, Side],
        tester: Tester | None,
    ) -> None:
        self._options = options
        self._alone = alone
        self._sides = sides
        self._tester = tester
        # Several strategies often return the same tree.
        self._diff_of = functools.cache(functools.partial(Changes.diff, base=options.team.base))

    def fold(self, strategy: MergeStrategy) -> Fold:
        return Fold(base=self._options.team.base, strategy=strategy)

    def attempt(self, strategy: MergeStrategy) -> TeamAttempt:
        """Land the features with one strategy."""
        fold, reports = self.fold(strategy), self._alone.reports
        whole = land_in_order(fold, reports, self._sides)
        status = _status(whole, is_complete=self._alone.is_complete)
        tests = self._runs_on(whole.side)
        landed, landed_tests = whole, tests
        if any(each.broken for each in tests):
            landed = land_in_order(fold, reports, self._sides, self._tester)
            landed_tests = self._runs_on(landed.side)
        is_whole = len(whole.numbers) == len(reports)
        steps = {(each.into, each.number): each for each in (*whole.steps, *landed.steps)}
        changes = landed.side.changes if landed.side else Changes()
        return TeamAttempt(
            strategy=strategy.name,
            implementation=implementation_of(strategy),
            status=status,
            landed=landed.numbers,
            left_out=landed.left_out,
            steps=tuple(map(self.row, steps.values())),
            tree_id=changes.tree_id(self._options.team.base),
            diff=self._diff_of(changes),
            tests=tests if is_whole else (),
            landed_tests=() if is_whole and landed is whole else landed_tests,
        )

    def row(self, step: QueueStep) -> TeamStep:
        """Return the record of one merge."""
        base = self._options.team.base

        def features_at(path: str) -> tuple[int, ...]:
            name = step.merged.name_on_a_side(path)
            touching = (each for each in step.into if name in self._sides[each].changes)
            # If nobody touches it under this name, it was renamed.
            return (*(tuple(touching) or step.into), step.number)

        return TeamStep(
            feature=step.number,
            into=step.into,
            conflicts=step.merged.outcome.conflicts,
            **step.merged.row(base, self._options.scorer, self._diff_of, features_at),
        )

    def _runs_on(self, side: Side | None) -> tuple[SuiteRun, ...]:
        return tuple(self._tester.runs_on(side)) if self._tester and side else ()


def _status(whole: Landed, *, is_complete: bool) -> MergeStatus:
    """Return how the merge of all features ended: as the merge that ended worst."""
    if not is_complete:
        return MergeStatus.NOT_TRIED
    found = {step.merged.outcome.status for step in whole.steps}
    worst_first = (MergeStatus.FAILED, MergeStatus.CONFLICTED, MergeStatus.RESOLVED)
    return next((each for each in worst_first if each in found), MergeStatus.CLEAN)
