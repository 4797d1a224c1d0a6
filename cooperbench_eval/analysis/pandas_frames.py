"""Tables as pandas data frames: the door to pandas."""

import datetime as dt
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from cooperbench_eval.analysis.columns import Column

try:
    import pandas as pd
    from pandas import DataFrame
except ImportError as exc:
    raise ImportError("pandas is missing: pip install 'cooperbench-eval[pandas]'") from exc

__all__ = ["DataFrame", "pandas_frame"]

_DTYPES = {
    int: "Int64",
    float: "float64",
    bool: "boolean",
    str: "string",
    dt.datetime: "datetime64[us, UTC]",
}


def pandas_frame(columns: Sequence[Column], rows: Sequence[tuple[Any, ...]]) -> DataFrame:
    """Make a frame of *rows*, each with a value a column."""
    values = zip(*rows, strict=True) if rows else [()] * len(columns)
    series = {
        column.name: pd.Series(list(each), dtype=_dtype(column))
        for column, each in zip(columns, values, strict=True)
    }
    return DataFrame(series)


def _dtype(column: Column) -> Any:
    if issubclass(column.kind, StrEnum):
        return pd.CategoricalDtype([member.value for member in column.kind])
    return _DTYPES[column.kind]
