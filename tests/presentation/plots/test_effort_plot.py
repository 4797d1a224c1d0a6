"""Saved effort against the cost of an incorrect merge."""

import pytest
from drawn import legend_of
from made_pairs import pair

from cooperbench_eval import summarize
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.presentation.plots import plot_effort

PAIRS = [
    pair(naive="clean ++", union="clean ++", tokens="clean ++"),
    pair(naive="clean ++", union="clean ++", tokens="clean ++", facts={"task_id": 2}),
    pair(naive="conflicts", union="resolved +-", tokens="resolved ++", facts={"task_id": 3}),
    pair(naive="conflicts", union="resolved ++", tokens="conflicts", facts={"task_id": 4}),
    pair(naive="not_tried", union="not_tried", tokens="not_tried", facts={"task_id": 5}),
]


def test_a_line_is_the_effort_that_is_saved():
    """At each k it is what the summary says, and lines that are the same are one."""
    summary = summarize(PAIRS, policies=["strict"])

    ax = plot_effort(summary, up_to=5).axes[0]

    lines = ax.get_lines()[:3]
    for line, name in zip(lines, ("naive", "union", "tokens"), strict=True):
        costs = line.get_xdata()
        assert (costs[0], costs[-1]) == (1, 5)
        saved = [summary.strategies[name].effort_reduction(k) for k in costs]
        assert list(line.get_ydata()) == pytest.approx(saved)
    assert legend_of(ax) == [
        "naive, [strict]: n = 4, saves at any k",
        "union: n = 4, saves below k = 4",
        "tokens: n = 4, saves at any k",
    ]
    assert summary.strategies["union"].effort_reduction(4) == 0


def test_lines_are_told_apart_without_colour():
    """No two of the first seven have the same dashes and marker."""
    facts = [
        pair(
            **{f"s{n}": "clean ++" if task < n else "clean +-" for n in range(7)},
            facts={"task_id": task},
        )
        for task in range(7)
    ]

    lines = plot_effort(summarize(facts, policies=[])).axes[0].get_lines()[:7]

    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 7
    assert len({line.get_color() for line in lines}) == 7


def test_a_steep_line_leaves_the_axes():
    """Far below nothing saved, how far does not matter, and the others stay readable."""
    ax = plot_effort(summarize([pair(naive="clean +-")], policies=[]), up_to=100).axes[0]

    assert ax.get_ylim()[0] == -1
    assert legend_of(ax) == ["naive: n = 1, saves nothing"]


@pytest.mark.parametrize("reports", [[], [pair(naive="clean ..")], [pair(naive="not_tried")]])
def test_nothing_merged_is_an_error(reports):
    """Without a tested merge there is no effort."""
    with pytest.raises(AnalysisError, match="nothing was merged and tested"):
        plot_effort(summarize(reports, policies=[]))


@pytest.mark.parametrize("up_to", [1, -2.0, float("nan")])
def test_costs_begin_at_one(up_to):
    """An incorrect merge that costs less than a conflict is not what this is about."""
    with pytest.raises(AnalysisError, match="k begins at 1"):
        plot_effort(summarize(PAIRS), up_to=up_to)


def test_a_strategy_that_is_mostly_unanswered_is_grey():
    """Its line is made of few pairs, and the legend says of how many."""
    facts = [pair(naive="clean ++", union="clean ++")]
    facts += [pair(naive="clean ++", facts={"task_id": number}) for number in (2, 3)]

    ax = plot_effort(summarize(facts, policies=[])).axes[0]

    naive, union = ax.get_lines()[:2]
    assert naive.get_color() != "#8a8a8a"
    assert union.get_color() == "#8a8a8a"
    assert legend_of(ax)[1] == "union: n = 1 (2 unanswered), saves at any k"
