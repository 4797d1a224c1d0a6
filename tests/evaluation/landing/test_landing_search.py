"""The search over sets and orders, compared with every order of every set."""

import random
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperbench_eval.evaluation.landing.search import (
    GroupSearch,
    Step,
    WorkSpentError,
    largest_clique,
)


class RandomOracle:
    """Merges at random, but the same merge always in the same way.

    No set is easier than another one: a set may land although no part of it does.
    """

    def __init__(self, seed, share, *, variants=2, limit=10**9):
        self.seed, self.share, self.variants, self.left = seed, share, variants, limit

    def first(self, number):
        return f"{number}:0"

    def merge(self, tree, number):
        if not self.left:
            raise WorkSpentError
        self.left -= 1
        numbers = sorted({*map(int, tree.partition(":")[0].split("+")), number})
        rng = random.Random(f"{self.seed} {tree} {number}")  # noqa: S311 - not for secrets
        if rng.random() > self.share:
            return Step(tree=None)
        variant = rng.randrange(self.variants)
        return Step(tree=f"{'+'.join(map(str, numbers))}:{variant}", is_resolved=bool(variant))


def fold(oracle, order):
    tree = oracle.first(order[0])
    for number in order[1:]:
        tree = oracle.merge(tree, number).tree
        if tree is None:
            return None
    return tree


def brute_force(oracle, numbers, *, in_order=False):
    """Return for each set the tree of each of its orders."""
    return {
        frozenset(patches): {
            order: fold(oracle, order)
            for order in ([patches] if in_order else permutations(patches))
        }
        for size in range(1, len(numbers) + 1)
        for patches in combinations(numbers, size)
    }


def lands(orders):
    return any(tree is not None for tree in orders.values())


def searched(oracle, numbers, *, in_order=False):
    search = GroupSearch(oracle, numbers, in_order=in_order)
    search.fold(numbers)
    search.examine_pairs()
    search.fold_promising()
    search.examine_all()
    return search


ORACLES = st.builds(
    RandomOracle,
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.2, 0.5, 0.8, 1.0]),
    variants=st.integers(1, 3),
)


@given(oracle=ORACLES, numbers=st.permutations([3, 1, 4, 5, 9]), in_order=st.booleans())
def test_the_search_finds_what_trying_everything_finds(oracle, numbers, in_order):
    """The sets that land, their trees, and an order for each tree."""
    truth = brute_force(oracle, numbers, in_order=in_order)

    search = searched(oracle, numbers, in_order=in_order)

    assert search.is_complete
    assert search.examined_size == len(numbers)
    assert {each: set(trees) for each, trees in search.found.items()} == {
        each: set(orders.values()) - {None} for each, orders in truth.items() if lands(orders)
    }
    for trees in search.found.values():
        assert all(fold(oracle, order) == tree for tree, order in trees.items())
    assert len(search.best) == max(len(each) for each, orders in truth.items() if lands(orders))
    assert frozenset(search.best) in search.found


@pytest.mark.parametrize("into", [(1,), (1, 2)])
def test_a_merge_that_cannot_be_read_is_not_a_conflict(into):
    """Its result is unknown, in one order or both, and so is whether a larger set could merge."""

    class Unreadable(RandomOracle):
        def merge(self, tree, number):
            numbers = {*map(int, tree.partition(":")[0].split("+"))}
            if numbers < {1, 2} and numbers <= {*into}:
                return Step(tree=None, failure="absent", is_provisionalable=True)
            return super().merge(tree, number)

    search = searched(Unreadable(1, 1.0, variants=1), (1, 2, 3))
    search.examine_by_size()

    assert (frozenset({1, 2}) in search.found) == (into == (1,))
    assert len(search.best) == 3
    assert search.minimal_conflicts() == []
    assert search.order_dependent() == {}
    assert not search.is_complete


@given(oracle=ORACLES)
def test_minimal_conflicts_are_those_of_which_every_part_lands(oracle):
    """A set that does not land is listed if all its proper subsets do."""
    numbers = (2, 1, 3, 5, 4)
    truth = brute_force(oracle, numbers)

    found = searched(oracle, numbers).minimal_conflicts()

    assert sorted(map(sorted, found)) == sorted(
        sorted(each)
        for each, orders in truth.items()
        if not lands(orders) and all(lands(truth[part]) for part in truth if part < each)
    )


@given(oracle=ORACLES)
def test_sets_whose_order_matters_are_found(oracle):
    """They land only in some orders or give several trees."""
    numbers = (1, 2, 3, 4)
    truth = brute_force(oracle, numbers)
    matters = {
        each for each, orders in truth.items() if lands(orders) and len(set(orders.values())) > 1
    }

    found = searched(oracle, numbers).order_dependent()

    assert set(found) == matters
    for patches, failing in found.items():
        assert bool(failing) == (None in truth[patches].values())
        assert not failing or (truth[patches][failing] is None)


@given(oracle=ORACLES, limit=st.integers(0, 120))
def test_a_search_that_is_cut_short_claims_nothing_false(oracle, limit):
    """What a bounded search found is true, and it does not say that it is complete."""
    numbers = (1, 2, 3, 4, 5)
    truth = brute_force(oracle, numbers)
    oracle.left = limit
    search = GroupSearch(oracle, numbers)
    is_cut = False
    try:
        search.fold(numbers)
        search.examine_pairs()
        search.fold_promising()
        search.examine_all()
    except WorkSpentError:
        is_cut = True

    assert search.is_complete is not is_cut
    for patches, trees in search.found.items():
        assert all(truth[patches][order] == tree for tree, order in trees.items())
    for patches in search.minimal_conflicts():
        assert not lands(truth[patches])
    for patches in search.order_dependent():
        assert len(set(truth[patches].values())) > 1
    for patches in truth:
        if search.is_examined(patches):
            assert set(search.found.get(patches, {})) == set(truth[patches].values()) - {None}


def test_twelve_patches_that_hardly_conflict_need_no_more_merges_than_the_bound():
    """One tree for each set and one conflict: the search is complete within 25,000 merges."""

    class Nearly(RandomOracle):
        def merge(self, tree, number):
            numbers = {*map(int, tree.partition(":")[0].split("+")), number}
            super().merge(tree, number)
            return Step(tree=None if {1, 2} <= numbers else "+".join(map(str, sorted(numbers))))

        def first(self, number):
            return str(number)

    search = searched(Nearly(0, 1.0, limit=25_000), range(1, 13))

    assert search.is_complete
    assert len(search.best) == 11
    assert search.minimal_conflicts() == [frozenset({1, 2})]


@pytest.mark.parametrize("size", [1, 7, 12])
def test_a_clique_is_as_large_as_any(size):
    """The clique of a random graph, compared with every set of vertices."""
    rng = random.Random(size)  # noqa: S311 - not for secrets
    for _ in range(20):
        edges = [each for each in combinations(range(size), 2) if rng.random() < 0.6]
        graph = {vertex: set() for vertex in range(size)}
        for one, other in edges:
            graph[one].add(other)
            graph[other].add(one)

        clique = largest_clique(graph)

        assert all(pair in edges for pair in combinations(clique, 2))
        assert not any(
            all(pair in edges for pair in combinations(larger, 2))
            for larger in combinations(range(size), len(clique) + 1)
        )


def test_a_clique_search_that_takes_too_long_returns_what_it_has():
    """A bound of three steps is enough for three vertices."""
    graph = {vertex: {*range(9)} - {vertex} for vertex in range(9)}

    assert len(largest_clique(graph, most_steps=3)) == 3
