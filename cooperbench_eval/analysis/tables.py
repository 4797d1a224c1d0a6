"""Reports as tidy tables: records, pandas or polars.

A table has scalar columns, which are the same ones in the same order whatever the reports
hold. The tables of pairs, attempts and features are made from facts; those of tests and
conflicts need the reports themselves.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from io import BytesIO
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from attrs import fields, frozen

from cooperbench_eval.analysis.facts import AttemptFacts, PairFacts, RunFacts
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts, iterate_reports
from cooperbench_eval.analysis.tally import CORRECT, answer_of, has_answer
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.models import (
    USAGE,
    CaseCounts,
    Conflict,
    ConflictKind,
    MergeStatus,
    PatchStatus,
    Severity,
    TestCase,
    TestCaseStatus,
    TestResult,
    TestStatus,
)
from cooperbench_eval.reporting.blame import BlameKind
from cooperbench_eval.reporting.failure import FailureKind
from cooperbench_eval.reporting.report import MergeReport, PairStatus
from cooperbench_eval.reporting.rows import Verdict

if TYPE_CHECKING:
    from cooperbench_eval.analysis.pandas_frames import DataFrame as PandasFrame
    from cooperbench_eval.analysis.polars_frames import DataFrame as PolarsFrame

__all__ = ["Level", "columns_of", "to_pandas", "to_polars", "to_records"]

_Kind = type[int | float | str | bool | dt.datetime | StrEnum]
_Row = list[Any]


class Level(StrEnum):
    """What a row of a table is about."""

    PAIRS = "pairs"
    """A pair."""
    ATTEMPTS = "attempts"
    """A strategy's attempt at a pair."""
    FEATURES = "features"
    """A feature of a pair, without the other feature."""
    TESTS = "tests"
    """A test case in one run."""
    CONFLICTS = "conflicts"
    """A conflict that the naive merge leaves."""


def to_records(reports: FactsSource, level: str = Level.PAIRS) -> list[dict[str, Any]]:
    """Return one plain dict for each row.

    Args:
        reports: Reports; for some levels anything that `summarize` takes.
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

    Returns:
        Texts, numbers, booleans, times and `None`; enums as their values, and bytes
        that are not UTF-8 as escapes.

    Raises:
        AnalysisError: *level* is unknown, or it needs reports and got facts.
    """
    kinds, rows = _table(reports, level)
    return [dict(zip(kinds, row, strict=True)) for row in rows]


def to_pandas(reports: FactsSource, level: str = Level.PAIRS) -> "PandasFrame":
    """Return the records of `to_records` as a pandas data frame.

    Numbers that may be missing are `Int64` and `boolean`, enums are categories over
    all of their members, and times are in UTC. Needs the extra `pandas`.

    Raises:
        AnalysisError: As with `to_records`.
        ImportError: pandas is not installed.
    """
    from cooperbench_eval.analysis.pandas_frames import pandas_frame  # noqa: PLC0415

    return pandas_frame(*_table(reports, level))


def to_polars(reports: FactsSource, level: str = Level.PAIRS) -> "PolarsFrame":
    """Return the records of `to_records` as a polars data frame.

    Enums are `Enum` over all of their members, and times are in UTC. Needs the extra
    `polars`.

    Raises:
        AnalysisError: As with `to_records`.
        ImportError: polars is not installed.
    """
    from cooperbench_eval.analysis.polars_frames import polars_frame  # noqa: PLC0415

    return polars_frame(*_table(reports, level))


def _table(reports: FactsSource, level: str) -> tuple[dict[str, _Kind], Iterator[_Row]]:
    if level not in _TABLES:
        raise AnalysisError(f"there is no table of {level!r}", tuple(_TABLES))
    table = _TABLES[Level(level)]
    pairs: Iterator[PairFacts | MergeReport]
    if table.needs_reports:
        pairs = iterate_reports(reports, f"a table of {level}")
    else:
        pairs = iterate_facts(reports)
    return columns_of(Level(level)), _rows(table, pairs)


def _rows(table: "_Table", pairs: Iterable[Any]) -> Iterator[_Row]:
    columns = (_IDENTITY, *table.columns)
    kinds = [kind for each in columns for kind in each.kinds.values()]
    converters = [
        (place, _CONVERTERS.get(kind, _value_of_enum))
        for place, kind in enumerate(kinds)
        if kind not in _SCALARS
    ]
    for pair in pairs:
        identity = _IDENTITY.get(pair)
        for thing in table.things(pair):
            row = [*identity]
            for each in table.columns:
                row += each.get(thing)
            for place, convert in converters:
                if row[place] is not None:
                    row[place] = convert(row[place])
            yield row


def columns_of(level: Level) -> dict[str, _Kind]:
    """Return the names and types of a table's columns, in their order."""
    groups = (_IDENTITY, *_TABLES[level].columns)
    return {name: kind for group in groups for name, kind in group.kinds.items()}


# --- columns -----------------------------------------------------------------


