"""Reports as tables: what a row of each is about, and its columns."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from io import BytesIO
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from attrs import fields, frozen

from cooperbench_eval.analysis.facts import (
    AttemptFacts,
    GroupFacts,
    PairFacts,
    RunFacts,
    TeamAttemptFacts,
    TeamFacts,
)
from cooperbench_eval.analysis.policies import CORRECT, answer_of, has_answer
from cooperbench_eval.analysis.ranking import RANKING_COLUMNS, Ranking
from cooperbench_eval.analysis.sources import (
    FactsSource,
    iterate_facts,
    iterate_reports,
    iterate_team_facts,
)
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.git.merging.conflicts import Conflict, ConflictKind, MergeStatus, Severity
from cooperbench_eval.git.patching.patch_parts import PatchStatus
from cooperbench_eval.reporting.agent_costs import AGENT_USAGE, USAGE
from cooperbench_eval.reporting.blame import BlameKind
from cooperbench_eval.reporting.landings import LeftOut, LeftOutReason
from cooperbench_eval.reporting.report import FailureKind, MergeReport, PairStatus
from cooperbench_eval.reporting.rows import Verdict
from cooperbench_eval.running.results import (
    CaseCounts,
    TestCase,
    TestCaseStatus,
    TestResult,
    TestStatus,
)
from cooperbench_eval.support.arguments import checked, rule_of

if TYPE_CHECKING:
    from cooperbench_eval.analysis.pandas_frames import DataFrame as PandasFrame
    from cooperbench_eval.analysis.polars_frames import DataFrame as PolarsFrame

LevelName = Literal[
    "pairs",
    "attempts",
    "features",
    "tests",
    "conflicts",
    "teams",
    "team_attempts",
    "left_out",
]
"""A `Level` by its value, so that editors complete it."""


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
    TEAMS = "teams"
    """A team."""
    TEAM_ATTEMPTS = "team_attempts"
    """A strategy's attempt at a team."""
    LEFT_OUT = "left_out"
    """A feature of a team that did not land in an attempt."""


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


_IDENTITY = attributes(
    *("repo_name", "task_id", "feature1.number", "feature2.number", "model", "setting", "k"),
    repo_name=str,
    task_id=int,
    feature1=int,
    feature2=int,
    model=str,
    setting=str,
    k=int,
)

_TEAM_IDENTITY = Columns(
    lambda team: (
        *(team.repo_name, team.task_id, _listed(team.numbers), team.size),
        *(team.model, team.setting, team.k),
    ),
    {
        "repo_name": str,
        "task_id": int,
        "features": str,
        "size": int,
        "model": str,
        "setting": str,
        "k": int,
    },
)


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


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


class _CaseOfRun(NamedTuple):
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


_Try = tuple[AttemptFacts | TeamAttemptFacts, GroupFacts]


def _attempts(group: GroupFacts) -> Iterator[_Try]:
    return ((attempt, group) for attempt in group.attempts)


def _attempt_columns(*columns: Columns) -> tuple[Columns, ...]:
    """Return the columns about an attempt; `correct` comes after the first ones."""
    first, *rest = (Columns(partial(_of_attempt, each.get), each.kinds) for each in columns)
    return first, Columns(_correct, {"correct": bool}), *rest


def _of_attempt(get: Callable[[Any], tuple[Any, ...]], each: _Try) -> tuple[Any, ...]:
    return get(each[0])


def _correct(each: _Try) -> tuple[bool | None]:
    attempt, group = each
    if group.failure is not None:
        return (None,)
    answer = answer_of(attempt)
    return (answer == CORRECT if has_answer(answer) else None,)


def _passed_alone(pair: PairFacts) -> tuple[bool | None, bool | None]:
    return passed(pair.feature1.tests), passed(pair.feature2.tests)


def _lines(conflict: Conflict) -> tuple[int | None, ...]:
    texts = (conflict.base, conflict.ours, conflict.theirs)
    if not conflict.has_lines:
        return (None,) * len(texts)
    return tuple(None if text is None else len(BytesIO(text).readlines()) for text in texts)


def _landed(attempt: TeamAttemptFacts) -> tuple[int, int, float, str]:
    counts = len(attempt.landed), len(attempt.left_out)
    return *counts, attempt.score, _listed(attempt.landed)


def _left_out(team: TeamFacts) -> Iterator[tuple[str, LeftOut]]:
    return ((each.strategy, left_out) for each in team.attempts for left_out in each.left_out)


