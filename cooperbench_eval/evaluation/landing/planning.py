"""Finds a landing plan: what merges, what passes its tests, and what follows from both.

What follows are the results of pairs, the sets that cannot land, and why a patch is left out.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import permutations, product
from math import prod

from attrs import frozen

from cooperbench_eval.errors import RepositoryError
from cooperbench_eval.evaluation.landing.mergeable import MergeableSets
from cooperbench_eval.evaluation.landing.merger import PatchMerger
from cooperbench_eval.evaluation.landing.search import GroupSearch, Step, WorkSpentError
from cooperbench_eval.evaluation.landing.trials import TestedSearch, Trials
from cooperbench_eval.evaluation.merge_queue import breaking, not_merged
from cooperbench_eval.evaluation.pairs import suites_of, suites_on
from cooperbench_eval.evaluation.sides import Side
from cooperbench_eval.evaluation.suite_runs import BudgetSpentError
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.hazards.finding import find_hazards
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting.landings import (
    LandingPlan,
    LeftOut,
    LeftOutReason,
    OrderDependence,
    PairMerge,
    PairOutcome,
)

_Patches = frozenset[int]
_Order = tuple[int, ...]
_MOST_SETS = 1 << 12


def find_plan(
    merger: PatchMerger,
    numbers: Sequence[int],
    sides: Mapping[int, Side],
    missing: Iterable[LeftOut],
    *,
    groups: Collection[Sequence[int]],
    trials: Trials,
    sequence: Sequence[int] = (),
) -> LandingPlan:
    """Search for a largest set of patches that can land.

    *numbers* are all patches in the given order, *sides* the candidates, and *missing* says why the
    others are not. The *groups* are candidates that may affect each other's merges. If it is not
    empty, *sequence* has all patches in the only order that counts.
    """
    base = merger.base
    sets = MergeableSets(merger, groups, order=[each for each in sequence if each in sides])
    problem = _search(sets.search, lambda: len(sets.best) > 1)
    has_tests = bool(suites_of(trials.group))
    is_tried = has_tests and trials.budget and not problem
    tested = TestedSearch(sets, trials) if is_tried else None
    problem = _search(tested.run, lambda: True) if tested else problem
    order, tree = _landing(sets, tested)
    changes = Changes() if tree is None else sets.merger.side(tree).changes
    found = _Conclusions(sets=sets, trials=trials, sides=sides)
    left_out, unread = found.reasons(order)
    problem = problem or unread
    place = {number: at for at, number in enumerate(numbers)}
    is_exact = tested is not None and tested.is_exact
    if not has_tests:
        is_exact = sets.is_exact and len(order) == len(sets.best)
    return LandingPlan(
        strategy=merger.strategy.name,
        order=order,
        left_out=sorted((*missing, *left_out), key=lambda each: place[each.number]),
        merges=found.pairs(),
        minimal_conflicts=found.minimal_conflicts(),
        order_dependent=found.order_dependent(),
        examined_size=found.examined_size,
        has_tests=has_tests,
        suites=dict.fromkeys(each for each, _, suite in suites_on(trials.group, order) if suite),
        is_tested=bool(tested and tested.is_proven),
        is_exact=is_exact and not problem and not trials.had_no_answer,
        runs_used=trials.runs.used,
        budget=trials.budget,
        problem=problem or trials.unanswered,
        flaky=sorted(trials.flaky),
        reset_files=sorted(trials.reset_files),
        base_tree_id=base.tree_id,
        base_commit=base.commit_id,
        tree_id=changes.tree_id(base),
        changes=changes,
        hazards=_hazards(base, {number: sides[number].changes for number in order}, changes),
    )


def _hazards(base: Snapshot, sides: Mapping[int, Changes], merged: Changes) -> tuple[Hazard, ...]:
    """Return what looks wrong in the tree of a plan; nothing if its files cannot be read."""
    with suppress(RepositoryError):
        return find_hazards(base, sides, merged) if len(sides) > 1 else ()
    return ()


def _search(search: Callable[[], None], is_enough: Callable[[], bool]) -> str:
    """Search as far as the bounds allow; return the error that ended the search, if there was one.

    If too little was found before, the error is raised.
    """
    with suppress(WorkSpentError, BudgetSpentError):
        try:
            search()
        except RepositoryError as exc:
            if not is_enough():
                raise
            return str(exc)
    return ""


def _landing(sets: MergeableSets, tested: TestedSearch | None) -> tuple[_Order, str | None]:
    """Return the best order that is known to land, and its tree.

    If the base can no longer be read, or if the strategy's result depends on other files,
    some patches of other groups cannot be added.
    """
    if tested is not None:
        orders = [tested.best if tested.best is not None else tested.candidate]
    else:
        largest_first = sorted(sets.searches, key=lambda each: -len(each.best))
        orders = [sets.best, tuple(n for each in largest_first for n in each.best)]
    folded = [sets.fold_most(order) for order in orders]
    return max(folded, key=lambda each: len(each[0]))


@frozen(kw_only=True)
class _Conclusions:
    """What is known after a search; *sides* are those of the candidates, in the given order."""

    sets: MergeableSets
    trials: Trials
    sides: Mapping[int, Side]

    @property
    def examined_size(self) -> int:
        """The largest size up to which every set was merged in all orders."""
        cut = [each.examined_size for each in self.sets.searches if not each.is_complete]
        return min(cut, default=len(self.sides))

    # --- pairs ---

    def pairs(self) -> Iterator[PairMerge]:
        """Yield what every two patches give, in both orders."""
        search_of = {n: each for each in self.sets.searches for n in each.numbers}
        for into, number in permutations(self.sides, 2):
            if self.sets.ordered((into, number)) != (into, number):
                outcome = PairOutcome.NOT_EXAMINED
            elif search_of[into] is search_of[number]:
                outcome = _outcome(search_of[into].pair(into, number))
            else:
                outcome = PairOutcome.CLEAN  # they cannot affect each other
            if self._breaks_tests(into, number, outcome):
                outcome = PairOutcome.BREAKS_TESTS
            yield PairMerge(into=into, number=number, outcome=outcome)

    def _breaks_tests(self, into: int, number: int, outcome: PairOutcome) -> bool:
        if outcome not in {PairOutcome.CLEAN, PairOutcome.RESOLVED}:
            return False
        patches = frozenset({into, number})
        if patches not in self._tested or any(each < patches for each in self.failing()):
            return False
        tree = self.sets.fold((into, number))
        return self.trials.broken.get((patches, tree or "")) is not None

    # --- sets ---

    def minimal_conflicts(self) -> list[_Order]:
        """Return the sets that cannot land and of which no part is known not to land."""
        found = [*self.sets.minimal_conflicts(), *filter(self._cannot_land, self.failing())]
        smallest = [each for each in found if not any(other < each for other in found)]
        return sorted(
            {tuple(sorted(each)) for each in smallest}, key=lambda each: (len(each), each)
        )

    def _cannot_land(self, patches: _Patches) -> bool:
        tested = sum(each == patches for each, _ in self.trials.broken)
        return tested == self.sets.count_trees(patches)

    def failing(self) -> list[_Patches]:
        """Return the sets that failed on every tree on which they were tested."""
        tried = self.trials.broken.items()
        passed = {patches for (patches, _), broken in tried if broken is None}
        return [patches for patches in self._tested if patches not in passed]

    def order_dependent(self) -> list[OrderDependence]:
        """Return the sets whose order matters, small ones first.

        The order of a set of several groups matters if it matters in one of the groups. If
        there are too many sets, only those within one group are listed.
        """
        groups = [list(_landing_sets(each)) for each in self.sets.searches]
        if prod(map(len, groups)) > _MOST_SETS:
            found = [each for sets in groups for each in sets]
        else:
            found = [_together(parts) for parts in product(*groups)]
        matters = (each for each in found if each.fails or each.trees > 1)
        return sorted(matters, key=lambda each: (len(each.patches), each.patches))

    # --- reasons ---

    def reasons(self, landed: _Order) -> tuple[list[LeftOut], str]:
        """Return why each other patch is left out; if that cannot be read, also the error."""
        failing = sorted(self.failing(), key=len)
        others = [number for number in self.sides if number not in landed]
        try:
            return [self._reason(each, landed, failing) for each in others], ""
        except RepositoryError as exc:
            reason = LeftOutReason.NOT_EXAMINED
            return [LeftOut(number=each, reason=reason) for each in others], str(exc)

    def _reason(self, number: int, landed: _Order, failing: Collection[_Patches]) -> LeftOut:
        together = frozenset({number, *landed})
        culprits = next((each for each in failing if number in each and each <= together), None)
        found = None if culprits is None else self._breaking(number, culprits)
        if found is not None and found.reason is LeftOutReason.FAILS_OWN_TESTS:
            return found
        if conflict := self._conflict(number, landed):
            return conflict
        return found or LeftOut(number=number, reason=LeftOutReason.NOT_EXAMINED)

    def _breaking(self, number: int, culprits: _Patches) -> LeftOut:
        tried = self.trials.broken.items()
        tree = next(tree for (patches, tree), each in tried if each and patches == culprits)
        changes = self.sets.merger.side(tree).changes
        return breaking(number, self.trials.all_broken(culprits, tree, changes), culprits)

    def _conflict(self, number: int, landed: _Order) -> LeftOut | None:
        """Return the conflict of a patch with those that land; `None` if it merges too."""
        order = self.sets.ordered((*landed, number))
        merged, tree = self.sets.fold_start(order)
        # If a strategy also looks at other files, groups that merge may not merge together.
        known = () if merged == order else next(self.sets.orders_of(order), ())
        if merged == order or self.sets.fold(known) is not None:
            return None
        last = order[len(merged)]
        return not_merged(
            number,
            self.sets.merger.merge(tree or "", last, at_any_cost=True),
            [self.sides[each] for each in landed],
            lambda other: self._open_files(other, number),
            merged if last == number else (last,),
        )

    def _open_files(self, one: int, other: int) -> frozenset[str]:
        for search in self.sets.searches:
            if {one, other} <= {*search.numbers}:
                steps = (search.pair(one, other), search.pair(other, one))
                if all(step is None or step.tree is None for step in steps):
                    return frozenset().union(*(step.open_files for step in steps if step))
        return frozenset()

    @property
    def _tested(self) -> dict[_Patches, None]:
        return dict.fromkeys(patches for patches, _ in self.trials.broken)


def _outcome(step: Step | None) -> PairOutcome:
    if step is None or step.is_provisionalable:
        return PairOutcome.NOT_EXAMINED
    if step.tree is None:
        return PairOutcome.CONFLICT
    return PairOutcome.RESOLVED if step.is_resolved else PairOutcome.CLEAN


def _landing_sets(search: GroupSearch) -> Iterator[OrderDependence]:
    yield OrderDependence(patches=(), lands=(), trees=1)
    dependent = search.order_dependent()
    for patches, trees in search.found.items():
        if len(patches) <= search.examined_size:
            yield OrderDependence(
                patches=sorted(patches),
                lands=next(iter(trees.values())),
                fails=dependent.get(patches, ()),
                trees=len(trees),
            )


def _together(parts: Sequence[OrderDependence]) -> OrderDependence:
    """Return the union of sets of different groups, which cannot affect each other."""
    fails = next((each for each in parts if each.fails), None)
    others = (each for each in parts if each is not fails)
    rest = tuple(number for each in others for number in each.lands)
    return OrderDependence(
        patches=sorted(number for each in parts for number in each.patches),
        lands=[number for each in parts for number in each.lands],
        fails=(*fails.fails, *rest) if fails else (),
        trees=prod(each.trees for each in parts),
    )
