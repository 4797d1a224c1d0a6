"""Views of summaries, rates and comparisons."""

import re

import pytest
from fragments import by_rich, read_fragment
from generators import lists_of, odd_texts, pair_facts
from hypothesis import given, settings
from made_pairs import NOON, attempt, pair
from needs import need_package

from cooperbench_eval.analysis.comparing import (
    CooperBenchAgreement,
    CooperBenchDisagreement,
    compare,
    solved_within,
)
from cooperbench_eval.analysis.policies import POLICIES, Policy
from cooperbench_eval.analysis.ranking import rank
from cooperbench_eval.analysis.rates import Comparison, Rate
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.cooperbench.runlogs import CooperBenchResult
from cooperbench_eval.support.rendering.visible import visible

PAIRS = [
    pair(naive="clean ++", union="clean ++"),
    pair(naive="conflicts", union="resolved +-", facts={"task_id": 2}),
    pair(naive="conflicts", union="resolved !+", facts={"task_id": 3}),
    pair(naive="not_tried", union="not_tried", facts={"repo_name": "jinja"}),
]


def numbers_of(text):
    """Return every number of a text, with repetitions."""
    return sorted(re.findall(r"[-\d.,/%]*\d[%]?", text))


@pytest.mark.parametrize("width", [120, 80, 40])
@pytest.mark.parametrize("by", [None, "repo_name"])
def test_rich_has_every_number(width, by):
    """Rich shows the numbers that text shows, unbroken, at any width."""
    summary = summarize(PAIRS, by=by)

    assert numbers_of(by_rich(summary, width)) == numbers_of(str(summary))


@pytest.mark.parametrize("by", [None, "repo_name"])
def test_html_has_every_number(by):
    """A notebook shows the numbers that text shows, row by row."""
    summary = summarize(PAIRS, by=by)

    found = read_fragment(summary._repr_html_())
    lines = str(summary).splitlines()
    left_out = [line for line in lines if "is left out" in line]

    assert left_out
    assert [[cell for cell in row if cell] for row in found.rows] == [
        re.split(r" {2,}", line.strip()) for line in lines[1:] if line not in left_out
    ]
    assert found.lines[-len(left_out) :] == left_out
    assert found.lines[0] == str(summary).splitlines()[0]


@settings(max_examples=30)
@given(lists_of(pair_facts()))
def test_any_summary_can_be_shown(facts):
    """Text, HTML and rich can show a summary of any pairs."""
    summary = summarize(facts, by=["repo_name", "model"], gold=[])

    for result in (summary, *summary.strategies.values(), *summary.comparisons.values()):
        read_fragment(result._repr_html_())
        assert by_rich(result, 60)
        assert str(result)


@given(odd_texts())
def test_any_name_is_shown_as_text(name):
    """A strategy, a policy or a group may have any name."""
    facts = pair(facts={"repo_name": name, "attempts": [attempt(name, "clean ++")]})
    policy = Policy(name=f"p{name}", strategies=["naive"])

    found = read_fragment(summarize([facts], by="repo_name", policies=[policy])._repr_html_())

    shown = [row[0] for row in found.rows[1:4]]
    assert shown == [visible(each) for each in (f"{name or '-'} (1)", name, f"[p{name}]")]


def test_a_summary_of_nothing_is_one_line():
    """Without pairs there is no table."""
    summary = summarize([], policies=[])

    assert str(summary) == "0 pairs"
    assert read_fragment(summary._repr_html_()).lines == ["0 pairs"]


def test_a_strategy_shows_what_gold_reaches():
    """Its row of the summary, and gold's shares if gold is given."""
    union = summarize(PAIRS[:2], gold=[PAIRS[0]]).strategies["union"]

    assert str(union).splitlines() == [
        "union: 2 pairs",
        "         correct   rate    interval  unanswered  incorrect  unhandled  missing input",
        "  union      1/2  50.0%  9.5%-90.5%           0          1          0              0",
        "gold gets right 1/1 = 100.0% [20.7%, 100.0%]",
        "reached of those 1/1 = 100.0% [20.7%, 100.0%]",
        "beyond those 0/0",
        "pairs that gold has no answer for: 1",
    ]


