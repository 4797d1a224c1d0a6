"""Merges patches for a search, and counts the work."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from cooperbench_eval.evaluation.landing.search import Step, WorkSpentError
from cooperbench_eval.evaluation.sides import Merged, Side, merge_into, size_of_changes
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.strategies.naive import NaiveStrategy
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.union import UnionStrategy
from cooperbench_eval.support.memo import WeighedMemo

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
        """Prepare to merge *sides*, which start from *base*, with a strategy."""
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
