"""The options with which every question is asked: the same names, the same defaults."""

from collections.abc import Iterable

from attrs import field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.evaluation.pairs import Suites, suites_of
from cooperbench_eval.evaluation.placing import Placed, place, rule_for
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.reporting.options import UsedOptions
from cooperbench_eval.running import TestRunner
from cooperbench_eval.running.results import JudgeRule
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.support.arguments import able_to, checked_fields, follows


def _as_strategies(
    given: str | MergeStrategy | Iterable[str | MergeStrategy],
) -> tuple[MergeStrategy, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        if not isinstance(given, str) and not hasattr(given, "merge"):
            problem = f"must be a strategy, its name, or a list of these, not {given!r:.80}"
            raise ArgumentError("strategies", problem)
        return (as_strategy(given),)
    return tuple(map(as_strategy, given))


@frozen(kw_only=True, field_transformer=checked_fields)
class Options:
    """How patches become sides, who merges them, and how suites are run and judged.

    Attributes:
        strategies: The merge strategies.
        runner: Runs the tests; `None` to run none.
        judge: Which cases must pass.
        apply_policy: How leniently patches are placed.
        test_filter: Which test files of the agents are dropped. By default, all are dropped if a
            suite brings tests of its own, and all are kept if none does.
    """

    strategies: tuple[MergeStrategy, ...] = field(
        default=("naive", "union"), converter=_as_strategies
    )
    runner: TestRunner | None = field(default=None, metadata=follows(able_to("run")))
    judge: JudgeRule = field(default=JudgeRule.DELTA, converter=JudgeRule)
    apply_policy: ApplyPolicy = field(factory=ApplyPolicy)
    test_filter: TestFileFilter | None = None


# Functions, so that an `Evaluator`, which is one of these, has no further methods.
def placed_with(options: Options, group: Suites) -> list[Placed]:
    """Put the patch of each feature on the tree from which it starts."""
    return place(group, options.apply_policy, rule_for(group, options.test_filter))


def without_tests(
    options: Options, group: Suites, merged: Changes
) -> tuple[Changes, tuple[str, ...]]:
    """Return a merged tree without the agents' test files, and the paths of these."""
    drops = rule_for(group, options.test_filter)
    tests = [suite.patch for suite in suites_of(group)]
    return drops.split_changes(merged, tests) if drops else (merged, ())


def used_options(options: Options, group: Suites) -> UsedOptions:
    """Return the options as they apply to some features."""
    runner = options.runner if suites_of(group) else None
    return UsedOptions(
        strategies=[each.name for each in options.strategies],
        judge=options.judge,
        apply_policy=options.apply_policy,
        test_filter=rule_for(group, options.test_filter),
        sandbox=None if runner is None else _sandbox_of(runner),
        repeats=getattr(runner, "repeats", 1),
    )


def _sandbox_of(runner: TestRunner) -> str:
    """Return the name of a runner's sandbox, or of the class of a runner without one."""
    sandbox = getattr(runner, "sandbox", None)
    return type(runner).__name__ if sandbox is None else sandbox.name