def test_a_comparison_shows_both_ways():
    """Rates with intervals, the pairs both ways, the test, and the pairs not compared."""
    teams = Comparison(
        first="a", second="b", both=30, only_first=9, only_second=1, neither=10, unanswered=2
    )

    assert read_fragment(teams._repr_html_()).texts == [
        *("a and b on the same 50 pairs", "right", "rate", "interval"),
        *("a", "39/50", "78.0%", "64.8%-87.2%", "b", "31/50", "62.0%", "48.2%-74.1%"),
        "both right 30, only a 9, only b 1, neither 10",
        "difference -16.0 percentage points, p = 0.0215 (McNemar, exact, two-sided)",
        "not compared: 2 without an answer, 0 only in a, 0 only in b",
    ]


def test_comparing_nothing_gives_no_p_value():
    """Without a pair there is no test and no rate."""
    text = by_rich(compare([], [], "strict"), 80)

    assert "no pair is compared, so there is no p-value" in text
    assert re.search(r"first +0/0 +- +-", text)


def test_a_rate_is_one_line():
    """It is the line that `print` shows."""
    rate = Rate(8, 10)

    assert read_fragment(rate._repr_html_()).texts == [str(rate)]
    assert by_rich(rate, 80) == f"{rate}\n"


def test_each_number_of_tries_has_a_row():
    """It shows how many pairs are solved within that many tries, and of how many."""
    facts = [
        pair(naive=word, facts={"k": k, "task_id": task})
        for task, words in enumerate([["clean +-", "clean ++"], ["conflicts"]])
        for k, word in enumerate(words, start=1)
    ]

    found = solved_within(facts, "naive")

    assert str(found).splitlines() == [
        "naive: 1 pair, 1 left out",
        "within     solved    rate      interval",
        "  1 try       0/1    0.0%    0.0%-79.3%",
        "  2 tries     1/1  100.0%  20.7%-100.0%",
    ]
    assert numbers_of(by_rich(found, 30)) == numbers_of(str(found))


def test_disagreements_with_cooperbench_have_rows():
    """It lists twenty pairs on which the evaluators disagree, and counts the others."""
    result = CooperBenchResult(
        repo_name="click",
        task_id=1,
        features=[1, 2],
        setting=None,
        merge_status=None,
        merge_strategy=None,
        apply_status={},
        passed={},
        passed_tests={},
        failed_tests={},
        both_passed=True,
        error="",
        evaluated_at=str(NOON),
        path="",
    )
    ours = pair(naive="conflicts")
    each = CooperBenchDisagreement(
        cooperbench=result, ours=ours, judged=POLICIES["strict"].judge(ours)
    )
    comparison = Comparison(
        first="cooperbench", second="strict", both=3, only_first=21, only_second=0, neither=1
    )
    agreement = CooperBenchAgreement(comparison=comparison, disagreements=[each] * 21)

    found = read_fragment(agreement._repr_html_())

    assert found.lines[1] == "4 of 25 agree"
    assert found.rows[-1] == ["click/1", "1 and 2", "passes", "unhandled"]
    assert len(found.rows) == 3 + 1 + 20
    assert found.lines[-1] == "and 1 more disagreement"


def test_a_notebook_shows_the_html():
    """IPython's own formatter finds it."""
    summary = summarize(PAIRS)

    formatters = need_package("IPython.core.formatters")

    shown, _ = formatters.DisplayFormatter().format(summary)

    assert shown["text/html"] == summary._repr_html_()


def test_a_ranking_has_a_row_for_each_team():
    """The best is first; sentences say what the letters mean and what is left out."""
    teams = {
        "<good>": [pair(naive="clean ++", facts={"task_id": task}) for task in range(7)],
        "bad": [pair(naive="clean +-", facts={"task_id": task}) for task in range(6)],
    }

    found = rank(teams)

    assert str(found).splitlines() == [
        "2 teams by strict in 6 tasks",
        "team      groups  rank  from  to  correct    rate      interval  unanswered",
        "  <good>  a          1     1   1      6/6  100.0%  61.0%-100.0%           0",
        "  bad     b          2     2   2      0/6    0.0%    0.0%-39.0%           0",
        "teams with a letter in common cannot be told apart",
        "the probability that any teams told apart are in the wrong order is at most 5%",
        "answers left out, because another team has none: <good> 1",
        "tasks left out, because the teams share no answered pair: <good> 1",
    ]
    assert "&lt;good&gt;" in found._repr_html_()
