"""The tests that the repository had before the agents came."""

from prices import total


def test_prices_are_added_up():
    """Without prices, the sum is 0."""
    assert total([100, 250]) == 350
    assert total([]) == 0
