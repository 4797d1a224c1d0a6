"""Reads the patches and merged trees that callers pass, and places patches on a base.

A patch that starts from another commit than the base is merged into the base.
"""

import operator
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError, PatchError, RepositoryError
from cooperbench_eval.evaluation.merge_queue import not_merged
from cooperbench_eval.evaluation.pairs import Feature, on_base, start_of
from cooperbench_eval.evaluation.sides import Side, merge_input, merge_sides
from cooperbench_eval.git.merging.conflicts import Conflict, MergeStatus
from cooperbench_eval.git.patching.apply import ApplyResult, apply_patch
from cooperbench_eval.git.patching.patch import GivenPatch, Patch, as_patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, PatchStatus
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, rewritten
from cooperbench_eval.reporting import Attempt
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.running import TestSuite
from cooperbench_eval.strategies.protocol import MergeOutcome, MergeStrategy
from cooperbench_eval.support.error_texts import listed

LandedPatch: TypeAlias = GivenPatch | Feature
"""What `land` accepts as a patch."""
GivenSide: TypeAlias = GivenPatch | ApplyResult | Feature
"""What a caller may pass as one side of a merge."""
GivenTree: TypeAlias = GivenPatch | ApplyResult | Snapshot | MergeOutcome | Attempt
"""What a caller may pass as a merged tree; a path is that of a folder or of a patch."""


def _read(given: object, place: int, argument: str) -> tuple[Feature, Changes | None]:
    """Return a patch as a feature, numbered by its place, and its changes if these are given."""
    argument = f"{argument}[{place - 1}]"
    match given:
        case Feature():
            return given, None
        case Changes():
            return Feature(number=place, patch=b""), given
        case Patch() | bytes() | str() | os.PathLike():
            return Feature(number=place, patch=as_patch(given, argument)), None
    found = type(given).__qualname__
    raise ArgumentError(argument, f"must be a patch or Feature, not {found}")


def apply_feature(
    base: Snapshot,
    feature: Feature,
    suites: Iterable[TestSuite | None],
    policy: ApplyPolicy,
    test_filter: TestFileFilter | None,
) -> tuple[Patch, ApplyResult]:
    """Apply a patch, without test files if there is a filter, to the tree from which it starts.

    Args:
        base: The tree from which it starts, unless it has its own.
        feature: The patch.
        suites: All suites; the files of their patches are test files too.
        policy: How leniently the patch is placed.
        test_filter: Removes test files; `None` to keep them.

    Returns:
        The patch that was applied, and the result.
    """
    patch = feature.patch
    if test_filter is not None:
        patch, _ = test_filter.split(patch, [suite.patch for suite in suites if suite])
    return patch, apply_patch(start_of(feature, base), patch, policy)


# --- patches that are to land ---


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
    found = [_read(each, place, "patches") for place, each in enumerate(patches, 1)]
    if not found:
        raise ArgumentError("patches", "is empty, so there is nothing to land")
    numbers = [feature.number for feature, _ in found]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        problem = (
            f"have the number {all_listed(twice)} more than once; patches that are not Feature "
            "objects are numbered by their position, from 1"
        )
        raise ArgumentError("patches", problem)
    known = {operator.index(number): suite for number, suite in (suites or {}).items()}
    if unknown := [number for number in known if number not in numbers]:
        raise ArgumentError("suites", f"has suites for {all_listed(unknown)}, but no such patches")
    return [(_with_suite(feature, known), changes) for feature, changes in found]


def _with_suite(feature: Feature, suites: Mapping[int, TestSuite]) -> Feature:
    suite = suites.get(feature.number)
    if suite is None:
        return feature
    if feature.tests is not None:
        raise ArgumentError("suites", f"has tests for feature {feature.number}, which has others")
    return evolve(feature, tests=suite)


def all_listed(numbers: Iterable[int]) -> str:
    """Return numbers as a list for a sentence, however many there are."""
    return ", ".join(map(str, numbers))


