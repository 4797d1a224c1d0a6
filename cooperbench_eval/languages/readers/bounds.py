"""Bounds the time that reading a file takes."""

import re
from collections.abc import Iterable

from cooperbench_eval.languages.tree import StructureError

__all__ = ["check_size"]

_MOST_TOKENS = 50_000
"""The most tokens of a version that are read; each takes about 30 microseconds."""
_TOKEN = re.compile(rb"\w+|[^\w\s]")


def check_size(texts: Iterable[bytes]) -> None:
    """Refuse a version if the parts that are to be read have too many tokens.

    Raises:
        StructureError: There are too many.
    """
    parts = list(texts)
    # A text has no more tokens than bytes, so that few files are searched.
    if sum(map(len, parts)) <= _MOST_TOKENS:
        return
    if sum(1 for part in parts for _ in _TOKEN.finditer(part)) > _MOST_TOKENS:
        raise StructureError(f"the definitions that differ have more than {_MOST_TOKENS:,} tokens")
