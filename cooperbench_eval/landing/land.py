"""`land` finds out which patches can land together, and in what order."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from attrs import evolve, frozen

from cooperbench_eval.arguments import able_to, checked
from cooperbench_eval.errors import RepositoryError, TestRunError
from cooperbench_eval.landing.choosing import TestedSearch
from cooperbench_eval.landing.conclusions import Conclusions
from cooperbench_eval.landing.inputs import (
    LandedPatch,
    Placed,
    Placing,
    read_budget,
    read_order,
    read_patches,
)
from cooperbench_eval.landing.merger import PatchMerger
from cooperbench_eval.landing.search import WorkSpentError
from cooperbench_eval.landing.texts import Texts
from cooperbench_eval.landing.trials import BudgetSpentError, CountedRuns, Trials
from cooperbench_eval.models import JudgeName, JudgeRule
from cooperbench_eval.patching.paths import TestFileFilter
from cooperbench_eval.patching.policy import ApplyPolicy
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.reporting.plans import LandingPlan
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.snapshot import Snapshot
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy

__all__ = ["land"]

_FEWEST_TO_KEEP = 2
_MOST_WORK = 25_000
"""Enough to merge every set of twelve patches in all orders, if each set gives one tree."""


@checked(runner=able_to("run"))
def land(
    base: Snapshot,
    patches: Iterable[LandedPatch],
    *,
    suites: Mapping[int, TestSuite] | None = None,
    joint: TestSuite | None = None,
    regression: TestSuite | None = None,
    strategy: str | MergeStrategy = "structured",
    order: Literal["search", "given"] | Sequence[int] = "search",
    budget: int = 50,
    runner: TestRunner | None = None,
    judge: JudgeName | JudgeRule = JudgeRule.DELTA,
    apply_policy: ApplyPolicy | None = None,
    test_filter: TestFileFilter | None = None,
) -> LandingPlan:
    r"""Find a largest set of patches that can land together, and an order for it.

    A set can land if its patches merge in some order, each into the result so far and all
    on the same base, and the suites of all of them pass on the final tree. Nothing else is
    assumed: a patch may repair what two others break.

    Patches are merged first, every two of them in both orders, then more. Suites run only on
    the largest sets that merge. A suite that fails runs a second time before it counts. If a
    set fails, the patches that make it fail are found by bisection. *budget* bounds the test
    runs. The merges are bounded by about 25,000 units of work: a merge costs 1 unit, or 100 if
    the strategy was given conflicts (but not under `naive` and `union`). Patches
    that touch different files are searched separately, so this is enough for 12 patches under
    `naive`, and for many more that rarely touch the same files.

    Args:
        base: The tree into which the patches are to land, and from which they start. A `Feature`
            that starts from another commit is first merged into it, on the merge base that git
            finds.
        patches: The patches. Those that are not `Feature` objects are numbered by their
            position, from 1.
        suites: The tests of patches that are not `Feature` objects or have none, by number.
        joint: Tests that must pass on a tree with all patches.
        regression: Tests of the repository itself, which run on every tree.
        strategy: A registered name, or an object with `name` and `merge`. Its result should
            depend only on the merged contents.
        order: `"search"` to try all orders, `"given"` to keep the order of *patches*, or
            the numbers of all patches in the only order that counts.
        budget: How many test runs are allowed; with 0, only the merges decide.
        runner: Runs the tests; by default one with default options.
        judge: Which cases must pass: see `Evaluator`.
        apply_policy: How leniently patches are placed.
        test_filter: Removes test files from the patches; by default they are kept.

    Raises:
        ArgumentError: An argument has the wrong type, there are no patches, a number is not
            unique, the order lacks a number, or the budget is negative.
        StrategyError: The strategy cannot be loaded.
        RepositoryError: The base cannot be read, and no merge is known. If it disappears
            later, what was found is returned, and the plan's `problem` says so.
        TestRunError: A test command cannot be started, and no set has passed.

    Example:
        >>> base = Snapshot.from_files({"a": b"1\n"})
        >>> diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+{}\n"
        >>> plan = land(base, [diff.format(2), diff.format(3)], strategy="naive")
        >>> plan.landed, plan.left_out[0].files, plan.is_exact
        ((1,), ('a',), True)
    """
    given = read_patches(patches, suites)
    numbers = tuple(feature.number for feature, _ in given)
    sequence = read_order(order, numbers)
    budget = read_budget(budget)
    if sequence:
        by_number = {feature.number: (feature, changes) for feature, changes in given}
        given = [by_number[number] for number in sequence]
    merger = as_strategy(strategy)
    placing = Placing(
        base=base, policy=apply_policy or ApplyPolicy(), test_filter=test_filter, strategy=merger
    )
    placed = placing.place(given)
    is_whole = len(placed.features) + _duplicates(placed) == len(given)
    search = _Search(
        base=base,
        numbers=numbers,
        placed=placed,
        joint=joint if is_whole else None,
        regression=regression,
        strategy=merger,
        sequence=sequence,
        budget=budget,
        runner=runner,
        judge=JudgeRule(judge),
    )
    return search.plan()


def _duplicates(placed: Placed) -> int:
    return sum(each.reason is LeftOutReason.DUPLICATE for each in placed.left_out)


@frozen(kw_only=True)
class _Search:
    """The search for one plan, with the arguments of `land` after they were checked."""

    base: Snapshot
    numbers: tuple[int, ...]
    placed: Placed
    joint: TestSuite | None
    regression: TestSuite | None
    strategy: MergeStrategy
    sequence: tuple[int, ...]
    budget: int
    runner: TestRunner | None
    judge: JudgeRule

    def plan(self) -> LandingPlan:
        """Search, and return what was found."""
        sides = self.placed.sides
        most_work = _MOST_WORK + len(sides) ** 2
        merger = PatchMerger(self.base, sides, self.strategy, most_work)
        order = tuple(number for number in self.sequence if number in sides)
        texts = Texts(merger, self.placed.groups(self.base), order=order)
        problem = self._merge(texts)
        runs = trials = tested = None
        if self._has_tests and self.budget and not problem:
            runs = CountedRuns(self.runner or TestRunner(), self.budget)
            trials = self._trials(runs)
            tested = TestedSearch(texts, trials)
            problem = self._test(texts, tested)
        is_exact = bool(tested and tested.is_exact) if self._has_tests else texts.is_exact
        plan = LandingPlan(
            strategy=self.strategy.name,
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
                tree_id=tree,
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

        If the base cannot be read any more, or if the strategy's result depends on other files,
        some patches of other groups cannot be added.
        """
        if tested is not None:
            wanted = [tested.best if tested.best is not None else tested.candidate]
        else:
            largest_first = sorted(texts.searches, key=lambda each: -len(each.best))
            wanted = [texts.best, tuple(n for each in largest_first for n in each.best)]
        folded = [texts.fold_most(order) for order in wanted]
        return max(folded, key=lambda each: len(each[0]))
