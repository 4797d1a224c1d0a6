"""Reads the patches that are to land: their numbers, their suites, and what they change."""

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import evolve, field, frozen

from cooperbench_eval.landing.components import components
from cooperbench_eval.models import PatchStatus
from cooperbench_eval.pairs import Feature
from cooperbench_eval.patching.apply import apply_patch
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.patching.paths import TestFileFilter
from cooperbench_eval.patching.policy import ApplyPolicy
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.running import TestSuite
from cooperbench_eval.sides import Side
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = [
    "GivenPatch",
    "Placed",
    "check_types",
    "place_patches",
    "read_budget",
    "read_order",
    "read_patches",
]

GivenPatch = bytes | str | Patch | Changes | Feature
"""What `land` accepts as a patch."""
_KINDS = (bytes, str, Patch, Changes, Feature)
_OPTIONS: Mapping[str, type] = {
    "joint": TestSuite,
    "regression": TestSuite,
    "apply_policy": ApplyPolicy,
    "test_filter": TestFileFilter,
}
"""The types of those options of `land` that are not converted; each may be `None` as well."""


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


def check_types(*, base: object, runner: object, **options: object) -> None:
    """Check the arguments of `land` that are used as they are.

    Raises:
        TypeError: One of them has the wrong type.
    """
    if not isinstance(base, Snapshot):
        raise _wrong("base", "Snapshot", base)
    for name, value in options.items():
        wanted = _OPTIONS[name]
        if not isinstance(value, wanted | None):
            raise _wrong(name, f"{wanted.__name__} or None", value)
    # A class has a `run` as well, but only its instances can be asked to run something.
    is_runner = callable(getattr(runner, "run", None)) and not isinstance(runner, type)
    if runner is not None and not is_runner:
        raise _wrong("runner", "an object with a run method or None", runner)


def read_budget(budget: int) -> int:
    """Return the number of test runs that are allowed.

    Raises:
        TypeError: *budget* is not an integer.
        ValueError: It is negative.
    """
    found = _integer(budget, "budget")
    if found < 0:
        raise ValueError(f"the budget is {found} runs; it must not be negative")
    return found


def _integer(given: Any, name: str) -> int:
    if not isinstance(given, bool):
        with suppress(TypeError):
            return operator.index(given)
    raise _wrong(name, "an integer", given)


def _wrong(name: str, wanted: str, given: object) -> TypeError:
    found = type(given).__qualname__
    if isinstance(given, type):
        found = f"the class {given.__qualname__}"
    return TypeError(f"{name} must be {wanted}, not {found}: {given!r:.100}")


def read_patches(
    patches: Iterable[GivenPatch], suites: Mapping[int, TestSuite] | None
) -> list[tuple[Feature, Changes | None]]:
    """Return each patch as a feature, with its changes if these are given directly.

    Raises:
        TypeError: One of them is not a patch, or *suites* does not map integers to suites.
        ValueError: There are no patches, two have the same number, or a suite belongs to no
            patch or to a feature that has tests already.
    """
    if isinstance(patches, _KINDS):
        raise TypeError("patches must be a sequence of patches, not a single one")
    found = [_read(each, place) for place, each in enumerate(patches, 1)]
    if not found:
        raise ValueError("there are no patches to land")
    numbers = [feature.number for feature, _ in found]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise ValueError(
            f"several patches have the number {_listed(twice)}; patches that are not Feature "
            "objects are numbered by their position, from 1"
        )
    suites = _read_suites(suites)
    if unknown := [number for number in suites if number not in numbers]:
        raise ValueError(f"there are suites for {_listed(unknown)}, but no such patches")
    return [(_with_suite(feature, suites), changes) for feature, changes in found]


def _read(given: GivenPatch, place: int) -> tuple[Feature, Changes | None]:
    if isinstance(given, Feature):
        return given, None
    if isinstance(given, Changes):
        return Feature(number=place, patch=b""), given
    if isinstance(given, bytes | str | Patch):
        return Feature(number=place, patch=given), None
    raise TypeError(
        f"patch {place} must be bytes, str, Patch, Changes or Feature, "
        f"not {type(given).__qualname__}"
    )


def _read_suites(suites: Mapping[int, TestSuite] | None) -> dict[int, TestSuite]:
    if suites is None:
        return {}
    if not isinstance(suites, Mapping):
        raise _wrong("suites", "a mapping from numbers to TestSuite objects or None", suites)
    found = {_integer(key, "each key of suites"): suite for key, suite in suites.items()}
    for number, suite in found.items():
        if not isinstance(suite, TestSuite):
            raise _wrong(f"suites[{number}]", "TestSuite", suite)
    return found


def _with_suite(feature: Feature, suites: Mapping[int, TestSuite]) -> Feature:
    suite = suites.get(feature.number)
    if suite is None:
        return feature
    if feature.tests is not None:
        raise ValueError(f"feature {feature.number} has tests already; suites has others for it")
    return evolve(feature, tests=suite)


def read_order(order: str | Sequence[int], numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the only order that counts; empty if every order does.

    Raises:
        TypeError: *order* is neither a string nor a sequence of integers.
        ValueError: *order* is neither a known word nor a permutation of *numbers*.
    """
    if isinstance(order, str):
        if order == "search":
            return ()
        if order == "given":
            return tuple(numbers)
        raise ValueError(f"order is {order!r}; it must be 'given', 'search' or a list of numbers")
    # A set has no order, and the elements of bytes are integers only by chance.
    if not isinstance(order, Sequence) or isinstance(order, bytes | bytearray):
        raise _wrong("order", "'given', 'search' or a sequence of numbers", order)
    found = tuple(_integer(each, "each number of order") for each in order)
    if missing := [number for number in numbers if number not in found]:
        raise ValueError(f"the order lacks {_listed(missing)}")
    if unknown := [number for number in found if number not in numbers]:
        raise ValueError(f"the order has {_listed(unknown)}, but there are no such patches")
    if len(found) > len(numbers):
        twice = sorted({number for number in found if found.count(number) > 1})
        raise ValueError(f"the order has {_listed(twice)} more than once")
    return found


def place_patches(
    base: Snapshot,
    given: Collection[tuple[Feature, Changes | None]],
    policy: ApplyPolicy,
    test_filter: TestFileFilter | None,
) -> Placed:
    """Apply each patch to the base; leave out those that do not apply, and duplicates."""
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
