"""What is shown of a result, before it is text, HTML or anything else.

Texts stand here as they are, however long or hostile: each rendering makes them
harmless in its own way.
"""

from collections.abc import Iterable
from enum import StrEnum

from attrs import field, frozen

__all__ = ["Cell", "Column", "Section", "Table", "Tone", "View"]


class Tone(StrEnum):
    """How a text is meant. It is told in the words as well; this may add a colour."""

    PLAIN = "plain"
    """As any other."""
    GOOD = "good"
    """Something holds."""
    BAD = "bad"
    """Something does not hold."""


@frozen
class Cell:
    """A text of a table.

    Attributes:
        text: The text.
        tone: How it is meant.
    """

    text: str
    tone: Tone = field(default=Tone.PLAIN, converter=Tone)


@frozen
class Column:
    """A column of a table.

    Attributes:
        name: What stands in its header.
        is_number: Whether it holds numbers, which stand to the right.
    """

    name: str
    is_number: bool = False


def _cells(rows: Iterable[Iterable[Cell | str]]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        tuple(each if isinstance(each, Cell) else Cell(each) for each in row) for row in rows
    )


@frozen(kw_only=True)
class Section:
    """Rows of a table that belong together.

    Attributes:
        title: What they have in common; empty if that goes without saying.
        rows: A cell for each column; a text does for a cell.
    """

    title: str = ""
    rows: tuple[tuple[Cell, ...], ...] = field(converter=_cells)


@frozen(kw_only=True)
class Table:
    """Rows under a header.

    Attributes:
        columns: The columns; the first one names the row.
        sections: The rows, in their order.
    """

    columns: tuple[Column, ...] = field(converter=tuple[Column, ...])
    sections: tuple[Section, ...] = field(converter=tuple[Section, ...])

    @sections.validator
    def _check_sections(self, _: object, sections: tuple[Section, ...]) -> None:
        for section in sections:
            for row in section.rows:
                if len(row) != len(self.columns):
                    raise ValueError(f"{len(row)} cells in {len(self.columns)} columns")


@frozen(kw_only=True)
class View:
    """What is shown of one result, from top to bottom.

    Attributes:
        title: What it is.
        lines: Sentences on it.
        tables: What needs rows and columns.
        notes: Sentences on what the tables hold.
    """

    title: str
    lines: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    tables: tuple[Table, ...] = field(default=(), converter=tuple[Table, ...])
    notes: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
