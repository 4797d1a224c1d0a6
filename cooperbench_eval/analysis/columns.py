"""What the columns of the tables are called and what they hold."""

import datetime as dt
from enum import StrEnum

from attrs import frozen

from cooperbench_eval.models import (
    ConflictKind,
    MergeStatus,
    PatchStatus,
    Severity,
    TestCaseStatus,
    TestStatus,
)
from cooperbench_eval.reporting.blame import BlameKind
from cooperbench_eval.reporting.failure import FailureKind
from cooperbench_eval.reporting.report import PairStatus
from cooperbench_eval.reporting.rows import Verdict

__all__ = ["COLUMNS", "Column", "Level", "RunKind"]

Kind = type[int | float | str | bool | dt.datetime | StrEnum]


class Level(StrEnum):
    """What a row of a table is about."""

    PAIRS = "pairs"
    """A pair."""
    ATTEMPTS = "attempts"
    """A strategy's try at a pair."""
    FEATURES = "features"
    """A feature of a pair, alone."""
    TESTS = "tests"
    """A test case in one run."""
    CONFLICTS = "conflicts"
    """A conflict that the naive merge leaves."""


class RunKind(StrEnum):
    """The tree that tests ran on."""

    ALONE = "alone"
    """The base with the patch of the feature whose tests they are."""
    BASE = "base"
    """The base as it is."""
    OTHER = "other"
    """The base with the other feature's patch."""
    MERGED = "merged"
    """What a strategy merged."""


@frozen
class Column:
    """A column: its name, and the one type of what is not `None` in it."""

    name: str
    kind: Kind


def _columns(**columns: Kind) -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name, kind in columns.items())


def _run(prefix: str) -> tuple[Column, ...]:
    columns = _columns(
        status=TestStatus,
        passed=bool,
        passed_tests=int,
        failed_tests=int,
        error_tests=int,
        skipped_tests=int,
        xfailed_tests=int,
        total_tests=int,
        duration_seconds=float,
    )
    return tuple(Column(f"{prefix}_{each.name}", each.kind) for each in columns)


_IDENTITY = _columns(
    repo_name=str,
    task_id=int,
    feature1=int,
    feature2=int,
    model=str,
    setting=str,
    k=int,
)
COLUMNS: dict[Level, tuple[Column, ...]] = {
    Level.PAIRS: (
        *_IDENTITY,
        *_columns(
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
            feature1_patch=PatchStatus,
            feature2_patch=PatchStatus,
            feature1_passed=bool,
            feature2_passed=bool,
        ),
    ),
    Level.ATTEMPTS: (
        *_IDENTITY,
        *_columns(
            strategy=str,
            status=MergeStatus,
            verdict=Verdict,
            correct=bool,
            blame=BlameKind,
            conflicts_met=int,
            conflict_sections=int,
            conflict_score=int,
        ),
        *_run("feature1"),
        *_run("feature2"),
        *_columns(
            duration_seconds=float,
            requests=int,
            unpriced_requests=int,
            prompt_tokens=int,
            completion_tokens=int,
            cost_usd=float,
            failure=str,
            service_failed=bool,
        ),
    ),
    Level.FEATURES: (
        *_IDENTITY,
        *_columns(feature=int, patch_status=PatchStatus),
        *_run("alone"),
        *_run("base"),
        *_run("other"),
    ),
    Level.TESTS: (
        *_IDENTITY,
        *_columns(
            feature=int,
            run=RunKind,
            strategy=str,
            id=str,
            status=TestCaseStatus,
            duration_seconds=float,
            message=str,
        ),
    ),
    Level.CONFLICTS: (
        *_IDENTITY,
        *_columns(
            path=str,
            kind=ConflictKind,
            line=int,
            base_lines=int,
            ours_lines=int,
            theirs_lines=int,
        ),
    ),
}
