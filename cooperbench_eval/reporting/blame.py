"""Finds why a pair fails, from the runs of each feature and of the merged tree."""

from collections import Counter
from enum import StrEnum
from typing import TypeGuard

from attrs import field, frozen

from cooperbench_eval.display.shown import Shown
from cooperbench_eval.models import MergeStatus, TestCaseStatus, TestResult, TestStatus
from cooperbench_eval.reporting.rows import Attempt, FeatureReport, Verdict, was_run

__all__ = ["MERGE_BROKE", "Blame", "BlameKind", "cannot_run", "find_blame"]


class BlameKind(StrEnum):
    """Why a pair fails under a strategy: the first kind that applies."""

    MISSING_SIDE = "missing_side"
    """A patch is empty or does not apply, so there was nothing to merge."""
    BROKEN_ALONE = "broken_alone"
    """A feature fails its own tests without the other one."""
    CONFLICT = "conflict"
    """The strategy left conflicts open, or failed."""
    MERGE_BROKE_FEATURE1 = "merge_broke_feature1"
    """Each feature passes without the other, and feature 1 fails in the merged tree."""
    MERGE_BROKE_FEATURE2 = "merge_broke_feature2"
    """Each feature passes without the other, and feature 2 fails in the merged tree."""
    MERGE_BROKE_BOTH = "merge_broke_both"
    """Each feature passes without the other, and both fail in the merged tree."""
    UNKNOWN = "unknown"
    """Some tests were not run, cannot run here or gave no result, and the others do not show
    the reason."""
    NOBODY = "nobody"
    """Both features pass in the merged tree."""


@frozen(kw_only=True)
class Blame(Shown):
    """Why a strategy's attempt ended as it did.

    Attributes:
        kind: The reason.
        features: The numbers of the features that it concerns: those whose patch is
            missing, which fail without the other feature, or which the merge broke.
        lost_tests1: If feature 1 fails in the merged tree: its tests that passed
            without feature 2 and do not pass in the merged tree. Tests that no longer exist in
            this tree are included, except for cases that pass in it with other parameters.
            Empty if the run produced no result.
        lost_tests2: The same for feature 2.
    """

    _view = "cooperbench_eval.views.pairs:blame_view"

    kind: BlameKind = field(converter=BlameKind)
    features: tuple[int, ...] = field(default=(), converter=tuple[int, ...])
    lost_tests1: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    lost_tests2: tuple[str, ...] = field(default=(), converter=tuple[str, ...])


_NO_RESULT = frozenset({TestStatus.INCONCLUSIVE, TestStatus.SETUP_FAILED})
MERGE_BROKE = {
    (True, False): BlameKind.MERGE_BROKE_FEATURE1,
    (False, True): BlameKind.MERGE_BROKE_FEATURE2,
    (True, True): BlameKind.MERGE_BROKE_BOTH,
}
"""The kind of blame, by whether the merge broke feature 1 and whether it broke feature 2."""


def find_blame(feature1: FeatureReport, feature2: FeatureReport, attempt: Attempt) -> Blame:
    """Find what is to blame, in the order of `BlameKind`."""
    features = (feature1, feature2)
    lost1 = _lost(feature1.tests, attempt.feature1_tests)
    lost2 = _lost(feature2.tests, attempt.feature2_tests)

    def blame(kind: BlameKind, *concerned: bool) -> Blame:
        numbers = (f.number for f, is_it in zip(features, concerned, strict=False) if is_it)
        return Blame(kind=kind, features=numbers, lost_tests1=lost1, lost_tests2=lost2)

    if attempt.status is MergeStatus.NOT_TRIED:
        return blame(BlameKind.MISSING_SIDE, *(not each.patch.is_usable for each in features))
    alone = [each.tests_passed is False and not cannot_run(each) for each in features]
    if any(alone):
        return blame(BlameKind.BROKEN_ALONE, *alone)
    verdict = attempt.verdict
    if verdict is Verdict.UNHANDLED:
        return blame(BlameKind.CONFLICT)
    broke = (
        _breaks(feature1.tests, attempt.feature1_tests),
        _breaks(feature2.tests, attempt.feature2_tests),
    )
    if broke in MERGE_BROKE:
        return blame(MERGE_BROKE[broke], *broke)
    return blame(BlameKind.NOBODY if verdict is Verdict.CORRECT else BlameKind.UNKNOWN)


def cannot_run(feature: FeatureReport) -> bool:
    """Whether the feature's tests produce no result, with or without its patch.

    The patch is then not the cause; a dependency of the tests may be missing.
    """
    runs = (feature.base_tests, feature.tests)
    return all(run is not None and _has_no_result(run) for run in runs)


def _has_no_result(run: TestResult) -> bool:
    """Whether a run says nothing about its tree, as when a cache cannot be written."""
    return run.status in _NO_RESULT and not run.cases


def _breaks(alone: TestResult | None, merged: TestResult | None) -> bool:
    return was_run(alone) and alone.passed and _fails(merged)


def _fails(merged: TestResult | None) -> TypeGuard[TestResult]:
    return was_run(merged) and not merged.passed and not _has_no_result(merged)


def _lost(alone: TestResult | None, merged: TestResult | None) -> tuple[str, ...]:
    if alone is None or not _fails(merged):
        return ()
    passed = TestCaseStatus.PASSED
    ran = {case.id: case.status for case in merged.cases}
    candidates = [
        case for case in alone.cases if case.status is passed and ran.get(case.id) is not passed
    ]
    if not candidates:
        return ()
    known = {case.id for case in alone.cases}
    # A parameter may differ from run to run, as a random UUID does, and the id with it.
    renamed = Counter(
        _unparametrized(id_) for id_, status in ran.items() if status is passed and id_ not in known
    )
    lost = []
    for case in candidates:
        test = _unparametrized(case.id)
        if case.id not in ran and test != case.id and renamed[test]:
            renamed[test] -= 1
        else:
            lost.append(case.id)
    return tuple(lost)


def _unparametrized(id_: str) -> str:
    """Return the test of a case, as pytest names it: `test[parameters]`."""
    return id_.partition("[")[0] if id_.endswith("]") else id_