@frozen(kw_only=True)
class Candidates:
    """The patches that may land, and those that cannot.

    Attributes:
        features: Those that can be merged, in their order.
        sides: What they change in the base, by their numbers.
        left_out: The others, with the reasons.
    """

    features: tuple[Feature, ...] = field(converter=tuple[Feature, ...])
    sides: Mapping[int, Side]
    left_out: tuple[LeftOut, ...] = field(converter=tuple[LeftOut, ...])


def place_patches(
    base: Snapshot,
    given: Iterable[tuple[Feature, Changes | None]],
    strategy: MergeStrategy,
    policy: ApplyPolicy,
    test_filter: TestFileFilter | None,
) -> Candidates:
    """Place each patch; leave out duplicates and those that cannot be placed.

    The strategy merges those that start from another commit into the base.
    """
    read = [
        (on_base(feature, base) if changes is None else feature, changes)
        for feature, changes in given
    ]
    suites = [feature.tests for feature, _ in read]
    sides: dict[int, Side] = {}
    left_out: list[LeftOut] = []
    for feature, changes in read:
        start, problem = start_of(feature, base), ""
        if changes is None:
            patch, result = apply_feature(base, feature, suites, policy, test_filter)
            changes, problem = result.changes, _why_not_applied(feature, patch, result)  # noqa: PLW2901
        if not problem and changes.tree_id(start) == start.tree_id:
            problem = "the patch changes nothing"
        found: Side | LeftOut
        if problem:
            found = _missing(feature, problem)
        else:
            found = Side.of(feature, rewritten(changes, start, base))
            if start is not base:
                found = _landed_side(base, feature, found, strategy)
        if isinstance(found, LeftOut):
            left_out.append(found)
        else:
            sides[feature.number] = found
    # Their suites are judged against the base into which they are merged now.
    features = {n: evolve(each, base=None) for each, _ in read if (n := each.number) in sides}
    trees = {n: each.changes.tree_id(base) for n, each in sides.items()}
    for number, first in _duplicates(features, trees).items():
        reason = LeftOutReason.DUPLICATE
        left_out.append(LeftOut(number=number, reason=reason, features=(first,)))
        del features[number], sides[number]
    return Candidates(features=features.values(), sides=sides, left_out=left_out)


def _why_not_applied(feature: Feature, patch: Patch, result: ApplyResult) -> str:
    if feature.patch.files and not patch.files:
        return "it contains only test files, which were dropped"
    if result.status.is_usable:
        return ""
    is_empty = result.status is PatchStatus.EMPTY
    return result.reason or ("the patch changes nothing" if is_empty else "it does not apply")


def _landed_side(
    base: Snapshot, feature: Feature, side: Side, strategy: MergeStrategy
) -> Side | LeftOut:
    """Merge a side that starts from another commit into the base; it may be left out."""
    here = Side((), Changes())
    try:
        merged = merge_sides(strategy, merge_input(base, here, side))
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
    side = here.joined(side, merged.changes_of(base), base)
    if side.changes.tree_id(base) == base.tree_id:
        return _missing(feature, "the base has its changes already")
    return side


def _missing(feature: Feature, problem: str) -> LeftOut:
    reason = LeftOutReason.MISSING_INPUT
    return LeftOut(number=feature.number, reason=reason, problem=problem)


