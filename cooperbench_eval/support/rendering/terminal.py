"""Views as rich renderables: the adapter to rich."""

from collections.abc import Iterator

from cooperbench_eval.support.rendering.view import Cell, Table, Tone, View

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

# Every terminal has these colours, and everyone can tell them apart.
_STYLES = {Tone.PLAIN: "", Tone.GOOD: "blue", Tone.BAD: "yellow"}


def renderable(view: View) -> Renderable:
    """Return *view* as something that rich prints, with every row of its tables.

    Texts appear unchanged: rich does not interpret markup in them and highlights nothing. A
    table too wide for the terminal becomes a list, so that no number is split over two lines.
    """
    return Group(
        Text(view.title, style="bold"),
        *map(Text, view.lines),
        *map(_Fitted, view.tables),
        *map(Text, view.notes),
    )


class _Fitted:
    """A table if its numbers fit, and otherwise a list of its rows."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Renderable]:
        table = self._as_table()
        needed = Measurement.get(console, options.update(width=10**6), table).minimum
        if needed <= options.max_width:
            yield table
        else:
            yield from self._as_list()

    def _as_table(self) -> RichTable:
        shown = RichTable(box=None, pad_edge=False, header_style="dim")
        for name, is_number in zip(self._table.header, self._table.are_numbers, strict=True):
            shown.add_column(Text(name), justify="right" if is_number else "left", overflow="fold")
        for section in self._table.sections:
            if section.title:
                shown.add_row(Text(section.title, style="bold"))
            for row in section.rows:
                shown.add_row(*map(_styled, row))
        return shown

    def _as_list(self) -> Iterator[Renderable]:
        for section in self._table.sections:
            if section.title:
                yield Text(section.title, style="bold")
            for row in section.rows:
                named = [
                    Text(f"{name} " if name else "", style="dim").append_text(_styled(cell))
                    for name, cell in zip(self._table.header, row, strict=True)
                ]
                others = [text for text, cell in zip(named[1:], row[1:], strict=True) if cell.text]
                yield named[0]
                yield Padding(Text(", ").join(others), (0, 0, 0, 2))


def _styled(cell: Cell) -> Text:
    return Text(cell.text, style=_STYLES[cell.tone])
