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
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, cache_of
from cooperbench_eval.reporting import FeatureReport, PatchReport
from cooperbench_eval.running import TestSuite
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
        placed: Its features with their patches placed.
        runs: Runs its suites.
        policy: How leniently the patches were placed.
        test_other: Whether to run each feature's tests also on the other feature's patch; for
            pairs.
    """

    def __init__(
        self,
        group: FeatureGroup,
        placed: Sequence[Placed],
        runs: SuiteRuns,
        policy: ApplyPolicy,
        *,
        test_other: bool = False,
    ) -> None:
        self._group = group
        self._placed = placed
        self._runs = runs
        self._policy = policy
        self._test_other = test_other

    def evaluate(self) -> FeaturesAlone:
        """Run every suite on each side alone."""
        group = self._group
        # Features whose runs another worker is making come last: by then they may be done.
        order = sorted(self._placed, key=self._is_underway)
        by_number = {each.number: self._feature(each) for each in order}
        sides = {each.number: each.changes for each in self._placed if each.result.status.is_usable}
        # Each suite has now shown which cases it runs.
        reports = [
            self._judged(by_number[each.number], each.tests, sides.get(each.number))
            for each in group.features
        ]
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

    def _is_underway(self, placed: Placed) -> bool:
        is_usable = placed.result.status.is_usable
        return is_usable and self._runs.is_underway(placed.feature.tests, placed.changes)

    def _patch(self, placed: Placed) -> PatchReport:
        """Return how a patch was placed."""
        base, result = placed.start, placed.result
        # Kept, because a feature is part of many pairs.
        report = cache_of(base, _reports).recall(
            (placed.patch, self._policy), lambda: _report(base, placed.patch, result)
        )
        report = evolve(report, dropped_files=placed.dropped)
        if base is not self._group.base:
            report = evolve(report, base_tree_id=base.tree_id, base_commit=base.commit_id)
        return evolve(report, reason=placed.problem) if placed.has_only_tests else report

    def _judged(
        self, report: FeatureReport, suite: TestSuite | None, changes: Changes | None
    ) -> FeatureReport:
        if changes is None:
            return report
        tests, judgement = self._runs.confirmed(suite, changes)
        return evolve(report, tests=tests, judgement=judgement)

    def _feature(self, placed: Placed) -> FeatureReport:
        feature, changes, patch = placed.feature, placed.changes, self._patch(placed)
        others = [each for each in self._group.features if each is not feature]
        with_other = patch.is_usable and self._test_other and len(others) == 1
        return FeatureReport(
            number=feature.number,
            patch=patch,
            tests=self._runs.plain(feature.tests, changes) if patch.is_usable else None,
            base_tests=self._runs.on_base(feature),
            other_tests=self._runs.plain(others[0].tests, changes) if with_other else None,
            agent=feature.agent,
        )

    def _compared(
        self, report: FeatureReport, changes: Changes | None, runs_joint: bool
    ) -> FeatureReport:
        """Add the runs of the suites that are not a feature's own."""
        if changes is None:
            return report
        regression = self._runs.confirmed(self._group.regression, changes)
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
