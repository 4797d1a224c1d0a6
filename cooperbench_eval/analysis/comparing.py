"""`compare`: two teams on the same pairs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations

from cooperbench_eval.analysis.policies import Policy
from cooperbench_eval.analysis.rates import Comparison
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts
from cooperbench_eval.analysis.tally import CORRECT, Answer, Decider, Ends, by_pair, has_answer
from cooperbench_eval.arguments import checked

__all__ = ["Comparisons", "compare", "comparison_of"]


@checked
def compare(
    first_reports: FactsSource,
    second_reports: FactsSource,
    decider: str | Policy,
    *,
    first: str = "first",
    second: str = "second",
    confidence: float = 0.95,
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

    Raises:
        AnalysisError: A team has a pair twice, or neither team has a row of the strategy.
    """
    judge = Decider.of(decider)
    ones = by_pair(iterate_facts(first_reports, "first_reports"), first, judge.answer)
    others = by_pair(iterate_facts(second_reports, "second_reports"), second, judge.answer)
    judge.check([*ones.values(), *others.values()])
    ends: Ends = Counter((ones[key], others[key]) for key in ones.keys() & others.keys())
    return comparison_of(
        ends,
        first,
        second,
        unmatched=(len(ones.keys() - others.keys()), len(others.keys() - ones.keys())),
        confidence=confidence,
    )


def comparison_of(
    ends: Ends,
    first: str,
    second: str,
    *,
    unmatched: tuple[int, int] = (0, 0),
    confidence: float = 0.95,
) -> Comparison:
    """Compare two ways to judge pairs, from the number of pairs for each two answers."""
    right = Counter[tuple[bool, bool]]()
    for (one, other), pairs in ends.items():
        if has_answer(one) and has_answer(other):
            right[one == CORRECT, other == CORRECT] += pairs
    return Comparison(
        first=first,
        second=second,
        both=right[True, True],
        only_first=right[True, False],
        only_second=right[False, True],
        neither=right[False, False],
        unanswered=ends.total() - right.total(),
        unmatched_first=unmatched[0],
        unmatched_second=unmatched[1],
        confidence=confidence,
    )


class Comparisons(Mapping[tuple[str, str], Comparison]):
    """The comparison of every two strategies, by their names in the order of the answers.

    A comparison is made on access, because many strategies would give too many of them.
    """

    def __init__(
        self,
        answers: Mapping[str, tuple[Answer, ...]],
        pairs: tuple[int, ...],
        confidence: float,
    ) -> None:
        """Compare the *answers* of each strategy; *pairs* counts the pairs of each entry."""
        self._answers = answers
        self._pairs = pairs
        self._confidence = confidence
        self._ranks = {name: rank for rank, name in enumerate(answers)}

    def __getitem__(self, two: tuple[str, str]) -> Comparison:
        if two not in self:
            raise KeyError(two)
        first, second = two
        ends: Ends = Counter()
        answers = self._answers
        for one, other, pairs in zip(answers[first], answers[second], self._pairs, strict=True):
            ends[one, other] += pairs
        return comparison_of(ends, first, second, confidence=self._confidence)

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
