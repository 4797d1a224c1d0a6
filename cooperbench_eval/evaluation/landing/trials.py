"""Searches for a largest set of patches that passes its tests, within a budget of runs.

Sets are tested whole. If one fails, the patches that make it fail are found by bisection with
only the suite that failed. Sets that contain all of them are tested only after the other sets.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import combinations

from attrs import evolve

from cooperbench_eval.evaluation.landing.mergeable import MergeableSets
from cooperbench_eval.evaluation.pairs import TestedGroup, suites_on
from cooperbench_eval.evaluation.placing import Options
from cooperbench_eval.evaluation.suite_runs import BudgetSpentError, Runs, SuiteRuns
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.reporting.landings import BrokenTests, SuiteRun, TeamSuite, why_unanswered
from cooperbench_eval.running import TestSuite
from cooperbench_eval.support.minimizing import Minimizer

_Patches = frozenset[int]
_Order = tuple[int, ...]
_Suite = tuple[TeamSuite, int | None, TestSuite | None]
_LARGEST_TO_CONFIRM = 6
"""A larger set has too many parts."""


class Trials:
    """Tests sets of patches, each of them once on a tree.

    Attributes:
        broken: For each set and tree that was tested, the tests of the first suite that
            fails; `None` if none does.
        unanswered: Why a suite had no answer on some tree, as a clause; empty if each had one.
        proven: The sets and trees on which every suite passes. If one feature has a suite, each
            needs one.
        reset_files: The changed files that were as in the base when suites ran.
    """

    def __init__(
        self,
        group: TestedGroup,
        options: Options,
        budget: int,
        tested: Callable[[Changes], Changes] = lambda changes: changes,
        name: Callable[[int | None], str] = "feature {}".format,
    ) -> None:
        """Prepare to test.

        Suites run on the tree that *tested* returns for a merged one; both are changes of the base.
        In messages, a feature is called as *name* says.
        """
        self.group = group
        self.runs = Runs(options.runner, budget)
        self.budget = budget
        self.broken: dict[tuple[_Patches, str], BrokenTests | None] = {}
        self.had_no_answer = False
        self.unanswered = ""
        self.proven: set[tuple[_Patches, str]] = set()
        self.flaky: set[str] = set()
        self.reset_files: set[str] = set()
        self._need_suites = any(each.tests for each in group.features)
        self._judge = options.judge
        self._tested = tested
        self._name = name
        self._failures: Counter[TestSuite | None] = Counter()

    def passes(self, patches: _Patches, tree: str, changes: Changes) -> bool:
        """Whether all suites of a set pass on its tree; the first that fails ends the trial."""
        key = patches, tree
        if key not in self.broken:
            self.broken[key] = self._first_broken(key, changes)
        return self.broken[key] is None

    def _first_broken(self, key: tuple[_Patches, str], changes: Changes) -> BrokenTests | None:
        outcomes = set()
        suites = suites_on(self.group, key[0])
        for each in sorted(suites, key=lambda each: -self._failures[each[2]]):
            run = self._run(key[0], changes, each)
            if run.broken is not None:
                self._failures[each[2]] += 1
                return run.broken
            if each[2] is not None or self._need_suites:
                outcomes.add(run.outcome)
        if outcomes == {True}:
            self.proven.add(key)
        return None

    def all_broken(self, patches: _Patches, tree: str, changes: Changes) -> tuple[BrokenTests, ...]:
        """Return what fails on the tree of a set that fails, as far as the budget allows."""
        found = {}
        if known := self.broken[patches, tree]:
            found[known.suite, known.feature] = known
        for each in suites_on(self.group, patches):
            with suppress(BudgetSpentError):
                if broken := self._run(patches, changes, each).broken:
                    found[broken.suite, broken.feature] = broken
        return tuple(found.values())

    def fails(self, patches: _Patches, tree: str, changes: Changes, like: BrokenTests) -> bool:
        """Whether one suite of a set fails on its tree; *like* says which suite it is."""
        for each in suites_on(self.group, patches):
            if each[:2] == (like.suite, like.feature):
                broken = self._run(patches, changes, each).broken
                if broken is not None:
                    self.broken[patches, tree] = broken
                return broken is not None
        return False

    def _run(self, patches: _Patches, changes: Changes, which: _Suite) -> SuiteRun:
        kind, number, suite = which
        found = (each for each in self.group.features if each.number in patches)
        group = evolve(self.group, features=tuple(found))
        changes = self._tested(changes)
        runs = SuiteRuns(group, self.runs, self._judge)
        run = runs.judged(suite, changes)
        if not run.outcome:
            # A case may belong to a suite that was not seen yet.
            _show_cases(runs, group, suite, changes)
            run = runs.confirmed(suite, changes)
        row = SuiteRun(suite=kind, feature=number, tests=run.tests, judgement=run.judgement)
        if run.tests is not None:
            self.reset_files |= {*run.tests.restored_files}
            self.had_no_answer |= row.outcome is None
        if run.judgement is not None:
            self.flaky |= {*run.judgement.flaky}
        if row.broken is None and (suite is not None or self._need_suites):
            self.unanswered = self.unanswered or why_unanswered(row, self._name(number))
        return row


def _show_cases(
    runs: SuiteRuns, group: TestedGroup, suite: TestSuite | None, changes: Changes
) -> None:
    """Run the other suites that change tests of the base, so that their cases are known."""
    for other in group.features:
        tests = other.tests
        if tests is None or tests == suite:
            continue
        if any(group.base.get(path) is not None for path in tests.patch.paths):
            on_base = runs.on_base(other)
            if on_base is None or not on_base.cases:
                runs.plain(tests, changes)


class TestedSearch:
    """The search for a largest set of patches that merges and passes its tests.

    If a trial raises, as it does when the budget is spent, everything found so far is kept.

    Attributes:
        best: An order of a largest set that passed; `None` if none did.
        failing: Sets that fail on a tree; those that a bisection found are as small as it
            could make them.
    """

    __test__ = False

    def __init__(self, sets: MergeableSets, trials: Trials) -> None:
        self.best: _Order | None = None
        self.failing: list[_Patches] = []
        self.is_exact = False
        self._avoided: list[_Patches] = []
        self._is_doubtful = False
        self._sets = sets
        self._trials = trials

    @property
    def is_proven(self) -> bool:
        """Whether the tests show that the best set can land."""
        tree = self._sets.fold(self.best) if self.best else None
        return tree is not None and (frozenset(self.best or ()), tree) in self._trials.proven

    @property
    def candidate(self) -> _Order:
        """An order of a largest set that is not known to fail."""
        return self._sets.largest_avoiding([*self._avoided, *self.failing])

    def run(self) -> None:
        """Find a largest set, make certain of it, and then confirm why the others fail."""
        self.find()
        self.grow()
        self.be_certain()
        self.confirm_reasons()

    def find(self) -> None:
        """Test the largest sets that contain no set that is known to fail.

        If none has passed when half of the budget is spent, `grow` starts from the empty set.
        """
        budget = self._trials.budget
        while 2 * self._trials.runs.used < budget and (order := self.candidate):
            patches, tree = frozenset(order), self._sets.fold(order)
            if tree is None:  # the strategy's result depends on other files
                self._is_doubtful = True
                self._avoided.append(patches)
                continue
            if self._passes(patches, tree):
                self.best = order
                return
            self.failing.append(patches)
            self._find_culprits(order, self._trials.broken[patches, tree])
            self._sets.search_everything()

    def grow(self) -> None:
        """Add the other patches to the best set, one by one, if they pass with it."""
        for number in self._sets.numbers:
            if number in (self.best or ()):
                continue
            order = self._sets.ordered((*(self.best or ()), number))
            tree = self._sets.fold(order)
            if tree is not None and self._passes(frozenset(order), tree):
                self.best = order

    def be_certain(self) -> None:
        """Test every larger set on every tree, because more patches may repair a failure."""
        largest = len(self._sets.best)
        sizes = range(largest, len(self.best or ()), -1)
        larger = (patches for size in sizes for patches in self._sets.sets_of_size(size))
        self.best = next(filter(None, map(self._passing_order, larger)), self.best)
        is_largest = self._sets.is_exact and len(self.best or ()) == largest
        self.is_exact = (is_largest or self._sets.is_complete) and not self._is_doubtful

    def confirm_reasons(self) -> None:
        """Test whether failing sets fail on all trees, and whether the parts of sets can land."""
        reasons = sorted(self.failing, key=len)
        for patches in reasons:
            if len(patches) <= _LARGEST_TO_CONFIRM and not self._passing_order(patches):
                self._confirm_parts(patches)
        for patches in self._sets.minimal_conflicts():
            if len(patches) <= _LARGEST_TO_CONFIRM:
                self._confirm_parts(patches)

    def _confirm_parts(self, patches: _Patches) -> None:
        for size in range(1, len(patches)):
            for part in map(frozenset, combinations(sorted(patches), size)):
                is_known = any(each <= part for each in self.failing)
                if not is_known and not self._passing_order(part):
                    self.failing.append(part)

    def _passing_order(self, patches: _Patches) -> _Order | None:
        for order in self._sets.orders_of(patches):
            tree = self._sets.fold(order)
            self._is_doubtful |= tree is None
            if tree is not None and self._passes(patches, tree):
                return order
        return None

    def _passes(self, patches: _Patches, tree: str) -> bool:
        return self._trials.passes(patches, tree, self._sets.merger.side(tree).changes)

    # --- bisection ---

    def _find_culprits(self, order: _Order, broken: BrokenTests | None) -> None:
        """Find a smallest part of a failing set that fails the same suite."""
        if broken is None or broken.suite is TeamSuite.JOINT:
            return  # these tests need all patches
        owner = () if broken.feature is None else (broken.feature,)

        def fails(others: _Order) -> bool:
            return self._fails((*owner, *others), order, broken)

        if fails(()):
            self.failing.append(frozenset(owner))
            return
        search = Minimizer([number for number in order if number not in owner], fails)
        try:
            search.run()
        finally:
            culprits = frozenset((*owner, *search.kept))
            self.failing.append(culprits)
            if len(culprits) <= _LARGEST_TO_CONFIRM:
                self._sets.orders_of(culprits)

    def _fails(self, part: _Order, order: _Order, broken: BrokenTests) -> bool:
        patches = frozenset(part)
        tree = next(filter(None, map(self._sets.fold, self._orders_like(order, patches))), None)
        if tree is None:
            return False
        return self._trials.fails(patches, tree, self._sets.merger.side(tree).changes, broken)

    def _orders_like(self, order: _Order, patches: _Patches) -> Iterator[_Order]:
        yield tuple(number for number in order if number in patches)
        yield from self._sets.orders_of(patches)
