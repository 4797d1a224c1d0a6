"""Strategies by verdict."""

import pytest
from drawn import bars_of, intervals_of, legend_of, saved, texts_of, ticks_of
from made_pairs import pair
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer

from cooperbench_eval import summarize
from cooperbench_eval.analysis.policies import POLICIES
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.presentation.plots import plot_verdicts

PAIRS = [
    pair(naive="clean ++", union="clean ++"),
    pair(naive="conflicts", union="resolved +-", facts={"task_id": 2}),
    pair(naive="conflicts", union="resolved !+", facts={"task_id": 3}),
    pair(naive="not_tried", union="not_tried", facts={"repo_name": "jinja"}),
]


def colours_of(ax):
    """The colour of each part of a bar, by where it begins and ends, rounded."""
    bars = (bar for each in ax.containers if isinstance(each, BarContainer) for bar in each)
    return {
        (round(bar.get_x(), 6), round(bar.get_x() + bar.get_width(), 6)): to_hex(
            bar.get_facecolor()
        )
        for bar in bars
        if bar.get_width()
    }


def told_beside(ax):
    """What stands to the right of each bar, from top to bottom."""
    beside = [(y, text) for (x, y), text in texts_of(ax) if x > 1]
    return [text for _, text in sorted(beside)]


@pytest.mark.parametrize("by", [None, "repo_name", "task"])
def test_bars_and_intervals_are_the_summarys(by):
    """Of each strategy and policy of each group, in order; parts are shares of all pairs."""
    summary = summarize(PAIRS, by=by, policies=POLICIES)

    ax = plot_verdicts(summary).axes[0]

    groups = [*summary.groups.values(), summary]
    rows = [one for each in groups for one in (*each.strategies.values(), *each.policies.values())]
    drawn = [one for one in rows if one.verdicts.pairs]
    bars = [bar for _, bar in sorted(bars_of(ax).items())]
    assert len(bars) == len(drawn)
    for bar, one in zip(bars, drawn, strict=True):
        counts = one.verdicts
        parts = (counts.correct, counts.incorrect, counts.unhandled, counts.missing_input)
        shares = [part / counts.pairs for part in (*parts, counts.unanswered)]
        assert bar == pytest.approx(shares)
        assert sum(bar) == pytest.approx(1)
    assert intervals_of(ax, across=True) == {
        tuple(
            round(each * one.verdicts.answered / one.verdicts.pairs, 6)
            for each in (one.correct.rate, one.correct.low, one.correct.high)
        )
        for one in drawn
        if one.verdicts.answered >= one.verdicts.pairs / 2
        if not one.verdicts.is_untested
    }


def test_rows_are_named_and_counted():
    """Each bar has its name and what it is of; groups have theirs, with their pairs."""
    ax = plot_verdicts(summarize(PAIRS, by="repo_name", policies=["strict"])).axes[0]

    assert ticks_of(ax.yaxis) == [
        *("click (3)", "naive", "union", "[strict]"),
        *("jinja (1)", "naive", "union", "[strict]"),
        *("all (4)", "naive", "union", "[strict]"),
    ]
    bold = [label.get_text() for label in ax.get_yticklabels() if label.get_weight() == "bold"]
    assert bold == ["click (3)", "jinja (1)", "all (4)"]
    assert told_beside(ax)[:3] == ["1/3", "1/2, 1 unanswered", "1/3"]
    assert ax.get_xlabel() == "pairs, %"


def test_the_legend_has_what_occurs():
    """And says of what confidence the interval is."""
    ax = plot_verdicts(summarize(PAIRS[:2], confidence=0.999, policies="strict")).axes[0]

    assert legend_of(ax) == [
        *("correct", "incorrect", "unhandled", "rate of correct pairs, 99.9% interval"),
    ]


def test_what_was_not_tested_is_grey():
    """A full bar of failures would show a finding where there is none."""
    facts = [pair(naive="clean .."), pair(naive="conflicts", facts={"task_id": 2})]

    ax = plot_verdicts(summarize(facts, policies=[])).axes[0]

    assert bars_of(ax) == {0: [0, 0, 0.5, 0, 0.5]}
    assert not intervals_of(ax, across=True)
    assert colours_of(ax)[0.5, 1.0] == "#dddddd"
    assert told_beside(ax) == ["untested, 1 unanswered"]


def test_a_bar_that_is_mostly_unanswered_is_mostly_grey():
    """One pair with an answer says little about ten, so there is no interval either."""
    facts = [pair(naive="clean ++")]
    facts += [pair(naive="clean ..", facts={"task_id": number}) for number in range(2, 11)]

    ax = plot_verdicts(summarize(facts, policies=[])).axes[0]

    assert bars_of(ax)[0] == pytest.approx([0.1, 0, 0, 0, 0.9])
    assert colours_of(ax)[0.1, 1.0] == "#dddddd"
    assert told_beside(ax) == ["1/1, 9 unanswered"]
    assert not intervals_of(ax, across=True)


def test_policies_that_cannot_be_answered_are_named_and_not_drawn():
    """Unless they are asked for by name."""
    facts = [pair(naive="clean ++"), pair(naive="conflicts", facts={"task_id": 2})]

    usual = plot_verdicts(summarize(facts)).axes[0]
    asked = plot_verdicts(summarize(facts, policies=["paper", "strict"])).axes[0]

    assert ticks_of(usual.yaxis) == ["naive", "[strict]"]
    assert usual.get_title(loc="left").splitlines() == [
        "policy [paper] is left out: no answer for 1 of 2 pairs; not tried: union, llm",
        "policy [cooperbench-0.0.29] is left out: no answer for 1 of 2 pairs; not tried: lead",
    ]
    assert ticks_of(asked.yaxis) == ["naive", "[paper]", "[strict]"]
    assert asked.get_title(loc="left") == ""


def test_what_is_drawn_keeps_within_the_figure():
    """Names, numbers beside the bars and the legend are not cut off."""
    figure = plot_verdicts(summarize(PAIRS, by="repo_name"))
    saved(figure, "png")
    ax = figure.axes[0]

    shown = [*ax.texts, *ax.get_yticklabels(), ax.get_legend(), ax.xaxis.label]

    for each in shown:
        box = each.get_window_extent()
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0


@pytest.mark.parametrize("summary", [summarize([]), summarize([pair()], policies=[])])
def test_nothing_to_draw_is_an_error(summary):
    """Neither without pairs nor without a strategy or policy."""
    with pytest.raises(AnalysisError, match="no strategy or policy with pairs"):
        plot_verdicts(summary)


def test_too_many_bars_are_an_error():
    """A figure of ten metres would be useless, so its height is limited."""
    facts = [pair(naive="clean ++", facts={"task_id": number}) for number in range(76)]

    with pytest.raises(AnalysisError, match="308 bars"):
        plot_verdicts(summarize(facts, by="task", policies=POLICIES))
