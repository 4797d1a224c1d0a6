"""Compares teams, tries and evaluators on the same pairs.

`compare` compares two teams, and `compare_with_cooperbench` the results of CooperBench's evaluator
with ours. `solved_within` counts what several tries solve.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

from attrs import field, frozen

from cooperbench_eval.analysis.facts import PairFacts
from cooperbench_eval.analysis.intervals import Cluster, cluster_of
from cooperbench_eval.analysis.policies import (
    CORRECT,
    Answer,
    Decider,
    Ends,
    Policy,
    PolicyVerdict,
    answer_of_policy,
    by_pair,
    count_end,
    find_policies,
    has_answer,
)
from cooperbench_eval.analysis.rates import Cells, Comparison, Rate
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.reporting.cooperbench_results import CooperBenchResult
from cooperbench_eval.reporting.identity import PairId, PairKey
from cooperbench_eval.reporting.rows import Verdict
from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.rendering.shown import Shown


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


# --- several tries ---


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


# --- CooperBench's evaluator ---


_Side = TypeVar("_Side")
_Index = defaultdict[PairKey, dict[str | None, _Side]]


@frozen(kw_only=True)
class CooperBenchDisagreement:
    """A pair that passes in one evaluation and not in the other.

    Attributes:
        cooperbench: The result of CooperBench's evaluator.
        ours: Our report, without its texts.
        judged: Our policy's verdict on the pair.
    """

    cooperbench: CooperBenchResult
    ours: PairFacts = field(repr=False)
    judged: PolicyVerdict


@frozen(kw_only=True, field_transformer=named_fields)
class CooperBenchAgreement(Shown):
    """The results of CooperBench's evaluator beside ours.

    Attributes:
        comparison: The counts: `"cooperbench"` first, then the policy.
        disagreements: The pairs that pass in only one of the two evaluations, in the order of
            CooperBench's results.
    """

    comparison: Comparison
    disagreements: tuple[CooperBenchDisagreement, ...] = field(
        default=(), converter=tuple[CooperBenchDisagreement, ...]
    )

    @property
    def agreeing(self) -> int:
        """How many pairs both pass or both fail."""
        return self.comparison.both + self.comparison.neither


@checked
def compare_with_cooperbench(
    evals: Iterable[CooperBenchResult],
    reports: FactsSource,
    *,
    policy: str | Policy = "cooperbench-0.0.29",
) -> CooperBenchAgreement:
    """Compare the results of CooperBench's evaluator with ours, pair by pair.

    Pairs are matched by repository, task, features in any order, and the setting if both
    know it. Errors of CooperBench's evaluator do not count as answers. Its results for more
    than two agents match no report, because they leave out the other agents. Our reports of
    teams are left out.

    Args:
        evals: The results of CooperBench's evaluator, such as `read_evals(...).evals`.
        reports: Our reports of the same patches, or anything else that `summarize` takes.
        policy: How to judge our reports; by default like CooperBench 0.0.29,
            which needs reports of `Evaluator(test_other=True)`.

    Raises:
        AnalysisError: The policy is unknown, or either side has a pair twice.
    """
    (judge,) = find_policies([policy])
    pairs, unmatched = _matched(evals, iterate_facts(reports))
    ends: Ends = {}
    disagreements = []
    for result, report in pairs:
        judged = judge.judge(report)
        answers = (_answer_of(result), answer_of_policy(judged))
        count_end(ends, answers, Counter([PairId.of(report).key]), None)
        if all(map(has_answer, answers)) and (answers[0] == CORRECT) != (answers[1] == CORRECT):
            disagreements.append(
                CooperBenchDisagreement(cooperbench=result, ours=report, judged=judged)
            )
    comparison = comparison_of(ends, "cooperbench", judge.name, unmatched=unmatched)
    return CooperBenchAgreement(comparison=comparison, disagreements=disagreements)


def _matched(
    evals: Iterable[CooperBenchResult], reports: Iterable[PairFacts]
) -> tuple[list[tuple[CooperBenchResult, PairFacts]], tuple[int, int]]:
    """Return the matched pairs, and the number of unmatched evaluations and reports."""
    ours: _Index[PairFacts] = defaultdict(dict)
    for facts in reports:
        pair = PairId.of(facts)
        if pair.setting in ours[pair.key]:
            raise AnalysisError(f"our reports have {_named(pair)} twice")
        ours[pair.key][pair.setting] = facts
    theirs: _Index[CooperBenchResult] = defaultdict(dict)
    teams = 0
    for result in evals:
        if result.features[2:]:
            teams += 1
            continue
        pair = _pair_of(result)
        known = theirs[pair.key]
        if pair.setting in known:
            paths = f"{known[pair.setting].path}, {result.path}"
            raise AnalysisError(
                f"the results of CooperBench's evaluator have {_named(pair)} twice: {paths}"
            )
        known[pair.setting] = result
    both = [
        (result, report)
        for key, by_setting in theirs.items()
        for setting, result in by_setting.items()
        if (report := _found(ours.get(key, {}), setting)) is not None
    ]
    met = {id(report) for _, report in both}
    only_theirs = teams + sum(map(len, theirs.values())) - len(both)
    return both, (only_theirs, sum(map(len, ours.values())) - len(met))


def _pair_of(result: CooperBenchResult) -> PairId:
    first, second = result.features
    return PairId(
        repo_name=result.repo_name,
        task_id=result.task_id,
        features=(first, second),
        setting=result.setting and result.setting.value,
    )


def _named(pair: PairId) -> str:
    return f"{pair} ({pair.setting})" if pair.setting else str(pair)


def _found(by_setting: dict[str | None, PairFacts], setting: str | None) -> PairFacts | None:
    """Find the report of a setting, or the only one if a side does not know its setting."""
    if setting in by_setting:
        return by_setting[setting]
    if setting is None and len(by_setting) == 1:
        return next(iter(by_setting.values()))
    return by_setting.get(None)


def _answer_of(result: CooperBenchResult) -> Answer:
    if not result.is_answer:
        return None
    return CORRECT if result.both_passed else Verdict.INCORRECT.value
