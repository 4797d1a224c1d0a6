"""What agents' work cost: unknown costs are counted and said, and never taken for zero."""

import math
import random

import pytest
from generators import quantities
from hypothesis import given
from hypothesis import strategies as st
from made_pairs import pair
from made_teams import team

import cooperbench_eval as ce
from cooperbench_eval.analysis.intervals import student
from cooperbench_eval.analysis.measures import KnownCost, measure_cost
from cooperbench_eval.reporting.agent_costs import AgentUsage


def measured(correct, others, **options):
    """Measure the costs of single pairs."""
    known = [KnownCost(1, 1, usd) for usd in correct] + [KnownCost(1, 0, usd) for usd in others]
    return measure_cost(known, **options)


COSTS = st.lists(st.floats(0.001, 1000), min_size=1, max_size=12)


def priced(cost, *, facts=None, **rows):
    """Return a pair whose agents cost *cost*; `None` for a pair without a known cost."""
    usage = AgentUsage(cost_usd=cost, steps=None if cost is None else 10)
    return pair(facts={"agent_usage": usage, **(facts or {})}, **rows)


REPORTS = [
    priced(1.0, naive="clean ++"),
    priced(3.0, naive="clean +-"),
    priced(2.0, naive="conflicts", union="resolved ++"),
    priced(None, naive="clean ++"),
    priced(8.0, naive="clean .."),
    priced(4.0, naive="not_tried"),
]


def test_a_summary_adds_up_the_known_costs():
    """The mean is that of the pairs whose cost is known, and their number is said."""
    agents = ce.summarize(REPORTS).agents

    assert (agents.cost_usd.count, agents.cost_usd.total, agents.cost_usd.mean) == (5, 18.0, 3.6)
    assert (agents.steps.count, agents.steps.total) == (5, 50)
    assert (agents.messages_sent.count, agents.messages_sent.mean) == (0, None)


def test_a_correct_pair_costs_what_the_failing_ones_cost_too():
    """Pairs without an answer do not count; those with one and without a cost are unknown."""
    summary = ce.summarize(REPORTS)

    strict = summary.policies["strict"].cost_per_correct
    assert (strict.pairs, strict.correct, strict.unknown) == (4, 1, 1)
    assert (strict.total_usd, strict.value) == (10.0, 10.0)
    assert strict == summary.strategies["naive"].cost_per_correct
    union = summary.strategies["union"].cost_per_correct
    assert (union.pairs, union.correct, union.value, union.low) == (1, 1, 2.0, None)


def test_without_a_correct_pair_there_is_no_cost_of_one():
    """There is nothing to divide by, and no interval; the cost itself is known."""
    costs = measured([], [1.0, 2.0])

    assert (costs.value, costs.low, costs.high, costs.total_usd) == (None, None, None, 3.0)
    assert measured([], []).to_dict()["value"] is None


def test_clustered_costs_take_the_pairs_of_a_task_together():
    """Pairs of one task are alike, so that four of them tell as much as two of two tasks."""
    reports = [
        priced(cost, naive=naive, facts={"task_id": task})
        for task, cost, naive in ((1, 1.0, "clean ++"), (2, 3.0, "clean ++"), (3, 2.0, "clean +-"))
        for _ in range(4)
    ]

    single = ce.summarize(reports[::4]).policies["strict"].cost_per_correct
    whole = ce.summarize(reports).policies["strict"].cost_per_correct
    clustered = ce.summarize(reports, cluster="task").policies["strict"].cost_per_correct

    assert (clustered.low, clustered.high) == pytest.approx((single.low, single.high))
    assert clustered.low < whole.low
    assert (clustered.pairs, clustered.correct, clustered.value) == (12, 8, whole.value)


def test_groups_have_their_own_costs():
    """The whole has those of all groups, in any order of the reports."""
    reports = [
        priced(1.0, naive="clean ++", facts={"model": "a"}),
        priced(3.0, naive="clean ++", facts={"model": "b"}),
        priced(0.1, naive="clean +-", facts={"model": "b"}),
    ]

    summary = ce.summarize(reports, by="model")

    values = {
        key: each.policies["strict"].cost_per_correct.value for key, each in summary.groups.items()
    }
    assert values == {"a": 1.0, "b": 3.1}
    assert summary.policies["strict"].cost_per_correct.value == pytest.approx(2.05)
    backwards = ce.summarize(reversed(reports), by="model")
    assert backwards.to_dict() == summary.to_dict()


def test_teams_have_their_costs_beside_their_size():
    """They are in no number about pairs."""
    usage = {"agent_usage": AgentUsage(cost_usd=2.5)}

    summary = ce.summarize([team(3, naive="clean correct", facts=usage), team(3)])

    assert (summary.teams[3].agents.cost_usd.count, summary.agents.cost_usd.count) == (1, 0)
    assert summary.teams[3].to_dict()["agents"]["cost_usd"]["total"] == 2.5


