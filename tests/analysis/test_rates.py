"""Rates, comparisons and distributions agree with other people's statistics."""

import math
import statistics

import pytest
from generators import count_pairs, quantities
from hypothesis import given

from cooperbench_eval.analysis.measures import Distribution, Mean
from cooperbench_eval.analysis.rates import Comparison, Rate
from cooperbench_eval.errors import ArgumentError


@given(count_pairs())
def test_the_interval_is_wilsons(statsmodels, pair):
    """Both ends are those of statsmodels, at any confidence."""
    count, total = pair

    for confidence in (0.8, 0.95, 0.99):
        rate = Rate(count, total, confidence=confidence)
        low, high = statsmodels.proportion_confint(count, total, 1 - confidence, method="wilson")
        assert rate.low == pytest.approx(low, abs=1e-9)
        assert rate.high == pytest.approx(high, abs=1e-9)


@given(count_pairs())
def test_the_interval_contains_the_rate(pair):
    """Whatever the counts, from 0 to 1."""
    rate = Rate(*pair)

    assert 0 <= rate.low <= rate.rate + 1e-12
    assert rate.rate - 1e-12 <= rate.high <= 1


def test_a_rate_of_nothing_has_no_share():
    """Nothing is divided by zero."""
    rate = Rate(0, 0)

    assert (rate.rate, rate.low, rate.high, str(rate)) == (None, None, None, "0/0")


@pytest.mark.parametrize(("count", "total"), [(2, 1), (-1, 1)])
def test_a_count_above_its_total_is_not_a_rate(count, total):
    """Counts that cannot be are refused where they are made."""
    with pytest.raises(ValueError, match=r"is not a rate|must be >= 0"):
        Rate(count, total)


@given(count_pairs(), count_pairs())
def test_the_p_value_is_mcnemars(statsmodels, pair, other):
    """Exact and two-sided, as statsmodels has it."""
    only_first, only_second = pair[0], other[0]
    found = Comparison(both=3, only_first=only_first, only_second=only_second, neither=4)

    table = [[3, only_first], [only_second, 4]]
    is_empty = not only_first + only_second
    expected = 1.0 if is_empty else statsmodels.mcnemar(table, exact=True).pvalue
    assert found.p_value == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_a_comparison_counts_every_pair_once():
    """Both rates are over all compared pairs."""
    found = Comparison(both=5, only_first=3, only_second=1, neither=1)

    assert found.pairs == 10
    assert (found.first_rate, found.second_rate) == (Rate(8, 10), Rate(6, 10))
    assert found.difference == pytest.approx(-0.2)


def test_comparing_nothing_shows_nothing():
    """No pair, no difference, and no test of one."""
    found = Comparison(both=0, only_first=0, only_second=0, neither=0, unanswered=2)

    assert (found.difference, found.p_value, found.first_rate.rate) == (None, None, None)
    assert "0/0" in str(found)
    assert str(found).endswith("p = -")
    assert found.to_dict()["p_value"] is None


@given(quantities(2))
def test_quartiles_are_those_of_the_standard_library(values):
    """They are interpolated linearly with both ends. The order of the values does not matter."""
    found = Distribution.of(reversed(values))

    quartiles = statistics.quantiles(values, n=4, method="inclusive")
    assert [found.lower_quartile, found.median, found.upper_quartile] == pytest.approx(quartiles)
    assert (found.count, found.minimum, found.maximum) == (len(values), min(values), max(values))
    assert found.mean == pytest.approx(statistics.fmean(values))


def test_a_distribution_of_nothing_and_of_one():
    """Nothing has no middle, one value is every quartile."""
    nothing, one = Distribution.of([]), Distribution.of([7])

    assert (nothing.count, nothing.median, nothing.mean) == (0, None, None)
    assert (one.minimum, one.lower_quartile, one.upper_quartile, one.mean) == (7, 7, 7, 7)


@pytest.mark.parametrize(
    "wrong", [1.5, 1.0, 0, -1, 2, math.nan, math.inf, pytest.param(10**5000, id="huge"), "0.9"]
)
@pytest.mark.parametrize("shares", [[0.1, 0.5], [0.5], []])
def test_a_confidence_is_between_zero_and_one(wrong, shares):
    """Whether or not these shares have an interval."""
    with pytest.raises(ArgumentError, match=r"^confidence must be "):
        Mean.of(shares, confidence=wrong)


@pytest.mark.parametrize("of", [Mean.of, Distribution.of])
@pytest.mark.parametrize(
    "wrong",
    [
        [0.1, "a"],
        ["a"],
        [None, None],
        [1j, 2.0],
        [10**400, 1.0],
        [10**5000],
        [math.nan, 1.0],
        [math.inf, 0.0],
        [math.inf, -math.inf],
        [1e308, 1e308],
    ],
)
def test_what_is_measured_are_finite_numbers(of, wrong):
    """The items of an iterator are looked at only when they are used."""
    with pytest.raises(ArgumentError, match=r"^(shares|values) must be "):
        of(iter(wrong))
    assert of(iter([0.25, 0.75])).mean == 0.5


@pytest.mark.parametrize("wrong", [[1.5, 0.5], [-0.1], [1e200, -1e200]])
def test_a_share_is_between_zero_and_one(wrong):
    """The square of a larger number may not even be a number."""
    with pytest.raises(ArgumentError, match=r"^shares must be "):
        Mean.of(wrong)
