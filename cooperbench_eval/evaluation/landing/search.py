"""Searches the sets of patches that merge without open conflicts, and the orders in which they do.

The search knows neither patches nor trees. It asks an oracle what a patch gives when it is
merged into a tree. Trees are equal if their keys are, so a set that several orders turn into
one tree is continued once.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import chain, combinations, product
from typing import Protocol

from attrs import frozen

Orders = Mapping[str, tuple[int, ...]]
"""The trees that a set of patches gives, each with an order that gives it."""
_Patches = frozenset[int]
_Rank = tuple[int, ...]
_MOST_STEPS = 20_000
_Level = tuple[tuple[int, ...], list[tuple[int, int]]]


@frozen(kw_only=True)
class Step:
    """What merging one more patch into a tree gives.

    Attributes:
        tree: The key of the merged tree; `None` if the merge is not complete.
        failure: Why the strategy failed, or what it needs cannot be read; empty if neither.
        is_provisionalable: Whether what it needs cannot be read.
    """

    tree: str | None
    is_resolved: bool = False
    open_files: frozenset[str] = frozenset()
    failure: str = ""
    is_provisionalable: bool = False


class Oracle(Protocol):
    """Merges patches."""

    def first(self, number: int) -> str:
        """Return the key of the tree of one patch."""

    def merge(self, tree: str, number: int) -> Step:
        """Merge a patch into a tree that this oracle returned before."""


class WorkSpentError(Exception):
    """The bound does not allow more merges."""


class GroupSearch:
    """The search over the sets of one group of patches.

    Attributes:
        found: For each set that is known to merge, its known trees.
        best: The longest order that is known to merge; of several, the first one found.
    """

    def __init__(self, oracle: Oracle, numbers: Sequence[int], *, in_order: bool = False) -> None:
        """Prepare the search; *in_order* if only the given order counts."""
        self.numbers = tuple(numbers)
        self.found: dict[_Patches, dict[str, tuple[int, ...]]] = {}
        self.best: tuple[int, ...] = ()
        self._oracle = oracle
        self._place = {number: place for place, number in enumerate(self.numbers)}
        self._in_order = in_order
        self._steps: dict[tuple[str, int], Step] = {}
        self._unknown: set[_Patches] = set()  # a merge of these sets cannot be read
        # Trees into which some patches were not merged yet.
        self._waiting: set[tuple[_Patches, str]] = set()
        self._first = {number: oracle.first(number) for number in self.numbers}
        for number, tree in self._first.items():
            self._add(frozenset({number}), tree, (number,))

    # --- what was found ---

    @property
    def is_complete(self) -> bool:
        """Whether every set and every order was examined, and each merge could be read."""
        return not self._waiting and not self._unknown

    @property
    def examined_size(self) -> int:
        """The largest size up to which every order of every set was examined."""
        return min((len(patches) for patches, _ in self._waiting), default=len(self.numbers))

    def pair(self, first: int, second: int) -> Step | None:
        """Return what merging *second* into *first* gave; `None` if that was not examined."""
        return self._steps.get((self._first[first], second))

    def is_examined(self, patches: Iterable[int]) -> bool:
        """Whether all orders of a set were examined, each as far as it merges."""
        return self.is_complete or not any(self._untried(frozenset(patches)))

    def minimal_conflicts(self) -> list[_Patches]:
        """Return sets up to `examined_size` that do not merge although their proper subsets do."""
        found: list[_Patches] = []
        level: set[tuple[int, ...]] = {(number,) for number in self.numbers}
        for size in range(2, self.examined_size + 1):
            larger = (
                (*patches, number)
                for patches in sorted(level)
                for number in self.numbers[1 + self._place[patches[-1]] :]
            )
            whole = [each for each in larger if level.issuperset(combinations(each, size - 1))]
            level = {each for each in whole if frozenset(each) in self.found}
            missing = (frozenset(each) for each in whole if each not in level)
            found += [each for each in missing if each not in self._unknown]
        return found

    def order_dependent(self) -> dict[_Patches, tuple[int, ...]]:
        """Return the sets that merge only in some orders, or give several trees.

        Each has an order in which it does not merge; empty if it merges in all orders. Only sets of
        up to `examined_size` patches are looked at.
        """
        if self._in_order:
            return {}
        failing: dict[_Patches, tuple[int, ...]] = {}
        found: dict[_Patches, tuple[int, ...]] = {}
        examined = (each for each in self.found if 1 < len(each) <= self.examined_size)
        for patches in sorted(examined, key=len):
            failing[patches] = self._failing_order(patches, failing)
            if failing[patches] or len(self.found[patches]) > 1:
                found[patches] = failing[patches]
        return found

    def _failing_order(
        self, patches: _Patches, failing: Mapping[_Patches, tuple[int, ...]]
    ) -> tuple[int, ...]:
        """Return an order in which a set fails, given those of its parts; empty if there is none.

        A part that never merges fails in any order.
        """
        for last in sorted(patches, key=self._place.__getitem__):
            part = patches - {last}
            if part in self._unknown:
                continue
            if part not in self.found:
                return (*sorted(part, key=self._place.__getitem__), last)
            if order := failing.get(part):
                return (*order, last)
            for tree, order in self.found[part].items():
                step = self._steps[tree, last]
                if step.tree is None and not step.is_provisionalable:
                    return (*order, last)
        return ()

    def _untried(self, patches: _Patches) -> Iterator[tuple[_Patches, str, int]]:
        """Yield the merges among *patches* that were not tried yet, if they can be reached."""
        level = {frozenset({number}) for number in patches}
        while level:
            following = set()
            for subset in sorted(level, key=self._places):
                numbers = [number for number in self._next(subset) if number in patches]
                for tree, number in product(self.found[subset], numbers):
                    if (tree, number) not in self._steps:
                        yield subset, tree, number
                following |= {subset | {number} for number in numbers} & self.found.keys()
            level = following

    # --- the search ---

    def examine_pairs(self) -> None:
        """Merge every patch into every other one."""
        backwards = () if self._in_order else combinations(reversed(self.numbers), 2)
        for first, second in chain(combinations(self.numbers, 2), backwards):
            self._extend(frozenset({first}), self._first[first], second)
        self._waiting = {each for each in self._waiting if len(each[0]) > 1}

    def fold(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Merge patches in an order, retrying those that fail; return the merged ones in order."""
        order: tuple[int, ...] = ()
        waiting, tree = tuple(numbers), ""
        while waiting:
            failed: list[int] = []
            for number in waiting:
                into = (
                    self._extend(frozenset(order), tree, number) if order else self._first[number]
                )
                if into is None:
                    failed.append(number)
                else:
                    tree, order = into, (*order, number)
            if len(failed) == len(waiting) or self._in_order:
                break
            waiting = tuple(failed)
        return order

    def fold_promising(self) -> None:
        """Fold orders that probably merge many patches; they begin with a largest clique."""
        graph = self._compatible()
        clique = sorted(largest_clique(graph), key=self._place.__getitem__)
        if self._in_order:
            self.fold(clique)
            return
        rest = sorted(self.numbers, key=lambda each: (-len(graph[each]), self._place[each]))
        for seed in (clique, list(reversed(self.numbers))):
            if len(self.best) < len(self.numbers):
                self.fold([*seed, *(number for number in rest if number not in seed)])

    def examine_all(self, *, until_all_land: bool = False) -> None:
        """Examine every order of every set, the best first; *until_all_land* may end it early."""
        graph = self._compatible()

        def promise(patches: _Patches) -> _Rank:
            promising = sum(patches <= graph[number] for number in self._next(patches))
            return -len(patches) - promising, -len(patches)

        self._examine(promise, until_all_land=until_all_land)

    def examine_by_size(self) -> None:
        """Examine every order of every set, small sets first."""
        self._examine(lambda patches: (len(patches), *self._places(patches)))

    def _examine(self, rank: Callable[[_Patches], _Rank], *, until_all_land: bool = False) -> None:
        def item(patches: _Patches, tree: str) -> tuple[_Rank, _Patches, str]:
            order = map(self._place.__getitem__, self.found[patches][tree])
            return (*rank(patches), *order), patches, tree  # no two have the same rank

        heap = [item(*each) for each in self._waiting]
        heapq.heapify(heap)
        while heap and not (until_all_land and len(self.best) == len(self.numbers)):
            _, patches, tree = heapq.heappop(heap)
            for number in self._next(patches):
                before = len(self._waiting)
                into = self._extend(patches, tree, number)
                if into is not None and len(self._waiting) > before:
                    heapq.heappush(heap, item(patches | {number}, into))
            self._waiting.discard((patches, tree))

    def trees_of(self, patches: Iterable[int]) -> Orders:
        """Examine all orders of a set as far as the bound allows, and return its trees."""
        patches = frozenset(patches)
        if not self.is_complete:
            with suppress(WorkSpentError):
                for subset, tree, number in self._untried(patches):
                    self._extend(subset, tree, number)
        return self.found.get(patches, {})

    def largest_without(self, left_out: _Patches) -> tuple[int, ...]:
        """Return an order of a largest known set that has none of *left_out*."""
        order: tuple[int, ...] = ()
        if not self.is_complete:
            with suppress(WorkSpentError):
                rest = [*self.best, *(each for each in self.numbers if each not in self.best)]
                order = self.fold([each for each in rest if each not in left_out])
        for patches, trees in self.found.items():
            if len(patches) > len(order) and patches.isdisjoint(left_out):
                order = next(iter(trees.values()))
        return order

    def _next(self, patches: _Patches) -> list[int]:
        if self._in_order:
            return list(self.numbers[1 + max(map(self._place.__getitem__, patches)) :])
        return [number for number in self.numbers if number not in patches]

    def _extend(self, patches: _Patches, tree: str, number: int) -> str | None:
        step = self._steps.get((tree, number))
        if step is None:
            step = self._steps[tree, number] = self._oracle.merge(tree, number)
            if step.is_provisionalable:
                self._unknown.add(patches | {number})
        if step.tree is not None:
            order = self.found[patches][tree]
            self._add(patches | {number}, step.tree, (*order, number))
        return step.tree

    def _add(self, patches: _Patches, tree: str, order: tuple[int, ...]) -> None:
        trees = self.found.setdefault(patches, {})
        if tree in trees:
            return
        trees[tree] = order
        if len(order) > len(self.best):
            self.best = order
        if self._next(patches):
            self._waiting.add((patches, tree))

    def _compatible(self) -> dict[int, set[int]]:
        return {
            one: {two for two in self.numbers if two != one and frozenset({one, two}) in self.found}
            for one in self.numbers
        }

    def _places(self, patches: _Patches) -> list[int]:
        return sorted(map(self._place.__getitem__, patches))


