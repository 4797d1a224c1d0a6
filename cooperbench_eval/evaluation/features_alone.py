"""Each feature of a pair or team alone: its patch on the base, and its tests."""

from attrs import evolve, frozen

from cooperbench_eval.evaluation.pairs import Feature, FeatureGroup, start_of
from cooperbench_eval.evaluation.sides import patch_without_tests
from cooperbench_eval.evaluation.suite_runs import SuiteRuns
from cooperbench_eval.git.patching.apply import ApplyResult, apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy
from cooperbench_eval.git.patching.path_kinds import (
    PathKind,
    TestFileFilter,
    classify_path,
    files_that_name_a_framework,
)
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, cache_of, rewritten
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
        sides: What each usable patch changes in the base, by the number of its feature.
        base_joint: The run of the joint tests on the base; `None` if they were not run.
        base_regression: The same for the repository's own tests.
    """

    reports: tuple[FeatureReport, ...]
    sides: dict[int, Changes]
    base_joint: TestResult | None = None
    base_regression: TestResult | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every patch gives a side that can be merged."""
        return len(self.sides) == len(self.reports)

    @property
    def tests(self) -> dict[int, TestResult | None]:
        """The run of each feature's own tests, by its number."""
        return {each.number: each.tests for each in self.reports}


class Alone:
    """Finds out how each feature of one pair or team does without the others.

    Args:
        group: The pair or team.
        runs: Runs its suites.
        test_filter: Removes the agents' own test files from their patches.
        policy: How leniently the patches are placed.
        test_other: Whether to run each feature's tests also on the other feature's patch; for
            pairs.
    """

    def __init__(
        self,
        group: FeatureGroup,
        runs: SuiteRuns,
        test_filter: TestFileFilter,
        policy: ApplyPolicy,
        *,
        test_other: bool = False,
    ) -> None:
        self._group = group
        self._runs = runs
        self._test_filter = test_filter
        self._policy = policy
        self._test_other = test_other

    def evaluate(self) -> FeaturesAlone:
        """Place every patch, and run every suite on each side alone."""
        group = self._group
        # Features whose runs another worker is making come last: by then they may be done.
        order = sorted(group.features, key=self._is_underway)
        by_number = {each.number: self._feature(each) for each in order}
        found = [by_number[each.number] for each in group.features]
        # Each suite has now shown which cases it runs.
        reports = [
            evolve(report, judgement=self._runs.judge(feature.tests, report.tests))
            for feature, (report, _) in zip(group.features, found, strict=True)
        ]
        sides = {report.number: changes for report, changes in found if report.patch.is_usable}
        joint = group.joint if len(sides) == len(reports) else None
        regression = group.regression if len(sides) >= _FEWEST_TO_MERGE else None
        base_joint, base_regression = map(self._runs.on_base_of_group, (joint, regression))
        for at, report in enumerate(reports):
            if regression is not None or joint is not None:
                reports[at] = self._compared(report, sides.get(report.number), joint is not None)
        return FeaturesAlone(
            reports=tuple(reports),
            sides=sides,
            base_joint=base_joint,
            base_regression=base_regression,
        )

    def _is_underway(self, feature: Feature) -> bool:
        patch, changes = self._place(feature)
        return patch.is_usable and self._runs.is_underway(feature.tests, changes)

    def _place(self, feature: Feature) -> tuple[PatchReport, Changes]:
        """Apply a patch to the tree from which its feature starts, before any test runs.

        The changes are those that turn the base of the pair or team into the patched tree.
        """
        group = self._group
        base = start_of(feature, group.base)
        patch, dropped = patch_without_tests(group, feature, self._test_filter)
        result = apply_patch(base, patch, self._policy)
        # Kept, because a feature is part of many pairs.
        report = cache_of(base, _reports).recall(
            (patch, self._policy), lambda: _report(base, patch, result)
        )
        report = evolve(report, dropped_files=dropped)
        if base is not group.base:
            report = evolve(report, base_tree_id=base.tree_id, base_commit=base.commit_id)
        if dropped and not patch.files:
            report = evolve(report, reason="it contains only test files, which were dropped")
        return report, rewritten(result.changes, base, group.base)

    def _feature(self, feature: Feature) -> tuple[FeatureReport, Changes]:
        patch, changes = self._place(feature)
        usable = patch.is_usable
        others = [each for each in self._group.features if each is not feature]
        with_other = usable and self._test_other and len(others) == 1
        report = FeatureReport(
            number=feature.number,
            patch=patch,
            tests=self._runs.plain(feature.tests, changes) if usable else None,
            base_tests=self._runs.on_base(feature),
            other_tests=self._runs.plain(others[0].tests, changes) if with_other else None,
            agent=feature.agent,
        )
        return report, changes

    def _compared(
        self, report: FeatureReport, changes: Changes | None, runs_joint: bool
    ) -> FeatureReport:
        """Add the runs of the suites that are not a feature's own."""
        if changes is None:
            return report
        regression = self._runs.regression(changes)
        return evolve(
            report,
            joint_tests=self._runs.plain(self._group.joint, changes) if runs_joint else None,
            regression_tests=regression.tests,
            regression_judgement=regression.judgement,
        )


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
