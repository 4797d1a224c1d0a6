"""`compare` compares two teams on the same pairs."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

from cooperbench_eval.analysis.intervals import Cluster
from cooperbench_eval.analysis.policies import (
    CORRECT,
    Answer,
    Decider,
    Ends,
    Policy,
    by_pair,
    count_end,
    has_answer,
)
from cooperbench_eval.analysis.rates import Cells, Comparison
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts
from cooperbench_eval.reporting.identity import PairKey
from cooperbench_eval.support.arguments import checked


@checked
def compare(
    first_reports: FactsSource,
    second_reports: FactsSource,
    decider: str | Policy,
    *,
    first: str = "first",
    second: str = "second",
    confidence: float = 0.95,
    cluster: Cluster | None = None,
) -> Comparison:
    """Compare two teams on the pairs that both were evaluated on.

    Pairs are matched by repository, task and the two features, in any order. A team may
    have each pair only once, so keep one of several tries `k`. Every `TeamReport` is left out.

    Args:
        first_reports: One team's reports, or anything else that `summarize` takes.
        second_reports: The other team's.
        decider: What counts as getting a pair right: a policy, the name of one of
            `POLICIES`, or else the name of a strategy.
        first: The name of the first team.
        second: The name of the second team.
        confidence: The confidence of the rates' intervals.
        cluster: `"task"` if pairs of one task are not independent, or `"repo"` if those of
            one repository are not. The intervals and the p-value take this into account. By
            default all pairs are independent.

    Raises:
        AnalysisError: A team has a pair twice, or neither team has a row of the strategy.
    """
    judge = Decider.of(decider)
    ones = by_pair(iterate_facts(first_reports, "first_reports"), first, judge.answer)
    others = by_pair(iterate_facts(second_reports, "second_reports"), second, judge.answer)
    judge.check([*ones.values(), *others.values()])
    ends: Ends = {}
    for key in ones.keys() & others.keys():
        count_end(ends, (ones[key], others[key]), Counter([key]), cluster)
    return comparison_of(
        ends,
        first,
        second,
        unmatched=(len(ones.keys() - others.keys()), len(others.keys() - ones.keys())),
        confidence=confidence,
        is_clustered=cluster is not None,
    )


def comparison_of(
    ends: Ends,
    first: str,
    second: str,
    *,
    unmatched: tuple[int, int] = (0, 0),
    confidence: float = 0.95,
    is_clustered: bool = False,
) -> Comparison:
    """Compare two ways to judge pairs, from the number of pairs for each two answers."""
    right = Counter[tuple[bool, bool]]()
    clusters: defaultdict[str, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for (one, other), found in ends.items():
        if has_answer(one) and has_answer(other):
            end = one == CORRECT, other == CORRECT
            right[end] += found.total()
            for name, pairs in found.items():
                clusters[name][end] += pairs
    cells = [_cells(clusters[name]) for name in sorted(clusters)] if is_clustered else None
    both, only_first, only_second, neither = _cells(right)
    return Comparison(
        first=first,
        second=second,
        both=both,
        only_first=only_first,
        only_second=only_second,
        neither=neither,
        unanswered=sum(found.total() for found in ends.values()) - right.total(),
        unmatched_first=unmatched[0],
        unmatched_second=unmatched[1],
        confidence=confidence,
        clusters=cells,
    )


def _cells(right: Counter[tuple[bool, bool]]) -> Cells:
    return right[True, True], right[True, False], right[False, True], right[False, False]


class Comparisons(Mapping[tuple[str, str], Comparison]):
    """The comparison of every two strategies, by their names in the order of the answers.

    A comparison is made on access, because many strategies would give too many of them.
    """

    def __init__(
        self,
        answers: Mapping[str, tuple[Answer, ...]],
        pairs: tuple[Counter[PairKey], ...],
        confidence: float,
        cluster: Cluster | None = None,
    ) -> None:
        """Compare the *answers* of each strategy; *pairs* counts the reports with each answer."""
        self._answers = answers
        self._pairs = pairs
        self._confidence = confidence
        self._cluster = cluster
        self._ranks = {name: rank for rank, name in enumerate(answers)}

    def __getitem__(self, two: tuple[str, str]) -> Comparison:
        if two not in self:
            raise KeyError(two)
        first, second = two
        ends: Ends = {}
        answers = self._answers
        for one, other, pairs in zip(answers[first], answers[second], self._pairs, strict=True):
            count_end(ends, (one, other), pairs, self._cluster)
        return comparison_of(
            ends,
            first,
            second,
            confidence=self._confidence,
            is_clustered=self._cluster is not None,
        )

    def __contains__(self, two: object) -> bool:
        match two:
            case (str() as first, str() as second):
                ranks = self._ranks
                return first in ranks and second in ranks and ranks[first] < ranks[second]
        return False

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self._answers, 2)

    def __len__(self) -> int:
        return len(self._answers) * (len(self._answers) - 1) // 2

    def __repr__(self) -> str:
        return repr(dict(self))
