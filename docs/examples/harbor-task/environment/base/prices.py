"""Adds up prices in cents."""


def total(prices: list[int]) -> int:
    """Return the sum of *prices*."""
    result = 0
    for price in prices:
        result += price
    return result
