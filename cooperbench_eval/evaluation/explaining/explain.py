"""`explain` finds the hunks that are responsible for the tests that a merge lost."""

import operator
from collections.abc import Iterator, Sequence

from attrs import evolve

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.evaluation.evaluator import Evaluator
from cooperbench_eval.evaluation.explaining.finding import Experiments, LostTests, find_causes
from cooperbench_eval.evaluation.explaining.splitting import SplitSide, split_side
from cooperbench_eval.evaluation.pairs import FeaturePair
from cooperbench_eval.evaluation.placing import Placed, place, placed_with
from cooperbench_eval.evaluation.suite_runs import Runs
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.git.patching.patch_parts import FileChange
from cooperbench_eval.git.trees.snapshot import Changes, rewritten
from cooperbench_eval.reporting import Attempt, BlameKind, MergeReport, Verdict
from cooperbench_eval.reporting.explanation import Explanation, ExplanationStatus, SuiteKind
from cooperbench_eval.reporting.identity import PairId
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.results import TestCaseStatus, TestResult
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.support.arguments import able_to, checked


@checked(runner=able_to("run", or_none=False))
def explain(
    report: MergeReport,
    pair: FeaturePair,
    *,
    strategy: str | MergeStrategy | None = None,
    runner: TestRunner,
    budget: int = 60,
    evaluator: Evaluator | None = None,
) -> Explanation:
    """Find the hunks that are responsible for the tests that a merge lost.

    Hunks are left out of the features, the rest is merged again, and the lost tests are
    run. For tests of one feature, this gives a set of hunks of the other feature without
    which the tests pass again, and the hunks of their own feature that they need. Both sets
    are as small as the budget allows. Only suites that lost tests are run.

    Args:
        report: The report of the pair.
        pair: The pair.
        strategy: The strategy whose merge lost the tests; by default the first one of the report
            whose merge lost some. A strategy that asks a model asks it again for every merge.
        runner: Runs the tests.
        budget: How many times a suite may be run.
        evaluator: The evaluator that made the report. It is needed only for a report of an earlier
            version, which does not record its options.

    Raises:
        UnknownAttemptError: The report has no row for the strategy, or no row at all.
        StrategyError: The strategy cannot be loaded.
        ArgumentError: *budget* is less than 1, or an argument has the wrong type.
        RepositoryError: The base cannot be read.
    """
    budget = operator.index(budget)
    if budget < 1:
        raise ArgumentError("budget", f"must be at least 1 run, not {budget}")
    strategy = strategy or _first_that_lost(report, pair)
    name = strategy if isinstance(strategy, str) else as_strategy(strategy).name
    attempt = report.attempt(name)
    result = Explanation(
        strategy=name, pair=PairId.of(report), budget=budget, options=report.options
    )
    lost = tuple(_lost_tests(report, pair, name))
    if reason := _why_not(report, pair, attempt, lost):
        return evolve(result, failure=reason[0], problem=reason[1])
    placed = _place(pair, report, evaluator)
    sides = tuple(_split(pair, each) for each in placed)
    runs = Runs(runner, budget)
    experiments = Experiments(pair, (sides[0], sides[1]), as_strategy(strategy), runs)
    whole = [side.with_only(side.hunks) or Changes() for side in sides]
    merged = experiments.merge(*whole)
    difference = _difference(pair, attempt, merged)
    if difference or merged is None:
        return evolve(result, failure=ExplanationStatus.OTHER_TREE, problem=difference)
    start1, start2 = (rewritten(Changes(), each.start, pair.base) for each in placed)
    starts = {SuiteKind.FEATURE1: start1, SuiteKind.FEATURE2: start2}
    for kind, suite, found in _runs_of(report, pair):
        for changes, run in zip((starts.get(kind, Changes()), *whole), found, strict=True):
            if run is not None:
                runs.know(pair.base, changes, suite, run)
    return evolve(result, findings=find_causes(lost, experiments, merged), runs_used=runs.used)


def _why_not(
    report: MergeReport, pair: FeaturePair, attempt: Attempt, lost: Sequence[LostTests]
) -> tuple[ExplanationStatus, str] | None:
    if report.failure is not None:
        return ExplanationStatus.NOT_MERGED, f"the pair was not evaluated: {report.failure.problem}"
    if attempt.status not in {MergeStatus.CLEAN, MergeStatus.RESOLVED}:
        status = attempt.status.value.replace("_", " ")
        return ExplanationStatus.NOT_MERGED, f"the merge is not complete; its status is {status}"
    if PairId.of(report) != PairId.of(pair):
        difference = f"the report is about {PairId.of(report)}, but the pair is {PairId.of(pair)}"
        return ExplanationStatus.OTHER_TREE, difference
    if lost:
        return None
    runs = [*attempt.own_runs, attempt.joint_run, attempt.regression_run]
    has_unknown = any(each.tests is not None and each.outcome is None for each in runs)
    kind = report.blame(attempt.strategy).kind
    if has_unknown or attempt.verdict is Verdict.NOT_RUN or kind is BlameKind.UNKNOWN:
        untested = "the merged tree was not tested, or its tests have no result"
        return ExplanationStatus.NOT_RUN, untested
    return ExplanationStatus.NOTHING_LOST, ""


