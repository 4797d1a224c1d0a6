"""`compare_with_cooperbench` compares the results of CooperBench's evaluator with ours."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TypeVar

from attrs import field, frozen

from cooperbench_eval.analysis.comparing import comparison_of
from cooperbench_eval.analysis.facts import PairFacts
from cooperbench_eval.analysis.policies import (
    CORRECT,
    Answer,
    Ends,
    Policy,
    PolicyVerdict,
    answer_of_policy,
    count_end,
    find_policies,
    has_answer,
)
from cooperbench_eval.analysis.rates import Comparison
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.reporting.cooperbench_results import CooperBenchResult
from cooperbench_eval.reporting.identity import PairId, PairKey
from cooperbench_eval.reporting.rows import Verdict
from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.rendering.shown import Shown

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
