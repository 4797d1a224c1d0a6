"""Books as text: one entry on each line, its fields between bars."""

from datetime import date

from pennybook.book import Book
from pennybook.entry import Entry
from pennybook.errors import BookFormatError
from pennybook.money import format_amount, parse_amount


def parse_line(line: str, number: int = 1) -> Entry:
    """Read one entry.

    Args:
        line: ``day | payee | account | amount``.
        number: Where the line stands in its book, for the error message.

    Raises:
        BookFormatError: A field is missing, superfluous or unreadable.
    """
    fields = [field.strip() for field in line.split("|")]
    if len(fields) != 4:
        raise BookFormatError(number, f"expected 4 fields, found {len(fields)}")
    day, payee, account, amount = fields
    try:
        return Entry(date.fromisoformat(day), payee, account, parse_amount(amount))
    except ValueError as error:
        raise BookFormatError(number, str(error)) from error


def loads(text: str) -> Book:
    """Read a whole book; blank lines are skipped.

    Raises:
        BookFormatError: The first line that cannot be read.
    """
    numbered = enumerate(text.splitlines(), start=1)
    return Book(parse_line(line, number) for number, line in numbered if line.strip())


def format_line(entry: Entry) -> str:
    """Write one entry, the opposite of `parse_line`."""
    fields = [entry.day.isoformat(), entry.payee, entry.account, format_amount(entry.amount)]
    return " | ".join(fields)


def dumps(book: Book) -> str:
    """Write a whole book, the opposite of `loads`."""
    return "".join(f"{format_line(entry)}\n" for entry in book)
