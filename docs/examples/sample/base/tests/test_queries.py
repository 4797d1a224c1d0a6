"""Books answer questions with smaller books."""

from datetime import date

from pennybook import Book, Entry, loads

TEXT = """\
2024-03-01 | Corner bakery | food:bread | -4.50
2024-03-02 | Employer | income | 2100.00
2024-03-05 | Market | food:fruit | -23.10
"""


def test_under_selects_an_account_and_those_below_it():
    payees = [entry.payee for entry in loads(TEXT).under("food")]

    assert payees == ["Corner bakery", "Market"]


def test_with_entry_leaves_the_book_alone():
    book = Book()
    longer = book.with_entry(Entry(date(2024, 3, 1), "Employer", "income", 100))

    assert (len(book), len(longer)) == (0, 1)


def test_books_compare_by_their_entries():
    assert loads(TEXT) == loads(TEXT)
    assert loads(TEXT) != loads(TEXT).under("food")
