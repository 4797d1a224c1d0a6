"""Runs suites within a budget; a result that is already known costs nothing."""

from cooperbench_eval.evaluation.suite_runs import Runner
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running import TestSuite
from cooperbench_eval.running.results import TestResult


class BudgetSpentError(Exception):
    """The budget does not allow another run."""


class BudgetedRuns:
    """A runner that runs a suite once on each tree, and counts the runs.

    Attributes:
        budget: How many runs are allowed.
        used: How many different runs were asked for.
    """

    def __init__(self, runner: Runner, budget: int) -> None:
        """Allow *budget* runs by *runner*."""
        self.budget = budget
        self.used = 0
        self._runner = runner
        self._known: dict[tuple[str, TestSuite, int], TestResult] = {}

    def know(self, base: Snapshot, changes: Changes, suite: TestSuite, run: TestResult) -> None:
        """Add the result of an earlier run."""
        self._known[changes.tree_id(base), suite, 1] = run

    def run(
        self, base: Snapshot, changes: Changes, suite: TestSuite, *, number: int = 1
    ) -> TestResult:
        """Run *suite* on *base* with *changes*, if it did not run there before.

        Raises:
            BudgetSpentError: No more runs are allowed.
        """
        key = changes.tree_id(base), suite, number
        if key not in self._known:
            self._known[key] = self._counted(base, changes, suite, number)
        return self._known[key]

    def rerun(self, base: Snapshot, changes: Changes, suite: TestSuite) -> TestResult:
        """Run *suite* a second time, whatever is known; from now on, this result counts.

        Raises:
            BudgetSpentError: No more runs are allowed.
        """
        run = self._counted(base, changes, suite, 2)
        self.know(base, changes, suite, run)
        return run

    def _counted(
        self, base: Snapshot, changes: Changes, suite: TestSuite, number: int
    ) -> TestResult:
        if self.used >= self.budget:
            raise BudgetSpentError
        self.used += 1
        return self._runner.run(base, changes, suite, number=number)
