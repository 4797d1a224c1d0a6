"""Strategies by verdict."""

import pytest
from drawn import bars_of, intervals_of, legend_of, saved, texts_of, ticks_of
from made_pairs import pair

from cooperbench_eval import summarize
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.plots import plot_verdicts

PAIRS = [
    pair(naive="clean ++", union="clean ++"),
    pair(naive="conflicts", union="resolved +-", facts={"task_id": 2}),
    pair(naive="conflicts", union="resolved !+", facts={"task_id": 3}),
    pair(naive="not_tried", union="not_tried", facts={"repo_name": "jinja"}),
]


def told_beside(ax):
    """What stands to the right of each bar, from top to bottom."""
    beside = [(y, text) for (x, y), text in texts_of(ax) if x > 1]
    return [text for _, text in sorted(beside)]


@pytest.mark.parametrize("by", [None, "repo_name", "task"])
def test_bars_and_intervals_are_the_summarys(by):
    """Of each strategy and policy of each group, in order; shares of the answered pairs."""
    summary = summarize(PAIRS, by=by)

    ax = plot_verdicts(summary).axes[0]

    groups = [*summary.groups.values(), summary]
    rows = [one for each in groups for one in (*each.strategies.values(), *each.policies.values())]
    drawn = [one for one in rows if one.verdicts.answered and not one.verdicts.is_untested]
    bars = [bar for _, bar in sorted(bars_of(ax).items())]
    assert len(bars) == len(drawn)
    for bar, one in zip(bars, drawn, strict=True):
        counts = one.verdicts
        parts = (counts.correct, counts.incorrect, counts.unhandled, counts.missing_input)
        assert bar == pytest.approx([part / counts.answered for part in parts])
    assert intervals_of(ax, across=True) == {
        tuple(round(each, 6) for each in (one.correct.rate, one.correct.low, one.correct.high))
        for one in drawn
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
    assert ax.get_xlabel() == "answered pairs, %"


def test_the_legend_has_what_occurs():
    """And says of what confidence the interval is."""
    ax = plot_verdicts(summarize(PAIRS[:2], confidence=0.999)).axes[0]

    assert legend_of(ax) == [
        *("correct", "incorrect", "unhandled", "rate of correct pairs, 99.9% interval"),
    ]


def test_what_was_not_tested_has_no_bar():
    """A bar would show a finding where there is none."""
    facts = [pair(naive="clean .."), pair(naive="conflicts", facts={"task_id": 2})]

    ax = plot_verdicts(summarize(facts, policies=[])).axes[0]

    assert bars_of(ax) == {}
    assert told_beside(ax) == ["untested, 1 unanswered"]


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
        plot_verdicts(summarize(facts, by="task"))
