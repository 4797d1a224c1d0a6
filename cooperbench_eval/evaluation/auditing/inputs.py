"""Reads what callers pass as sides and as a merged tree."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from attrs import field, frozen

from cooperbench_eval.errors import ArgumentError, PatchError
from cooperbench_eval.evaluation.pairs import Feature, on_base, start_of
from cooperbench_eval.evaluation.sides import Side, merge_input
from cooperbench_eval.git.merging.conflicts import Conflict, MergeStatus
from cooperbench_eval.git.patching.apply import ApplyResult, apply_patch
from cooperbench_eval.git.patching.patch import GivenPatch, Patch, as_patch
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.git.patching.placements import ApplyPolicy, PatchStatus
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, rewritten
from cooperbench_eval.reporting import Attempt
from cooperbench_eval.strategies.protocol import MergeOutcome
from cooperbench_eval.support.error_texts import listed

__all__ = ["GivenSide", "GivenTree", "MergedTree", "read_merged", "read_sides"]

GivenSide: TypeAlias = GivenPatch | ApplyResult | Feature
"""What a caller may pass as one side of a merge."""
GivenTree: TypeAlias = GivenPatch | ApplyResult | Snapshot | MergeOutcome | Attempt
"""What a caller may pass as a merged tree; a path is that of a folder or of a patch."""


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
    sides = [_feature(each, place, argument) for place, each in enumerate(given, 1)]
    if not sides:
        raise ArgumentError(argument, "must have at least one patch")
    suites = [feature.tests.patch for feature, _ in sides if feature.tests]
    found: dict[int, tuple[Feature, Changes]] = {}
    for place, (feature, changes) in enumerate(sides):
        if feature.number in found:
            raise ArgumentError(argument, f"has the number {feature.number} more than once")
        if changes is None:
            name = f"{argument}[{place}]"
            feature = on_base(feature, base)  # noqa: PLW2901
            patch = feature.patch
            if test_filter is not None:
                patch, _ = test_filter.split(patch, suites)
            start = start_of(feature, base)
            changes = _applied(start, patch, name, policy)  # noqa: PLW2901
            if feature.base is not None:
                changes = _into_base(base, feature, changes, name)  # noqa: PLW2901
        found[feature.number] = feature, changes
    return found


def _feature(given: object, place: int, argument: str) -> tuple[Feature, Changes | None]:
    argument = f"{argument}[{place - 1}]"
    match given:
        case Feature():
            return given, None
        case Changes():
            return Feature(number=place, patch=b""), given
        case ApplyResult():
            return Feature(number=place, patch=b""), _placed(given, argument)
        case Patch() | bytes() | str() | os.PathLike():
            return Feature(number=place, patch=as_patch(given, argument)), None
    found = type(given).__qualname__
    raise ArgumentError(argument, f"must be a patch or Feature, not {found}")


def _applied(base: Snapshot, patch: Patch, argument: str, policy: ApplyPolicy | None) -> Changes:
    return _placed(apply_patch(base, patch, policy or ApplyPolicy()), argument)


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


def _placed(result: ApplyResult, argument: str) -> Changes:
    if result.status is PatchStatus.FAILED:
        raise PatchError(f"does not apply to the base: {result.reason}", argument)
    return result.changes


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
            changes = _applied(base, as_patch(given.diff), argument, None)
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
            return _placed(given, argument)
        case Snapshot():
            return Changes.between(base, given)
        case str() | os.PathLike() if _is_folder(given):
            return Changes.between(base, Snapshot.from_dir(given))
    return _applied(base, as_patch(given, argument), argument, None)


def _is_folder(given: str | os.PathLike[str]) -> bool:
    """Whether a text is the path of a folder, and not a patch."""
    if isinstance(given, str) and ("\n" in given or "\0" in given or not given):
        return False
    try:
        return Path(given).is_dir()
    except OSError:  # the name is too long
        return False
