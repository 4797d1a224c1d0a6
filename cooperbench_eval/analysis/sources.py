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
    """What keeps facts beside its reports, such as a store of them."""

    def facts(self) -> Iterable[PairFacts]:
        """Give the facts of every report."""


FactsSource = Iterable[MergeReport | PairFacts] | HasFacts
"""Reports, their facts, or what keeps these."""


def iterate_facts(reports: FactsSource) -> Iterator[PairFacts]:
    """Give the facts of *reports*, one at a time.

    Raises:
        TypeError: They are no reports, or something among them is neither a report nor
            the facts of one.
    """
    if isinstance(reports, HasFacts):
        return map(_facts, reports.facts())
    return map(_facts, _many(reports))


def iterate_reports(reports: FactsSource, purpose: str) -> Iterator[MergeReport]:
    """Give *reports* themselves, one at a time.

    Args:
        reports: What is to hold whole reports.
        purpose: What needs them, for the error.

    Raises:
        AnalysisError: They are facts.
        TypeError: As with `iterate_facts`.
    """
    if isinstance(reports, HasFacts) and not isinstance(reports, Iterable):
        raise _needs_reports(purpose)
    return (_report(each, purpose) for each in _many(reports))


def _many(reports: object) -> Iterable[object]:
    """Return what can be gone through; a path or a single report is a slip that is told."""
    if isinstance(reports, (str, bytes, os.PathLike)):
        raise TypeError(f"{reports!r:.80} is no reports; give ReportStore(path) if it is a path")
    if isinstance(reports, (MergeReport, PairFacts)):
        raise TypeError(f"a {type(reports).__name__} is of one pair; give [report], a list of it")
    if not isinstance(reports, Iterable):
        raise TypeError(f"{reports!r:.80} is neither reports nor the facts of some")
    return reports


def _facts(each: object) -> PairFacts:
    if isinstance(each, PairFacts):
        return each
    return facts_of(_known(each))


def _report(each: object, purpose: str) -> MergeReport:
    if isinstance(each, PairFacts):
        raise _needs_reports(purpose)
    return _known(each)


def _known(each: object) -> MergeReport:
    if isinstance(each, MergeReport):
        return each
    raise TypeError(f"{each!r:.80} is neither a report nor the facts of one")


def _needs_reports(purpose: str) -> AnalysisError:
    return AnalysisError(f"{purpose} needs reports, and facts were given")
