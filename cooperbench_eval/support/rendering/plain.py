"""A view as plain text."""

from collections.abc import Iterator

from cooperbench_eval.support.rendering.records import Table, View
from cooperbench_eval.support.rendering.visible import width_of

__all__ = ["plain_text"]

_INDENT = "  "
_GAP = "  "


def plain_text(view: View) -> str:
    """Return *view* as lines without a final newline, with every row of its tables."""
    tables = [line for table in view.tables for line in _lines(table)]
    return "\n".join([view.title, *view.lines, *tables, *view.notes])


def _lines(table: Table) -> Iterator[str]:
    rows = list(_rows(table))
    widths = [max(map(width_of, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        padded = [
            _padded(text, width, to_the_right=is_number)
            for text, width, is_number in zip(row, widths, table.are_numbers, strict=True)
        ]
        yield _GAP.join(padded).rstrip()


def _rows(table: Table) -> Iterator[tuple[str, ...]]:
    yield table.header
    blank = ("",) * (len(table.header) - 1)
    for section in table.sections:
        if section.title:
            yield (section.title, *blank)
        for name, *others in section.rows:
            yield (f"{_INDENT}{name.text}", *(cell.text for cell in others))


def _padded(text: str, width: int, *, to_the_right: bool) -> str:
    space = " " * (width - width_of(text))
    return space + text if to_the_right else text + space
