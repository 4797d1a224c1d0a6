"""The search for a smallest set of items that still has a property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperbench_eval.support.minimizing import Minimizer


class Asked:
    """A property that remembers which sets it was asked about."""

    def __init__(self, holds):
        """Wrap a function from a set to whether it has the property."""
        self.holds = holds
        self.sets = set()

    def __call__(self, items):
        """Answer for some items."""
        self.sets.add(items)
        return self.holds(frozenset(items))


def minimized(count, holds):
    """Minimize the numbers below *count*; return the search and the asked property."""
    asked = Asked(holds)
    search = Minimizer(range(count), asked)
    search.run()
    return search, asked


@given(st.integers(1, 14).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_the_items_that_matter_are_found(case):
    """If the property needs certain items and nothing else, the result is just these."""
    count, needed = case
    needed = needed or {count - 1}

    search, _ = minimized(count, needed.issubset)

    assert set(search.kept) == needed
    assert search.is_minimal


@given(
    st.integers(2, 7).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(1, 2**n - 2))))
)
def test_any_property_gives_a_set_from_which_no_item_can_be_left_out(case):
    """That holds even if adding an item can destroy the property."""
    count, having = case
    whole = 2**count - 1

    def holds(items):
        number = sum(1 << item for item in items)
        return number == whole or number in having

    search, asked = minimized(count, holds)

    assert holds(search.kept)
    less = [tuple(each for each in search.kept if each != item) for item in search.kept]
    assert not any(map(holds, less))
    assert all(each in asked.sets for each in less if each)


def test_a_good_order_needs_few_questions():
    """One item at the front takes one question; three take two each."""
    _, one = minimized(100, {0}.issubset)
    _, three = minimized(100, {0, 1, 2}.issubset)

    assert len(one.sets) == 1
    assert len(three.sets) <= 8


def test_a_bad_order_needs_about_twice_the_logarithm():
    """One item at the end of a hundred."""
    _, asked = minimized(100, {99}.issubset)

    assert len(asked.sets) <= 14


@given(st.integers(0, 12), st.sets(st.integers(0, 11), min_size=1))
def test_a_search_that_is_stopped_has_a_set_with_the_property(limit, needed):
    """The smallest one for which the answer was yes, and no claim that it is minimal."""
    asked = Asked(needed.issubset)

    def holds(items):
        if len(asked.sets) == limit:
            raise InterruptedError
        return asked(items)

    search = Minimizer(range(12), holds)
    try:
        search.run()
    except InterruptedError:
        assert not search.is_minimal

    yes = [each for each in asked.sets if needed <= set(each)]
    assert needed <= set(search.kept)
    assert len(search.kept) == min(map(len, yes), default=12)


def test_a_single_item_needs_no_question():
    """It has the property, and no items have not."""
    search, asked = minimized(1, lambda _: pytest.fail("asked"))

    assert (search.kept, search.is_minimal, asked.sets) == ((0,), True, set())