def test_a_summary_names_the_tokens_that_were_read_from_a_cache():
    """They are shown beside all tokens read, which may or may not include them."""
    usage = AgentUsage(input_tokens=300, cache_read_tokens=100, output_tokens=7)

    summary = ce.summarize([pair(facts={"agent_usage": usage}, naive="clean ++")])

    assert (
        "tokens read 300.0 a pair; tokens read from a cache 100.0 a pair; tokens written 7.0 a pair"
    ) in str(summary)


def test_costs_are_in_every_form_of_a_summary():
    """In the text, the plain values, the records and the table of pairs."""
    summary = ce.summarize(REPORTS)

    text = str(summary)
    assert "the agents' work: 18.00 USD, 3.60 a pair, not known for 1; steps 10.0 a pair" in text
    assert "USD a correct pair" in text
    assert "Agent" not in str(ce.summarize([pair(naive="clean ++")]))
    plain = summary.to_dict()
    assert plain["agents"]["cost_usd"]["total"] == 18.0
    assert plain["policies"][-1]["cost_per_correct"]["value"] == 10.0
    records = {each["name"]: each for each in summary.to_records()}
    assert records["strict"]["agent_cost_per_correct"] == 10.0
    rows = ce.to_records(REPORTS)
    assert [row["agent_cost_usd"] for row in rows] == [1.0, 3.0, 2.0, None, 8.0, 4.0]
    assert [row["agent_steps"] for row in rows] == [10, 10, 10, None, 10, 10]


def gap(ratio, correct, others, confidence):
    """How far a ratio is from Fieller's bound: 0 on it, negative inside of the interval."""
    costs, marks = [*correct, *others], [1] * len(correct) + [0] * len(others)
    rests = [cost - ratio * mark for cost, mark in zip(costs, marks, strict=True)]
    n = len(rests)
    mean = math.fsum(rests) / n
    variance = math.fsum((each - mean) ** 2 for each in rests) / (n - 1)
    return mean**2 - student(confidence, n - 1) ** 2 * variance / n


@given(correct=COSTS, others=COSTS, confidence=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_ends_of_the_interval_are_fiellers(correct, others, confidence):
    """At each end, the costs minus the ratio have a mean just so far from zero."""
    costs = measured(correct, others, confidence=confidence)
    scale = max(*correct, *others) ** 2

    assert gap(costs.value, correct, others, confidence) <= 1e-9 * scale
    assert 0 <= costs.low <= costs.value * (1 + 1e-9)
    if costs.low:
        assert gap(costs.low, correct, others, confidence) == pytest.approx(0, abs=1e-6 * scale)
    if costs.high is not None:
        assert costs.high >= costs.value * (1 - 1e-9)
        reach = 1e-6 * max(scale, costs.high**2)
        assert gap(costs.high, correct, others, confidence) == pytest.approx(0, abs=reach)
    else:
        far = 1e9 * costs.value
        assert gap(far, correct, others, confidence) <= 1e-6 * far**2


@given(costs=COSTS, factor=st.floats(0.1, 10))
def test_the_unit_of_money_does_not_matter(costs, factor):
    """An interval in cents is a hundred times that in dollars."""
    cheap, dear = ([each * unit for each in costs] for unit in (1, factor))

    one, two = measured(cheap, [1.0]), measured(dear, [factor])

    for name in ("value", "low", "high"):
        first, second = getattr(one, name), getattr(two, name)
        assert (first is None) == (second is None)
        if first is not None:
            assert second == pytest.approx(first * factor, rel=1e-6, abs=1e-9)


def test_if_every_pair_is_correct_the_interval_is_students():
    """The ratio is then the mean cost, as published tables and other programs have it."""
    costs = measured([1.0, 2.0, 3.0, 4.0], [])

    half = 3.182446305284263 * math.sqrt(5 / 3 / 4)
    assert (costs.low, costs.high) == pytest.approx((2.5 - half, 2.5 + half))


def test_the_interval_holds_the_truth_as_often_as_it_says():
    """Of 2,000 samples of 60 pairs, close to 95 in 100, although costs are skewed."""
    chance = random.Random(7)  # noqa: S311 - a sample, not a secret
    truth = (0.4 * 1.0 + 0.6 * 2.0) / 0.4  # correct pairs cost 1 on average, the others 2

    def holds():
        costs = ([], [])
        for _ in range(60):
            is_correct = chance.random() < 0.4
            costs[not is_correct].append(chance.gammavariate(4, (2 - is_correct) / 4))
        found = measured(*costs)
        return found.low <= truth and (found.high is None or truth <= found.high)

    covered = sum(holds() for _ in range(2000)) / 2000

    assert 0.93 <= covered <= 0.97


@given(values=quantities())
def test_repeating_a_summary_changes_nothing(values):
    """Costs are added up without regard to their order."""
    reports = [priced(min(abs(value), 1e9), naive="clean ++") for value in values]

    assert ce.summarize(reports).to_dict() == ce.summarize(reports[::-1]).to_dict()
