"""Finds out which patches can be merged at all, before any two of them are."""

from collections.abc import Mapping, Sequence

from attrs import evolve, field, frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.evaluation.merge_queue import not_merged
from cooperbench_eval.evaluation.pairs import Feature
from cooperbench_eval.evaluation.placing import Placed
from cooperbench_eval.evaluation.sides import Side, merge_into
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.strategies.protocol import MergeStrategy


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


def find_candidates(
    base: Snapshot, placed: Sequence[Placed], strategy: MergeStrategy
) -> Candidates:
    """Leave out patches that could not be placed, and duplicates.

    The strategy merges those that start from another commit into the base.
    """
    sides: dict[int, Side] = {}
    left_out: list[LeftOut] = []
    for each in placed:
        found = _side(base, each, strategy)
        if isinstance(found, LeftOut):
            left_out.append(found)
        else:
            sides[each.number] = found
    # Their suites are judged against the base into which they are merged now.
    kept = [each.feature for each in placed if each.number in sides]
    features = {each.number: evolve(each, base=None) for each in kept}
    trees = {n: each.changes.tree_id(base) for n, each in sides.items()}
    for number, first in _duplicates(features, trees).items():
        reason = LeftOutReason.DUPLICATE
        left_out.append(LeftOut(number=number, reason=reason, features=(first,)))
        del features[number], sides[number]
    return Candidates(features=features.values(), sides=sides, left_out=left_out)


def _side(base: Snapshot, placed: Placed, strategy: MergeStrategy) -> Side | LeftOut:
    problem = placed.problem
    if not problem and placed.result.changes.tree_id(placed.start) == placed.start.tree_id:
        problem = "the patch changes nothing"
    if problem:
        return _missing(placed.feature, problem)
    if placed.start is base:
        return placed.side
    try:  # it starts from another commit
        merged, side = merge_into(base, Side((), Changes()), placed.side, strategy)
    except RepositoryError as exc:
        return _missing(placed.feature, str(exc))
    if not merged.is_complete:
        return not_merged(placed.number, merged)
    if side.changes.tree_id(base) == base.tree_id:
        return _missing(placed.feature, "the base has its changes already")
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
