"""Finds why a pair fails, from the runs of each feature and of the merged tree."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from itertools import starmap
from typing import Final, NamedTuple, Self

from attrs import field, frozen

from cooperbench_eval.errors import PatchError
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.reporting.explanation import SuiteKind
from cooperbench_eval.reporting.rows import Attempt, FeatureReport, Judged, Tried, Verdict
from cooperbench_eval.running.results import (
    BAD,
    COMPLETE,
    Judgement,
    TestCase,
    TestCaseStatus,
    TestResult,
    lost_cases,
    outcome_of,
)
from cooperbench_eval.support.arguments import named_fields
from cooperbench_eval.support.rendering.shown import Shown


class BlameKind(StrEnum):
    """Why a pair or team fails under a strategy: the first kind that applies.

    In a team of two, feature 2 is the one that comes first.
    """

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
    MERGE_BROKE_FEATURES = "merge_broke_features"
    """Each feature of a team of three or more passes without the others, and some of them fail
    in the merged tree."""
    MERGE_BROKE_JOINT = "merge_broke_joint"
    """Each feature passes without the other, and together they fail the joint tests."""
    MERGE_BROKE_REGRESSION = "merge_broke_regression"
    """A case of the repository's own suite passes on the base and on both sides, and fails in
    the merged tree."""
    REGRESSED_ALONE = "regressed_alone"
    """A feature breaks a case of the repository's own suite without the other one."""
    UNKNOWN = "unknown"
    """Some tests were not run, cannot run here or gave no result, and the others do not show
    the reason."""
    NOBODY = "nobody"
    """Every suite passes in the merged tree."""


@frozen(kw_only=True, field_transformer=named_fields)
class Blame(Shown):
    """Why a strategy's attempt ended as it did.

    Attributes:
        kind: The reason.
        features: The numbers of the features that it concerns: those whose patch is
            missing, which fail or regress without the other feature, or which the merge
            broke.
        lost_tests1: If feature 1 fails in the merged tree: its tests that passed
            without feature 2 and do not pass in the merged tree. Tests that no longer exist in
            this tree are included, except for cases that pass in it with other parameters.
            Empty if the run produced no result.
        lost_tests2: The same for feature 2.
        lost_joint_tests: If the merged tree fails the joint tests: the required ones that
            do not pass in it.
        lost_regression_tests: Cases of the repository's own suite that pass on the base and
            on both sides, and do not pass in the merged tree.
    """

    kind: BlameKind = field(converter=BlameKind)
    features: tuple[int, ...] = field(default=(), converter=tuple[int, ...])
    lost_tests1: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    lost_tests2: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    lost_joint_tests: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    lost_regression_tests: tuple[str, ...] = field(default=(), converter=tuple[str, ...])


MERGE_BROKE: Final[Mapping[tuple[bool, ...], BlameKind]] = {
    (True, False): BlameKind.MERGE_BROKE_FEATURE1,
    (False, True): BlameKind.MERGE_BROKE_FEATURE2,
    (True, True): BlameKind.MERGE_BROKE_BOTH,
}
"""The kind of blame, by whether the merge broke feature 1 and whether it broke feature 2."""


