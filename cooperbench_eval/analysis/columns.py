"""Columns of tables: their names, their types, and how their values are taken."""

import datetime as dt
from collections.abc import Callable
from enum import StrEnum
from operator import attrgetter
from typing import Any

from attrs import fields, frozen

from cooperbench_eval.analysis.facts import RunFacts
from cooperbench_eval.running.results import CaseCounts, TestStatus

__all__ = ["Columns", "Kind", "attributes", "passed", "run_columns"]

Kind = type[int | float | str | bool | dt.datetime | StrEnum]
"""The type of a column; every value may also be missing."""


@frozen
class Columns:
    """Columns whose values are taken together, which is faster than one by one."""

    get: Callable[[Any], tuple[Any, ...]]
    kinds: dict[str, Kind]


def attributes(*paths: str, **kinds: Kind) -> Columns:
    """Return two or more columns; *paths* are their attributes if the names differ."""
    return Columns(attrgetter(*(paths or kinds)), kinds)


def passed(tests: RunFacts | None) -> bool | None:
    """Return whether a run passed; `None` if there is no result."""
    return tests.passed if tests is not None and tests.was_run else None


_CASES = attributes(
    **{each.name: int for each in fields(CaseCounts)}, total_tests=int, duration_seconds=float
)


def run_columns(prefix: str, tests: str) -> Columns:
    """Return the columns about the run in the attribute *tests*."""
    kinds = {"status": TestStatus, "passed": bool, **_CASES.kinds}
    run_of = attrgetter(tests)

    def get(thing: object) -> tuple[Any, ...]:
        run = run_of(thing)
        if run is None:
            return (None,) * len(kinds)
        return run.status, passed(run), *_CASES.get(run)

    return Columns(get, {f"{prefix}_{name}": kind for name, kind in kinds.items()})
