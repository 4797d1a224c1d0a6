"""A summary is what counting by hand over the same pairs gives."""

import itertools
import json
import math
import pickle
import sys
import warnings
from collections import Counter

import pytest
from generators import lists_of, pair_facts, reports, shuffled
from hypothesis import given, settings
from made_pairs import NOON, attempt, pair

from cooperbench_eval.analysis.policies import POLICIES, Policy
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.analysis.sources import facts_of
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.reporting import FailureKind, PairStatus, Verdict

FACTS = lists_of(pair_facts())
# Most examples are of several pairs with several rows each, drawn from a few of each kind.
fewer = settings(max_examples=settings().max_examples // 2)


def rows_of(facts, strategy):
    """The rows of *strategy* in pairs that were evaluated."""
    return [
        each
        for one in facts
        if one.merge_status is not PairStatus.NOT_EVALUATED
        for each in one.attempts
        if each.strategy == strategy
    ]


@fewer
@given(FACTS)
def test_verdicts_are_counted_as_by_hand(facts):
    """Each verdict of a strategy is counted, and all of them are all pairs."""
    summary = summarize(facts)

    assert set(summary.strategies) == {a.strategy for one in facts for a in one.attempts}
    for name, strategy in summary.strategies.items():
        rows = rows_of(facts, name)
        tried = [row for row in rows if row.status is not MergeStatus.NOT_TRIED]
        verdicts = Counter(
            Verdict.NOT_RUN
            if row.service_failed and row.verdict is Verdict.UNHANDLED
            else row.verdict
            for row in tried
        )
        found = strategy.verdicts
        assert found.correct == verdicts[Verdict.CORRECT]
        assert found.incorrect == verdicts[Verdict.INCORRECT]
        assert found.unhandled == verdicts[Verdict.UNHANDLED]
        assert found.missing_input == len(rows) - len(tried)
        assert found.pairs == summary.pairs == len(facts)
        assert found.answered + found.unanswered == len(facts)


@fewer
@given(FACTS)
def test_policies_are_counted_as_by_hand(facts):
    """A policy's counts are of its verdict on each pair."""
    summary = summarize(facts)

    assert tuple(summary.policies) == tuple(POLICIES)
    for name, policy in summary.policies.items():
        judged = [POLICIES[name].judge(one) for one in facts]
        verdicts = Counter(each.verdict for each in judged)
        found = policy.verdicts
        counted = (found.correct, found.incorrect, found.unhandled, found.not_run)
        assert counted == tuple(verdicts[verdict] for verdict in Verdict)
        assert found.missing_input == sum(each.is_missing_input for each in judged)
        assert policy.correct == Rate(found.correct, found.answered)


@fewer
@given(FACTS)
def test_merge_statuses_are_shares_of_what_was_evaluated(facts):
    """Clean, conflicting and missing add up; the others are counted beside them."""
    summary = summarize(facts)

    statuses = Counter(one.merge_status for one in facts)
    shares = (summary.clean, summary.conflicts, summary.missing_input)
    assert [share.count for share in shares] == [
        statuses[kind]
        for kind in (PairStatus.CLEAN, PairStatus.CONFLICTS, PairStatus.MISSING_INPUT)
    ]
    assert sum(share.count for share in shares) + summary.not_evaluated == len(facts)
    assert {share.total for share in shares} == {len(facts) - summary.not_evaluated}
    assert summary.failures == Counter(one.failure for one in facts if one.failure)


@fewer
@given(FACTS)
def test_tests_and_costs_are_summed_as_by_hand(facts):
    """Cases, features, seconds, tokens and money are those of the rows."""
    summary = summarize(facts)

    alone = [run for one in facts for run in (one.feature1.tests, one.feature2.tests) if run]
    count_runs(alone, summary.features_alone, summary.cases_alone, summary.test_seconds_alone)
    for name, strategy in summary.strategies.items():
        rows = [row for one in facts for row in one.attempts if row.strategy == name]
        runs = [run for row in rows for run in (row.feature1_tests, row.feature2_tests) if run]
        count_runs(runs, strategy.features, strategy.cases, strategy.test_seconds)
        assert strategy.requests == sum(row.requests for row in rows)
        assert strategy.unpriced_requests == sum(row.unpriced_requests for row in rows)
        assert strategy.cost_usd == math.fsum(row.cost_usd or 0 for row in rows)
        assert strategy.blame == Counter(row.blame for row in rows)


def count_runs(runs, features, cases, seconds):
    """Check what is counted over *runs*."""
    told = [run for run in runs if run.was_run]
    assert features == Rate(sum(run.passed for run in told), len(told))
    passed, total = (sum(getattr(r, n) for r in told) for n in ("passed_tests", "total_tests"))
    assert cases == Rate(passed, total)
    assert seconds.total == math.fsum(run.duration_seconds for run in runs)


@fewer
@given(FACTS)
def test_strategies_are_compared_on_the_pairs_that_both_answer(facts):
    """A pair that one of them has no answer for is in no cell."""
    summary = summarize(facts)

    assert set(summary.comparisons) == set(itertools.combinations(summary.strategies, 2))
    for (first, second), found in summary.comparisons.items():
        cells = Counter()
        for one in facts:
            rows = {row.strategy: row for row in one.attempts}
            if not {first, second} <= set(rows) or one.merge_status is PairStatus.NOT_EVALUATED:
                continue
            if all(answers(rows[name]) for name in (first, second)):
                cells[is_right(rows[first]), is_right(rows[second])] += 1
        assert found.both == cells[True, True]
        assert found.only_first == cells[True, False]
        assert found.only_second == cells[False, True]
        assert found.neither == cells[False, False]
        assert found.pairs + found.unanswered == len(facts)


def test_two_strategies_are_found_in_their_order_alone():
    """They behave like a dict with a key for every two strategies."""
    facts = [pair(naive="clean ++", union="clean +-"), pair(zoo="conflicts")]
    comparisons = summarize(facts).comparisons

    assert list(comparisons) == [("naive", "union"), ("naive", "zoo"), ("union", "zoo")]
    assert len(comparisons) == 3
    assert comparisons == dict(comparisons)
    assert repr(comparisons) == repr(dict(comparisons))
    assert pickle.loads(pickle.dumps(comparisons)) == comparisons  # noqa: S301 - our own bytes
    for two in [("union", "naive"), ("zoo", "zoo"), ("naive", "other"), ("naive",), "naive", None]:
        assert two not in comparisons
        with pytest.raises(KeyError):
            comparisons[two]


def test_many_strategies_are_summed_up_in_proportion():
    """Four times as many strategies take no more than eight times as many steps."""

    def steps(count):
        facts = [pair(**{f"s{number}": "resolved ++" for number in range(count)})]
        calls = 0

        def count_call(_frame, event, _argument):
            nonlocal calls
            calls += event in {"call", "c_call"}

        sys.setprofile(count_call)
        try:
            summarize(facts)
        finally:
            sys.setprofile(None)
        return calls

    assert steps(400) < 8 * steps(100)


def is_right(row):
    """Whether a row is a pass of what was merged."""
    return row.status is not MergeStatus.NOT_TRIED and row.verdict is Verdict.CORRECT


def answers(row):
    """Whether a row says something of the pair."""
    if row.status is MergeStatus.NOT_TRIED:
        return True
    no_verdict = Verdict.UNHANDLED if row.service_failed else Verdict.NOT_RUN
    return row.verdict not in {Verdict.NOT_RUN, no_verdict}


@fewer
@given(FACTS.flatmap(shuffled))
def test_the_order_of_the_reports_does_not_matter(two_orders):
    """Sums of seconds and money included, to the last bit."""
    one, other = two_orders

    by = ("repo_name", "k")
    assert summarize(one, by=by).to_dict() == summarize(other, by=by).to_dict()


def test_sums_of_money_are_exact():
    """Small costs are not lost beside large ones, whichever come first."""
    costs = [2.0**53, 1.0, 1.0]
    rows = [attempt("llm", "failed", requests=1, cost_usd=cost) for cost in costs]
    pairs = [pair(facts={"attempts": [row]}) for row in rows]

    for order in (pairs, pairs[::-1]):
        assert summarize(order).strategies["llm"].cost_usd == 2.0**53 + 2


@fewer
@given(FACTS)
def test_groups_are_the_summaries_of_their_pairs(facts):
    """Each group is as if it alone were summed up, and together they are the whole."""
    summary = summarize(facts, by="repo_name")

    for key, group in summary.groups.items():
        assert group == summarize(one for one in facts if one.repo_name == key)
    assert sum(group.pairs for group in summary.groups.values()) == len(facts)
    whole = summarize(facts).to_dict()
    assert {k: v for k, v in summary.to_dict().items() if k != "groups"} == whole


@fewer
@given(reports())
def test_reports_and_their_facts_come_to_the_same(report):
    """Either may be given, and a store that keeps facts."""
    two = [report, report]

    class Store:
        def facts(self):
            return map(facts_of, two)

    assert summarize(two) == summarize(map(facts_of, two)) == summarize(Store())


def test_reports_are_read_once():
    """A generator is enough, so that reports need not fit into memory."""
    summary = summarize(iter([pair(naive="clean ++")] * 3), by="task")

    assert summary.pairs == summary.groups["click/1"].pairs == 3


def test_a_summary_of_nothing_has_no_pairs():
    """Nothing is divided by zero, and nothing is warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        summary = summarize([], by="model", gold=[])
        texts = (str(summary), json.dumps(summary.to_dict()), repr(summary))

    assert texts[0].startswith("0 pairs")
    assert (summary.pairs, summary.groups, summary.clean.rate) == (0, {}, None)
    assert summary.policies["paper"].effort_reduction(2) is None
    assert summary.to_records() == []


def test_rates_have_the_confidence_asked_for():
    """Every interval of the summary is of the same kind."""
    summary = summarize([pair(naive="clean ++")], confidence=0.5)

    assert summary.strategies["naive"].correct == Rate(1, 1, confidence=0.5)
    assert summary.clean.confidence == summary.policies["strict"].correct.confidence == 0.5


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ("k", [2, 10]),
        ("model", ["a", None]),
        (("repo_name", "k"), [("attrs", 10), ("click", 2)]),
        (["k"], [(2,), (10,)]),
        (lambda facts: facts.k > 5, [False, True]),
        ("language", ["", "Go"]),
    ],
)
def test_groups_have_keys_in_order(by, keys):
    """Numbers as numbers, texts as texts, what is not known last."""
    pairs = [
        pair(naive="clean ++", facts={"k": 10, "repo_name": "attrs", "language": "Go"}),
        pair(naive="clean ++", facts={"k": 2, "model": "a"}),
    ]

    summary = summarize(pairs, by=by)

    assert list(summary.groups) == keys
    assert [row["pairs"] for row in summary.to_records()] == [1] * 8


def test_records_carry_the_key_of_their_group():
    """One flat row for each group and strategy or policy, with the same columns."""
    summary = summarize([pair(naive="clean ++")], by=("repo_name", "task"), policies=["strict"])

    first, second = summary.to_records()

    assert list(first) == list(second)
    assert (first["repo_name"], first["task"], first["kind"]) == ("click", "click/1", "strategy")
    assert (second["kind"], second["name"], second["rate"]) == ("policy", "strict", 1.0)


@pytest.mark.parametrize(
    ("by", "fields"),
    [
        ("k", {"k": 2}),
        (["k"], {"k": 2}),
        (["k", "task"], {"k": 2, "task": "click/1"}),
        (lambda facts: facts.k > 1, {"group": True}),
    ],
)
def test_each_part_of_a_key_is_a_field(by, fields):
    """This holds for records and JSON, and for every way to group."""
    summary = summarize([pair(naive="clean ++", facts={"k": 2})], by=by)

    record, (group,) = summary.to_records()[0], summary.to_dict()["groups"]
    assert {name: record[name] for name in fields} == fields
    assert {name: group[name] for name in fields} == fields


@pytest.mark.parametrize(
    ("key", "plain"),
    [
        (NOON, "2026-01-31 12:00:00+00:00"),
        ((1, 2), [1, 2]),
        ((None, (NOON.date(), True)), [None, ["2026-01-31", True]]),
        (PairStatus.CLEAN, "clean"),
        (frozenset({1}), "frozenset({1})"),
        (math.inf, "inf"),
        (0.5, 0.5),
    ],
)
def test_any_key_of_a_group_is_plain_in_json(key, plain):
    """What JSON cannot say stands there as text; a record has the key as it is."""
    summary = summarize([pair(naive="clean ++")], by=lambda _: key)

    (group,) = summary.to_dict()["groups"]
    assert group["group"] == plain
    assert type(group["group"]) is type(plain)
    assert json.loads(json.dumps(group, allow_nan=False)) == group
    assert summary.to_records()[0]["group"] == key


@pytest.mark.parametrize("by", ["modle", ("repo_name", "modle"), ()])
def test_grouping_by_something_unknown_is_an_error(by):
    """The error says by what pairs can be grouped."""
    with pytest.raises(AnalysisError, match="repo_name, task, model"):
        summarize([], by=by)


def test_grouping_twice_by_the_same_is_an_error():
    """Two columns of one name would be one."""
    with pytest.raises(AnalysisError, match="grouped by 'repo_name' twice"):
        summarize([], by=["repo_name", "k", "repo_name"])


def test_a_custom_policy_is_listed_with_the_presets():
    """Under its name, in the order asked for."""
    lax = Policy(name="lax", strategies=["union"])

    summary = summarize([pair(naive="conflicts", union="resolved ++")], policies=[lax, "strict"])

    counts = {name: each.correct.count for name, each in summary.policies.items()}
    assert counts == {"lax": 1, "strict": 0}


def test_correct_merges_save_effort_and_others_cost_it():
    """A conflict costs 1, an incorrect merge k; a missing side has nothing to merge."""
    pairs = [pair(naive="clean ++")] * 6 + [pair(naive="clean +-")] + [pair(naive="conflicts")] * 3

    naive = summarize([*pairs, pair(naive="not_tried")]).strategies["naive"]

    assert naive.effort_reduction(1) == pytest.approx(0.6)
    assert naive.effort_reduction(5) == pytest.approx(0.2)
    assert naive.effort_reduction(10) == pytest.approx(-0.3)


def test_gold_says_what_the_tasks_own_patches_reach():
    """Both cover the same pairs. A team can pass a pair that gold does not pass."""
    team = [
        pair(naive="clean ++", facts={"task_id": 1}),
        pair(naive="clean +-", facts={"task_id": 2}),
        pair(naive="clean +-", facts={"task_id": 3}),
        pair(naive="clean ++", facts={"task_id": 4}),
        pair(naive="clean !!", facts={"task_id": 5}),
        pair(naive="clean ++", facts={"task_id": 6}),
        pair(naive="clean ++", facts={"task_id": 7}),
    ]
    gold = [
        pair(naive="clean ++", facts={"task_id": 1}, features=(2, 1)),
        pair(naive="clean ++", facts={"task_id": 2}),
        pair(naive="conflicts", facts={"task_id": 3}),
        pair(naive="clean ++", facts={"task_id": 5}),
        pair(naive="clean !!", facts={"task_id": 6}),
        pair(naive="not_tried", facts={"task_id": 7}),
    ]

    summary = summarize(team, gold=gold, policies=["strict"])

    for found in (summary.strategies["naive"].gold, summary.policies["strict"].gold):
        assert found.ceiling == Rate(2, 4)
        assert found.reached == Rate(1, 2)
        assert found.beyond == Rate(1, 2)
        assert found.unmatched == 2
        assert found.to_dict()["beyond"]["count"] == 1
    for row in summary.to_records():
        assert (row["gold_correct"], row["gold_answered"]) == (2, 4)
        assert (row["gold_reached"], row["gold_beyond"]) == (1, 1)


def test_a_pair_twice_in_gold_is_an_error():
    """It could be either."""
    twice = [pair(naive="clean ++"), pair(naive="clean ++", features=(2, 1))]

    with pytest.raises(AnalysisError, match="twice"):
        summarize([], gold=twice)


TABLE = """\
3 pairs: clean 1, conflicts 1, missing input 0, not evaluated 1 (repository 1)
            correct   rate    interval  unanswered  incorrect  unhandled  missing input       of all
  naive         1/2  50.0%  9.5%-90.5%     1 (33%)          0          1              0  33.3%-66.7%
  llm           1/2  50.0%  9.5%-90.5%     1 (33%)          1          0              0  33.3%-66.7%
  [strict]      1/2  50.0%  9.5%-90.5%     1 (33%)          0          1              0  33.3%-66.7%
"""


def test_a_summary_prints_as_a_narrow_table():
    """What a script shows: pairs, then a row a strategy and policy."""
    failed = {"merge_status": "not_evaluated", "failure": FailureKind.REPOSITORY}
    pairs = [
        pair(naive="clean ++", llm="clean ++"),
        pair(naive="conflicts", llm="resolved +-", facts={"task_id": 2}),
        pair(facts=failed),
    ]

    assert f"{summarize(pairs, policies=['strict'])}\n" == TABLE


def test_a_summary_quotes_the_most_frequent_problem():
    """Else a reader sees only how many pairs failed, and must open a report to learn why."""
    failed = {"merge_status": "not_evaluated", "failure": FailureKind.TEST_RUN}
    problems = ["no pytest", *["no\x1b[31m python"] * 3, *map(str, range(20))]
    pairs = [pair(facts=failed | {"problem": each}) for each in problems]

    summary = summarize(pairs, policies=[])

    assert list(summary.problems.items())[:2] == [("no\x1b[31m python", 3), ("no pytest", 1)]
    assert len(summary.problems) == 10
    assert str(summary).splitlines()[1] == "3 pairs without a result: no\\x1b[31m python"


def test_policies_that_cannot_be_answered_are_not_printed():
    """Their rate would count only easy pairs; those that the caller names are printed."""
    pairs = [pair(naive="clean ++"), pair(naive="conflicts", union="resolved ++")]

    usual, asked = summarize(pairs), summarize(pairs, policies=POLICIES)
    lines = str(usual).splitlines()

    assert [line.split()[0] for line in lines[2:6]] == ["naive", "union", "[paper]", "[strict]"]
    assert lines[6:] == [
        "policy [cooperbench-0.0.29] is left out: no answer for 1 of 2 pairs; not tried: lead"
    ]
    assert usual.unanswerable == ("cooperbench-0.0.29",)
    assert usual.policies["paper"].untried == ("llm",)
    assert usual.policies.keys() == {"paper", "cooperbench-0.0.29", "strict"}
    assert asked.unanswerable == ()
    assert "left out" not in str(asked)


@fewer
@given(FACTS)
def test_a_policy_is_left_out_if_it_misses_answers_that_it_needs(facts):
    """Never if all pairs are answered, always if most are not."""
    summary = summarize(facts)

    for name, one in summary.policies.items():
        unanswered = one.verdicts.unanswered
        if not unanswered:
            assert name not in summary.unanswerable
        elif one.untried or unanswered > len(facts) / 2:
            assert name in summary.unanswerable
        else:
            assert name not in summary.unanswerable


def test_a_row_that_answers_every_pair_has_no_bounds_beside_it():
    """A row without such values is blank; if no row has them, the column is left out."""
    pairs = [pair(naive="clean ++"), pair(naive="conflicts", union="resolved +-")]

    head, naive, union, _ = str(summarize(pairs, policies=["strict"])).splitlines()[1:]
    alone = str(summarize([pair(naive="clean ++")], policies=["strict"]))

    assert head.endswith("missing input      of all")
    assert naive.endswith("1              0")
    assert union.endswith("0  0.0%-50.0%")
    assert union.split()[1:3] == ["0/1", "0.0%"]
    assert "of all" not in alone


def test_a_rate_of_only_failures_is_not_printed():
    """Without tests only conflicts can be answered, and 0% of these would be no finding."""
    untested = [pair(naive="clean .."), pair(naive="conflicts"), pair(naive="not_tried")]
    failing = [pair(naive="conflicts"), pair(naive="not_tried")]

    of_untested = str(summarize(untested, policies=["strict"])).splitlines()[2:]
    of_failing = str(summarize(failing, policies=["strict"])).splitlines()[2:]

    for line in of_untested:
        assert line.split()[1:] == ["0/2", "-", "-", "1", "(33%)", "0", "1", "1", "0.0%-33.3%"]
    for line in of_failing:
        assert line.split()[1:] == ["0/2", "0.0%", "0.0%-65.8%", "0", "0", "1", "1"]


@fewer
@given(FACTS)
def test_bounds_are_of_all_pairs(facts):
    """None of the unanswered pairs is correct, or all are; the truth lies between."""
    summary = summarize(facts)

    for one in (*summary.strategies.values(), *summary.policies.values()):
        found = one.verdicts
        if not facts:
            assert (found.at_least, found.at_most) == (None, None)
            continue
        assert found.at_least == Rate(found.correct, len(facts)).rate
        assert found.at_most == Rate(found.correct + found.unanswered, len(facts)).rate
        assert (found.at_least == found.at_most) == (not found.unanswered)


def test_what_is_unanswered_is_exported():
    """Beside the pairs without a verdict, with what the share may be at least and at most."""
    pairs = [pair(naive=word) for word in ("clean ++", "not_tried", "clean ..", "clean +!")]

    summary = summarize(pairs, policies=["strict"])

    for plain in (*summary.to_records(), *summary.to_dict()["strategies"]):
        assert (plain["not_run"], plain["missing_input"], plain["unanswered"]) == (3, 1, 2)
        assert (plain["at_least"], plain["at_most"]) == (0.25, 0.75)


def test_a_summary_crosses_processes():
    """It pickles, and its values are plain JSON."""
    summary = summarize([pair(naive="clean ++", union="clean ++")], by="task")

    assert pickle.loads(pickle.dumps(summary)) == summary  # noqa: S301 - made just above
    assert json.loads(json.dumps(summary.to_dict())) == summary.to_dict()


@fewer
@given(FACTS)
def test_a_repeated_try_is_counted(facts):
    """As where a store holds the reports of two evaluators; each counts all the same."""
    evaluated = [one for one in facts if one.merge_status is not PairStatus.NOT_EVALUATED]
    tries = {
        (one.repo_name, one.task_id, one.features, one.model, one.setting, one.k)
        for one in evaluated
    }

    once, twice = summarize(facts), summarize([*facts, *facts])

    assert once.repeated == len(evaluated) - len(tries)
    assert twice.repeated == 2 * len(evaluated) - len(tries)
    assert twice.pairs == 2 * len(facts)
    assert ("repeated" in str(twice).partition("\n")[0]) == bool(twice.repeated)


def test_other_tries_are_not_repeated():
    """Another model, setting or number of the try."""
    tries = [{}, {"model": "m"}, {"setting": "coop"}, {"k": 2}, {"repo_name": "r"}]

    assert summarize([pair(facts=each) for each in tries]).repeated == 0
    assert summarize([pair(facts=each) for each in tries], by="model").repeated == 0