def _left_out_row(thing: tuple[str, LeftOut]) -> tuple[str, int, LeftOutReason, str]:
    strategy, left_out = thing
    return strategy, left_out.number, left_out.reason, _listed(left_out.features)


@frozen(kw_only=True)
class Table:
    """A table: *things* returns what its rows are about; *columns* follow the identity."""

    source: Callable[[FactsSource], Iterator[Any]] = iterate_facts
    identity: Columns = _IDENTITY
    things: Callable[[Any], Iterable[Any]]
    columns: tuple[Columns, ...]


_OUTCOME: dict[str, Kind] = {
    "timestamp": dt.datetime,
    "language": str,
    "base_tree_id": str,
    "base_commit": str,
    "merge_status": PairStatus,
}
_FAILURE: dict[str, Kind] = {"failure": FailureKind, "problem": str}
_USAGE: dict[str, Kind] = {name: float if name == "cost_usd" else int for name in USAGE}

_AGENTS = attributes(
    *(f"agent_usage.{name}" for name in AGENT_USAGE),
    **{f"agent_{name}": float if name == "cost_usd" else int for name in AGENT_USAGE},
)


TABLES: Final = {
    Level.PAIRS: Table(
        things=lambda pair: (pair,),
        columns=(
            attributes(
                **_OUTCOME,
                conflict_sections=int,
                conflict_lines=int,
                conflict_score=int,
                severity=Severity,
                **_FAILURE,
            ),
            attributes(
                *("feature1.patch_status", "feature2.patch_status"),
                feature1_patch=PatchStatus,
                feature2_patch=PatchStatus,
            ),
            Columns(_passed_alone, {"feature1_passed": bool, "feature2_passed": bool}),
            _AGENTS,
        ),
    ),
    Level.ATTEMPTS: Table(
        things=_attempts,
        columns=_attempt_columns(
            attributes(strategy=str, status=MergeStatus, verdict=Verdict),
            attributes(
                blame=BlameKind, conflicts_met=int, conflict_sections=int, conflict_score=int
            ),
            run_columns("feature1", "feature1_tests"),
            run_columns("feature2", "feature2_tests"),
            attributes(duration_seconds=float, **_USAGE, failure=str, service_failed=bool),
        ),
    ),
    Level.FEATURES: Table(
        things=attrgetter("feature1", "feature2"),
        columns=(
            attributes("number", "patch_status", feature=int, patch_status=PatchStatus),
            run_columns("alone", "tests"),
            run_columns("base", "base_tests"),
            run_columns("other", "other_tests"),
        ),
    ),
    Level.TESTS: Table(
        source=partial(iterate_reports, purpose="a table of tests"),
        things=_cases,
        columns=(
            attributes(feature=int, run=RunKind, strategy=str),
            attributes(
                *("case.id", "case.status", "case.duration_seconds", "case.message"),
                id=str,
                status=TestCaseStatus,
                duration_seconds=float,
                message=str,
            ),
        ),
    ),
    Level.CONFLICTS: Table(
        source=partial(iterate_reports, purpose="a table of conflicts"),
        things=attrgetter("conflicts"),
        columns=(
            attributes(path=str, kind=ConflictKind, line=int),
            Columns(_lines, {"base_lines": int, "ours_lines": int, "theirs_lines": int}),
        ),
    ),
    Level.TEAMS: Table(
        source=iterate_team_facts,
        identity=_TEAM_IDENTITY,
        things=lambda team: (team,),
        columns=(
            attributes(**_OUTCOME, conflict_score=int, **_FAILURE),
            _AGENTS,
        ),
    ),
    Level.TEAM_ATTEMPTS: Table(
        source=iterate_team_facts,
        identity=_TEAM_IDENTITY,
        things=_attempts,
        columns=_attempt_columns(
            attributes(strategy=str, status=MergeStatus, verdict=Verdict),
            Columns(
                _landed, {"landed": int, "left_out": int, "score": float, "landed_features": str}
            ),
            attributes(blame=BlameKind, conflicts_met=int, duration_seconds=float),
            attributes(**_USAGE, service_failed=bool),
        ),
    ),
    Level.LEFT_OUT: Table(
        source=iterate_team_facts,
        identity=_TEAM_IDENTITY,
        things=_left_out,
        columns=(
            Columns(
                _left_out_row,
                {"strategy": str, "feature": int, "reason": LeftOutReason, "concerns": str},
            ),
        ),
    ),
}

# --- tables of a level ---


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
