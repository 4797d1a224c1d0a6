"""Finds out which patches can be merged at all, before any two of them are."""

from collections.abc import Iterable, Mapping, Sequence

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.evaluation.merge_queue import not_merged
from cooperbench_eval.evaluation.pairs import Feature
from cooperbench_eval.evaluation.placing import Placed
from cooperbench_eval.evaluation.sides import Side, merge_into
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.strategies.protocol import MergeStrategy


def find_candidates(
    base: Snapshot, placed: Sequence[Placed], strategy: MergeStrategy
) -> tuple[dict[int, Side], list[LeftOut]]:
    """Leave out patches that could not be placed, and duplicates.

    Args:
        base: The tree into which they are to land.
        placed: All patches.
        strategy: Merges those that start from another commit into the base.

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
    trees = {number: each.changes.tree_id(base) for number, each in sides.items()}
    features = [each.feature for each in placed if each.number in sides]
    for number, first in _duplicates(features, trees).items():
        reason = LeftOutReason.DUPLICATE
        left_out.append(LeftOut(number=number, reason=reason, features=(first,)))
        del sides[number]
    return sides, left_out


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


def _duplicates(features: Iterable[Feature], trees: Mapping[int, str]) -> dict[int, int]:
    """Return the patches that duplicate another one, each with the number of the other.

    A duplicate gives the same tree, and has the same suite or none. Patches with different suites
    are different features, even if one patch implements both.
    """
    found: dict[int, int] = {}
    kept: dict[str, list[Feature]] = {}
    for feature in sorted(features, key=lambda each: each.tests is None):
        alike = kept.setdefault(trees[feature.number], [])
        same = [each.number for each in alike if feature.tests in {None, each.tests}]
        if same:
            found[feature.number] = same[0]
        else:
            alike.append(feature)
    return found
