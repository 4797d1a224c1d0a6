"""`solved_within` counts the pairs that at least one of several tries solves."""

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from cooperbench_eval.analysis.intervals import Cluster, cluster_of
from cooperbench_eval.analysis.policies import CORRECT, Answer, Decider, Policy, has_answer
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.reporting.identity import PairId, PairKey
from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.rendering.shown import Shown

_Whose = tuple[PairKey, str | None, str | None]


@frozen(kw_only=True, field_transformer=named_fields)
class Tries(Shown):
    """How many pairs are solved by at least one of the first tries.

    Attributes:
        decider: What counts as solving a pair: a policy's or a strategy's name.
        within: Element n-1 is the share of pairs that at least one of the first n tries
            solves. All shares have the same denominator.
        left_out: Pairs that are not counted, because a try has no answer.
    """

    decider: str
    within: tuple[Rate, ...] = field(converter=tuple[Rate, ...])
    left_out: int = 0


@checked
def solved_within(
    reports: FactsSource,
    decider: str | Policy,
    *,
    tries: int | None = None,
    confidence: float = 0.95,
    cluster: Cluster | None = None,
) -> Tries:
    """Count the pairs that are solved within one try, within two, and so on.

    A try is a report's `k`. Reports are of the same pair if features, model and setting
    agree. A pair is solved within two tries if the first or the second is correct. Only
    pairs with an answer in every try are counted, so the shares never fall as tries are
    added, and Wilson's interval applies to each. With the same number of tries at every
    pair, the last share equals the estimator pass@k of Chen et al. (Evaluating Large
    Language Models Trained on Code, 2021, arXiv 2107.03374). For fewer tries that
    estimator averages over all orders of the tries, and this function keeps their order.
    Every `TeamReport` is left out.

    Args:
        reports: The reports of all tries, or anything else that `summarize` takes.
        decider: What counts as solving a pair, as in `compare`.
        tries: How many tries; by default as many as the greatest `k`.
        confidence: The confidence of the intervals.
        cluster: `"task"` if pairs of one task are not independent, or `"repo"` if those of
            one repository are not; see `Rate`. By default all pairs are independent.

    Raises:
        AnalysisError: There is no report, a pair has the same try twice, *tries* is not
            at least 1, no report has a row of the strategy, or no pair has an answer in
            every try.
    """
    judge = Decider.of(decider)
    pairs: dict[_Whose, dict[int, Answer]] = {}
    for facts in iterate_facts(reports):
        pair = PairId.of(facts)
        found = pairs.setdefault((pair.key, pair.model, pair.setting), {})
        if pair.k in found:
            raise AnalysisError(f"there are two reports for try {pair.k} of {pair}")
        found[facts.k] = judge.answer(facts)
    if not pairs:
        raise AnalysisError("there are no reports to count")
    judge.check(answer for found in pairs.values() for answer in found.values())
    last = max(max(found) for found in pairs.values()) if tries is None else tries
    if last < 1:
        raise AnalysisError(f"the number of tries is {last}, but must be at least 1")
    numbers = range(1, last + 1)
    complete = [
        (f"{repo_name}/{task_id}", found)
        for ((repo_name, task_id, _), *_), found in pairs.items()
        if all(has_answer(found.get(number)) for number in numbers)
    ]
    if not complete:
        raise AnalysisError(f"for {judge.name!r}, no pair has an answer in all {last} tries")
    firsts: dict[str, list[int]] = {}
    for task, found in complete:
        first = next((number for number in numbers if found[number] == CORRECT), last + 1)
        name = cluster_of(task, cluster) if cluster else ""
        firsts.setdefault(name, []).append(first)
    rates = [_rate(firsts, number, confidence, is_clustered=bool(cluster)) for number in numbers]
    return Tries(decider=judge.name, within=rates, left_out=len(pairs) - len(complete))


def _rate(
    firsts: Mapping[str, Sequence[int]], number: int, confidence: float, *, is_clustered: bool
) -> Rate:
    """Return the share of pairs whose *firsts*, the first correct tries, are at most *number*."""
    counts = [(sum(first <= number for first in each), len(each)) for each in firsts.values()]
    count, total = (sum(part) for part in zip(*counts, strict=True))
    return Rate(count, total, confidence=confidence, clusters=counts if is_clustered else None)
