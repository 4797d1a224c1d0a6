"""`audit` says whose work is in a merged tree that somebody else made."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from attrs import evolve

from cooperbench_eval.errors import PatchError
from cooperbench_eval.evaluation.auditing.file_fates import audited_ends, audited_files, with_ends
from cooperbench_eval.evaluation.auditing.line_fates import Fates
from cooperbench_eval.evaluation.auditing.lines import ABSENT, runs_of
from cooperbench_eval.evaluation.auditing.tracking import TrackedFile, track
from cooperbench_eval.evaluation.inputs import GivenSide, GivenTree, read_features, read_merged
from cooperbench_eval.evaluation.pairs import TestedGroup, suites_of
from cooperbench_eval.evaluation.placing import (
    Options,
    Placed,
    place,
    runner_for,
    sides_on,
    used_options,
    without_tests,
)
from cooperbench_eval.evaluation.sides import Side, merge_into
from cooperbench_eval.evaluation.suite_runs import Runs, SuiteRuns
from cooperbench_eval.git.merging.conflicts import MergeStatus, worst_end
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy
from cooperbench_eval.git.patching.path_kinds import TestFileFilter, is_test_path
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.hazards.finding import find_hazards
from cooperbench_eval.reporting.audits import Audit, ForeignLines, StrategyComparison
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason, SuiteRun
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.results import JudgeName, JudgeRule
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.support.arguments import able_to, checked


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
        apply_policy: How leniently patches are placed.
        test_filter: Which test files of the agents are dropped: see `Evaluator`. By default, only
            the tree on which suites run lacks them; a given filter also drops them from the
            features' patches.

    Raises:
        ArgumentError: An argument has the wrong type, *features* is empty, two have the same
            number, or a suite belongs to no feature or to one that has tests.
        StrategyError: A strategy cannot be loaded.
        RepositoryError: A file cannot be read, or a branch and *base* are unrelated.

    Example:
        >>> from cooperbench_eval import Entry
        >>> base = Snapshot.from_files({"a": b"1\n2\n3\n"})
        >>> sides = [Changes({"a": Entry(t)}) for t in (b"0\n1\n2\n3\n", b"1\n2\n4\n")]
        >>> found = audit(base, sides, sides[0])
        >>> print(found.file(2, "a").fate.value, found.is_complete)
        lost False
    """
    found = read_features(base, features, "features", suites)
    group = TestedGroup(base=base, features=found, joint=joint, regression=regression)
    options = Options(
        strategies=tuple(strategies),
        runner=runner_for(group, runner),
        judge=judge,
        apply_policy=apply_policy or ApplyPolicy(),
        test_filter=test_filter,
    )
    placed = place(group, options.apply_policy, test_filter)
    sides, rejected = _sides(base, placed)
    merged = read_merged(base, integrated, "integrated").changes
    tree = base.overlay(merged)
    tested, dropped = _for_suites(options, group, placed, merged)
    missing = [
        each.number
        for each in placed
        if each.number in sides and _changes_nothing(each, options, group)
    ]
    return evolve(
        audit_of(base, sides, merged),
        features=[each.number for each in found],
        comparisons=[
            _compare_strategy(base, [Side.of(one, sides[one.number]) for one in found], tree, each)
            for each in options.strategies
            if not rejected  # no strategy could merge all features
        ],
        suites=_run_suites(group, tested, options),
        options=used_options(options, group),
        dropped_files=dropped,
        missing=missing,
        rejected=rejected,
        hazards=find_hazards(base, sides, merged),
    )


def _for_suites(
    options: Options, group: TestedGroup, placed: Iterable[Placed], merged: Changes
) -> tuple[Changes, Sequence[str]]:
    """Return what suites run on: the merged tree without the agents' dropped test files."""
    # Other test files of the tree are not from the agents: a later base may have changed them.
    touched = {path for each in placed for path in each.result.changes}
    theirs = Changes({path: each for path, each in merged.items() if path in touched})
    _, dropped = without_tests(options, group, theirs)
    return Changes({path: each for path, each in merged.items() if path not in dropped}), dropped


def _sides(base: Snapshot, placed: Iterable[Placed]) -> tuple[dict[int, Changes], list[LeftOut]]:
    """Return what each feature changes in the base, and which patches do not apply to it."""
    sides: dict[int, Changes] = {}
    rejected: list[LeftOut] = []
    for each in placed:
        try:
            sides |= sides_on(base, [each], "features")
        except PatchError as exc:
            reason = LeftOutReason.MISSING_INPUT
            rejected.append(LeftOut(number=each.number, reason=reason, problem=exc.reason))
    return sides, rejected


