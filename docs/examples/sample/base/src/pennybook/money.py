"""Amounts of money, held as whole cents."""

import re

_AMOUNT = re.compile(r"(?P<sign>[+-]?)(?P<units>\d+)(?:\.(?P<cents>\d{2}))?")


def parse_amount(text: str) -> int:
    """Read an amount such as ``-4.50`` or ``12``.

    Args:
        text: The amount; blanks around it are ignored.

    Returns:
        The amount in cents.

    Raises:
        ValueError: The text is no amount, or has one or three decimals.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not an amount: {text.strip()!r}")
    cents = int(match["units"]) * 100 + int(match["cents"] or 0)
    return -cents if match["sign"] == "-" else cents


def format_amount(cents: int) -> str:
    """Write an amount with two decimals, the opposite of `parse_amount`."""
    sign = "-" if cents < 0 else ""
    units, rest = divmod(abs(cents), 100)
    return f"{sign}{units}.{rest:02d}"
