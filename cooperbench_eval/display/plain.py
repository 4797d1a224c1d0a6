"""A view as plain text."""

from collections.abc import Iterator

from cooperbench_eval.display.records import Cell, Table, View
from cooperbench_eval.display.visible import visible, width_of

__all__ = ["plain_text"]

_INDENT = "  "
_GAP = "  "


def plain_text(view: View) -> str:
    """Return *view* as lines without a final newline; every row is there.

    No escape sequence or control character of a text gets through, and a text stays on
    its line.
    """
    lines = [visible(view.title), *map(visible, view.lines)]
    for table in view.tables:
        lines += _table(table)
    return "\n".join([*lines, *map(visible, view.notes)])


def _table(table: Table) -> Iterator[str]:
    rows = list(_rows(table))
    widths = [max(map(width_of, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        padded = [
            _padded(text, width, to_the_right=column.is_number)
            for text, width, column in zip(row, widths, table.columns, strict=True)
        ]
        yield _GAP.join(padded).rstrip()


def _rows(table: Table) -> Iterator[tuple[str, ...]]:
    yield tuple(column.name for column in table.columns)
    blank = ("",) * (len(table.columns) - 1)
    for section in table.sections:
        if section.title:
            yield (visible(section.title), *blank)
        for name, *others in section.rows:
            yield (f"{_INDENT}{_text(name)}", *map(_text, others))


def _text(cell: Cell) -> str:
    return visible(cell.text)


def _padded(text: str, width: int, *, to_the_right: bool) -> str:
    space = " " * (width - width_of(text))
    return space + text if to_the_right else text + space
