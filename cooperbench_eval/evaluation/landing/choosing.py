"""Searches for a largest set of patches that passes its tests, with few runs.

Sets are tested whole. If one fails, the patches that make it fail are found by bisection with
only the suite that failed. Sets that contain all of them are tested only after the other sets.
"""

from collections.abc import Iterator
from itertools import combinations

from cooperbench_eval.evaluation.landing.texts import Texts
from cooperbench_eval.evaluation.landing.trials import Trials
from cooperbench_eval.reporting.landings import BrokenTests, TeamSuite
from cooperbench_eval.support.minimizing import Minimizer

__all__ = ["TestedSearch"]

_Patches = frozenset[int]
_Order = tuple[int, ...]
_LARGEST_TO_CONFIRM = 6
"""A larger set has too many parts."""


class TestedSearch:
    """The search for a largest set of patches that merges and passes its tests.

    If a trial raises, as it does when the budget is spent, everything found so far is kept.

    Attributes:
        best: An order of a largest set that passed; `None` if none did.
        failing: Sets that fail on a tree; those that a bisection found are as small as it
            could make them.
        is_exact: Whether no larger set passes.
    """

    __test__ = False

    def __init__(self, texts: Texts, trials: Trials) -> None:
        """Prepare the search among the sets that *texts* knows."""
        self.best: _Order | None = None
        self.failing: list[_Patches] = []
        self.is_exact = False
        self._avoided: list[_Patches] = []
        self._is_doubtful = False
        self._texts = texts
        self._trials = trials

    @property
    def is_proven(self) -> bool:
        """Whether the tests show that the best set can land."""
        tree = self._texts.fold(self.best) if self.best else None
        return tree is not None and (frozenset(self.best or ()), tree) in self._trials.proven

    @property
    def candidate(self) -> _Order:
        """An order of a largest set that is not known to fail."""
        return self._texts.largest_avoiding([*self._avoided, *self.failing])

    def run(self) -> None:
        """Find a largest set, make certain of it, and then confirm why the others fail."""
        self.find()
        self.grow()
        self.be_certain()
        self.confirm_reasons()

    def find(self) -> None:
        """Test the largest sets that contain no set that is known to fail.

        If none has passed when half of the budget is spent, `grow` starts from the empty set.
        """
        while not self._trials.is_half_spent and (order := self.candidate):
            patches, tree = frozenset(order), self._texts.fold(order)
            if tree is None:  # the strategy's result depends on other files
                self._is_doubtful = True
                self._avoided.append(patches)
                continue
            if self._passes(patches, tree):
                self.best = order
                return
            self.failing.append(patches)
            self._find_culprits(order, self._trials.broken[patches, tree])
            self._texts.search_everything()

    def grow(self) -> None:
        """Add the other patches to the best set, one by one, if they pass with it."""
        for number in self._texts.numbers:
            if number in (self.best or ()):
                continue
            order = self._texts.ordered((*(self.best or ()), number))
            tree = self._texts.fold(order)
            if tree is not None and self._passes(frozenset(order), tree):
                self.best = order

    def be_certain(self) -> None:
        """Test every larger set on every tree, because more patches may repair a failure."""
        largest = len(self._texts.best)
        sizes = range(largest, len(self.best or ()), -1)
        larger = (patches for size in sizes for patches in self._texts.sets_of_size(size))
        self.best = next(filter(None, map(self._passing_order, larger)), self.best)
        is_largest = self._texts.is_exact and len(self.best or ()) == largest
        self.is_exact = (is_largest or self._texts.is_complete) and not self._is_doubtful

    def confirm_reasons(self) -> None:
        """Test whether failing sets fail on all trees, and whether the parts of sets can land."""
        reasons = sorted(self.failing, key=len)
        for patches in reasons:
            if len(patches) <= _LARGEST_TO_CONFIRM and not self._passing_order(patches):
                self._confirm_parts(patches)
        for patches in self._texts.minimal_conflicts():
            if len(patches) <= _LARGEST_TO_CONFIRM:
                self._confirm_parts(patches)

    def _confirm_parts(self, patches: _Patches) -> None:
        for size in range(1, len(patches)):
            for part in map(frozenset, combinations(sorted(patches), size)):
                is_known = any(each <= part for each in self.failing)
                if not is_known and not self._passing_order(part):
                    self.failing.append(part)

    def _passing_order(self, patches: _Patches) -> _Order | None:
        """Test a set on each of its trees until it passes."""
        for order in self._texts.orders_of(patches):
            tree = self._texts.fold(order)
            self._is_doubtful |= tree is None
            if tree is not None and self._passes(patches, tree):
                return order
        return None

    def _passes(self, patches: _Patches, tree: str) -> bool:
        return self._trials.passes(patches, tree, self._texts.side(tree).changes)

    # --- bisection ---

    def _find_culprits(self, order: _Order, broken: BrokenTests | None) -> None:
        """Find a smallest part of a failing set that fails the same suite."""
        if broken is None or broken.suite is TeamSuite.JOINT:
            return  # these tests need all patches
        owner = () if broken.feature is None else (broken.feature,)

        def fails(others: _Order) -> bool:
            return self._fails((*owner, *others), order, broken)

        if fails(()):
            self.failing.append(frozenset(owner))
            return
        search = Minimizer([number for number in order if number not in owner], fails)
        try:
            search.run()
        finally:
            culprits = frozenset((*owner, *search.kept))
            self.failing.append(culprits)
            if len(culprits) <= _LARGEST_TO_CONFIRM:
                self._texts.examine(culprits)

    def _fails(self, part: _Order, order: _Order, broken: BrokenTests) -> bool:
        patches = frozenset(part)
        for each in self._orders_like(order, patches):
            tree = self._texts.fold(each)
            if tree is not None:
                changes = self._texts.side(tree).changes
                return self._trials.fails(patches, tree, changes, broken)
        return False

    def _orders_like(self, order: _Order, patches: _Patches) -> Iterator[_Order]:
        """Yield the part of an order first, then the known orders of this part."""
        if patches:
            yield tuple(number for number in order if number in patches)
            yield from self._texts.orders_of(patches)
