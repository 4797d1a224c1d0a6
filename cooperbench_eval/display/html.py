"""A view as a fragment of HTML, as notebooks show it.

The fragment is inert: no script, no link, no style sheet, nothing that is loaded, no
attribute that holds a text of a result. It takes its colours from the page around it,
so that it reads on a light and on a dark one.
"""

from collections.abc import Iterator
from html import escape

from cooperbench_eval.display.records import Column, Section, Table, Tone, View
from cooperbench_eval.display.visible import visible

__all__ = ["ROWS", "html_text"]

ROWS = 100
"""How many rows of a table are shown."""

_LAST_ROWS = 20  # where the totals stand

# Both have a contrast of about 4 to 1 on white and on the dark grey of notebooks, and are
# told apart whatever kind of colour blindness one has.
_COLOURS = {Tone.GOOD: "color:#2f7fbf", Tone.BAD: "color:#cf5a00"}
_LINE = "border-bottom:1px solid rgba(128,128,128,.5)"
_TABLE = f"border-collapse:collapse;margin:.4em 0;{_LINE}"
_CELL = "padding:.1em .7em .1em 0"
_LEFT = f"{_CELL};text-align:left"
_RIGHT = f"{_CELL};text-align:right"
_NAME = f"{_LEFT};font-weight:normal"


def html_text(view: View) -> str:
    """Return *view* as a fragment of HTML.

    Of a table with more than `ROWS` rows the first and the last are there, and between
    them how many are left out. With texts cut as well, the size follows the number of
    columns and not what they hold.
    """
    parts = [f"<div><div><b>{_text(view.title)}</b></div>"]
    parts += [f"<div>{_text(line)}</div>" for line in view.lines]
    for table in view.tables:
        parts += _table(table)
    parts += [f"<div>{_text(note)}</div>" for note in view.notes]
    return "".join([*parts, "</div>"])


def _text(text: str) -> str:
    return escape(visible(text))


def _table(table: Table) -> Iterator[str]:
    yield f'<div style="overflow-x:auto"><table style="{_TABLE}">'
    yield f'<thead><tr style="{_LINE}">'
    for column in table.columns:
        yield f'<th scope="col" style="{_side(column)}">{_text(column.name)}</th>'
    yield "</tr></thead><tbody>"
    yield from _some(list(_rows(table)), len(table.columns))
    yield "</tbody></table></div>"


def _some(rows: list[str], width: int) -> Iterator[str]:
    if len(rows) <= ROWS:
        yield from rows
        return
    left_out = f"{len(rows) - ROWS:,} rows are left out; printed as text, all are there"
    yield from rows[: ROWS - _LAST_ROWS]
    yield f'<tr><td colspan="{width}" style="{_LEFT}">… {left_out} …</td></tr>'
    yield from rows[-_LAST_ROWS:]


def _rows(table: Table) -> Iterator[str]:
    for section in table.sections:
        if section.title:
            yield _heading(section, len(table.columns))
        for name, *others in section.rows:
            cells = [
                f'<td style="{_side(column)}{_colour(cell.tone)}">{_text(cell.text)}</td>'
                for column, cell in zip(table.columns[1:], others, strict=True)
            ]
            first = f'<th scope="row" style="{_NAME}">{_text(name.text)}</th>'
            yield f"<tr>{first}{''.join(cells)}</tr>"


def _heading(section: Section, width: int) -> str:
    title = _text(section.title)
    return f'<tr><th scope="rowgroup" colspan="{width}" style="{_LEFT}">{title}</th></tr>'


def _side(column: Column) -> str:
    return _RIGHT if column.is_number else _LEFT


def _colour(tone: Tone) -> str:
    return f";{_COLOURS[tone]}" if tone in _COLOURS else ""
