"""`land` finds out which patches can land together, and in what order."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from attrs import evolve

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.evaluation.inputs import GivenSide, all_listed, read_features
from cooperbench_eval.evaluation.landing.mergeable import components
from cooperbench_eval.evaluation.landing.merger import (
    PatchMerger,
    find_candidates,
    group_of_candidates,
)
from cooperbench_eval.evaluation.landing.planning import find_plan
from cooperbench_eval.evaluation.landing.trials import Trials
from cooperbench_eval.evaluation.pairs import TestedGroup
from cooperbench_eval.evaluation.placing import Options, placed_with, runner_for, used_options
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.reporting.landings import LandingPlan
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.results import JudgeName, JudgeRule
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.support.arguments import able_to, checked

_MOST_WORK = 25_000
"""Enough to merge every set of twelve patches in all orders, if each set gives one tree."""


@checked(runner=able_to("run"))
def land(
    base: Snapshot,
    patches: Iterable[GivenSide],
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
        test_filter: Which test files of the agents are dropped: see `Evaluator`.

    Raises:
        ArgumentError: An argument has the wrong type, there are no patches, a number is not
            unique, the order lacks a number, or the budget is negative.
        StrategyError: The strategy cannot be loaded.
        RepositoryError: The base cannot be read, and no merge is known. If it disappears
            later, what was found is returned, and the plan's `problem` says so.

    Example:
        >>> base = Snapshot.from_files({"a": b"1\n"})
        >>> diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+{}\n"
        >>> plan = land(base, [diff.format(2), diff.format(3)], strategy="naive")
        >>> plan.landed, plan.left_out[0].files, plan.is_exact
        ((1,), ('a',), True)
    """
    features = read_features(base, patches, "patches", suites)
    numbers = tuple(feature.number for feature in features)
    sequence = _read_order(order, numbers)
    budget = read_budget(budget)
    if sequence:
        features = tuple(sorted(features, key=lambda each: sequence.index(each.number)))
    merges = as_strategy(strategy)
    group = TestedGroup(base=base, features=features, joint=joint, regression=regression)
    options = Options(
        strategies=merges,
        runner=runner_for(group, runner),
        judge=judge,
        apply_policy=apply_policy or ApplyPolicy(),
        test_filter=test_filter,
    )
    placed = placed_with(options, group)
    sides, left_out = find_candidates(base, placed, merges)
    trials = Trials(group_of_candidates(group, sides, left_out), options, budget)
    merger = PatchMerger(base, sides, merges, _MOST_WORK + len(sides) ** 2)
    groups = components(base, {number: side.changes for number, side in sides.items()})
    plan = find_plan(
        merger, numbers, sides, left_out, groups=groups, trials=trials, sequence=sequence
    )
    dropped = sorted({path for each in placed for path in each.dropped})
    return evolve(plan, options=used_options(options, group), dropped_files=dropped)


def read_budget(budget: int) -> int:
    """Return the number of test runs that are allowed; refuse a negative one."""
    found = operator.index(budget)
    if found < 0:
        raise ArgumentError("budget", f"must be 0 runs or more, not {found}")
    return found


def _read_order(order: str | Sequence[int], numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the only order that counts, a permutation of *numbers*; empty if every order does."""
    if isinstance(order, str):
        return () if order == "search" else tuple(numbers)
    found = tuple(map(operator.index, order))
    if missing := [number for number in numbers if number not in found]:
        raise ArgumentError("order", f"lacks {all_listed(missing)}")
    if unknown := [number for number in found if number not in numbers]:
        raise ArgumentError("order", f"has {all_listed(unknown)}, but there are no such patches")
    if len(found) > len(numbers):
        twice = sorted({number for number in found if found.count(number) > 1})
        raise ArgumentError("order", f"has {all_listed(twice)} more than once")
    return found