def find_cause(
    features: Sequence[FeatureReport],
    attempt: Tried,
    own: Sequence[Judged],
    on_base: TestResult | None = None,
) -> tuple[BlameKind, tuple[int, ...], tuple[str, ...]]:
    """Return the first kind of blame that applies, its features, and the lost regression tests.

    The features of a pair are feature 1 and feature 2; those of a team have its order. *own* are
    their tests on the merged tree, *on_base* the repository's own tests on the base.
    """
    verdict = attempt.verdict
    regression = _Regression.of(features, attempt.regression_run, on_base)
    missing = [not each.patch.is_usable for each in features]
    alone = [each.is_right is False for each in features]
    shared = (*_lost_joint(features, attempt.joint_run), *regression.lost)
    broke = _broken_by_merge(features, own, shared)
    everyone = [True for _ in features]
    kinds = (
        (attempt.status is MergeStatus.NOT_TRIED, BlameKind.MISSING_SIDE, missing),
        (any(alone), BlameKind.BROKEN_ALONE, alone),
        (verdict is Verdict.UNHANDLED, BlameKind.CONFLICT, ()),
        (any(broke), MERGE_BROKE.get(tuple(broke), BlameKind.MERGE_BROKE_FEATURES), broke),
        (_breaks_joint(features, attempt.joint_run), BlameKind.MERGE_BROKE_JOINT, everyone),
        (regression.is_lost, BlameKind.MERGE_BROKE_REGRESSION, everyone),
        (
            verdict is Verdict.INCORRECT and any(regression.by_side),
            BlameKind.REGRESSED_ALONE,
            regression.by_side,
        ),
        (verdict is not Verdict.CORRECT, BlameKind.UNKNOWN, ()),
        (True, BlameKind.NOBODY, ()),
    )
    kind, concerned = next((kind, concerned) for applies, kind, concerned in kinds if applies)
    numbers = (each.number for each, is_it in zip(features, concerned, strict=False) if is_it)
    return kind, tuple(numbers), regression.lost


def _broken_by_merge(
    features: Sequence[FeatureReport], own: Sequence[Judged], shared: Collection[str]
) -> list[bool]:
    """Return for each feature whether the merge broke it; *own* are its tests on the merged tree.

    If a case fails in a file that only one feature touches, the merge broke that feature,
    whichever suite shows it. *shared* are cases of the other suites that only the merge breaks.
    """
    fails = [
        each.is_right and run.outcome is False for each, run in zip(features, own, strict=True)
    ]
    if not any(fails) and not shared:
        return [False for _ in features]
    paths = [_touched(each.patch.diff) for each in features]
    broken = {_owner(case, paths, None) for case in shared}
    for place, run in enumerate(own):
        if fails[place]:
            broken |= {_owner(case, paths, place) for case in failing_cases(*run)} or {place}
    return [place in broken and each.is_right is not False for place, each in enumerate(features)]


def _owner(case: str, paths: Sequence[frozenset[str]], default: int | None) -> int | None:
    """Return the place of the only feature whose patch touches a case's file, or *default*."""
    file = case.partition("::")[0]
    touching = [at for at, each in enumerate(paths) if file in each]
    return touching[0] if len(touching) == 1 else default


def _touched(diff: bytes | None) -> frozenset[str]:
    """Return the paths that a diff touches; none if it cannot be parsed."""
    with suppress(PatchError):
        return frozenset(Patch.parse(diff or b"").paths)
    return frozenset()


def find_blame(
    feature1: FeatureReport,
    feature2: FeatureReport,
    attempt: Attempt,
    on_base: TestResult | None = None,
) -> Blame:
    """Find what is to blame: the first kind of `BlameKind` that applies."""
    features, own = (feature1, feature2), attempt.own_runs
    kind, numbers, lost_regression_tests = find_cause(features, attempt, own, on_base)
    lost1, lost2 = (lost_tests(each.tests, *run) for each, run in zip(features, own, strict=True))
    return Blame(
        kind=kind,
        features=numbers,
        lost_tests1=lost1,
        lost_tests2=lost2,
        lost_joint_tests=failing_cases(*attempt.joint_run),
        lost_regression_tests=lost_regression_tests,
    )


def _breaks_joint(features: Sequence[FeatureReport], joint: Judged) -> bool:
    """Whether the features are right alone and fail the joint tests together.

    If the joint tests end in the same way on each side, and no case shows why, the merge is
    not the reason.
    """
    run = joint.tests
    if run is None or joint.outcome is not False:
        return False
    sides = [each.joint_tests for each in features]
    if not run.cases and all(each is not None and each.status is run.status for each in sides):
        return False
    return all(each.is_right or each.tests is None for each in features)


def _lost_joint(features: Sequence[FeatureReport], joint: Judged) -> Iterator[str]:
    """Yield the joint tests that pass with one feature, fail with none alone, and fail merged."""
    runs = [each.joint_tests.cases if each.joint_tests else () for each in features]
    alone = [{case.id: case.status for case in cases} for cases in runs]
    for id_ in failing_cases(*joint):
        statuses = {each[id_] for each in alone if id_ in each}
        if TestCaseStatus.PASSED in statuses and BAD.isdisjoint(statuses):
            yield id_


