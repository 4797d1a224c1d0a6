"""Reports: the balances of a book, written in one of several styles."""

import csv
import io
from collections.abc import Callable

from pennybook.book import Book
from pennybook.errors import UnknownStyleError
from pennybook.money import format_amount


def _render_text(book: Book) -> str:
    """Two aligned columns, for the eye."""
    rows = [(account, format_amount(cents)) for account, cents in book.balances().items()]
    name_width = max((len(account) for account, _ in rows), default=0)
    sum_width = max((len(amount) for _, amount in rows), default=0)
    return "".join(f"{name:<{name_width}}  {amount:>{sum_width}}\n" for name, amount in rows)


def _render_csv(book: Book) -> str:
    """Comma-separated values with a header, for a spreadsheet."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["account", "balance"])
    for account, cents in book.balances().items():
        writer.writerow([account, format_amount(cents)])
    return buffer.getvalue()


RENDERERS: dict[str, Callable[[Book], str]] = {
    "csv": _render_csv,
    "text": _render_text,
}


def styles() -> list[str]:
    """The names that `render` understands, sorted."""
    return sorted(RENDERERS)


def render(book: Book, style: str = "text") -> str:
    """Write the balances of *book*.

    Args:
        book: The book to report on.
        style: One of `styles`.

    Raises:
        UnknownStyleError: There is no such style.
    """
    renderer = RENDERERS.get(style)
    if renderer is None:
        raise UnknownStyleError(style, styles())
    return renderer(book)
