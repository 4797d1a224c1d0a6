"""Tables as pandas data frames: the adapter to pandas."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

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


def pandas_frame(kinds: Mapping[str, type], rows: Iterable[Sequence[Any]]) -> DataFrame:
    """Make a frame of *rows*; *kinds* are the columns' names and types."""
    values = list(zip(*rows, strict=True)) or [()] * len(kinds)
    series = {
        name: pd.Series(list(each), dtype=_dtype(kind))
        for (name, kind), each in zip(kinds.items(), values, strict=True)
    }
    return DataFrame(series)


def _dtype(kind: type) -> Any:
    if issubclass(kind, StrEnum):
        return pd.CategoricalDtype([member.value for member in kind])
    return _DTYPES[kind]
