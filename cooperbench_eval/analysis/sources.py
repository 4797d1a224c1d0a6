"""Where facts of many pairs come from."""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from cooperbench_eval.analysis.facts import PairFacts, facts_of
from cooperbench_eval.reporting.report import MergeReport

__all__ = ["FactsSource", "HasFacts", "iterate_facts"]


@runtime_checkable
class HasFacts(Protocol):
    """What keeps facts beside its reports, such as a store of them."""

    def facts(self) -> Iterable[PairFacts]:
        """Give the facts of every report."""


FactsSource = Iterable[MergeReport | PairFacts] | HasFacts
"""Reports, their facts, or what keeps these."""


def iterate_facts(reports: FactsSource) -> Iterator[PairFacts]:
    """Give the facts of *reports*, one at a time."""
    source = reports.facts() if isinstance(reports, HasFacts) else reports
    for each in source:
        yield each if isinstance(each, PairFacts) else facts_of(each)
