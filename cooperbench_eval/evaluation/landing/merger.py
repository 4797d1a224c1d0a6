"""Finds the patches that can be merged, merges them for a search, and counts the work."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from attrs import evolve

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.evaluation.landing.search import Step, WorkSpentError
from cooperbench_eval.evaluation.merge_queue import not_merged
from cooperbench_eval.evaluation.pairs import Feature, TestedGroup
from cooperbench_eval.evaluation.placing import Placed
from cooperbench_eval.evaluation.sides import Merged, Side, merge_into, size_of_changes
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.strategies.naive import NaiveStrategy
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.union import UnionStrategy
from cooperbench_eval.support.memo import WeighedMemo


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


_COST_OF_STRATEGY = 100
_WITHOUT_WORK = frozenset({NaiveStrategy, UnionStrategy})
"""Strategies that take no more time for a conflict than the merge itself."""
_MOST_BYTES = 256 << 20


class PatchMerger:
    """Merges patches into trees; a merge that was done before costs nothing.

    A merge costs 1 unit of work, and 100 if the strategy was given conflicts: about the time
    that `structured` takes. The last merge may exceed the limit. Trees are identified by keys:
    their git tree ids and, if patches start from different commits, the patches that were merged,
    because merge bases depend on these. The contents of the last trees are kept; those of the
    others are made again by repeating the merges.
    """

    def __init__(
        self, base: Snapshot, sides: Mapping[int, Side], strategy: MergeStrategy, limit: int
    ) -> None:
        self.limit = limit
        self.used = 0
        self.base = base
        self._sides = sides
        self.strategy = strategy
        self._has_history = any(side.starts for side in sides.values())
        self._cost = 1 if type(strategy) in _WITHOUT_WORK else _COST_OF_STRATEGY
        self._steps: dict[tuple[str, int], Step] = {}
        self._first: dict[str, Side] = {}
        self._made_by: dict[str, tuple[str, int]] = {}
        self._kept = WeighedMemo[str, Side](_MOST_BYTES)

    def allow_folds(self, count: int) -> None:
        """Allow at least the work of so many folds of all patches."""
        self.limit = max(self.limit, self.used + self._cost * count * len(self._sides))

    @contextmanager
    def at_most(self, work: int) -> Iterator[None]:
        """Allow only so much work in a `with` block, even if the limit allows more."""
        limit, self.limit = self.limit, min(self.limit, self.used + work)
        try:
            yield
        finally:
            self.limit = limit

    def first(self, number: int) -> str:
        """Return the key of the tree of one patch."""
        side = self._sides[number]
        tree = self._key(side)
        self._first[tree] = side
        return tree

    def merge(self, tree: str, number: int, *, at_any_cost: bool = False) -> Step:
        """Merge a patch into a tree that was made here; *at_any_cost* ignores the limit.

        Raises:
            WorkSpentError: No more work is allowed.
        """
        step = self._steps.get((tree, number))
        if step is None:
            if self.used >= self.limit and not at_any_cost:
                raise WorkSpentError
            step = self._steps[tree, number] = self._step(tree, number)
        return step

    def side(self, tree: str) -> Side:
        """Return the side whose tree has this key."""
        made: list[str] = []
        while (side := self._first.get(tree) or self._kept.get(tree)) is None:
            made.append(tree)
            tree, _ = self._made_by[tree]
        for each in reversed(made):
            _, side = self._joined(side, self._made_by[each][1])
            self._keep(each, side)
        return side

    def _step(self, tree: str, number: int) -> Step:
        merged, side = self._joined(self.side(tree), number)
        met = bool(merged.given.conflicts)
        self.used += self._cost if met else 1
        if not merged.is_complete:
            failure = merged.outcome.failure
            return Step(tree=None, open_files=merged.open_files, failure=failure)
        into = self._key(side)
        if into not in self._first and into not in self._made_by:
            self._made_by[into] = tree, number
            self._keep(into, side)
        return Step(tree=into, is_resolved=met)

    def _key(self, side: Side) -> str:
        tree = side.changes.tree_id(self.base)
        if not self._has_history:
            return tree
        return " ".join((tree, *map(str, sorted(side.numbers))))

    def _joined(self, so_far: Side, number: int) -> tuple[Merged, Side]:
        return merge_into(self.base, so_far, self._sides[number], self.strategy)

    def _keep(self, tree: str, side: Side) -> None:
        self._kept.keep(tree, side, size=size_of_changes(side.changes))
