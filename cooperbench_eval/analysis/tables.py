"""Reports as tidy tables: records, pandas or polars.

A table has one row for each thing it is about and scalar columns, the same ones in
the same order whatever the reports hold. Pairs, attempts and features are made from
facts; tests and conflicts need the reports themselves.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cooperbench_eval.analysis.columns import COLUMNS, Column, Level, RunKind
from cooperbench_eval.analysis.facts import (
    AttemptFacts,
    FeatureFacts,
    PairFacts,
    RunFacts,
)
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts, iterate_reports
from cooperbench_eval.analysis.tally import CORRECT, answer_of, has_answer
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.models import Conflict, TestResult
from cooperbench_eval.reporting.report import MergeReport

if TYPE_CHECKING:
    from cooperbench_eval.analysis.pandas_frames import DataFrame as PandasFrame
    from cooperbench_eval.analysis.polars_frames import DataFrame as PolarsFrame

__all__ = ["to_pandas", "to_polars", "to_records"]

_Row = tuple[Any, ...]


def to_records(reports: FactsSource, level: str = Level.PAIRS) -> list[dict[str, Any]]:
    """Return one plain dict a row.

    Args:
        reports: Reports, or what `summarize` takes where the level allows it.
        level: What a row is about:

            - `"pairs"`: a pair.
            - `"attempts"`: a strategy's try at a pair. `correct` is `None` where there
              is no answer, and false where a side is missing, as in a summary.
            - `"features"`: a feature of a pair and its runs without the other: `alone`
              on its own patch, `base` on the base, `other` the other feature's tests
              on its own patch.
            - `"tests"`: a test case in one run: whose tests, on which tree, and by
              which strategy that was merged. Needs reports.
            - `"conflicts"`: a conflict that the naive merge leaves, with the lines of
              each side where it has lines. Needs reports.

    Returns:
        Texts, numbers, booleans, times and `None`; enums as their values, and what is
        no UTF-8 as escapes.

    Raises:
        AnalysisError: There is no such level, or it needs reports and facts were given.
    """
    columns, rows = _table(reports, level)
    names = [column.name for column in columns]
    return [dict(zip(names, row, strict=True)) for row in rows]


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


def _table(reports: FactsSource, level: str) -> tuple[tuple[Column, ...], list[_Row]]:
    if level not in COLUMNS:
        raise AnalysisError(f"there is no table of {level!r}", tuple(COLUMNS))
    level = Level(level)
    columns = COLUMNS[level]
    if level in _OF_FACTS:
        rows = (row for facts in iterate_facts(reports) for row in _OF_FACTS[level](facts))
    else:
        whole = iterate_reports(reports, f"a table of {level.value}")
        rows = (row for each in whole for row in _OF_REPORTS[level](each))
    changes = [
        (place, _CHANGES.get(column.kind, _value))
        for place, column in enumerate(columns)
        if column.kind not in _AS_THEY_ARE
    ]
    return columns, [_plain(list(row), changes) for row in rows]


def _plain(row: list[Any], changes: list[tuple[int, Callable[[Any], Any]]]) -> _Row:
    for place, change in changes:
        if row[place] is not None:
            row[place] = change(row[place])
    return tuple(row)


def _text(text: str) -> str:
    """Return text that any library takes: what is no UTF-8 becomes escapes."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def _value(member: StrEnum) -> str:
    return member.value


def _in_utc(time: dt.datetime) -> dt.datetime:
    return time.astimezone(dt.UTC)


_AS_THEY_ARE = (int, float, bool)
_CHANGES: dict[type, Callable[[Any], Any]] = {str: _text, dt.datetime: _in_utc}


# --- rows --------------------------------------------------------------------


def _identity(pair: PairFacts | MergeReport) -> _Row:
    return (
        pair.repo_name,
        pair.task_id,
        pair.feature1.number,
        pair.feature2.number,
        pair.model,
        pair.setting,
        pair.k,
    )


