"""Lands features one after another, as a merge queue does, and says why one is left out.

All merges have the same base, as successive runs of `git merge` have for branches that start
from one commit. For features that start from different commits, each merge has the base that
git finds for it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from attrs import frozen

from cooperbench_eval.evaluation.landing.search import Step
from cooperbench_eval.evaluation.sides import Merged, Side, merge_input, merge_into
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.reporting import FeatureReport
from cooperbench_eval.reporting.landings import (
    BrokenTests,
    LeftOut,
    LeftOutReason,
    SuiteRun,
    TeamSuite,
)
from cooperbench_eval.strategies.protocol import MergeInput, MergeStrategy

MergeKey = tuple[tuple[int, ...], int]
"""The features into which another one is merged, and that one."""


@frozen(kw_only=True)
class Landed:
    """What a queue has done: what landed together, what did not, and each merge with its side."""

    side: Side | None
    left_out: tuple[LeftOut, ...]
    steps: Mapping[MergeKey, tuple[Merged, Side]]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the landed features."""
        return self.side.numbers if self.side else ()


class MergeQueue:
    """Lands features with one strategy; a merge that was done before is remembered.

    Only features with a usable patch are in *sides*. All queues share *given*, the prepared merges
    of two features; this one adds its own.
    """

    def __init__(
        self,
        base: Snapshot,
        strategy: MergeStrategy,
        features: Sequence[FeatureReport],
        sides: Mapping[int, Side],
        given: dict[MergeKey, MergeInput],
    ) -> None:
        self._base = base
        self._strategy = strategy
        self._features = features
        self._sides = sides
        self._given = given
        self._done: dict[MergeKey, tuple[Merged, Side]] = {}

    def land(self, broken_on: Callable[[Side], tuple[BrokenTests, ...]] = lambda _: ()) -> Landed:
        """Land the features in order, without those that conflict or break tests (*broken_on*)."""
        so_far: Side | None = None
        left_out: list[LeftOut] = []
        steps: dict[MergeKey, tuple[Merged, Side]] = {}
        for feature in self._features:
            side = self._sides.get(feature.number)
            if side is None:
                left_out.append(_missing(feature))
                continue
            if so_far is not None:
                merged, joined = self._merge(so_far, side)
                steps[so_far.numbers, feature.number] = merged, joined
                if not merged.is_complete:
                    left_out.append(
                        _failing_alone(feature) or self._not_merged(so_far, side, merged)
                    )
                    continue
                side = joined
            if broken := broken_on(side):
                left_out.append(
                    _failing_alone(feature) or breaking(feature.number, broken, side.numbers)
                )
            else:
                so_far = side
        return Landed(side=so_far, left_out=tuple(left_out), steps=steps)

    def _merge(self, so_far: Side, side: Side) -> tuple[Merged, Side]:
        key = so_far.numbers, side.numbers[0]
        if key not in self._done:
            given = self._given.get(key) or merge_input(self._base, so_far, side)
            if len(so_far.numbers) == 1:  # else the input depends on the strategy
                self._given[key] = given
            self._done[key] = merge_into(self._base, so_far, side, self._strategy, given)
        return self._done[key]

    def _not_merged(self, so_far: Side, side: Side, merged: Merged) -> LeftOut:
        return not_merged(
            side.numbers[0],
            merged,
            [self._sides[number] for number in so_far.numbers],
            lambda other: self._merge(self._sides[other], side)[0].open_files,
            so_far.numbers,
        )


def _missing(feature: FeatureReport) -> LeftOut:
    patch = feature.patch
    problem = patch.reason or f"the patch is {patch.status.value.replace('_', ' ')}"
    return LeftOut(number=feature.number, reason=LeftOutReason.MISSING_INPUT, problem=problem)


def _failing_alone(feature: FeatureReport) -> LeftOut | None:
    """Return that a feature fails its own tests without the others; `None` if it does not."""
    alone = SuiteRun(
        suite=TeamSuite.FEATURE,
        feature=feature.number,
        tests=feature.tests,
        judgement=feature.judgement,
    )
    return breaking(feature.number, [alone.broken], ()) if alone.broken else None


def breaking(number: int, broken: Sequence[BrokenTests], on: Iterable[int]) -> LeftOut:
    """Return why a feature that makes tests fail on a tree with the features *on* is left out.

    A feature that fails its own tests without the others is left out for this reason, whatever
    else it does. Otherwise, it breaks tests that pass without it, or its own fail beside others.
    """
    others = sorted({*on} - {number})
    own = [each for each in broken if (each.suite, each.feature) == (TeamSuite.FEATURE, number)]
    if own and not others:
        return LeftOut(number=number, reason=LeftOutReason.FAILS_OWN_TESTS, tests=own)
    owners = dict.fromkeys(each.feature for each in broken)
    return LeftOut(
        number=number,
        reason=LeftOutReason.BREAKS,
        features=[owner for owner in owners if owner not in {None, number}],
        tests=broken,
        problem=f"together with {', '.join(map(str, others))}" if others else "",
    )


def not_merged(
    number: int,
    merge: Merged | Step,
    landed: Iterable[Side] = (),
    files_with: Callable[[int], Collection[str]] = lambda _: (),
    otherwise: Iterable[int] = (),
) -> LeftOut:
    """Return why a feature that does not merge into the landed ones is left out.

    The reason names each landed feature that also conflicts with it separately, in the same files,
    which *files_with* returns. If there is none, it names those that change these files, or else
    *otherwise*.
    """
    if merge.failure:
        reason = LeftOutReason.STRATEGY_FAILED
        if isinstance(merge, Step) and merge.is_provisionalable:
            reason = LeftOutReason.MISSING_INPUT
        return LeftOut(number=number, reason=reason, features=otherwise, problem=merge.failure)
    files = merge.open_files
    changes = {each.numbers[0]: each.changes for each in landed}
    found = [other for other in changes if not files.isdisjoint(files_with(other))]
    found = found or [other for other in changes if not files.isdisjoint(changes[other])]
    return LeftOut(
        number=number,
        reason=LeftOutReason.CONFLICT,
        features=found or otherwise,
        files=sorted(files),
    )
