"""A view for rich: the door to rich, which asks for it."""

from collections.abc import Iterator

from cooperbench_eval.display.records import Cell, Table, Tone, View
from cooperbench_eval.display.visible import visible

try:
    from rich.console import Console, ConsoleOptions, Group
    from rich.console import RenderableType as Renderable
    from rich.measure import Measurement
    from rich.padding import Padding
    from rich.table import Table as RichTable
    from rich.text import Text
except ImportError as exc:
    raise ImportError("rich is missing: pip install 'cooperbench-eval[rich]'") from exc

__all__ = ["Renderable", "renderable"]

# Of the sixteen colours that every terminal has, told apart by everybody.
_STYLES = {Tone.PLAIN: "", Tone.GOOD: "blue", Tone.BAD: "yellow"}
_NARROWEST_TEXT = 16


def renderable(view: View) -> Renderable:
    """Return *view* as something that rich prints; every row is there.

    Texts are shown as they are: markup in them is not read, nothing is highlighted, and
    no escape sequence or control character gets through. Numbers are never broken: a
    table that is too wide for its place becomes a list.
    """
    return Group(
        Text(visible(view.title), style="bold"),
        *(Text(visible(line)) for line in view.lines),
        *(_Fitted(table) for table in view.tables),
        *(Text(visible(note)) for note in view.notes),
    )


def _text(cell: Cell) -> Text:
    return Text(visible(cell.text), style=_STYLES[cell.tone])


class _Fitted:
    """A table where there is room for its numbers, and else a list of its rows."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Renderable]:
        table = self._as_table()
        if (
            Measurement.get(console, options.update(width=10**6), table).minimum
            <= options.max_width
        ):
            yield table
        else:
            yield from self._as_list()

    def _as_table(self) -> RichTable:
        shown = RichTable(
            box=None,
            pad_edge=False,
            header_style="dim",
        )
        for column in self._table.columns:
            shown.add_column(
                Text(column.name),
                justify="right" if column.is_number else "left",
                overflow="fold",
            )
        for section in self._table.sections:
            if section.title:
                shown.add_row(Text(visible(section.title), style="bold"))
            for row in section.rows:
                shown.add_row(*map(_text, row))
        return shown

    def _as_list(self) -> Iterator[Renderable]:
        first_name, *names = (column.name for column in self._table.columns)
        for section in self._table.sections:
            if section.title:
                yield Text(visible(section.title), style="bold")
            for first, *others in section.rows:
                yield _told(first_name, first)
                told = [
                    _told(name, cell) for name, cell in zip(names, others, strict=True) if cell.text
                ]
                yield Padding(Text(", ").join(told), (0, 0, 0, 2))


def _told(name: str, cell: Cell) -> Text:
    """Return a cell with its column's name in front, if that has one."""
    return Text(f"{name} " if name else "", style="dim").append_text(_text(cell))
