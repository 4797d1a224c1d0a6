"""Finds syntax errors in JSON and TOML."""

import json
import tomllib
from collections import Counter
from typing import NamedTuple

__all__ = ["DATA", "SyntaxFault", "find_data_fault"]

DATA = frozenset({".json", ".toml"})
"""The suffixes of the files that are read."""


class SyntaxFault(NamedTuple):
    """Why a file does not parse.

    Attributes:
        problem: The error of the parser or the compiler.
        line: Its line, counted from 1; `None` if unknown.
    """

    problem: str
    line: int | None


def find_data_fault(suffix: str, source: bytes) -> SyntaxFault | None:
    """Return where a file is wrong; a key that occurs twice in one object is an error too."""
    try:
        text = source.decode()
        if suffix == ".json":
            json.loads(text, object_pairs_hook=_object)
        else:
            tomllib.loads(text)
    except (ValueError, RecursionError) as exc:
        return SyntaxFault(str(exc), getattr(exc, "lineno", None))
    return None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        key, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {key!r} occurs twice in one object")
    return found
