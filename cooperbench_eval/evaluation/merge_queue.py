"""Lands features one after another, as a merge queue does, and says why one is left out.

All merges have the same base, as successive runs of `git merge` have for branches that start
from one commit. For features that start from different commits, each merge has the base that
git finds for it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from attrs import frozen

from cooperbench_eval.evaluation.sides import Merged, Side, merge_input, merge_sides
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.reporting import FeatureReport
from cooperbench_eval.reporting.landings import (
    BrokenTests,
    LeftOut,
    LeftOutReason,
    SuiteRun,
    TeamSuite,
)
from cooperbench_eval.strategies.protocol import MergeStrategy

_Key = tuple[tuple[int, ...], int]
"""The features into which another one is merged, and that one."""


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
    steps: Mapping[_Key, Merged]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the landed features."""
        return self.side.numbers if self.side else ()


class MergeQueue:
    """Lands features with one strategy; a merge that was done before is remembered.

    Args:
        base: The tree of which all sides are changes.
        strategy: The strategy.
        features: The features without each other, in the order in which they are to land.
        sides: The sides of those with a usable patch, by number.
    """

    def __init__(
        self,
        base: Snapshot,
        strategy: MergeStrategy,
        features: Sequence[FeatureReport],
        sides: Mapping[int, Side],
    ) -> None:
        self._base = base
        self._strategy = strategy
        self._features = features
        self._sides = sides
        self._done: dict[_Key, Merged] = {}

    def land(self, broken_on: Callable[[Side], tuple[BrokenTests, ...]] | None = None) -> Landed:
        """Land the features in their order; leave out those that conflict or break tests.

        Args:
            broken_on: Returns the tests that fail on the tree of a side; `None` to look only at
                the text.
        """
        so_far: Side | None = None
        left_out: list[LeftOut] = []
        steps: dict[_Key, Merged] = {}
        for feature in self._features:
            number = feature.number
            side = self._sides.get(number)
            if side is None:
                left_out.append(_missing(feature))
                continue
            if so_far is not None:
                merged = steps[so_far.numbers, number] = self._merge(so_far, side)
                if not merged.is_complete:
                    left_out.append(self._not_merged(so_far.numbers, side, merged))
                    continue
                side = so_far.joined(side, merged.changes_of(self._base), self._base)
            broken = broken_on(side) if broken_on else ()
            if broken:
                left_out.append(_breaking(feature, broken))
            else:
                so_far = side
        return Landed(side=so_far, left_out=tuple(left_out), steps=steps)

    def _merge(self, so_far: Side, side: Side) -> Merged:
        key = so_far.numbers, side.numbers[0]
        if key not in self._done:
            given = merge_input(self._base, so_far, side)
            self._done[key] = merge_sides(self._strategy, given)
        return self._done[key]

    def _not_merged(self, into: tuple[int, ...], side: Side, merged: Merged) -> LeftOut:
        return not_merged(
            side.numbers[0],
            [self._sides[number] for number in into],
            files=merged.open_files,
            failure=merged.outcome.failure,
            files_with=lambda other: self._merge(self._sides[other], side).open_files,
            otherwise=into,
        )


def _missing(feature: FeatureReport) -> LeftOut:
    """Return why a feature without a usable patch is left out."""
    patch = feature.patch
    problem = patch.reason or f"the patch is {patch.status.value.replace('_', ' ')}"
    return LeftOut(number=feature.number, reason=LeftOutReason.MISSING_INPUT, problem=problem)


def _breaking(feature: FeatureReport, broken: tuple[BrokenTests, ...]) -> LeftOut:
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


def not_merged(
    number: int,
    landed: Iterable[Side],
    *,
    files: Collection[str],
    failure: str,
    files_with: Callable[[int], Collection[str]],
    otherwise: Iterable[int],
    is_unreadable: bool = False,
) -> LeftOut:
    """Return why a feature is left out that does not merge into the landed ones together.

    It conflicts with each of them with which it conflicts separately too, because of the same
    files. If there is none, it conflicts with those that change the files.

    Args:
        number: The feature.
        landed: The landed features, each without the others.
        files: The files in which conflicts are left open.
        failure: Why the strategy failed, or what it needs cannot be read; empty if neither.
        files_with: Returns the files in which the feature conflicts with one landed feature.
        otherwise: With which features it conflicts if this cannot be told from the files.
        is_unreadable: Whether what the merge needs cannot be read.
    """
    if failure:
        return LeftOut(
            number=number,
            reason=LeftOutReason.MISSING_INPUT if is_unreadable else LeftOutReason.STRATEGY_FAILED,
            features=otherwise,
            problem=failure,
        )
    changes = {each.numbers[0]: each.changes for each in landed}
    found = [other for other in changes if not set(files).isdisjoint(files_with(other))]
    found = found or [other for other in changes if not set(files).isdisjoint(changes[other])]
    return LeftOut(
        number=number,
        reason=LeftOutReason.CONFLICT,
        features=found or otherwise,
        files=sorted(files),
    )
