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
    """Give the facts of *reports*, one at a time.

    Raises:
        TypeError: Something is neither a report nor the facts of one.
    """
    source = reports.facts() if isinstance(reports, HasFacts) else reports
    for each in source:
        if isinstance(each, PairFacts):
            yield each
        elif isinstance(each, MergeReport):
            yield facts_of(each)
        else:
            raise TypeError(f"{each!r:.80} is neither a report nor the facts of one")