def _changes_nothing(placed: Placed, options: Options, group: TestedGroup) -> bool:
    """Whether a patch is empty apart from test files that are dropped, as in an evaluation."""
    changes, _ = without_tests(options, group, placed.result.changes)
    return changes.tree_id(placed.start) == placed.start.tree_id


def audit_of(base: Snapshot, sides: Mapping[int, Changes], merged: Changes) -> Audit:
    """Say whose work is in a merged tree; see `audit`."""
    tree = base.overlay(merged)
    tracking = track(*with_ends(base, sides, merged))
    fates = Fates(tracking)
    known = {path for side in sides.values() for path in side}
    # Where the merged tree has a side's file under a new name.
    known |= {f.path for f in tracking.files if f.expected and f.expected.path != f.path}
    return Audit(
        features=tuple(sides),
        base_tree_id=base.tree_id,
        tree_id=tree.tree_id,
        files=[
            file
            for number, side in tracking.sides.items()
            for file in (
                *audited_files(fates, side),
                *audited_ends(base, number, sides[number], tracking, tree),
            )
        ],
        foreign=[lines for file in tracking.files for lines in _foreign(file, fates)],
        foreign_files=sorted(path for path in Changes.between(base, tree) if path not in known),
    )


def _foreign(file: TrackedFile, fates: Fates) -> Iterator[ForeignLines]:
    added = {line: file.lines[line] for line in fates.unknown(file)}
    vanished = {file.base_places[line]: file.expected_lines[line] for line in fates.vanished(file)}
    vanished.pop(ABSENT, None)
    for text, is_removed in ((added, False), (vanished, True)):
        for lines in runs_of(sorted(text)):
            yield ForeignLines(
                path=file.path,
                first=lines.start + 1,
                last=lines.stop,
                text=b"".join(text[line] for line in lines),
                is_removed=is_removed,
            )


# --- strategies and tests ---


def _compare_strategy(
    base: Snapshot, sides: Iterable[Side], merged: Snapshot, strategy: MergeStrategy
) -> StrategyComparison:
    """Merge the sides one after another with a strategy, and compare the tree with *merged*.

    If a merge leaves conflicts open, the later sides are merged into the tree with its markers,
    as a person could do.
    """
    so_far, *others = sides
    status = MergeStatus.CLEAN
    for side in others:
        merged_so_far, so_far = merge_into(base, so_far, side, strategy)
        status = worst_end((status, merged_so_far.outcome.status))
        if failure := merged_so_far.failure:
            return StrategyComparison(strategy=strategy.name, status=status, failure=failure)
    tree = base.overlay(so_far.changes)
    return StrategyComparison(
        strategy=strategy.name,
        status=status,
        tree_id=tree.tree_id,
        files=tuple(Changes.between(tree, merged)),
    )


def _run_suites(group: TestedGroup, merged: Changes, options: Options) -> Iterator[SuiteRun]:
    """Run every suite on the merged tree, one at a time; a feature without one gets an empty row.

    If the tree has test files with the names of a suite's own test files, the suite's replace them.
    """
    runs = SuiteRuns(group, Runs(options.runner), options.judge)
    numbers = [each.number for each in group.features]
    found = runs.of_features(numbers, partial(_with_room, group.base, merged), {})
    # If only some features have suites, the rows of the others count as unanswered.
    return found if suites_of(group) else iter(())


def _with_room(base: Snapshot, merged: Changes, suite: TestSuite | None) -> Changes:
    """Return a merged tree to which the tests patch of a suite applies as it does to the base.

    Test files that the patch touches are those of the base. So are the other files that it
    touches, if it would not apply otherwise.
    """
    paths = {path for file in suite.patch.files for path in file.paths} if suite else set()
    found = _as_in_base(merged, filter(is_test_path, paths))
    if suite is None or apply_patch(base.overlay(found), suite.patch).status.is_usable:
        return found
    return _as_in_base(merged, paths)


def _as_in_base(merged: Changes, paths: Iterable[str]) -> Changes:
    """Undo what a merged tree changes at paths, below them and above them."""
    found = dict(merged)
    for path in paths:
        for other in merged:
            one, two = sorted((path, other), key=len)
            if one == two or two.startswith(f"{one}/"):
                found.pop(other, None)
    return Changes(found)
