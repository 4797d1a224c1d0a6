"""Tables as polars data frames: the door to polars."""

import datetime as dt
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from cooperbench_eval.analysis.columns import Column

try:
    import polars as pl
    from polars import DataFrame
except ImportError as exc:
    raise ImportError("polars is missing: pip install 'cooperbench-eval[polars]'") from exc

__all__ = ["DataFrame", "polars_frame"]

_DTYPES = {
    int: pl.Int64(),
    float: pl.Float64(),
    bool: pl.Boolean(),
    str: pl.String(),
    dt.datetime: pl.Datetime("us", "UTC"),
}


def polars_frame(columns: Sequence[Column], rows: Sequence[tuple[Any, ...]]) -> DataFrame:
    """Make a frame of *rows*, each with a value a column."""
    schema = {column.name: _dtype(column) for column in columns}
    return DataFrame(list(rows), schema=schema, orient="row")


def _dtype(column: Column) -> Any:
    if issubclass(column.kind, StrEnum):
        return pl.Enum([member.value for member in column.kind])
    return _DTYPES[column.kind]
