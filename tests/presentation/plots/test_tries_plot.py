"""Pairs solved within several tries."""

import pytest
from drawn import intervals_of, legend_of, ticks_of
from made_pairs import pair

from cooperbench_eval.analysis import solved_within
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.presentation.plots import plot_tries

WORDS = {"+": "clean ++", "-": "clean +-", "c": "conflicts", "?": "clean .."}
FACTS = [
    pair(naive=WORDS[sign], union=WORDS[sign.replace("c", "+")], facts={"task_id": task, "k": k})
    for task, signs in enumerate(["+--", "c+-", "--+", "-c-", "+?+"])
    for k, sign in enumerate(signs, start=1)
]


def test_a_line_is_the_share_that_is_solved():
    """With Wilson's intervals, in percent, for each decider."""
    ax = plot_tries(iter(FACTS), ["strict", "union"], confidence=0.9).axes[0]

    expected = {
        tuple(round(100 * each, 6) for each in (rate.rate, rate.low, rate.high))
        for decider in ("strict", "union")
        for rate in solved_within(FACTS, decider, confidence=0.9).within
    }
    assert intervals_of(ax, across=False) == expected
    assert ticks_of(ax.xaxis) == ["1", "2", "3"]
    assert legend_of(ax) == [
        "strict: n = 4, 1 left out, 90% intervals",
        "union: n = 4, 1 left out, 90% intervals",
    ]


def test_one_decider_will_do():
    """By default that git merges it and both features pass."""
    assert legend_of(plot_tries(FACTS, tries=1).axes[0]) == ["strict: n = 5, 95% intervals"]


def test_many_tries_are_not_all_numbered():
    """What is on the axis then is matplotlib's choice."""
    facts = [pair(naive="clean +-", facts={"k": k}) for k in range(1, 101)]

    assert len(ticks_of(plot_tries(facts).axes[0].xaxis)) < 20


@pytest.mark.parametrize(("reports", "deciders"), [([], "strict"), (FACTS, [])])
def test_nothing_to_draw_is_an_error(reports, deciders):
    """Neither without pairs nor without a decider."""
    with pytest.raises(AnalysisError):
        plot_tries(reports, deciders)
