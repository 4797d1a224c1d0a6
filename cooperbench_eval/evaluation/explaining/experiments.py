"""Tests trees from which hunks were left out, as often as the budget allows."""

from collections.abc import Callable

from attrs import frozen

from cooperbench_eval.errors import StrategyFailedError
from cooperbench_eval.evaluation.explaining.splitting import SideHunk, SplitSide
from cooperbench_eval.evaluation.pairs import FeaturePair
from cooperbench_eval.evaluation.sides import pair_merge_input
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.reporting.explanation import SuiteKind
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.results import TestCaseStatus, TestResult, TestStatus, lost_cases
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.run import run_strategy

__all__ = ["BudgetSpentError", "Experiments", "LostTests", "Merger"]

_MOST_TREES_PER_RUN = 20
"""Trees that do not merge cost no run, but their number needs a limit too."""
_MERGED = frozenset({MergeStatus.CLEAN, MergeStatus.RESOLVED})
_COMPLETE = frozenset({TestStatus.PASSED, TestStatus.FAILED})


class BudgetSpentError(Exception):
    """No further run is allowed."""


@frozen(kw_only=True)
class LostTests:
    """Tests of one suite that a merge lost.

    Attributes:
        kind: Which suite it is.
        suite: The suite.
        ids: The ids of the tests.
        before: A run in which they pass; `None` if there is none.
    """

    kind: SuiteKind
    suite: TestSuite
    ids: frozenset[str]
    before: TestResult | None = None

    def lost_in(self, run: TestResult) -> frozenset[str] | None:
        """Return the tests that do not pass in *run*; `None` if the run is not complete."""
        if run.status not in _COMPLETE:
            return None
        if self.before is not None:
            return self.ids.intersection(lost_cases(self.before, run))
        passed = TestCaseStatus.PASSED
        return self.ids.difference(case.id for case in run.cases if case.status is passed)


@frozen(kw_only=True)
class Merger:
    """Merges the sides of a pair, or parts of them, as the evaluator does.

    Attributes:
        pair: The pair.
        strategy: The strategy.
    """

    pair: FeaturePair
    strategy: MergeStrategy

    def merge(self, side1: Changes, side2: Changes) -> Changes | None:
        """Merge feature 1's side into feature 2's; `None` if the merge is not complete."""
        try:
            outcome = run_strategy(self.strategy, pair_merge_input(self.pair, side1, side2))
        except StrategyFailedError:
            return None
        return outcome.changes if outcome.status in _MERGED else None


class Experiments:
    """Runs suites on trees; a tree that was tested before costs no run.

    Attributes:
        runs_used: The number of runs so far.
        had_no_verdict: Whether the sandbox failed in a run, so that nothing is known about
            its tree.
    """

    def __init__(
        self, merger: Merger, runner: TestRunner, budget: int, sides: tuple[SplitSide, SplitSide]
    ) -> None:
        self._merger = merger
        self.base = merger.pair.base
        self._runner = runner
        self._budget = budget
        self._sides = sides
        self._trees = 0
        self._runs: dict[tuple[TestSuite, str], TestResult] = {}
        self.runs_used = 0
        self.had_no_verdict = False

    def know(self, suite: TestSuite, changes: Changes, run: TestResult | None) -> None:
        """Add the result of an earlier run."""
        if run is not None:
            self._runs[suite, changes.tree_id(self.base)] = run

    def rerun(self, suite: TestSuite, changes: Changes) -> TestResult:
        """Run a suite for the second time on a tree, whatever is known about it."""
        self._spend()
        run = self._runner.run(self.base, changes, suite, number=2)
        self.know(suite, changes, run)
        return run

    def merged_passes(
        self, lost: LostTests, kept1: tuple[SideHunk, ...], kept2: tuple[SideHunk, ...]
    ) -> bool:
        """Whether the lost tests pass if only some hunks of each side are merged."""
        return self._passes(lost, lambda: self._merged(kept1, kept2))

    def side_passes(self, lost: LostTests, side: int, kept: tuple[SideHunk, ...]) -> bool:
        """Whether the lost tests pass with some hunks of one side only; *side* is 0 or 1."""
        return self._passes(lost, lambda: self._sides[side].with_only(frozenset(kept)))

    def _merged(self, kept1: tuple[SideHunk, ...], kept2: tuple[SideHunk, ...]) -> Changes | None:
        side1 = self._sides[0].with_only(frozenset(kept1))
        side2 = self._sides[1].with_only(frozenset(kept2))
        return None if side1 is None or side2 is None else self._merger.merge(side1, side2)

    def _passes(self, lost: LostTests, make: Callable[[], Changes | None]) -> bool:
        self._trees += 1
        if self._trees > _MOST_TREES_PER_RUN * self._budget:
            raise BudgetSpentError
        changes = make()
        if changes is None:
            return False
        key = lost.suite, changes.tree_id(self.base)
        if key not in self._runs:
            self._spend()
            self._runs[key] = self._runner.run(self.base, changes, lost.suite)
        run = self._runs[key]
        if run.status is TestStatus.INFRASTRUCTURE_ERROR:
            self.had_no_verdict = True
        return lost.lost_in(run) == frozenset()

    def _spend(self) -> None:
        if self.runs_used >= self._budget:
            raise BudgetSpentError
        self.runs_used += 1