def _duplicates(features: Mapping[int, Feature], trees: Mapping[int, str]) -> dict[int, int]:
    """Return the patches that duplicate another one, each with the number of the other.

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


# --- sides of a tree that somebody else merged ---


def read_sides(
    base: Snapshot,
    given: Iterable[GivenSide],
    argument: str,
    *,
    policy: ApplyPolicy | None = None,
    test_filter: TestFileFilter | None = None,
) -> dict[int, tuple[Feature, Changes]]:
    """Return the features with what they change in the base, by number, in the order given.

    Raises:
        ArgumentError: They are empty, one of them is not a patch, or two have one number.
        PatchError: A patch does not apply to the base.
    """
    if isinstance(given, Changes):  # can be iterated over
        raise ArgumentError(argument, "must be a list of patches, not a single one")
    read = [_side(each, place, argument) for place, each in enumerate(given, 1)]
    if not read:
        raise ArgumentError(argument, "must have at least one patch")
    suites = [feature.tests for feature, _ in read]
    found: dict[int, tuple[Feature, Changes]] = {}
    for place, (feature, changes) in enumerate(read):
        if feature.number in found:
            raise ArgumentError(argument, f"has the number {feature.number} more than once")
        if changes is None:
            name = f"{argument}[{place}]"
            feature = on_base(feature, base)  # noqa: PLW2901
            _, result = apply_feature(base, feature, suites, policy or ApplyPolicy(), test_filter)
            changes = _usable(result, name)  # noqa: PLW2901
            if feature.base is not None:
                changes = _into_base(base, feature, changes, name)  # noqa: PLW2901
        found[feature.number] = feature, changes
    return found


def _side(given: GivenSide, place: int, argument: str) -> tuple[Feature, Changes | None]:
    if isinstance(given, ApplyResult):
        given = _usable(given, f"{argument}[{place - 1}]")
    return _read(given, place, argument)


def _usable(result: ApplyResult, argument: str) -> Changes:
    if result.status is PatchStatus.FAILED:
        raise PatchError(f"does not apply to the base: {result.reason}", argument)
    return result.changes


def _into_base(base: Snapshot, feature: Feature, changes: Changes, argument: str) -> Changes:
    """Return what the branch of a feature that starts from another commit changes in the base.

    If the base is not an ancestor of that commit, the branch is merged into it, as git would.

    Raises:
        PatchError: The merge has conflicts.
        RepositoryError: The commits have no common ancestor.
    """
    side = Side.of(feature, rewritten(changes, start_of(feature, base), base))
    given = merge_input(base, Side((), Changes()), side)
    if given.merge.conflicts:
        paths = sorted({each.path for each in given.merge.conflicts})
        problem = f"starts from another commit and conflicts with the base in {listed(paths)}"
        raise PatchError(problem, argument)
    return rewritten(given.merge.changes, given.base, base)


# --- the merged tree ---


@frozen(kw_only=True)
class MergedTree:
    """A merged tree, and what is known about the strategy that made it.

    Attributes:
        changes: What it changes in the base.
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

    Raises:
        ArgumentError: It is a merge that failed.
        PatchError: It is a patch that does not apply to the base.
        RepositoryError: It is a folder that cannot be read.
    """
    match given:
        case MergeOutcome():
            if given.status is MergeStatus.FAILED:
                raise ArgumentError(argument, f"is a merge that failed: {given.failure}")
            return MergedTree(changes=given.changes, has_resolver=True, conflicts=given.conflicts)
        case Attempt():
            if given.diff is None:
                raise ArgumentError(argument, f"is a merge that failed: {given.failure}")
            changes = _usable(apply_patch(base, as_patch(given.diff)), argument)
            is_open = given.status is MergeStatus.CONFLICTED
            return MergedTree(changes=changes, has_resolver=True, has_markers=is_open)
    return MergedTree(changes=_tree_changes(base, given, argument))


def _tree_changes(
    base: Snapshot, given: GivenPatch | ApplyResult | Snapshot, argument: str
) -> Changes:
    match given:
        case Changes():
            return given
        case ApplyResult():
            return _usable(given, argument)
        case Snapshot():
            return Changes.between(base, given)
        case str() | os.PathLike() if _is_folder(given):
            return Changes.between(base, Snapshot.from_dir(given))
    return _usable(apply_patch(base, as_patch(given, argument)), argument)


def _is_folder(given: str | os.PathLike[str]) -> bool:
    """Whether a text is the path of a folder, and not a patch."""
    if isinstance(given, str) and ("\n" in given or "\0" in given or not given):
        return False
    try:
        return Path(given).is_dir()
    except OSError:  # the name is too long
        return False