def _runs_of(
    report: MergeReport, pair: FeaturePair
) -> Iterator[tuple[SuiteKind, TestSuite, Sequence[TestResult | None]]]:
    """Yield each suite with its runs on the tree where its feature starts, and on both features."""
    one, two = report.feature1, report.feature2
    base_joint, base_regression = report.base_joint_tests, report.base_regression_tests
    for kind, suite, *runs in (
        (SuiteKind.FEATURE1, pair.feature1.tests, one.base_tests, one.tests, two.other_tests),
        (SuiteKind.FEATURE2, pair.feature2.tests, two.base_tests, one.other_tests, two.tests),
        (SuiteKind.JOINT, pair.joint, base_joint, one.joint_tests, two.joint_tests),
        (
            SuiteKind.REGRESSION,
            pair.regression,
            base_regression,
            one.regression_tests,
            two.regression_tests,
        ),
    ):
        if suite is not None:
            yield kind, suite, runs


def _lost_tests(report: MergeReport, pair: FeaturePair, strategy: str) -> Iterator[LostTests]:
    blame, attempt = report.blame(strategy), report.attempt(strategy)
    own1, own2 = attempt.own_runs
    found = {
        SuiteKind.FEATURE1: (blame.lost_tests1, own1),
        SuiteKind.FEATURE2: (blame.lost_tests2, own2),
        SuiteKind.JOINT: (blame.lost_joint_tests, attempt.joint_run),
        SuiteKind.REGRESSION: (blame.lost_regression_tests, attempt.regression_run),
    }
    for kind, suite, (on_base, on_side1, on_side2) in _runs_of(report, pair):
        lost, merged = found[kind]
        ids = frozenset(lost)
        is_broken = kind in _BROKEN.get(blame.kind, ()) and merged.outcome is False
        if not ids and is_broken and kind is SuiteKind.REGRESSION:
            ids = _passed(on_side1) & _passed(on_side2)
        if ids or is_broken:
            runs = filter(None, (on_base, on_side1, on_side2, merged.tests))
            known = frozenset(case.id for run in runs for case in run.cases)
            yield LostTests(kind=kind, suite=suite, ids=ids, known=known)


_BROKEN = {
    BlameKind.MERGE_BROKE_FEATURE1: {SuiteKind.FEATURE1},
    BlameKind.MERGE_BROKE_FEATURE2: {SuiteKind.FEATURE2},
    BlameKind.MERGE_BROKE_BOTH: {SuiteKind.FEATURE1, SuiteKind.FEATURE2},
    BlameKind.MERGE_BROKE_JOINT: {SuiteKind.JOINT},
    BlameKind.MERGE_BROKE_REGRESSION: {SuiteKind.REGRESSION},
}
"""The suites that a merge breaks, even if no case shows it, as after a timeout."""


def _passed(run: TestResult | None) -> frozenset[str]:
    cases = () if run is None else run.cases
    return frozenset(case.id for case in cases if case.status is TestCaseStatus.PASSED)


def _first_that_lost(report: MergeReport, pair: FeaturePair) -> str:
    """Return the first strategy whose merge lost tests, or the first one if none did."""
    names = [each.strategy for each in report.attempts] or ["naive"]
    lost = (each for each in names if any(_lost_tests(report, pair, each)))
    return names[0] if report.failure else next(lost, names[0])


def _place(pair: FeaturePair, report: MergeReport, evaluator: Evaluator | None) -> Sequence[Placed]:
    used = report.options
    if evaluator is None and used is not None:
        return place(pair, used.apply_policy, used.test_filter)
    return placed_with(evaluator or Evaluator(), pair)


def _split(pair: FeaturePair, placed: Placed) -> SplitSide:
    renames = {
        file.new_path: file.old_path
        for file in placed.patch.files
        if file.change is FileChange.RENAME and file.new_path and file.old_path
    }
    return split_side(pair.base, placed.changes, renames)


def _difference(pair: FeaturePair, attempt: Attempt, merged: Changes | None) -> str:
    """Return how the pair's merge differs from that of the report; empty if it does not."""
    if merged is None:
        return f"{attempt.strategy} does not complete the merge of this pair"
    tree_id = merged.tree_id(pair.base)
    if tree_id != attempt.tree_id:
        return f"merging the pair gives the tree {tree_id}; the report has {attempt.tree_id}"
    return ""
