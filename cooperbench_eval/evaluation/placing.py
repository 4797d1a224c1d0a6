"""Applies the patches of features, with the options that all calls share.

No other module applies the patch of a feature or drops test files.
"""

from collections.abc import Iterable

from attrs import field, frozen

from cooperbench_eval.errors import ArgumentError, PatchError
from cooperbench_eval.evaluation.inputs import usable
from cooperbench_eval.evaluation.pairs import Feature, Suites, own_base, suites_of
from cooperbench_eval.evaluation.sides import Side, merge_into
from cooperbench_eval.git.patching.apply import ApplyResult, apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, PatchStatus
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, rewritten
from cooperbench_eval.reporting.rows import UsedOptions
from cooperbench_eval.running import TestRunner
from cooperbench_eval.running.results import JudgeRule
from cooperbench_eval.strategies.naive import NaiveStrategy
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.support.arguments import able_to, checked_fields, follows
from cooperbench_eval.support.error_texts import listed


@frozen(kw_only=True)
class Placed:
    """A feature with its patch applied to the tree from which it starts.

    Attributes:
        patch: Its patch as it was applied, without the test files that were dropped.
        dropped: The paths of these files.
        changes: The changes that turn the base of all features into the patched tree.
    """

    feature: Feature
    start: Snapshot = field(repr=False)
    patch: Patch = field(repr=False)
    dropped: tuple[str, ...]
    result: ApplyResult = field(repr=False)
    changes: Changes = field(repr=False)

    @property
    def number(self) -> int:
        """The number of the feature."""
        return self.feature.number

    @property
    def side(self) -> Side:
        """The side of a merge that the feature is."""
        return Side.of(self.feature, self.changes)

    @property
    def is_usable(self) -> bool:
        """Whether the patch gives a side to merge."""
        return self.result.status.is_usable

    @property
    def problem(self) -> str:
        """Why the patch gives no side that can be merged; empty if it gives one."""
        if self.has_only_tests:
            return "it contains only test files, which were dropped"
        if not self.is_usable:
            is_empty = self.result.status is PatchStatus.EMPTY
            empty = "the patch changes nothing" if is_empty else "it does not apply"
            return self.result.reason or empty
        return ""

    @property
    def has_only_tests(self) -> bool:
        """Whether nothing was left of the patch after test files were dropped."""
        is_empty = self.result.status is PatchStatus.EMPTY
        return is_empty and bool(self.dropped) and not self.patch.files


def place(group: Suites, policy: ApplyPolicy, test_filter: TestFileFilter | None) -> list[Placed]:
    """Apply the patch of each feature to its start; a *test_filter* removes test files first."""
    tests = [suite.patch for suite in suites_of(group)]
    placed = []
    for feature in group.features:
        start, patch = own_base(feature) or group.base, feature.patch
        dropped: tuple[str, ...] = ()
        if test_filter is not None:
            patch, dropped = test_filter.split(patch, tests)
        result = apply_patch(start, patch, policy)
        changes = rewritten(result.changes, start, group.base)
        placed.append(
            Placed(
                feature=feature,
                start=start,
                patch=patch,
                dropped=dropped,
                result=result,
                changes=changes,
            )
        )
    return placed


def rule_for(group: Suites, test_filter: TestFileFilter | None) -> TestFileFilter | None:
    """Return which test files of the agents are dropped; `None` if all are kept.

    If a suite brings tests of its own, these judge, so the agents' tests are dropped. Otherwise the
    agents' tests stay in the tree.
    """
    if test_filter is not None:
        return test_filter
    has_own = any(suite.patch.paths for suite in suites_of(group))
    return TestFileFilter() if has_own else None


def sides_on(base: Snapshot, placed: Iterable[Placed], argument: str) -> dict[int, Changes]:
    """Return what each feature changes in the base, by its number.

    If the base is not an ancestor of the commit from which a branch starts, the branch is merged
    into the base, as git would do it. A patch that does not apply, or a branch that conflicts with
    the base, is a `PatchError` that names the *argument*.
    """
    found: dict[int, Changes] = {}
    for place, each in enumerate(placed):
        name = f"{argument}[{place}]"
        usable(each.result, name)
        found[each.number] = each.changes
        if each.start is not base:
            merged, side = merge_into(base, Side((), Changes()), each.side, NaiveStrategy())
            if not merged.is_complete:
                paths = listed(sorted({each.path for each in merged.outcome.conflicts}))
                problem = f"starts from another commit and conflicts with the base in {paths}"
                raise PatchError(problem, name)
            found[each.number] = side.changes
    return found


# --- options ---


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
    """The options of all calls: how to apply patches, merge them, and run and judge suites."""

    strategies: tuple[MergeStrategy, ...] = field(
        default=("naive", "union"), converter=_as_strategies
    )
    runner: TestRunner | None = field(default=None, metadata=follows(able_to("run")))
    judge: JudgeRule = field(default=JudgeRule.DELTA, converter=JudgeRule)
    apply_policy: ApplyPolicy = field(factory=ApplyPolicy)
    test_filter: TestFileFilter | None = None


# These are not methods of `Options`, because `Evaluator`, a public subclass, would inherit them.
def placed_with(options: Options, group: Suites) -> list[Placed]:
    """Apply the patch of each feature to the tree from which it starts."""
    return place(group, options.apply_policy, rule_for(group, options.test_filter))


def runner_for(group: Suites, runner: TestRunner | None) -> TestRunner | None:
    """Return a caller's runner, or one with default options if there is something to run."""
    return runner or (TestRunner() if suites_of(group) else None)


def without_tests(
    options: Options, group: Suites, merged: Changes
) -> tuple[Changes, tuple[str, ...]]:
    """Return a merged tree without the agents' test files, and the paths of those files."""
    drops = rule_for(group, options.test_filter)
    tests = [suite.patch for suite in suites_of(group)]
    return drops.split_changes(merged, tests) if drops else (merged, ())


def used_options(options: Options, group: Suites) -> UsedOptions:
    """Return the record of the options as they apply to a group of features."""
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
