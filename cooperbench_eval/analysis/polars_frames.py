"""Tables as polars data frames: the adapter to polars."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

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


def polars_frame(kinds: Mapping[str, type], rows: Iterable[Sequence[Any]]) -> DataFrame:
    """Make a frame of *rows*; *kinds* are the columns' names and types."""
    schema = {name: _dtype(kind) for name, kind in kinds.items()}
    return DataFrame(list(rows), schema=schema, orient="row")


def _dtype(kind: type) -> Any:
    if issubclass(kind, StrEnum):
        return pl.Enum([member.value for member in kind])
    return _DTYPES[kind]