def _text(text: str) -> str:
    """Return text that every library accepts: bytes that are not UTF-8 become escapes."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def _in_utc(time: dt.datetime) -> dt.datetime:
    return time.astimezone(dt.UTC)


_SCALARS = (int, float, bool)
_CONVERTERS: dict[_Kind, Callable[[Any], Any]] = {str: _text, dt.datetime: _in_utc}
_value_of_enum = attrgetter("_value_")  # faster than the property `value`


@frozen
class _Columns:
    """Columns whose values are taken together, which is faster than one by one."""

    get: Callable[[Any], tuple[Any, ...]]
    kinds: dict[str, _Kind]


def _attributes(*paths: str, **kinds: _Kind) -> _Columns:
    """Return two or more columns; *paths* are their attributes if the names differ."""
    return _Columns(attrgetter(*(paths or kinds)), kinds)


def _passed(tests: RunFacts | None) -> bool | None:
    return tests.passed if tests is not None and tests.was_run else None


_CASES = _attributes(
    **{each.name: int for each in fields(CaseCounts)}, total_tests=int, duration_seconds=float
)


def _run(prefix: str, tests: str) -> _Columns:
    """Return the columns about the run in the attribute *tests*."""
    kinds = {"status": TestStatus, "passed": bool, **_CASES.kinds}
    run_of = attrgetter(tests)

    def get(thing: object) -> tuple[Any, ...]:
        run = run_of(thing)
        if run is None:
            return (None,) * len(kinds)
        return run.status, _passed(run), *_CASES.get(run)

    return _Columns(get, {f"{prefix}_{name}": kind for name, kind in kinds.items()})


_IDENTITY = _attributes(
    *("repo_name", "task_id", "feature1.number", "feature2.number", "model", "setting", "k"),
    repo_name=str,
    task_id=int,
    feature1=int,
    feature2=int,
    model=str,
    setting=str,
    k=int,
)


# --- tables ------------------------------------------------------------------


class RunKind(StrEnum):
    """The tree that tests ran on."""

    ALONE = "alone"
    """The base with the patch of the tested feature."""
    BASE = "base"
    """The base as it is."""
    OTHER = "other"
    """The base with the other feature's patch."""
    MERGED = "merged"
    """The tree that a strategy merged."""


@frozen
class _CaseOfRun:
    feature: int
    run: RunKind
    strategy: str | None
    case: TestCase


def _cases(report: MergeReport) -> Iterator[_CaseOfRun]:
    for feature, run, strategy, tests in _runs(report):
        for case in () if tests is None else tests.cases:
            yield _CaseOfRun(feature, run, strategy, case)


def _runs(report: MergeReport) -> Iterator[tuple[int, RunKind, str | None, TestResult | None]]:
    """Yield each run: the feature whose tests ran, the tree, the strategy, the result."""
    one, two = report.feature1, report.feature2
    for own, other in ((one, two), (two, one)):
        yield own.number, RunKind.ALONE, None, own.tests
        yield own.number, RunKind.BASE, None, own.base_tests
        yield own.number, RunKind.OTHER, None, other.other_tests
    for attempt in report.attempts:
        yield one.number, RunKind.MERGED, attempt.strategy, attempt.feature1_tests
        yield two.number, RunKind.MERGED, attempt.strategy, attempt.feature2_tests


def _correct(attempt: AttemptFacts) -> tuple[bool | None]:
    answer = answer_of(attempt)
    return (answer == CORRECT if has_answer(answer) else None,)


def _passed_alone(pair: PairFacts) -> tuple[bool | None, bool | None]:
    return _passed(pair.feature1.tests), _passed(pair.feature2.tests)


def _lines(conflict: Conflict) -> tuple[int | None, ...]:
    texts = (conflict.base, conflict.ours, conflict.theirs)
    if not conflict.has_lines:
        return (None,) * len(texts)
    return tuple(None if text is None else len(BytesIO(text).readlines()) for text in texts)


@frozen(kw_only=True)
class _Table:
    """A table: *things* returns what its rows are about; *columns* follow the identity."""

    things: Callable[[Any], Iterable[Any]]
    needs_reports: bool = False
    columns: tuple[_Columns, ...]


_TABLES = {
    Level.PAIRS: _Table(
        things=lambda pair: (pair,),
        columns=(
            _attributes(
                timestamp=dt.datetime,
                language=str,
                base_tree_id=str,
                base_commit=str,
                merge_status=PairStatus,
                conflict_sections=int,
                conflict_lines=int,
                conflict_score=int,
                severity=Severity,
                failure=FailureKind,
            ),
            _attributes(
                *("feature1.patch_status", "feature2.patch_status"),
                feature1_patch=PatchStatus,
                feature2_patch=PatchStatus,
            ),
            _Columns(_passed_alone, {"feature1_passed": bool, "feature2_passed": bool}),
        ),
    ),
    Level.ATTEMPTS: _Table(
        things=attrgetter("attempts"),
        columns=(
            _attributes(strategy=str, status=MergeStatus, verdict=Verdict),
            _Columns(_correct, {"correct": bool}),
            _attributes(
                blame=BlameKind, conflicts_met=int, conflict_sections=int, conflict_score=int
            ),
            _run("feature1", "feature1_tests"),
            _run("feature2", "feature2_tests"),
            _attributes(
                duration_seconds=float,
                **{name: float if name == "cost_usd" else int for name in USAGE},
                failure=str,
                service_failed=bool,
            ),
        ),
    ),
    Level.FEATURES: _Table(
        things=attrgetter("feature1", "feature2"),
        columns=(
            _attributes("number", "patch_status", feature=int, patch_status=PatchStatus),
            _run("alone", "tests"),
            _run("base", "base_tests"),
            _run("other", "other_tests"),
        ),
    ),
    Level.TESTS: _Table(
        things=_cases,
        needs_reports=True,
        columns=(
            _attributes(feature=int, run=RunKind, strategy=str),
            _attributes(
                *("case.id", "case.status", "case.duration_seconds", "case.message"),
                id=str,
                status=TestCaseStatus,
                duration_seconds=float,
                message=str,
            ),
        ),
    ),
    Level.CONFLICTS: _Table(
        things=attrgetter("conflicts"),
        needs_reports=True,
        columns=(
            _attributes(path=str, kind=ConflictKind, line=int),
            _Columns(_lines, {"base_lines": int, "ours_lines": int, "theirs_lines": int}),
        ),
    ),
}
