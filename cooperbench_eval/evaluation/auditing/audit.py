"""`audit` says whose work is in a merged tree that somebody else made."""

from collections.abc import Iterable, Iterator, Mapping

from attrs import evolve

from cooperbench_eval.evaluation.auditing.comparing import compare_strategy
from cooperbench_eval.evaluation.auditing.ends import audited_ends, with_ends
from cooperbench_eval.evaluation.auditing.fates import Fates
from cooperbench_eval.evaluation.auditing.inputs import (
    GivenSide,
    GivenTree,
    read_merged,
    read_sides,
)
from cooperbench_eval.evaluation.auditing.lines import ABSENT, runs_of
from cooperbench_eval.evaluation.auditing.testing import TestedGroup, run_suites, with_suites
from cooperbench_eval.evaluation.auditing.tracking import TrackedFile, Tracking, track
from cooperbench_eval.evaluation.auditing.work import SideWork
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.git.patching.placements import ApplyPolicy
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting.audits import Audit, ForeignLines
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.judgements import JudgeName, JudgeRule
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.support.arguments import able_to, checked

__all__ = ["audit", "audit_of"]


@checked(runner=able_to("run"))
def audit(
    base: Snapshot,
    features: Iterable[GivenSide],
    integrated: GivenTree,
    suites: Mapping[int, TestSuite] | None = None,
    *,
    joint: TestSuite | None = None,
    regression: TestSuite | None = None,
    runner: TestRunner | None = None,
    judge: JudgeName | JudgeRule = JudgeRule.DELTA,
    strategies: Iterable[str | MergeStrategy] = ("naive", "union", "structured"),
    apply_policy: ApplyPolicy | None = None,
    test_filter: TestFileFilter | None = None,
) -> Audit:
    r"""Say whose work is in a merged tree that an agent, a person or a tool made.

    Args:
        base: The tree from which features without a base of their own start.
        features: The features, in the order in which they were merged: `Feature` objects,
            patches of *base*, or `Changes`. Those that are not `Feature` objects are numbered by
            their position, from 1.
        integrated: The merged tree: a `Snapshot`, `Changes`, a patch of *base*, the path of a
            folder, or the outcome of a merge.
        suites: The tests of features that have none of their own, by number.
        joint: Tests of all features together.
        regression: Tests of the repository itself.
        runner: Runs the tests; by default one with default options.
        judge: Which cases must pass: see `Evaluator`.
        strategies: The strategies with whose trees *integrated* is compared.
        apply_policy: How leniently the features' patches are placed.
        test_filter: Removes test files from the features' patches; by default they are kept.

    Raises:
        ArgumentError: An argument has the wrong type, *features* is empty, two have the same
            number, or a suite belongs to no feature or to one that has tests.
        PatchError: A patch does not apply to its base, or a branch conflicts with *base*.
        StrategyError: A strategy cannot be loaded.
        RepositoryError: A file cannot be read, or a branch and *base* are unrelated.
        TestRunError: A test command cannot be started.

    Example:
        >>> from cooperbench_eval import Entry
        >>> base = Snapshot.from_files({"a": b"1\n2\n3\n"})
        >>> sides = [Changes({"a": Entry(t)}) for t in (b"0\n1\n2\n3\n", b"1\n2\n4\n")]
        >>> found = audit(base, sides, sides[0])
        >>> print(found.file(2, "a").fate.value, found.is_complete)
        lost False
    """
    sides = read_sides(base, features, "features", policy=apply_policy, test_filter=test_filter)
    group = TestedGroup(
        base=base,
        features=with_suites([feature for feature, _ in sides.values()], suites),
        joint=joint,
        regression=regression,
    )
    found = [as_strategy(each) for each in strategies]
    merged = read_merged(base, integrated, "integrated").changes
    tree = base.overlay(merged)
    result = audit_of(base, {number: each for number, (_, each) in sides.items()}, merged)
    return evolve(
        result,
        comparisons=[compare_strategy(base, [*sides.values()], tree, each) for each in found],
        suites=run_suites(group, merged, runner, JudgeRule(judge)),
    )


def audit_of(base: Snapshot, sides: Mapping[int, Changes], merged: Changes) -> Audit:
    """Say whose work is in a merged tree; see `audit`.

    Raises:
        RepositoryError: A file cannot be read, or a branch and *base* are unrelated.
    """
    tree = base.overlay(merged)
    tracking = track(*with_ends(base, sides, merged))
    fates = Fates(tracking)
    work = SideWork(tracking, fates)
    touched = {path for side in sides.values() for path in side}
    return Audit(
        features=tuple(sides),
        base_tree_id=base.tree_id,
        tree_id=tree.tree_id,
        files=[
            file
            for number, side in tracking.sides.items()
            for file in (
                *work.files(side),
                *audited_ends(base, number, sides[number], tracking, tree),
            )
        ],
        foreign=[lines for file in tracking.files for lines in _foreign(file, fates)],
        foreign_files=sorted(
            path
            for path in Changes.between(base, tree)
            if path not in touched and not _is_renamed(path, tracking)
        ),
    )


def _is_renamed(path: str, tracking: Tracking) -> bool:
    """Whether the merged tree has a side's file at *path* under a new name."""
    return any(
        file.path == path and file.expected is not None and file.expected.path != path
        for file in tracking.files
    )


def _foreign(file: TrackedFile, fates: Fates) -> Iterator[ForeignLines]:
    for lines in runs_of(fates.unknown(file)):
        yield ForeignLines(
            path=file.path,
            first=lines.start + 1,
            last=lines.stop,
            text=b"".join(file.lines[lines.start : lines.stop]),
        )
    if file.expected is None:
        return
    gone = [line for line in fates.vanished(file) if file.base_places[line] != ABSENT]
    text = {file.base_places[line]: file.expected.lines[line] for line in gone}
    for lines in runs_of(sorted(text)):
        yield ForeignLines(
            path=file.path,
            first=lines.start + 1,
            last=lines.stop,
            text=b"".join(text[line] for line in lines),
            is_removed=True,
        )
