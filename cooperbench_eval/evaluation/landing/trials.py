"""Tests sets of patches on their merged trees, within a budget of runs."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from attrs import frozen

from cooperbench_eval.evaluation.pairs import Feature
from cooperbench_eval.evaluation.suite_runs import Runner, SuiteRuns, suites_on
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting.landings import BrokenTests, SuiteRun, TeamSuite
from cooperbench_eval.running import TestSuite
from cooperbench_eval.running.judgements import JudgeRule
from cooperbench_eval.running.results import TestResult

__all__ = ["BudgetSpentError", "CountedRuns", "Trials"]

_Patches = frozenset[int]


class BudgetSpentError(Exception):
    """The budget does not allow another run."""


class CountedRuns:
    """A runner that runs a suite once on each tree, and counts the runs.

    Attributes:
        budget: How many runs are allowed.
        used: How many different runs were asked for.
    """

    def __init__(self, runner: Runner, budget: int) -> None:
        """Allow *budget* runs by *runner*."""
        self.used = 0
        self._runner = runner
        self.budget = budget
        self._known: dict[tuple[str, TestSuite, int], TestResult] = {}

    def run(
        self, base: Snapshot, changes: Changes, suite: TestSuite, *, number: int = 1
    ) -> TestResult:
        """Run *suite* on *base* with *changes*, if it did not run there before.

        Raises:
            BudgetSpentError: No more runs are allowed.
        """
        key = changes.tree_id(base), suite, number
        if key not in self._known:
            if self.used >= self.budget:
                raise BudgetSpentError
            self.used += 1
            self._known[key] = self._runner.run(base, changes, suite, number=number)
        return self._known[key]


@frozen(kw_only=True)
class _Group:
    """The features of one tree, in the form that `SuiteRuns` takes."""

    base: Snapshot
    features: tuple[Feature, ...]
    joint: TestSuite | None
    regression: TestSuite | None


class Trials:
    """Tests sets of patches, each of them once on a tree.

    Attributes:
        broken: For each set and tree that was tested, the tests of the first suite that
            fails; `None` if none does.
        had_no_result: Whether a suite had no result on some tree.
        proven: The sets and trees on which every suite has a result, and some suite passes.
    """

    def __init__(
        self,
        base: Snapshot,
        features: Sequence[Feature],
        runs: CountedRuns,
        *,
        joint: TestSuite | None,
        regression: TestSuite | None,
        judge: JudgeRule,
    ) -> None:
        """Prepare to test.

        Args:
            base: The tree from which all patches start.
            features: The patches that can be merged, with their suites.
            runs: Runs the suites.
            joint: Tests that run only on trees with all patches.
            regression: Tests that run on every tree.
            judge: Which cases must pass.
        """
        self.broken: dict[tuple[_Patches, str], BrokenTests | None] = {}
        self.had_no_result = False
        self.proven: set[tuple[_Patches, str]] = set()
        self._base = base
        self._features = {each.number: each for each in features}
        self._runs = runs
        self._joint = joint
        self._regression = regression
        self._judge = judge
        self._failures: Counter[TestSuite] = Counter()

    @property
    def is_half_spent(self) -> bool:
        """Whether at least half of the budget was used."""
        return 2 * self._runs.used >= self._runs.budget

    def passes(self, patches: _Patches, tree: str, changes: Changes) -> bool:
        """Whether all suites of a set pass on its tree; the first that fails ends the trial.

        Raises:
            BudgetSpentError: A run would exceed the budget.
        """
        key = patches, tree
        if key not in self.broken:
            runs = list(self._runs_until_one_fails(patches, changes))
            self.broken[key] = runs[-1].broken if runs else None
            outcomes = [each.outcome for each in runs]
            if True in outcomes and not any(map(_has_no_result, runs)):
                self.proven.add(key)
        return self.broken[key] is None

    def fails(self, patches: _Patches, tree: str, changes: Changes, like: BrokenTests) -> bool:
        """Whether one suite of a set fails on its tree; *like* says which suite it is.

        Raises:
            BudgetSpentError: A run would exceed the budget.
        """
        for which, number, suite in self._suites(patches):
            if (which, number) == (like.suite, like.feature):
                broken = self._run(patches, changes, which, number, suite).broken
                if broken is not None:
                    self.broken[patches, tree] = broken
                return broken is not None
        return False

    def _runs_until_one_fails(self, patches: _Patches, changes: Changes) -> Iterator[SuiteRun]:
        suites = sorted(self._suites(patches), key=lambda each: -self._failures[each[2]])
        for which, number, suite in suites:
            run = self._run(patches, changes, which, number, suite)
            yield run
            if run.broken is not None:
                self._failures[suite] += 1
                return

    def _suites(self, patches: _Patches) -> Iterator[tuple[TeamSuite, int | None, TestSuite]]:
        for which, number, suite in suites_on(self._group(self._features), patches):
            if suite is not None:
                yield which, number, suite

    def _group(self, numbers: Collection[int]) -> _Group:
        features = tuple(each for each in self._features.values() if each.number in numbers)
        return _Group(
            base=self._base, features=features, joint=self._joint, regression=self._regression
        )

    def _run(
        self,
        patches: _Patches,
        changes: Changes,
        which: TeamSuite,
        number: int | None,
        suite: TestSuite,
    ) -> SuiteRun:
        group = self._group(patches)
        runs = SuiteRuns(group, self._runs, self._judge, test_base=True)
        run = runs.judged(suite, changes)
        if run.outcome is False:
            # A case may belong to a suite that was not seen yet.
            self._show_cases(runs, group, suite, changes)
            run = runs.confirmed(suite, changes)
        row = SuiteRun(suite=which, feature=number, tests=run.tests, judgement=run.judgement)
        self.had_no_result |= _has_no_result(row)
        return row

    def _show_cases(
        self, runs: SuiteRuns, group: _Group, suite: TestSuite, changes: Changes
    ) -> None:
        """Run the other suites that change tests of the base, so that their cases are known."""
        for other in group.features:
            tests = other.tests
            if tests is None or tests == suite:
                continue
            if any(self._base.get(path) is not None for path in tests.patch.paths):
                on_base = runs.on_base(other)
                if on_base is None or not on_base.cases:
                    runs.plain(tests, changes)


def _has_no_result(run: SuiteRun) -> bool:
    """Whether nothing is known about the tree, because the sandbox failed."""
    return run.broken is None and run.tests is not None and not run.tests.was_run
