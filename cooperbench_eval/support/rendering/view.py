"""The content of a view, independent of the format: a renderer turns it into text or HTML.

The records escape and shorten their texts (`visible`), so renderers need not.
"""

from collections.abc import Iterable
from enum import StrEnum

from attrs import field, frozen

from cooperbench_eval.support.rendering.visible import visible


def _text(text: str) -> str:
    return visible(text)


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(visible, texts))


class Tone(StrEnum):
    """Whether a text reports something good or bad.

    A renderer may show this as a colour; the text must be clear without the colour.
    """

    PLAIN = "plain"
    """Neither good nor bad."""
    GOOD = "good"
    """Something holds."""
    BAD = "bad"
    """Something does not hold."""


@frozen
class Cell:
    """A cell of a table, with whether its text reports something good or bad."""

    text: str = field(converter=_text)
    tone: Tone = field(default=Tone.PLAIN, converter=Tone)


def _cells(rows: Iterable[Iterable[Cell | str]]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        tuple(each if isinstance(each, Cell) else Cell(each) for each in row) for row in rows
    )


@frozen(kw_only=True)
class Section:
    """Rows of a table that belong together.

    Attributes:
        title: What the rows have in common; empty if the table has one section.
        rows: One cell for each column; a plain text becomes a cell.
    """

    title: str = field(default="", converter=_text)
    rows: tuple[tuple[Cell, ...], ...] = field(converter=_cells)


@frozen(kw_only=True)
class Table:
    """A header and the rows below it.

    Attributes:
        header: The name of each column; the first column names the row.
        numbers: How many of the columns, counted from the last, hold numbers, which are
            aligned to the right.
    """

    header: tuple[str, ...] = field(converter=_texts)
    sections: tuple[Section, ...] = field(converter=tuple[Section, ...])
    numbers: int = 0

    @sections.validator
    def _check_sections(self, _: object, sections: tuple[Section, ...]) -> None:
        for section in sections:
            for row in section.rows:
                if len(row) != len(self.header):
                    raise ValueError(f"{len(row)} cells in {len(self.header)} columns")

    @property
    def are_numbers(self) -> list[bool]:
        """Whether each column holds numbers."""
        texts = len(self.header) - self.numbers
        return [place >= texts for place in range(len(self.header))]


def rows_table(
    header: Iterable[str], rows: Iterable[Iterable[Cell | str]], *, numbers: int = 0
) -> Table:
    """Return a table of one section."""
    return Table(header=header, sections=[Section(rows=rows)], numbers=numbers)


@frozen(kw_only=True)
class View:
    """The description of one result, from top to bottom.

    Attributes:
        lines: Sentences about the result.
        tables: Facts that need rows and columns.
        notes: Sentences about the tables.
    """

    title: str = field(converter=_text)
    lines: tuple[str, ...] = field(default=(), converter=_texts)
    tables: tuple[Table, ...] = field(default=(), converter=tuple[Table, ...])
    notes: tuple[str, ...] = field(default=(), converter=_texts)