def largest_clique(
    graph: Mapping[int, AbstractSet[int]], most_steps: int = _MOST_STEPS
) -> tuple[int, ...]:
    """Return a largest clique of a graph, or a large one if the search takes *most_steps* steps.

    Branch and bound with a colouring as the bound, after E. Tomita and T. Seki, *An
    efficient branch-and-bound algorithm for finding a maximum clique*, DMTCS 2003.
    """
    best: tuple[int, ...] = ()
    steps = 0
    # Each level of the branch: its clique, and its candidates, the most promising last.
    levels: list[_Level] = [((), list(_coloured(graph, frozenset(graph))))]
    while levels and steps < most_steps:
        clique, candidates = levels[-1]
        if not candidates or len(clique) + candidates[-1][1] <= len(best):
            levels.pop()
            continue
        vertex, _ = candidates.pop()
        steps += 1
        larger = (*clique, vertex)
        if len(larger) > len(best):
            best = larger
        rest = graph[vertex] & {each for each, _ in candidates}
        levels.append((larger, list(_coloured(graph, rest))))
    return tuple(sorted(best))


def _coloured(
    graph: Mapping[int, AbstractSet[int]], vertices: AbstractSet[int]
) -> Iterator[tuple[int, int]]:
    """Yield the vertices with the number of colours that they and those before them need.

    A clique has at most one vertex of each colour.
    """
    waiting = sorted(vertices, key=lambda each: (-len(graph[each]), each))
    colour = 0
    while waiting:
        colour += 1
        taken: set[int] = set()
        for vertex in waiting:
            if not graph[vertex] & taken:
                taken.add(vertex)
                yield vertex, colour
        waiting = [vertex for vertex in waiting if vertex not in taken]
