"""Finds out which patches can be merged at all, before any two of them are."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from attrs import evolve

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.evaluation.merge_queue import not_merged
from cooperbench_eval.evaluation.pairs import Feature, TestedGroup
from cooperbench_eval.evaluation.placing import Placed
from cooperbench_eval.evaluation.sides import Side, merge_into
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.strategies.protocol import MergeStrategy


def find_candidates(
    base: Snapshot, placed: Sequence[Placed], strategy: MergeStrategy
) -> tuple[dict[int, Side], list[LeftOut]]:
    """Leave out patches that could not be placed, and duplicates.

    Those that start from another commit are merged into the base first.

    Returns:
        The sides of the patches that are kept, by number, and why each of the others is left out.
    """
    sides: dict[int, Side] = {}
    left_out: list[LeftOut] = []
    for each in placed:
        found = _side(base, each, strategy)
        if isinstance(found, LeftOut):
            left_out.append(found)
        else:
            sides[each.number] = found
    features = [each.feature for each in placed]
    left_out += without_duplicates(base, features, sides)
    return sides, left_out


def without_duplicates(
    base: Snapshot,
    features: Iterable[Feature],
    sides: dict[int, Side],
    needed: Collection[int] = (),
) -> Iterator[LeftOut]:
    """Remove the sides of patches that duplicate another one, and yield why each is left out.

    Others may build on the branches *needed*, so these stay even if they are duplicates.
    """
    trees = {number: each.changes.tree_id(base) for number, each in sides.items()}
    candidates = [each for each in features if each.number in sides]
    for number, first in _duplicates(candidates, trees, needed).items():
        del sides[number]
        yield LeftOut(number=number, reason=LeftOutReason.DUPLICATE, features=(first,))


def group_of_candidates(
    group: TestedGroup, sides: Collection[int], left_out: Iterable[LeftOut]
) -> TestedGroup:
    """Return the features that can be merged; the joint tests need the work of all."""
    # Branches have been merged into the base, so their suites are judged against the base.
    features = [evolve(each, base=None) for each in group.features if each.number in sides]
    is_whole = all(each.reason is LeftOutReason.DUPLICATE for each in left_out)
    return evolve(group, features=tuple(features), joint=group.joint if is_whole else None)


def _side(base: Snapshot, placed: Placed, strategy: MergeStrategy) -> Side | LeftOut:
    side, problem = placed.side, placed.problem
    if not problem and placed.result.changes.tree_id(placed.start) == placed.start.tree_id:
        problem = "the patch changes nothing"
    if not problem and placed.start is not base:
        try:
            merged, side = merge_into(base, Side((), Changes()), side, strategy)
        except RepositoryError as exc:
            problem = str(exc)
        else:
            if not merged.is_complete:
                return not_merged(placed.number, merged)
            if side.changes.tree_id(base) == base.tree_id:
                problem = "the base has its changes already"
    if problem:
        reason = LeftOutReason.MISSING_INPUT
        return LeftOut(number=placed.number, reason=reason, problem=problem)
    return side


def _duplicates(
    features: Iterable[Feature], trees: Mapping[int, str], needed: Collection[int]
) -> dict[int, int]:
    """Return the patches that duplicate another one, each with the number of the other.

    A duplicate gives the same tree, and has the same suite or none. Patches with different suites
    are different features, even if one patch implements both.
    """
    found: dict[int, int] = {}
    kept: dict[str, list[Feature]] = {}
    for feature in sorted(features, key=lambda e: (e.tests is None, e.number not in needed)):
        alike = kept.setdefault(trees[feature.number], [])
        same = [each.number for each in alike if feature.tests in {None, each.tests}]
        if same and feature.number not in needed:
            found[feature.number] = same[0]
        else:
            alike.append(feature)
    return found
