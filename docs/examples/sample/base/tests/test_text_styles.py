"""Styles that people read."""

from pennybook import Book, loads, render

TEXT = """\
2024-03-01 | Corner bakery | food | -4.50
2024-03-02 | Employer | income | 2100.00
"""


def test_text_columns_are_aligned():
    assert render(loads(TEXT), "text") == "food      -4.50\nincome  2100.00\n"


def test_text_of_an_empty_book_is_empty():
    assert render(Book(), "text") == ""