def _pair(facts: PairFacts) -> Iterator[_Row]:
    yield (
        *_identity(facts),
        facts.timestamp,
        facts.language,
        facts.base_tree_id,
        facts.base_commit,
        facts.merge_status,
        facts.conflict_sections,
        facts.conflict_lines,
        facts.conflict_score,
        facts.severity,
        facts.failure,
        facts.feature1.patch_status,
        facts.feature2.patch_status,
        _passed(facts.feature1.tests),
        _passed(facts.feature2.tests),
    )


def _attempts(facts: PairFacts) -> Iterator[_Row]:
    for attempt in facts.attempts:
        yield (
            *_identity(facts),
            attempt.strategy,
            attempt.status,
            attempt.verdict,
            _correct(attempt),
            attempt.blame,
            attempt.conflicts_met,
            attempt.conflict_sections,
            attempt.conflict_score,
            *_run(attempt.feature1_tests),
            *_run(attempt.feature2_tests),
            attempt.duration_seconds,
            attempt.requests,
            attempt.unpriced_requests,
            attempt.prompt_tokens,
            attempt.completion_tokens,
            attempt.cost_usd,
            attempt.failure,
            attempt.service_failed,
        )


def _correct(attempt: AttemptFacts) -> bool | None:
    answer = answer_of(attempt)
    return answer == CORRECT if has_answer(answer) else None


def _features(facts: PairFacts) -> Iterator[_Row]:
    feature: FeatureFacts
    for feature in (facts.feature1, facts.feature2):
        yield (
            *_identity(facts),
            feature.number,
            feature.patch_status,
            *_run(feature.tests),
            *_run(feature.base_tests),
            *_run(feature.other_tests),
        )


def _passed(tests: RunFacts | None) -> bool | None:
    return tests.passed if tests is not None and tests.was_run else None


def _run(tests: RunFacts | None) -> _Row:
    if tests is None:
        return (None,) * 9
    return (
        tests.status,
        _passed(tests),
        tests.passed_tests,
        tests.failed_tests,
        tests.error_tests,
        tests.skipped_tests,
        tests.xfailed_tests,
        tests.total_tests,
        tests.duration_seconds,
    )


def _tests(report: MergeReport) -> Iterator[_Row]:
    for number, run, strategy, tests in _runs(report):
        for case in () if tests is None else tests.cases:
            yield (
                *_identity(report),
                number,
                run,
                strategy,
                case.id,
                case.status,
                case.duration_seconds,
                case.message,
            )


def _runs(report: MergeReport) -> Iterator[tuple[int, RunKind, str | None, TestResult | None]]:
    """Give whose tests ran on which tree, and how."""
    one, two = report.feature1, report.feature2
    for own, other in ((one, two), (two, one)):
        yield own.number, RunKind.ALONE, None, own.tests
        yield own.number, RunKind.BASE, None, own.base_tests
        yield own.number, RunKind.OTHER, None, other.other_tests
    for attempt in report.attempts:
        yield one.number, RunKind.MERGED, attempt.strategy, attempt.feature1_tests
        yield two.number, RunKind.MERGED, attempt.strategy, attempt.feature2_tests


def _conflicts(report: MergeReport) -> Iterator[_Row]:
    for conflict in report.conflicts:
        sides = (conflict.base, conflict.ours, conflict.theirs)
        yield (
            *_identity(report),
            conflict.path,
            conflict.kind,
            conflict.line,
            *[_line_count(conflict, side) for side in sides],
        )


def _line_count(conflict: Conflict, side: bytes | None) -> int | None:
    if side is None or not conflict.has_lines:
        return None
    return side.count(b"\n") + (not side.endswith(b"\n") and bool(side))


_OF_FACTS: dict[Level, Callable[[PairFacts], Iterator[_Row]]] = {
    Level.PAIRS: _pair,
    Level.ATTEMPTS: _attempts,
    Level.FEATURES: _features,
}
_OF_REPORTS: dict[Level, Callable[[MergeReport], Iterator[_Row]]] = {
    Level.TESTS: _tests,
    Level.CONFLICTS: _conflicts,
}
