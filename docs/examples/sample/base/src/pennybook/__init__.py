"""A household book in plain text: read it, ask it, report on it."""

from pennybook.book import Book
from pennybook.entry import Entry
from pennybook.errors import BookFormatError, PennybookError, UnknownStyleError
from pennybook.lines import dumps, format_line, loads, parse_line
from pennybook.money import format_amount, parse_amount
from pennybook.report import render

__all__ = [
    "Book",
    "BookFormatError",
    "Entry",
    "PennybookError",
    "UnknownStyleError",
    "dumps",
    "format_amount",
    "format_line",
    "loads",
    "parse_amount",
    "parse_line",
    "render",
]
