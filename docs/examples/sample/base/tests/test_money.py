"""Amounts survive the way to text and back."""

import pytest

from pennybook import format_amount, parse_amount


@pytest.mark.parametrize(
    ("text", "cents"),
    [("4.50", 450), ("-4.50", -450), ("+12", 1200), ("0.07", 7), (" 3.00 ", 300)],
)
def test_parse_amount(text, cents):
    assert parse_amount(text) == cents


@pytest.mark.parametrize("text", ["", "abc", "1.5", "1.234", "1,50", "--1"])
def test_parse_amount_refuses(text):
    with pytest.raises(ValueError, match="not an amount"):
        parse_amount(text)


@pytest.mark.parametrize("cents", [0, 7, -7, 450, -123456])
def test_amounts_round_trip(cents):
    assert parse_amount(format_amount(cents)) == cents
