"""Where facts of many pairs and teams come from."""

import os
from collections.abc import Iterable, Iterator
from typing import Protocol, overload, runtime_checkable

from cooperbench_eval.analysis.facts import PairFacts, pair_facts
from cooperbench_eval.analysis.team_facts import GroupFacts, TeamFacts, team_facts
from cooperbench_eval.errors import AnalysisError, ArgumentError
from cooperbench_eval.reporting.report import MergeReport
from cooperbench_eval.reporting.teams import GroupReport, TeamReport
from cooperbench_eval.support.arguments import checked

__all__ = [
    "FactsSource",
    "HasFacts",
    "facts_of",
    "iterate_all_facts",
    "iterate_all_reports",
    "iterate_facts",
    "iterate_reports",
    "iterate_team_facts",
]


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
    return team_facts(report) if isinstance(report, TeamReport) else pair_facts(report)


def iterate_all_facts(reports: FactsSource, argument: str = "reports") -> Iterator[GroupFacts]:
    """Yield the facts of *reports*, one at a time.

    Raises:
        ArgumentError: *reports* is not a collection, or it holds something that is neither a
            report nor the facts of one. The error names the *argument*.
    """
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
    """Yield the *reports*, one at a time; an error names the *purpose*.

    Raises:
        AnalysisError: *reports* holds facts.
        ArgumentError: As with `iterate_all_facts`.
    """
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
