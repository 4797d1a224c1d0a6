"""Searches for a landing plan: what merges, what passes its tests, and what follows from both."""

from collections.abc import Collection, Sequence

from attrs import evolve, frozen

from cooperbench_eval.errors import RepositoryError, TestRunError
from cooperbench_eval.evaluation.landing.choosing import TestedSearch
from cooperbench_eval.evaluation.landing.conclusions import Conclusions
from cooperbench_eval.evaluation.landing.inputs import Placed
from cooperbench_eval.evaluation.landing.merger import PatchMerger
from cooperbench_eval.evaluation.landing.search import WorkSpentError
from cooperbench_eval.evaluation.landing.texts import Texts
from cooperbench_eval.evaluation.landing.trials import BudgetSpentError, CountedRuns, Trials
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.reporting.plans import LandingPlan
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.judgements import JudgeRule

__all__ = ["Planner"]

_FEWEST_TO_KEEP = 2


@frozen(kw_only=True)
class Planner:
    """The search for one plan.

    Attributes:
        base: The tree into which the patches land.
        numbers: All patches, in the given order.
        placed: Those that can be merged, and why the others cannot.
        joint: Tests that run only on trees with all patches.
        regression: Tests that run on every tree.
        strategy: The strategy's name.
        merger: Merges the patches.
        groups: Patches that may affect each other's merges.
        sequence: All patches in the only order that counts; empty if every order counts.
        budget: How many test runs are allowed.
        runner: Runs the tests; by default one with default options.
        judge: Which cases must pass.
    """

    base: Snapshot
    numbers: tuple[int, ...]
    placed: Placed
    joint: TestSuite | None
    regression: TestSuite | None
    strategy: str
    merger: PatchMerger
    groups: Collection[Sequence[int]]
    sequence: tuple[int, ...]
    budget: int
    runner: TestRunner | None
    judge: JudgeRule

    def plan(self) -> LandingPlan:
        """Search, and return what was found."""
        sides = self.placed.sides
        order = tuple(number for number in self.sequence if number in sides)
        texts = Texts(self.merger, self.groups, order=order)
        problem = self._merge(texts)
        runs = trials = tested = None
        if self._has_tests and self.budget and not problem:
            runs = CountedRuns(self.runner or TestRunner(), self.budget)
            trials = self._trials(runs)
            tested = TestedSearch(texts, trials)
            problem = self._test(texts, tested)
        is_exact = bool(tested and tested.is_exact) if self._has_tests else texts.is_exact
        plan = LandingPlan(
            strategy=self.strategy,
            order=(),
            has_tests=self._has_tests,
            is_exact=is_exact and not problem and not (trials and trials.had_no_result),
            runs_used=runs.used if runs else 0,
            budget=self.budget,
            problem=problem,
            base_tree_id=self.base.tree_id,
            base_commit=self.base.commit_id,
            tree_id=self.base.tree_id,
        )
        found = Conclusions(texts=texts, trials=trials, sides=sides, in_order=bool(self.sequence))
        return self._concluded(plan, found, tested)

    # --- searching ---

    def _merge(self, texts: Texts) -> str:
        """Search the merges; return why the search ended early."""
        try:
            texts.search()
        except WorkSpentError:
            pass
        except RepositoryError as exc:
            if len(texts.best) < _FEWEST_TO_KEEP:
                raise
            return str(exc)
        return ""

    def _test(self, texts: Texts, tested: TestedSearch) -> str:
        """Search with tests; return why the search ended early."""
        try:
            tested.run()
        except BudgetSpentError:
            pass
        except TestRunError as exc:
            if tested.best is None:
                raise
            return str(exc)
        except RepositoryError as exc:
            if tested.best is None and len(texts.best) < _FEWEST_TO_KEEP:
                raise
            return str(exc)
        return ""

    @property
    def _has_tests(self) -> bool:
        suites = [each.tests for each in self.placed.features]
        return any(each is not None for each in (*suites, self.joint, self.regression))

    def _trials(self, runs: CountedRuns) -> Trials:
        return Trials(
            self.base,
            self.placed.features,
            runs,
            joint=self.joint,
            regression=self.regression,
            judge=self.judge,
        )

    # --- concluding ---

    def _concluded(
        self, plan: LandingPlan, found: Conclusions, tested: TestedSearch | None
    ) -> LandingPlan:
        """Add the patches that land, and what is known about the others."""
        order, tree = self._landing(found.texts, tested)
        if tree is not None:
            side = found.texts.side(tree)
            is_whole = tested is not None or len(order) == len(found.texts.best)
            plan = evolve(
                plan,
                order=order,
                tree_id=side.changes.tree_id(self.base),
                changes=side.changes,
                is_exact=plan.is_exact and is_whole,
            )
        try:
            left_out = list(found.left_out(order))
        except RepositoryError as exc:
            left_out = [
                LeftOut(number=number, reason=LeftOutReason.NOT_EXAMINED)
                for number in self.placed.sides
                if number not in order
            ]
            plan = evolve(plan, problem=plan.problem or str(exc), is_exact=False)
        return evolve(
            plan,
            left_out=sorted(
                (*self.placed.left_out, *left_out),
                key=lambda each: self.numbers.index(each.number),
            ),
            merges=found.pairs(),
            minimal_conflicts=found.minimal_conflicts(),
            order_dependent=found.order_dependent(),
            examined_size=found.examined_size,
            is_tested=bool(tested and tested.is_proven),
        )

    def _landing(
        self, texts: Texts, tested: TestedSearch | None
    ) -> tuple[tuple[int, ...], str | None]:
        """Return the best order that is known to land, and its tree.

        If the base can no longer be read, or if the strategy's result depends on other files,
        some patches of other groups cannot be added.
        """
        if tested is not None:
            wanted = [tested.best if tested.best is not None else tested.candidate]
        else:
            largest_first = sorted(texts.searches, key=lambda each: -len(each.best))
            wanted = [texts.best, tuple(n for each in largest_first for n in each.best)]
        folded = [texts.fold_most(order) for order in wanted]
        return max(folded, key=lambda each: len(each[0]))
