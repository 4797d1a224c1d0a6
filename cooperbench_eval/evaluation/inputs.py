"""Reads the features and merged trees that callers pass."""

import operator
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError, PatchError
from cooperbench_eval.evaluation.pairs import Feature, on_base
from cooperbench_eval.git.merging.conflicts import Conflict, MergeStatus
from cooperbench_eval.git.patching.apply import ApplyResult, apply_patch
from cooperbench_eval.git.patching.patch import GivenPatch, Patch, as_patch
from cooperbench_eval.git.patching.patch_parts import PatchStatus
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting import Attempt
from cooperbench_eval.running import TestSuite
from cooperbench_eval.strategies.protocol import MergeOutcome

GivenSide: TypeAlias = GivenPatch | ApplyResult | Feature
"""What a caller may pass as a feature."""
GivenTree: TypeAlias = GivenPatch | ApplyResult | Snapshot | MergeOutcome | Attempt
"""What a caller may pass as a merged tree; a path is that of a folder or of a patch."""


def read_features(
    base: Snapshot,
    given: Iterable[GivenSide],
    argument: str,
    suites: Mapping[int, TestSuite] | None,
) -> tuple[Feature, ...]:
    """Return the given patches as features; those without a number are numbered by position.

    Their patches have their files, and those that start from *base* have no base of their own. The
    *suites* are the tests of features that have none, by number. Errors name the *argument*.
    """
    if isinstance(given, Changes):  # which is iterable itself
        raise ArgumentError(argument, "must be an iterable of patches, not a single patch")
    found = [_feature(each, place, argument) for place, each in enumerate(given, 1)]
    if not found:
        raise ArgumentError(argument, "is empty; at least one patch is needed")
    numbers = [feature.number for feature in found]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        problem = (
            f"have the number {all_listed(twice)} more than once; patches that are not Feature "
            "objects are numbered by their position, from 1"
        )
        raise ArgumentError(argument, problem)
    known = {operator.index(number): suite for number, suite in (suites or {}).items()}
    if unknown := [number for number in known if number not in numbers]:
        problem = f"has suites for features that were not given: {all_listed(unknown)}"
        raise ArgumentError("suites", problem)
    return tuple(on_base(_with_suite(feature, known), base) for feature in found)


def _feature(given: GivenSide, place: int, argument: str) -> Feature:
    argument = f"{argument}[{place - 1}]"
    match given:
        case Feature():
            return given
        case ApplyResult():
            return Feature(number=place, patch=usable(given, argument))
        case Changes():
            return Feature(number=place, patch=given)
        case Patch() | bytes() | str() | os.PathLike():
            return Feature(number=place, patch=as_patch(given, argument))
    raise ArgumentError(argument, f"must be a patch or Feature, not {type(given).__qualname__}")


def _with_suite(feature: Feature, suites: Mapping[int, TestSuite]) -> Feature:
    suite = suites.get(feature.number)
    if suite is None:
        return feature
    if feature.tests is not None:
        problem = f"has tests for feature {feature.number}, which already has tests"
        raise ArgumentError("suites", problem)
    return evolve(feature, tests=suite)


def all_listed(numbers: Iterable[int]) -> str:
    """Return numbers as a list for a sentence, however many there are."""
    return ", ".join(map(str, numbers))


def usable(result: ApplyResult, argument: str) -> Changes:
    """Return the changes of a patch that was applied; refuse one that does not apply."""
    if result.status is PatchStatus.FAILED:
        raise PatchError(f"does not apply to the base: {result.reason}", argument)
    return result.changes


# --- the merged tree ---


@frozen(kw_only=True)
class MergedTree:
    """A merged tree, and what is known about the strategy that made it.

    Attributes:
        has_resolver: Whether a strategy made it, so that new lines in conflicts are its own.
        conflicts: Those that the strategy left open, if they are at hand.
        has_markers: Whether it left conflicts open, so that lines that it wrote may be markers.
    """

    changes: Changes = field(repr=False)
    has_resolver: bool = False
    conflicts: tuple[Conflict, ...] = ()
    has_markers: bool = False


def read_merged(base: Snapshot, given: GivenTree, argument: str) -> MergedTree:
    """Return a merged tree as changes of the base.

    A merge that failed and a patch that does not apply are refused, naming the *argument*.
    """
    match given:
        case MergeOutcome():
            if given.status is MergeStatus.FAILED:
                raise ArgumentError(argument, f"is a merge that failed: {given.failure}")
            return MergedTree(changes=given.changes, has_resolver=True, conflicts=given.conflicts)
        case Attempt():
            if given.diff is None:
                raise ArgumentError(argument, f"is a merge that failed: {given.failure}")
            changes = usable(apply_patch(base, as_patch(given.diff)), argument)
            is_open = given.status is MergeStatus.CONFLICTED
            return MergedTree(changes=changes, has_resolver=True, has_markers=is_open)
        case Changes():
            changes = given
        case ApplyResult():
            changes = usable(given, argument)
        case Snapshot():
            changes = Changes.between(base, given)
        case str() | os.PathLike() if _is_folder(given):
            changes = Changes.between(base, Snapshot.from_dir(given))
        case _:
            changes = usable(apply_patch(base, as_patch(given, argument)), argument)
    return MergedTree(changes=changes)


def _is_folder(given: str | os.PathLike[str]) -> bool:
    if isinstance(given, str) and ("\n" in given or "\0" in given or not given):
        return False
    try:
        return Path(given).is_dir()
    except OSError:  # the name is too long
        return False
