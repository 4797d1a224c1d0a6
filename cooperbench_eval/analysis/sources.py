"""Makes facts from reports, and iterates over the facts and reports that a caller passes."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, overload, runtime_checkable

from attrs import asdict, fields

from cooperbench_eval.analysis.facts import (
    AttemptFacts,
    FeatureFacts,
    GroupFacts,
    PairFacts,
    RunFacts,
    TeamAttemptFacts,
    TeamFacts,
)
from cooperbench_eval.analysis.languages import find_language
from cooperbench_eval.errors import AnalysisError, ArgumentError
from cooperbench_eval.git.merging.conflicts import Conflict
from cooperbench_eval.reporting.agent_costs import total_usage
from cooperbench_eval.reporting.identity import PairOrigin
from cooperbench_eval.reporting.landings import LeftOut
from cooperbench_eval.reporting.report import MergeReport
from cooperbench_eval.reporting.rows import Attempt, FeatureReport, MergeRow
from cooperbench_eval.reporting.teams import GroupReport, TeamAttempt, TeamReport
from cooperbench_eval.running.results import Judgement, TestResult, name_counts
from cooperbench_eval.support.arguments import checked

_SHOWN_FAILURE = 200


@runtime_checkable
class HasFacts(Protocol):
    """An object that keeps facts with its reports, such as a store."""

    def facts(self) -> Iterable[GroupFacts]:
        """Return the facts of every report."""


FactsSource = Iterable[GroupReport | GroupFacts] | HasFacts
"""Reports of pairs and teams, their facts, or an object that keeps them."""


@overload
def facts_of(report: MergeReport) -> PairFacts: ...
@overload
def facts_of(report: TeamReport) -> TeamFacts: ...
@checked
def facts_of(report: GroupReport) -> GroupFacts:
    """Return the facts of the report of a pair or team."""
    return _team_facts(report) if isinstance(report, TeamReport) else _pair_facts(report)


def iterate_all_facts(reports: FactsSource, argument: str = "reports") -> Iterator[GroupFacts]:
    """Yield the facts of *reports*, one at a time."""
    found = reports.facts() if isinstance(reports, HasFacts) else _many(reports, argument)
    return (_facts(each, argument) for each in found)


def iterate_facts(reports: FactsSource, argument: str = "reports") -> Iterator[PairFacts]:
    """Yield the facts of pairs as `iterate_all_facts` does; teams are left out."""
    return (each for each in iterate_all_facts(reports, argument) if isinstance(each, PairFacts))


def iterate_team_facts(reports: FactsSource) -> Iterator[TeamFacts]:
    """Yield the facts of teams as `iterate_all_facts` does; pairs are left out."""
    return (each for each in iterate_all_facts(reports) if isinstance(each, TeamFacts))


def iterate_reports(reports: FactsSource, purpose: str) -> Iterator[MergeReport]:
    """Yield the reports of pairs as `iterate_all_reports` does; teams are left out."""
    found = iterate_all_reports(reports, purpose)
    return (each for each in found if isinstance(each, MergeReport))


def iterate_all_reports(reports: FactsSource, purpose: str) -> Iterator[GroupReport]:
    """Yield the *reports*, one at a time; an error names the *purpose*."""
    if isinstance(reports, HasFacts) and not isinstance(reports, Iterable):
        raise _needs_reports(purpose)
    return (_report(each, purpose) for each in _many(reports, "reports"))


def _many(reports: object, argument: str) -> Iterable[object]:
    """Refuse a path and a single report, which are likely mistakes."""
    if isinstance(reports, (str, bytes, os.PathLike)):
        problem = f"must be a collection of reports, not {reports!r:.80}"
        raise ArgumentError(argument, f"{problem}; for a path, pass ReportStore(path)")
    if isinstance(reports, (*_FACTS, *_REPORTS)):
        about = "team" if isinstance(reports, (TeamReport, TeamFacts)) else "pair"
        problem = f"must be a collection; a {type(reports).__name__} is about one {about}"
        raise ArgumentError(argument, f"{problem}: pass [report]")
    if not isinstance(reports, Iterable):
        raise ArgumentError(argument, f"must be reports or their facts, not {reports!r:.80}")
    return reports


_FACTS = (PairFacts, TeamFacts)
_REPORTS = (MergeReport, TeamReport)


def _facts(each: object, argument: str) -> GroupFacts:
    return each if isinstance(each, _FACTS) else facts_of(_known(each, argument))


def _report(each: object, purpose: str) -> GroupReport:
    if isinstance(each, _FACTS):
        raise _needs_reports(purpose)
    return _known(each, "reports")


def _known(each: object, argument: str) -> GroupReport:
    if isinstance(each, _REPORTS):
        return each
    raise ArgumentError(argument, f"must hold reports or the facts of reports, not {each!r:.80}")


def _needs_reports(purpose: str) -> AnalysisError:
    return AnalysisError(f"{purpose} needs reports, but got facts")


# --- the facts of a report ---------------------------------------------------


def _pair_facts(report: MergeReport) -> PairFacts:
    details = report.conflict_details
    return PairFacts(
        feature1=_feature(report.feature1),
        feature2=_feature(report.feature2),
        conflict_sections=None if details is None else details.conflict_sections,
        conflict_lines=None if details is None else details.conflict_lines,
        severity=None if details is None else details.severity,
        attempts=(_attempt(report, attempt) for attempt in report.attempts),
        **_of_group(report, report.conflicts),
    )


def _team_facts(report: TeamReport) -> TeamFacts:
    return TeamFacts(
        features=map(_feature, report.features),
        attempts=[_team_attempt(report, each) for each in report.attempts],
        **_of_group(report, [found for step in report.merges for found in step.conflicts]),
    )


def _of_group(report: GroupReport, conflicts: Iterable[Conflict]) -> dict[str, Any]:
    hunks = [hunk.path for each in report.features for hunk in each.patch.hunks if hunk.path]
    return {each.name: getattr(report, each.name) for each in fields(PairOrigin)} | {
        "merge_status": report.merge_status,
        "conflict_score": report.conflict_score,
        "failure": None if report.failure is None else report.failure.kind,
        "problem": _one_line(report.problem),
        "language": find_language(hunks or [conflict.path for conflict in conflicts]),
        "agent_usage": report.agent_usage,
    }


def _feature(feature: FeatureReport) -> FeatureFacts:
    return FeatureFacts(
        number=feature.number,
        patch_status=feature.patch.status,
        tests=_run(feature.tests, feature.judgement),
        base_tests=_run(feature.base_tests),
        other_tests=_run(feature.other_tests),
    )


def _attempt(report: MergeReport, attempt: Attempt) -> AttemptFacts:
    left = attempt.conflict_details
    return AttemptFacts(
        conflict_sections=None if left is None else left.conflict_sections,
        conflict_score=None if left is None else left.conflict_score,
        feature1_tests=_run(*attempt.own_runs[0]),
        feature2_tests=_run(*attempt.own_runs[1]),
        failure=_one_line(attempt.failure),
        joint_tests=_run(*attempt.joint_run),
        regression_tests=_run(*attempt.regression_run),
        **_of_row(report, attempt, [attempt]),
    )


def _team_attempt(report: TeamReport, attempt: TeamAttempt) -> TeamAttemptFacts:
    return TeamAttemptFacts(
        verdict=attempt.verdict,
        landed=attempt.landed,
        left_out=[
            LeftOut(number=each.number, reason=each.reason, features=each.features)
            for each in attempt.left_out
        ],
        absolute_verdict=attempt.absolute_verdict,
        is_unanswered=any(
            each.tests is not None and each.outcome is None
            for each in attempt.landed_tests or attempt.tests
        ),
        **_of_row(report, attempt, attempt.steps),
    )


def _of_row(
    report: GroupReport, row: Attempt | TeamAttempt, merges: Sequence[MergeRow]
) -> dict[str, Any]:
    usage = total_usage([each for merge in merges for each in merge.usage])
    return asdict(usage, recurse=False) | {
        "strategy": row.strategy,
        "status": row.status,
        "blame": report.blame(row.strategy).kind,
        "conflicts_met": sum(merge.conflicts_met for merge in merges),
        "duration_seconds": sum(merge.duration_seconds for merge in merges),
        "service_failed": row.service_failed,
    }


def _one_line(failure: str) -> str:
    """Return the first line of a reason, cut if it is long."""
    line = failure.partition("\n")[0]
    return line if len(line) <= _SHOWN_FAILURE else f"{line[: _SHOWN_FAILURE - 1]}…"


def _run(tests: TestResult | None, judgement: Judgement | None = None) -> RunFacts | None:
    if tests is None:
        return None
    decided = None if judgement is None else judgement.decide(tests)
    return RunFacts(
        status=tests.status,
        duration_seconds=tests.duration_seconds,
        accepted=decided,
        is_undecided=judgement is not None and decided is None,
        **name_counts(tests.cases),
    )
