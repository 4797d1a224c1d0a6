"""The sets of patches that merge: groups that may affect each other are searched one by one."""

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, product
from math import prod

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.evaluation.landing.merger import PatchMerger
from cooperbench_eval.evaluation.landing.search import GroupSearch, WorkSpentError
from cooperbench_eval.git.trees.objects import folders_above
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

_Patches = frozenset[int]
_MORE_WORK = 5_000
"""The work that is spent when the answer is certain."""
_FOLDS = 4
"""How many folds of all patches are possible even if the bound is reached."""
_MOST_EXCLUSIONS = 2_000


class MergeableSets:
    """The sets of patches that merge, and their orders.

    Patches of different groups cannot conflict, so a set merges if its part of each group
    does, and the order between the groups does not matter.
    """

    def __init__(
        self, merger: PatchMerger, groups: Collection[Sequence[int]], *, order: Sequence[int] = ()
    ) -> None:
        """Prepare the search of each group; *order* is the only one that counts, if not empty."""
        self.searches = [GroupSearch(merger, each, in_order=bool(order)) for each in groups]
        self.merger = merger
        self._place = {number: place for place, number in enumerate(order)}
        self._largest: dict[tuple[int, _Patches], tuple[int, ...]] = {}

    @property
    def numbers(self) -> tuple[int, ...]:
        """All patches."""
        return tuple(number for each in self.searches for number in each.numbers)

    # --- the search ---

    def search(self) -> None:
        """Find a good answer first, then examine the other sets and orders.

        If the bound ends the search (`WorkSpentError`), what was found is kept.
        """
        self.merger.allow_folds(_FOLDS)
        for each in self.searches:
            each.fold(each.numbers)
        smallest_first = sorted(self.searches, key=lambda each: len(each.numbers))
        with suppress(WorkSpentError):
            for each in smallest_first:
                each.examine_pairs()
        self.merger.allow_folds(_FOLDS)
        for each in smallest_first:
            each.fold_promising()
        for each in smallest_first:
            if len(each.best) < len(each.numbers):
                each.examine_all(until_all_land=True)
        # The answer is certain. Some more work shows where the order matters.
        with self.merger.at_most(_MORE_WORK):
            for each in smallest_first:
                each.examine_by_size()

    def search_everything(self) -> None:
        """Examine all sets even in groups whose patches all merge, as far as the bound allows."""
        with suppress(WorkSpentError):
            for each in self.searches:
                each.examine_all()
        self._largest.clear()

    # --- what was found ---

    @property
    def best(self) -> tuple[int, ...]:
        """An order of a largest set that is known to merge."""
        return self._joined(each.best for each in self.searches)

    @property
    def is_exact(self) -> bool:
        """Whether no set that merges is larger than the best one."""
        return all(
            len(each.best) == len(each.numbers) or each.is_complete for each in self.searches
        )

    @property
    def is_complete(self) -> bool:
        """Whether every set and every order was examined."""
        return all(each.is_complete for each in self.searches)

    def largest_avoiding(self, forbidden: Collection[_Patches]) -> tuple[int, ...]:
        """Return an order of a largest known set that contains none of the *forbidden* sets.

        The set must lack some patch of each forbidden set, so the search leaves out each such
        patch in turn. The order is empty if the search takes too long.
        """
        self.merger.allow_folds(1)
        smallest_first = sorted(forbidden, key=len)
        waiting: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        seen = set()
        for _ in range(_MOST_EXCLUSIONS):
            if not waiting:
                break
            _, without = heapq.heappop(waiting)
            order = self._largest_without(frozenset(without))
            hit = next((each for each in smallest_first if each <= {*order}), None)
            if hit is None:
                return order
            for number in sorted(hit):
                larger = tuple(sorted({*without, number}))
                if larger not in seen:
                    seen.add(larger)
                    size = len(self._largest_without(frozenset(larger)))
                    heapq.heappush(waiting, (-size, larger))
        return ()

    def sets_of_size(self, size: int) -> Iterator[_Patches]:
        """Yield every known set of that many patches."""
        # The most patches that merge from the last groups, from none of these to all.
        most_of = [*accumulate((len(each.best) for each in reversed(self.searches)), initial=0)]
        waiting = [(0, size, frozenset[int]())]
        while waiting:
            at, left, patches = waiting.pop()
            if at == len(self.searches):
                yield patches
                continue
            most_of_rest = most_of[len(self.searches) - at - 1]
            waiting.extend(
                (at + 1, left - len(part), patches | part)
                for part in (frozenset[int](), *reversed(self.searches[at].found))
                if 0 <= left - len(part) <= most_of_rest
            )

    def orders_of(self, patches: Collection[int]) -> Iterator[tuple[int, ...]]:
        """Examine a set as far as the bound allows; yield an order for each known tree."""
        trees = [search.trees_of(part) for search, part in self._parts(patches)]
        return (self._joined(parts) for parts in product(*(each.values() for each in trees)))

    def count_trees(self, patches: _Patches) -> int | None:
        """Return how many trees the orders of a set give; `None` if not all were examined."""
        parts = self._parts(patches)
        if not all(search.is_examined(part) for search, part in parts):
            return None
        return prod(len(search.found.get(part, ())) for search, part in parts)

    def _parts(self, patches: Collection[int]) -> list[tuple[GroupSearch, _Patches]]:
        found = ((each, frozenset(patches).intersection(each.numbers)) for each in self.searches)
        return [(search, part) for search, part in found if part]

    def minimal_conflicts(self) -> list[_Patches]:
        """Return the sets that do not merge although all their proper subsets do."""
        return [patches for each in self.searches for patches in each.minimal_conflicts()]

    def fold(self, order: Sequence[int]) -> str | None:
        """Merge patches in an order, whatever it costs; `None` if one fails."""
        merged, tree = self.fold_start(order)
        return tree if len(merged) == len(order) else None

    def fold_start(self, order: Sequence[int]) -> tuple[tuple[int, ...], str | None]:
        """Merge patches in an order until one fails; return those before it, and their tree."""
        tree: str | None = None
        for at, number in enumerate(order):
            into = self._merged(tree, number)
            if into is None:
                return tuple(order[:at]), tree
            tree = into
        return tuple(order), tree

    def fold_most(self, order: Sequence[int]) -> tuple[tuple[int, ...], str | None]:
        """Merge patches in an order; skip those that fail or for which the base cannot be read."""
        tree: str | None = None
        landed: tuple[int, ...] = ()
        for number in order:
            with suppress(RepositoryError):
                if into := self._merged(tree, number):
                    landed, tree = (*landed, number), into
        return landed, tree

    def _merged(self, tree: str | None, number: int) -> str | None:
        if tree is None:
            return self.merger.first(number)
        return self.merger.merge(tree, number, at_any_cost=True).tree

    def _largest_without(self, left_out: _Patches) -> tuple[int, ...]:
        parts = []
        for at, search in enumerate(self.searches):
            key = at, left_out & {*search.numbers}
            if key not in self._largest:
                self._largest[key] = search.largest_without(key[1])
            parts.append(self._largest[key])
        return self._joined(parts)

    def ordered(self, numbers: Iterable[int]) -> tuple[int, ...]:
        """Return the patches in the only order that counts, or as they are if every one does."""
        return tuple(sorted(numbers, key=self._place.__getitem__) if self._place else numbers)

    def _joined(self, parts: Iterable[Sequence[int]]) -> tuple[int, ...]:
        return self.ordered(number for part in parts for number in part)


