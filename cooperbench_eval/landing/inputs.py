"""Reads the patches that are to land: their numbers, their suites, and what they change."""

import operator
import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.landing.components import components
from cooperbench_eval.models import PatchStatus
from cooperbench_eval.pairs import Feature, on_base
from cooperbench_eval.patching.apply import apply_patch
from cooperbench_eval.patching.given import GivenPatch, as_patch
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.patching.paths import TestFileFilter
from cooperbench_eval.patching.policy import ApplyPolicy
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.running import TestSuite
from cooperbench_eval.sides import Side
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = [
    "LandedPatch",
    "Placed",
    "place_patches",
    "read_budget",
    "read_order",
    "read_patches",
]

LandedPatch = GivenPatch | Feature
"""What `land` accepts as a patch."""


@frozen(kw_only=True)
class Placed:
    """The patches on their base.

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


def place_patches(
    base: Snapshot,
    given: Collection[tuple[Feature, Changes | None]],
    policy: ApplyPolicy,
    test_filter: TestFileFilter | None,
) -> Placed:
    """Apply each patch to the base; leave out those that do not apply, and duplicates."""
    given = [(on_base(feature, base), changes) for feature, changes in given]
    tests = [feature.tests.patch for feature, _ in given if feature.tests]
    placed: dict[int, Changes] = {}
    left_out: list[LeftOut] = []
    for feature, changes in given:
        problem = ""
        if changes is None:
            changes, problem = _placed(base, feature.patch, policy, test_filter, tests)  # noqa: PLW2901
        if not problem and changes.tree_id(base) == base.tree_id:
            problem = "the patch changes nothing"
        if problem:
            reason = LeftOutReason.MISSING_INPUT
            left_out.append(LeftOut(number=feature.number, reason=reason, problem=problem))
        else:
            placed[feature.number] = changes
    features = {each.number: each for each, _ in given if each.number in placed}
    same = _duplicates(features, {n: each.tree_id(base) for n, each in placed.items()})
    for number, first in same.items():
        reason = LeftOutReason.DUPLICATE
        left_out.append(LeftOut(number=number, reason=reason, features=(first,)))
        del features[number]
    sides = {number: Side.of(each, placed[number]) for number, each in features.items()}
    return Placed(features=features.values(), sides=sides, left_out=left_out)


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


def _placed(
    base: Snapshot,
    patch: Patch,
    policy: ApplyPolicy,
    test_filter: TestFileFilter | None,
    tests: Iterable[Patch],
) -> tuple[Changes, str]:
    """Return what a patch changes, and why it does not apply."""
    if test_filter is not None:
        patch, dropped = test_filter.split(patch, tests)
        if dropped and not patch.files:
            return Changes(), "it contains only test files, which were dropped"
    result = apply_patch(base, patch, policy)
    if result.status.is_usable:
        return result.changes, ""
    is_empty = result.status is PatchStatus.EMPTY
    return Changes(), result.reason or (
        "the patch changes nothing" if is_empty else "it does not apply"
    )


def _listed(numbers: Iterable[object]) -> str:
    return ", ".join(map(str, numbers))
