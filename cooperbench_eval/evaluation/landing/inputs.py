"""Reads the patches that are to land: their numbers, their suites, and what they change.

A patch that starts from another commit than the base is merged into the base first.
"""

import operator
import os
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError, RepositoryError
from cooperbench_eval.evaluation.landing.components import components
from cooperbench_eval.evaluation.merge_queue import not_merged
from cooperbench_eval.evaluation.pairs import Feature, on_base, start_of
from cooperbench_eval.evaluation.sides import Side, merge_input, merge_sides
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import GivenPatch, Patch, as_patch
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.git.patching.placements import ApplyPolicy, PatchStatus
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, rewritten
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.running import TestSuite
from cooperbench_eval.strategies.protocol import MergeStrategy

__all__ = [
    "LandedPatch",
    "Placed",
    "Placing",
    "read_budget",
    "read_order",
    "read_patches",
]

LandedPatch = GivenPatch | Feature
"""What `land` accepts as a patch."""


@frozen(kw_only=True)
class Placed:
    """The patches on the base.

    Attributes:
        features: Those that can be merged, in their order.
        sides: What they change in the base, by their numbers.
        left_out: The others, with the reasons.
    """

    features: tuple[Feature, ...] = field(converter=tuple[Feature, ...])
    sides: Mapping[int, Side]
    left_out: tuple[LeftOut, ...] = field(converter=tuple[LeftOut, ...])

    def groups(self, base: Snapshot) -> list[tuple[int, ...]]:
        """Split them into groups that cannot affect each other's merges."""
        return components(base, {number: side.changes for number, side in self.sides.items()})


def read_budget(budget: int) -> int:
    """Return the number of test runs that are allowed.

    Raises:
        ArgumentError: It is negative.
    """
    found = operator.index(budget)
    if found < 0:
        raise ArgumentError("budget", f"must be 0 runs or more, not {found}")
    return found


def read_patches(
    patches: Iterable[LandedPatch], suites: Mapping[int, TestSuite] | None
) -> list[tuple[Feature, Changes | None]]:
    """Return each patch as a feature, with its changes if these are given directly.

    Raises:
        ArgumentError: One of them is not a patch, the list is empty, two have the same number, or
            a suite belongs to no patch or to a feature that has tests already.
    """
    if isinstance(patches, Changes):  # can be iterated over
        raise ArgumentError("patches", "must be several patches, not a single one")
    found = [_read(each, place) for place, each in enumerate(patches, 1)]
    if not found:
        raise ArgumentError("patches", "is empty, so there is nothing to land")
    numbers = [feature.number for feature, _ in found]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        problem = (
            f"have the number {_listed(twice)} more than once; patches that are not Feature "
            "objects are numbered by their position, from 1"
        )
        raise ArgumentError("patches", problem)
    known = {operator.index(number): suite for number, suite in (suites or {}).items()}
    if unknown := [number for number in known if number not in numbers]:
        raise ArgumentError("suites", f"has suites for {_listed(unknown)}, but no such patches")
    return [(_with_suite(feature, known), changes) for feature, changes in found]


def _read(given: LandedPatch, place: int) -> tuple[Feature, Changes | None]:
    argument = f"patches[{place - 1}]"
    match given:
        case Feature():
            return given, None
        case Changes():
            return Feature(number=place, patch=b""), given
        case Patch() | bytes() | str() | os.PathLike():
            return Feature(number=place, patch=as_patch(given, argument)), None
    found = type(given).__qualname__
    raise ArgumentError(argument, f"must be a patch or Feature, not {found}")


def _with_suite(feature: Feature, suites: Mapping[int, TestSuite]) -> Feature:
    suite = suites.get(feature.number)
    if suite is None:
        return feature
    if feature.tests is not None:
        raise ArgumentError("suites", f"has tests for feature {feature.number}, which has others")
    return evolve(feature, tests=suite)