def lost_tests(
    alone: TestResult | None, merged: TestResult | None, judgement: Judgement | None
) -> tuple[str, ...]:
    """Return the cases that a feature passes alone and that count as failed when merged."""
    fails = outcome_of(merged, judgement) is False
    if alone is None or merged is None or not fails:
        return ()
    excused = judgement.excused if judgement is not None else frozenset()
    return tuple(each for each in lost_cases(alone, merged) if each not in excused)


def failing_cases(run: TestResult | None, judgement: Judgement | None) -> tuple[str, ...]:
    """Return the cases that make a run count as failed; none if it shows none or did not fail."""
    if run is None or outcome_of(run, judgement) is not False:
        return ()
    if judgement is not None:
        return judgement.broken
    return tuple(case.id for case in run.cases if case.status in BAD)


class _Regression(NamedTuple):
    """What the repository's own suite says about a merged tree and its sides.

    Attributes:
        lost: Cases that only the merge breaks.
        is_lost: Whether only the merge breaks the suite.
        by_side: Whether each feature breaks, without the other, what the merged tree breaks.
    """

    lost: tuple[str, ...]
    is_lost: bool
    by_side: tuple[bool, ...]

    @classmethod
    def of(
        cls, features: Sequence[FeatureReport], merged: Judged, on_base: TestResult | None
    ) -> Self:
        broken = failing_cases(*merged)
        runs = [(each.regression_tests, each.regression_judgement) for each in features]
        on_sides = [frozenset(failing_cases(*run)) for run in runs]
        outcomes = list(starmap(outcome_of, runs))
        # A side that was judged, or that passes, shows which cases it breaks.
        is_known = all(
            outcome is True or judgement is not None
            for outcome, (_, judgement) in zip(outcomes, runs, strict=True)
        )
        lost = tuple(each for each in broken if not any(each in side for side in on_sides))
        fails = merged.outcome is False
        return cls(
            lost=lost if is_known else (),
            is_lost=fails and is_known and (bool(lost) or all(outcomes)),
            by_side=tuple(
                outcome is False
                and on_base is not None
                and on_base.status in COMPLETE
                and (not broken or not side or not side.isdisjoint(broken))
                for outcome, side in zip(outcomes, on_sides, strict=True)
            ),
        )


# --- the tests that a merge lost ---------------------------------------------


class LostTest(NamedTuple):
    """A test that a merge lost, and the case of the merged tree's run that shows why.

    If the test did not run, this is the case of its file, or the first case that could not run, if
    there is one.
    """

    suite: SuiteKind
    name: str
    case: TestCase | None
    is_own: bool

    @property
    def message(self) -> str:
        """Why it was lost, as far as the framework says; empty if it says nothing."""
        return "" if self.case is None else self.case.message


def lost_tests_of(attempt: Attempt, blame: Blame) -> Iterator[LostTest]:
    """Yield the tests that an attempt's merge lost, by suite; *blame* is that of the attempt."""
    found = (
        (SuiteKind.FEATURE1, blame.lost_tests1, attempt.feature1_tests),
        (SuiteKind.FEATURE2, blame.lost_tests2, attempt.feature2_tests),
        (SuiteKind.JOINT, blame.lost_joint_tests, attempt.joint_tests),
        (SuiteKind.REGRESSION, blame.lost_regression_tests, attempt.regression_tests),
    )
    for suite, names, run in found:
        if names and run is not None:
            yield from _lost_of_suite(suite, names, run)


def _lost_of_suite(suite: SuiteKind, names: tuple[str, ...], run: TestResult) -> Iterator[LostTest]:
    cases = {case.id: case for case in run.cases}
    error = next((case for case in run.cases if case.status is TestCaseStatus.ERROR), None)
    for name in names:
        own = cases.get(name)
        case = own or cases.get(name.partition("::")[0]) or error
        yield LostTest(suite, name, case, own is not None)
