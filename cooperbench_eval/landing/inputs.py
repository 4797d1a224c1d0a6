"""Reads the patches that are to land: their numbers, their suites, and what they change."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from attrs import evolve, field, frozen

from cooperbench_eval.landing.components import components
from cooperbench_eval.models import PatchStatus
from cooperbench_eval.pairs import Feature
from cooperbench_eval.patching.apply import apply_patch
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.patching.paths import TestFileFilter
from cooperbench_eval.patching.policy import ApplyPolicy
from cooperbench_eval.reporting.teams import LeftOut, LeftOutReason
from cooperbench_eval.running import TestSuite
from cooperbench_eval.sides import Side
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = ["GivenPatch", "Placed", "place_patches", "read_order", "read_patches"]

GivenPatch = bytes | str | Patch | Changes | Feature
"""What `land` accepts as a patch."""
_KINDS = (bytes, str, Patch, Changes, Feature)


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


def read_patches(
    patches: Iterable[GivenPatch], suites: Mapping[int, TestSuite] | None
) -> list[tuple[Feature, Changes | None]]:
    """Return each patch as a feature, with its changes if these are given directly.

    Raises:
        TypeError: One of them is not a patch, or one of *suites* is not a suite.
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
    suites = dict(suites or {})
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


def _with_suite(feature: Feature, suites: Mapping[int, TestSuite]) -> Feature:
    suite = suites.get(feature.number)
    if suite is None:
        return feature
    if not isinstance(suite, TestSuite):
        raise TypeError(f"suite {feature.number} is not a TestSuite: {suite!r:.100}")
    if feature.tests is not None:
        raise ValueError(f"feature {feature.number} has tests already; suites has others for it")
    return evolve(feature, tests=suite)


def read_order(order: str | Sequence[int], numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the only order that counts; empty if every order does.

    Raises:
        ValueError: *order* is neither a known word nor a permutation of *numbers*.
    """
    if isinstance(order, str):
        if order == "search":
            return ()
        if order == "given":
            return tuple(numbers)
        raise ValueError(f"order is {order!r}; it must be 'given', 'search' or a list of numbers")
    found = tuple(order)
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
    features: list[Feature] = []
    sides: dict[int, Side] = {}
    left_out: list[LeftOut] = []
    first_with: dict[str, int | None] = {base.tree_id: None}
    tests = [feature.tests.patch for feature, _ in given if feature.tests]
    for feature, changes in given:
        problem = ""
        if changes is None:
            changes, problem = _placed(base, feature.patch, policy, test_filter, tests)  # noqa: PLW2901
        first = first_with.setdefault(changes.tree_id(base), feature.number)
        if problem or first is None:
            why, same = LeftOutReason.MISSING_INPUT, tuple[int, ...]()
            problem = problem or "the patch changes nothing"
        elif first != feature.number:
            why, same = LeftOutReason.DUPLICATE, (first,)
        else:
            features.append(feature)
            sides[feature.number] = Side.of(feature, changes)
            continue
        left_out.append(LeftOut(number=feature.number, reason=why, features=same, problem=problem))
    return Placed(features=features, sides=sides, left_out=left_out)


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
