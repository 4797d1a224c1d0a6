"""Each feature of a pair or team alone: its patch on the base, and its tests."""

from collections.abc import Sequence

from attrs import evolve, frozen

from cooperbench_eval.evaluation.pairs import FeatureGroup
from cooperbench_eval.evaluation.placing import Placed
from cooperbench_eval.evaluation.suite_runs import SuiteRuns
from cooperbench_eval.git.patching.apply import ApplyResult
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy
from cooperbench_eval.git.patching.path_kinds import (
    PathKind,
    classify_path,
    files_that_name_a_framework,
)
from cooperbench_eval.git.trees.snapshot import Snapshot, cache_of
from cooperbench_eval.reporting import FeatureReport, PatchReport
from cooperbench_eval.running.results import TestResult
from cooperbench_eval.support.memo import Memo

_KEPT = 64
_FEWEST_TO_MERGE = 2


@frozen(kw_only=True)
class FeaturesAlone:
    """Each feature without the others.

    Attributes:
        reports: The results of each feature, in the order of the pair or team.
        base_joint: The run of the joint tests on the base; `None` if they were not run.
        base_regression: The same for the repository's own tests.
    """

    reports: tuple[FeatureReport, ...]
    base_joint: TestResult | None = None
    base_regression: TestResult | None = None

    @property
    def tests(self) -> dict[int, TestResult | None]:
        """The run of each feature's own tests, by its number."""
        return {each.number: each.tests for each in self.reports}


def evaluate_alone(
    group: FeatureGroup,
    placed: Sequence[Placed],
    runs: SuiteRuns,
    policy: ApplyPolicy,
    *,
    test_other: bool,
) -> FeaturesAlone:
    """Find out how each feature does without the others: run every suite on its side.

    Args:
        group: The pair or team.
        placed: Its features with their patches placed.
        runs: Runs its suites.
        policy: How leniently the patches were placed.
        test_other: Whether to run the tests of a pair's features also on the other patch.
    """
    usable = [each for each in placed if each.is_usable]
    reports: dict[int, FeatureReport] = {}
    # Features whose runs another worker is making come last: by then they may be done.
    for each in sorted(
        placed,
        key=lambda each: each.is_usable and runs.is_underway(each.feature.tests, each.changes),
    ):
        feature, others = each.feature, [other for other in placed if other is not each]
        tested = test_other and each.is_usable
        reports[each.number] = FeatureReport(
            number=each.number,
            patch=_patch(each, group.base, policy),
            tests=runs.plain(feature.tests, each.changes) if each.is_usable else None,
            base_tests=runs.on_base(feature),
            other_tests=runs.plain(others[0].feature.tests, each.changes) if tested else None,
            agent=feature.agent,
        )
    for each in usable:  # each suite has now shown which cases it runs
        tests, judgement = runs.confirmed(each.feature.tests, each.changes)
        report = reports[each.number]
        reports[each.number] = evolve(report, tests=tests, judgement=judgement)
    joint = group.joint if len(usable) == len(placed) else None
    regression = group.regression if len(usable) >= _FEWEST_TO_MERGE else None
    base_joint, base_regression = map(runs.on_base_of_group, (joint, regression))
    for each in usable if joint or regression else ():
        judged = runs.confirmed(group.regression, each.changes)
        reports[each.number] = evolve(
            reports[each.number],
            joint_tests=runs.plain(joint, each.changes),
            regression_tests=judged.tests,
            regression_judgement=judged.judgement,
        )
    return FeaturesAlone(
        reports=tuple(reports[each.number] for each in placed),
        base_joint=base_joint,
        base_regression=base_regression,
    )


def _patch(placed: Placed, base: Snapshot, policy: ApplyPolicy) -> PatchReport:
    """Return how a patch was placed."""
    start = placed.start
    # Kept, because a feature is part of many pairs.
    report = cache_of(start, _reports).recall(
        (placed.patch, policy), lambda: _report(start, placed.patch, placed.result)
    )
    report = evolve(report, dropped_files=placed.dropped)
    if start is not base:
        report = evolve(report, base_tree_id=start.tree_id, base_commit=start.commit_id)
    return evolve(report, reason=placed.problem) if placed.has_only_tests else report


def _reports() -> Memo[tuple[Patch, ApplyPolicy], PatchReport]:
    return Memo(_KEPT)


def _report(base: Snapshot, patch: Patch, result: ApplyResult) -> PatchReport:
    return PatchReport(
        status=result.status,
        reason=result.reason,
        touched_runner_control=tuple(
            path for path in patch.paths if classify_path(path) is PathKind.RUNNER_CONTROL
        ),
        names_test_framework=files_that_name_a_framework(base, result.changes),
        hunks=result.hunks,
        diff=result.changes.diff(base) if result.status.is_usable else None,
    )
