"""Where facts of many pairs come from."""

import os
from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from cooperbench_eval.analysis.facts import PairFacts, facts_of
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.reporting.report import MergeReport

__all__ = ["FactsSource", "HasFacts", "iterate_facts", "iterate_reports"]


@runtime_checkable
class HasFacts(Protocol):
    """An object that keeps facts with its reports, such as a store."""

    def facts(self) -> Iterable[PairFacts]:
        """Return the facts of every report."""


FactsSource = Iterable[MergeReport | PairFacts] | HasFacts
"""Reports, their facts, or an object that keeps them."""


def iterate_facts(reports: FactsSource) -> Iterator[PairFacts]:
    """Yield the facts of *reports*, one at a time.

    Raises:
        TypeError: *reports* is not a collection, or it holds something that is neither a
            report nor the facts of one.
    """
    return map(_facts, reports.facts() if isinstance(reports, HasFacts) else _many(reports))


def iterate_reports(reports: FactsSource, purpose: str) -> Iterator[MergeReport]:
    """Yield *reports* themselves, one at a time; an error names the *purpose*.

    Raises:
        AnalysisError: *reports* holds facts.
        TypeError: As with `iterate_facts`.
    """
    if isinstance(reports, HasFacts) and not isinstance(reports, Iterable):
        raise _needs_reports(purpose)
    return (_report(each, purpose) for each in _many(reports))


def _many(reports: object) -> Iterable[object]:
    """Refuse a path and a single report, which are likely mistakes."""
    if isinstance(reports, (str, bytes, os.PathLike)):
        raise TypeError(
            f"{reports!r:.80} is not a collection of reports; for a path, pass ReportStore(path)"
        )
    if isinstance(reports, (MergeReport, PairFacts)):
        raise TypeError(
            f"a {type(reports).__name__} is about one pair; pass [report], a list of it"
        )
    if not isinstance(reports, Iterable):
        raise TypeError(f"{reports!r:.80} is neither reports nor their facts")
    return reports


def _facts(each: object) -> PairFacts:
    return each if isinstance(each, PairFacts) else facts_of(_known(each))


def _report(each: object, purpose: str) -> MergeReport:
    if isinstance(each, PairFacts):
        raise _needs_reports(purpose)
    return _known(each)


def _known(each: object) -> MergeReport:
    if isinstance(each, MergeReport):
        return each
    raise TypeError(f"{each!r:.80} is neither a report nor the facts of one")


def _needs_reports(purpose: str) -> AnalysisError:
    return AnalysisError(f"{purpose} needs reports, but got facts")