def components(base: Snapshot, patches: Mapping[int, Changes]) -> list[tuple[int, ...]]:
    """Split patches into groups, so that patches of different groups cannot conflict.

    Patches of different groups touch different paths, and none of these is a folder above
    another. A file that is removed may have been renamed to any file that is added, by
    whatever patch, so patches that remove or add files are in one group if any file is
    removed.

    Returns:
        The groups, each in the order of *patches*, by their first patch.
    """
    group_of = {number: frozenset({number}) for number in patches}
    for together in _related(base, patches):
        joined = frozenset[int]().union(*(group_of[number] for number in together))
        group_of |= dict.fromkeys(joined, joined)
    groups = dict.fromkeys(group_of.values())
    return [tuple(number for number in patches if number in each) for each in groups]


def _related(base: Snapshot, patches: Mapping[int, Changes]) -> Iterator[Iterable[int]]:
    touching: dict[str, list[int]] = {}
    for number, changes in patches.items():
        for path in changes:
            touching.setdefault(path, []).append(number)
    for path, numbers in touching.items():
        above = (folder for folder in folders_above(path) if folder in touching)
        yield [*numbers, *(touching[folder][0] for folder in above)]
    kinds = {number: set(_kinds(base, changes)) for number, changes in patches.items()}
    if any("removed" in each for each in kinds.values()):
        yield [number for number, each in kinds.items() if each]


def _kinds(base: Snapshot, changes: Changes) -> Iterator[str]:
    """Yield `removed` and `added` if *changes* do so to files."""
    for path, entry in changes.items():
        if entry is None:
            yield "removed"
        elif base.get(path) is None:
            yield "added"
            # A file that replaces a folder removes its files, and vice versa.
            if base.is_directory(path) or any(base.get(each) for each in folders_above(path)):
                yield "removed"
