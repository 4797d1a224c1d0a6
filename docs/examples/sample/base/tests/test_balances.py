"""Balances add up what went in and out."""

from pennybook import Book, loads

TEXT = """\
2024-03-01 | Corner bakery | food | -4.50
2024-03-02 | Employer | income | 2100.00
2024-03-05 | Market | food | -23.10
"""


def test_balances_are_summed_and_sorted():
    assert loads(TEXT).balances() == {"food": -2760, "income": 210000}
    assert list(loads(TEXT).balances()) == ["food", "income"]


def test_balance_of_one_account():
    assert loads(TEXT).balance("food") == -2760


def test_unknown_account_has_no_balance():
    assert loads(TEXT).balance("rent") == 0


def test_empty_book_has_no_balances():
    assert Book().balances() == {}
