"""Styles that programs read."""

from pennybook import Book, loads, render

TEXT = """\
2024-03-01 | Corner bakery | food | -4.50
2024-03-02 | Employer | income, regular | 2100.00
"""


def test_csv_has_a_header_and_quotes_commas():
    lines = render(loads(TEXT), "csv").splitlines()

    assert lines == ["account,balance", "food,-4.50", '"income, regular",2100.00']


def test_csv_of_an_empty_book_is_its_header():
    assert render(Book(), "csv") == "account,balance\n"