def read_order(order: str | Sequence[int], numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the only order that counts; empty if every order does.

    Raises:
        ArgumentError: *order* is neither a known word nor a permutation of *numbers*.
    """
    if isinstance(order, str):
        return () if order == "search" else tuple(numbers)
    found = tuple(map(operator.index, order))
    if missing := [number for number in numbers if number not in found]:
        raise ArgumentError("order", f"lacks {_listed(missing)}")
    if unknown := [number for number in found if number not in numbers]:
        raise ArgumentError("order", f"has {_listed(unknown)}, but there are no such patches")
    if len(found) > len(numbers):
        twice = sorted({number for number in found if found.count(number) > 1})
        raise ArgumentError("order", f"has {_listed(twice)} more than once")
    return found


@frozen(kw_only=True)
class Placing:
    """How patches are placed.

    Attributes:
        base: The tree into which they are to land.
        policy: How leniently they are placed.
        test_filter: Removes test files from them; `None` to keep these.
        strategy: Merges those that start from another commit into the base.
    """

    base: Snapshot
    policy: ApplyPolicy
    test_filter: TestFileFilter | None
    strategy: MergeStrategy

    def place(self, given: Iterable[tuple[Feature, Changes | None]]) -> Placed:
        """Place each patch; leave out duplicates and those that cannot be placed."""
        read = [
            (on_base(feature, self.base) if changes is None else feature, changes)
            for feature, changes in given
        ]
        tests = [feature.tests.patch for feature, _ in read if feature.tests]
        sides: dict[int, Side] = {}
        left_out: list[LeftOut] = []
        for feature, changes in read:
            found = self._side(feature, changes, tests)
            if isinstance(found, LeftOut):
                left_out.append(found)
            else:
                sides[feature.number] = found
        # Their suites are judged against the base into which they are merged now.
        features = {n: evolve(each, base=None) for each, _ in read if (n := each.number) in sides}
        trees = {n: each.changes.tree_id(self.base) for n, each in sides.items()}
        for number, first in _duplicates(features, trees).items():
            reason = LeftOutReason.DUPLICATE
            left_out.append(LeftOut(number=number, reason=reason, features=(first,)))
            del features[number], sides[number]
        return Placed(features=features.values(), sides=sides, left_out=left_out)

    def _side(
        self, feature: Feature, changes: Changes | None, tests: Iterable[Patch]
    ) -> Side | LeftOut:
        """Return what a feature changes in the base, or why it cannot be merged."""
        start, problem = start_of(feature, self.base), ""
        if changes is None:
            changes, problem = self._applied(start, feature.patch, tests)
        if not problem and changes.tree_id(start) == start.tree_id:
            problem = "the patch changes nothing"
        if problem:
            return _missing(feature, problem)
        side = Side.of(feature, rewritten(changes, start, self.base))
        return side if start is self.base else self._into_base(feature, side)

    def _into_base(self, feature: Feature, side: Side) -> Side | LeftOut:
        """Merge a side that starts from another commit into the base."""
        here = Side((), Changes())
        try:
            merged = merge_sides(self.strategy, merge_input(self.base, here, side))
        except RepositoryError as exc:
            return _missing(feature, str(exc))
        if not merged.is_complete:
            return not_merged(
                feature.number,
                (),
                files=merged.open_files,
                failure=merged.outcome.failure,
                files_with=lambda _: (),
                otherwise=(),
            )
        side = here.joined(side, merged.changes_of(self.base), self.base)
        if side.changes.tree_id(self.base) == self.base.tree_id:
            return _missing(feature, "the base has its changes already")
        return side

    def _applied(
        self, start: Snapshot, patch: Patch, tests: Iterable[Patch]
    ) -> tuple[Changes, str]:
        """Return what a patch changes, and why it does not apply."""
        if self.test_filter is not None:
            patch, dropped = self.test_filter.split(patch, tests)
            if dropped and not patch.files:
                return Changes(), "it contains only test files, which were dropped"
        result = apply_patch(start, patch, self.policy)
        if result.status.is_usable:
            return result.changes, ""
        is_empty = result.status is PatchStatus.EMPTY
        return Changes(), result.reason or (
            "the patch changes nothing" if is_empty else "it does not apply"
        )


def _missing(feature: Feature, problem: str) -> LeftOut:
    reason = LeftOutReason.MISSING_INPUT
    return LeftOut(number=feature.number, reason=reason, problem=problem)


def _duplicates(features: Mapping[int, Feature], trees: Mapping[int, str]) -> dict[int, int]:
    """Return the patches that others make superfluous, each with the number of the other one.

    They give the same tree, and have the same suite or none. Patches with different suites are
    different features, even if one patch implements both.
    """
    found: dict[int, int] = {}
    with_suites_first = sorted(features.values(), key=lambda each: each.tests is None)
    kept: dict[str, list[Feature]] = {}
    for feature in with_suites_first:
        alike = kept.setdefault(trees[feature.number], [])
        same = [each for each in alike if feature.tests in {None, each.tests}]
        if same:
            found[feature.number] = same[0].number
        else:
            alike.append(feature)
    return found


def _listed(numbers: Iterable[object]) -> str:
    return ", ".join(map(str, numbers))
