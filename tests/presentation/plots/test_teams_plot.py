"""What lands, by the size of the team."""

import pytest
from attrs import evolve
from drawn import intervals_of, legend_of, saved, ticks_of
from made_pairs import pair
from made_teams import team

from cooperbench_eval import summarize
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.presentation.plots import plot_teams

FACTS = [
    team(2, naive="clean correct", union="clean correct"),
    team(2, naive="conflicts unhandled 2:conflict", union="resolved correct"),
    team(2, naive="conflicts unhandled 1:conflict", union="resolved incorrect 2:breaks"),
    team(4, naive="conflicts unhandled 2:conflict 3:conflict", union="resolved correct"),
    team(4, naive="conflicts unhandled 3:conflict", union="resolved correct"),
    pair(naive="clean ++"),
]


def test_a_line_is_the_mean_share_that_lands():
    """With the intervals of the summary, in percent, for each strategy and size."""
    ax = plot_teams(iter(FACTS), confidence=0.9).axes[0]

    means = [
        strategy.landed
        for size in summarize(FACTS, confidence=0.9).teams.values()
        for strategy in size.strategies.values()
    ]
    expected = {
        tuple(
            round(100 * (mean.mean if each is None else each), 6)
            for each in (mean.mean, mean.low, mean.high)
        )
        for mean in means
    }
    assert [round(100 * mean.mean, 6) for mean in means] == [66.666667, 83.333333, 62.5, 100]
    assert intervals_of(ax, across=False) == expected
    assert ticks_of(ax.xaxis) == ["2", "4"]
    assert {(text.xy[0], text.get_text()) for text in ax.texts} == {(2, "n = 3"), (4, "n = 2")}
    assert legend_of(ax) == [
        "naive: n = 5, 90% intervals",
        "union: n = 5, 90% intervals",
    ]


def test_an_attempt_that_a_service_failed_is_not_counted():
    """Nothing is known about what its strategy lands."""
    down = team(2, facts={"task_id": 2}, naive="clean correct")
    (only,) = team(2, union="conflicts unhandled 2:conflict").attempts
    failed = evolve(down, attempts=[*down.attempts, evolve(only, service_failed=True)])

    (never,) = team(2, llm="conflicts unhandled 2:conflict").attempts
    alone = evolve(down, task_id=3, attempts=[evolve(never, service_failed=True)])

    ax = plot_teams([*FACTS[:1], failed, alone]).axes[0]

    assert legend_of(ax) == ["naive: n = 2, 95% intervals", "union: n = 1, 95% intervals"]
    assert [text.get_text() for text in ax.texts] == ["n = 3"]


def test_one_team_is_drawn_without_an_interval():
    """Nothing is known about how much others differ."""
    figure = plot_teams(FACTS[:1])

    assert intervals_of(figure.axes[0], across=False) == {(100.0, 100.0, 100.0)}
    assert saved(figure, "png").startswith(b"\x89PNG")


@pytest.mark.parametrize("reports", [[], FACTS[-1:], [team(3)]])
def test_nothing_to_draw_is_an_error(reports):
    """Neither without teams nor without strategies."""
    with pytest.raises(AnalysisError, match="no team was evaluated under a strategy"):
        plot_teams(reports)
