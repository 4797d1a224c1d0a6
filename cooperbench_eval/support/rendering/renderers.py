"""A view as plain text, and as a fragment of HTML for notebooks."""

from collections.abc import Iterator
from html import escape

from cooperbench_eval.support.rendering.view import Section, Table, Tone, View
from cooperbench_eval.support.rendering.visible import width_of

_INDENT = "  "
_GAP = "  "


def plain_text(view: View) -> str:
    """Return *view* as lines without a final newline, with every row of its tables."""
    tables = [line for table in view.tables for line in _plain_lines(table)]
    return "\n".join([view.title, *view.lines, *tables, *view.notes])


def _plain_lines(table: Table) -> Iterator[str]:
    rows = list(_plain_rows(table))
    widths = [max(map(width_of, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        padded = [
            _padded(text, width, to_the_right=is_number)
            for text, width, is_number in zip(row, widths, table.are_numbers, strict=True)
        ]
        yield _GAP.join(padded).rstrip()


def _plain_rows(table: Table) -> Iterator[tuple[str, ...]]:
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


ROWS = 100
"""How many rows of a table are shown."""

_LAST_ROWS = 20  # the totals are among the last rows

# Both have a contrast of about 4 to 1 on white and on the dark grey of notebooks, and
# people with any kind of colour blindness can tell them apart.
_COLOURS = {Tone.GOOD: "color:#2f7fbf", Tone.BAD: "color:#cf5a00"}
_LINE = "border-bottom:1px solid rgba(128,128,128,.5)"
_TABLE = f"border-collapse:collapse;margin:.4em 0;{_LINE}"
_CELL = "padding:.1em .7em .1em 0"
_LEFT = f"{_CELL};text-align:left"
_RIGHT = f"{_CELL};text-align:right"
_NAME = f"{_LEFT};font-weight:normal"


def html_text(view: View) -> str:
    """Return *view* as a fragment of HTML.

    If a table has more than `ROWS` rows, the first and last rows are shown, and a row
    between them says how many are left out. Long texts are cut too, so the size depends
    on the number of columns and not on their contents.
    """
    return "".join(
        [
            f"<div><div><b>{escape(view.title)}</b></div>",
            *(f"<div>{escape(line)}</div>" for line in view.lines),
            *(part for table in view.tables for part in _table(table)),
            *(f"<div>{escape(note)}</div>" for note in view.notes),
            "</div>",
        ]
    )


def _table(table: Table) -> Iterator[str]:
    styles = [_RIGHT if is_number else _LEFT for is_number in table.are_numbers]
    yield f'<div style="overflow-x:auto"><table style="{_TABLE}">'
    yield f'<thead><tr style="{_LINE}">'
    for name, style in zip(table.header, styles, strict=True):
        yield f'<th scope="col" style="{style}">{escape(name)}</th>'
    yield "</tr></thead><tbody>"
    yield from _some([row for section in table.sections for row in _rows(section, styles)], styles)
    yield "</tbody></table></div>"


def _some(rows: list[str], styles: list[str]) -> list[str]:
    if len(rows) <= ROWS:
        return rows
    left_out = f"{len(rows) - ROWS:,} rows are left out; print shows all of them"
    note = f'<tr><td colspan="{len(styles)}" style="{_LEFT}">… {left_out} …</td></tr>'
    return [*rows[: ROWS - _LAST_ROWS], note, *rows[-_LAST_ROWS:]]


def _rows(section: Section, styles: list[str]) -> Iterator[str]:
    if section.title:
        scope = f'scope="rowgroup" colspan="{len(styles)}"'
        yield f'<tr><th {scope} style="{_LEFT}">{escape(section.title)}</th></tr>'
    for name, *others in section.rows:
        first = f'<th scope="row" style="{_NAME}">{escape(name.text)}</th>'
        cells = [
            f'<td style="{style}{_colour(cell.tone)}">{escape(cell.text)}</td>'
            for cell, style in zip(others, styles[1:], strict=True)
        ]
        yield f"<tr>{first}{''.join(cells)}</tr>"


def _colour(tone: Tone) -> str:
    return f";{_COLOURS[tone]}" if tone in _COLOURS else ""
