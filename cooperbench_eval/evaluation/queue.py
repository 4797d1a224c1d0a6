"""Lands features one after another, as a merge queue does."""

from collections.abc import Iterable, Mapping

from attrs import frozen

from cooperbench_eval.evaluation.fold import Fold, Merged
from cooperbench_eval.evaluation.reasons import not_merged
from cooperbench_eval.evaluation.sides import Side
from cooperbench_eval.evaluation.team_tests import Tester
from cooperbench_eval.reporting import FeatureReport
from cooperbench_eval.reporting.landings import (
    BrokenTests,
    LeftOut,
    LeftOutReason,
    SuiteRun,
    TeamSuite,
)

__all__ = ["Landed", "QueueStep", "land_in_order"]


@frozen
class QueueStep:
    """One merge of a queue."""

    into: tuple[int, ...]
    number: int
    merged: Merged


@frozen(kw_only=True)
class Landed:
    """What a queue has done.

    Attributes:
        side: The landed features together; `None` if no feature landed.
        left_out: The other features, each with the reason.
        steps: The merges in their order.
    """

    side: Side | None
    left_out: tuple[LeftOut, ...]
    steps: tuple[QueueStep, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the landed features."""
        return self.side.numbers if self.side else ()


def land_in_order(
    fold: Fold,
    features: Iterable[FeatureReport],
    sides: Mapping[int, Side],
    tester: Tester | None = None,
) -> Landed:
    """Land the features in their order; leave out those that conflict or break tests.

    Args:
        fold: Merges them.
        features: The features without each other, in the order in which they are to land.
        sides: The sides of those with a usable patch, by number.
        tester: Runs tests after each merge; `None` to look only at the text.
    """
    queue = _Queue(fold, sides, tester)
    for each in features:
        queue.take(each)
    return Landed(side=queue.so_far, left_out=tuple(queue.left_out), steps=tuple(queue.steps))


class _Queue:
    def __init__(self, fold: Fold, sides: Mapping[int, Side], tester: Tester | None) -> None:
        self._fold = fold
        self._sides = sides
        self._tester = tester
        self.so_far: Side | None = None
        self.left_out: list[LeftOut] = []
        self.steps: list[QueueStep] = []

    def take(self, feature: FeatureReport) -> None:
        """Land a feature, or leave it out."""
        side = self._sides.get(feature.number)
        if side is None:
            self.left_out.append(missing(feature))
            return
        together: Side | None = side
        if self.so_far is not None:
            merged = self._fold.merge(self.so_far, side)
            self.steps.append(QueueStep(self.so_far.numbers, feature.number, merged))
            together = self._fold.joined(self.so_far, side)
            if together is None:
                self.left_out.append(self._not_merged(self.so_far.numbers, side, merged))
                return
        assert together is not None  # noqa: S101 - for mypy
        broken = self._tester.broken(together) if self._tester else ()
        if broken:
            self.left_out.append(breaking(feature, broken))
        else:
            self.so_far = together

    def _not_merged(self, into: tuple[int, ...], side: Side, merged: Merged) -> LeftOut:
        return not_merged(
            side.numbers[0],
            [self._sides[number] for number in into],
            files=merged.open_files,
            failure=merged.outcome.failure,
            files_with=lambda other: self._fold.merge(self._sides[other], side).open_files,
            otherwise=into,
        )


def missing(feature: FeatureReport) -> LeftOut:
    """Return why a feature without a usable patch is left out."""
    patch = feature.patch
    problem = patch.reason or f"the patch is {patch.status.value.replace('_', ' ')}"
    return LeftOut(number=feature.number, reason=LeftOutReason.MISSING_INPUT, problem=problem)


def breaking(feature: FeatureReport, broken: tuple[BrokenTests, ...]) -> LeftOut:
    """Return why a feature that makes tests fail is left out."""
    number = feature.number
    only_own = all(each.suite is TeamSuite.FEATURE and each.feature == number for each in broken)
    alone = SuiteRun(suite=TeamSuite.FEATURE, tests=feature.tests, judgement=feature.judgement)
    if only_own and alone.broken is not None:
        reason = LeftOutReason.FAILS_OWN_TESTS
    else:
        reason = LeftOutReason.BREAKS
    whose = dict.fromkeys(each.feature for each in broken if each.feature is not None)
    return LeftOut(number=number, reason=reason, features=tuple(whose), tests=broken)
