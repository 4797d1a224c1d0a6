"""Reports as tidy tables: records, pandas or polars.

A table has scalar columns, which are the same ones in the same order whatever the reports
hold. The tables of tests and conflicts need the reports themselves; the others are made from
facts. A table is either about pairs or about teams, and leaves the others out.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from cooperbench_eval.analysis.levels import TABLES, Kind, Level, LevelName, Table
from cooperbench_eval.analysis.ranks import RANKING_COLUMNS, Ranking
from cooperbench_eval.analysis.sources import FactsSource
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.support.arguments import checked, rule_of

if TYPE_CHECKING:
    from cooperbench_eval.analysis.pandas_frames import DataFrame as PandasFrame
    from cooperbench_eval.analysis.polars_frames import DataFrame as PolarsFrame

__all__ = ["Level", "columns_of", "to_pandas", "to_polars", "to_records"]

_Row = list[Any]


@checked(level=rule_of(str))
def to_records(reports: FactsSource | Ranking, level: LevelName = "pairs") -> list[dict[str, Any]]:
    """Return one plain dict for each row.

    Args:
        reports: Reports; for some levels anything that `summarize` takes. A `Ranking` has one
            table, with a row for each team, whatever the *level*.
        level: What a row is about:

            - `"pairs"`: a pair.
            - `"attempts"`: a strategy's attempt at a pair. `correct` is `None` if there
              is no answer, and false if a side is missing, as in a summary.
            - `"features"`: a feature of a pair and its runs without the other feature.
              `alone` is the run with its own patch, `base` the run on the base, and
              `other` the run of the other feature's tests with its own patch.
            - `"tests"`: a test case in one run: the feature whose tests ran, the tree,
              and the strategy that merged it. Needs reports.
            - `"conflicts"`: a conflict that the naive merge leaves, with the number of
              lines of each side if it has lines. Needs reports.
            - `"teams"`: a team; its features are a text such as `"3,1,2"`, in its order.
            - `"team_attempts"`: a strategy's attempt at a team. `landed` is the number of
              features that landed, and `score` their share.
            - `"left_out"`: a feature that did not land in such an attempt, the reason, and
              the features that it concerns.

    Returns:
        Texts, numbers, booleans, times and `None`; enums as their values, and bytes
        that are not UTF-8 as escapes.

    Raises:
        AnalysisError: *level* is unknown, or it needs reports and got facts.
    """
    kinds, rows = _table(reports, level)
    return [dict(zip(kinds, row, strict=True)) for row in rows]


@checked(level=rule_of(str))
def to_pandas(reports: FactsSource | Ranking, level: LevelName = "pairs") -> "PandasFrame":
    """Return the records of `to_records` as a pandas data frame.

    Numbers that may be missing are `Int64` and `boolean`, enums are categories over
    all of their members, and times are in UTC. Needs the extra `pandas`.

    Raises:
        AnalysisError: As with `to_records`.
        ImportError: pandas is not installed.
    """
    from cooperbench_eval.analysis.pandas_frames import pandas_frame  # noqa: PLC0415

    return pandas_frame(*_table(reports, level))


@checked(level=rule_of(str))
def to_polars(reports: FactsSource | Ranking, level: LevelName = "pairs") -> "PolarsFrame":
    """Return the records of `to_records` as a polars data frame.

    Enums are `Enum` over all of their members, and times are in UTC. Needs the extra
    `polars`.

    Raises:
        AnalysisError: As with `to_records`.
        ImportError: polars is not installed.
    """
    from cooperbench_eval.analysis.polars_frames import polars_frame  # noqa: PLC0415

    return polars_frame(*_table(reports, level))


def _table(reports: FactsSource | Ranking, level: str) -> tuple[Mapping[str, Kind], Iterator[_Row]]:
    if isinstance(reports, Ranking):
        return RANKING_COLUMNS, iter(reports.rows())
    if level not in TABLES:
        raise AnalysisError(f"there is no table of {level!r}", tuple(TABLES))
    table = TABLES[Level(level)]
    return columns_of(Level(level)), _rows(table, table.source(reports))


def _rows(table: Table, pairs: Iterable[Any]) -> Iterator[_Row]:
    columns = (table.identity, *table.columns)
    kinds = [kind for each in columns for kind in each.kinds.values()]
    converters = [
        (place, _CONVERTERS.get(kind, _value_of_enum))
        for place, kind in enumerate(kinds)
        if kind not in _SCALARS
    ]
    for pair in pairs:
        identity = table.identity.get(pair)
        for thing in table.things(pair):
            row = [*identity]
            for each in table.columns:
                row += each.get(thing)
            for place, convert in converters:
                if row[place] is not None:
                    row[place] = convert(row[place])
            yield row


def columns_of(level: Level) -> dict[str, Kind]:
    """Return the names and types of a table's columns, in their order."""
    table = TABLES[level]
    groups = (table.identity, *table.columns)
    return {name: kind for group in groups for name, kind in group.kinds.items()}


# --- columns -----------------------------------------------------------------


def _text(text: str) -> str:
    """Return text that every library accepts: bytes that are not UTF-8 become escapes."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def _in_utc(time: dt.datetime) -> dt.datetime:
    return time.astimezone(dt.UTC)


_SCALARS = (int, float, bool)
_CONVERTERS: dict[Kind, Callable[[Any], Any]] = {str: _text, dt.datetime: _in_utc}
_value_of_enum = attrgetter("_value_")  # faster than the property `value`
