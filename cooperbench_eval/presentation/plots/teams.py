"""How many features of a team land, by the size of the team."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cooperbench_eval.analysis.measures import Mean
from cooperbench_eval.analysis.sources import FactsSource, iterate_team_facts
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.analysis.summary import TeamSummary
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.support.arguments import able_to, checked

if TYPE_CHECKING:
    from cooperbench_eval.presentation.plots.canvas import Axes, Figure, Line2D

__all__ = ["plot_teams"]

_BESIDE = 0.06  # the distance between two intervals at the same size


@checked(ax=able_to("get_figure"))
def plot_teams(
    reports: FactsSource, *, confidence: float = 0.95, ax: "Axes | None" = None
) -> "Figure":
    """Draw the share of a team's features that land, by the size of the team.

    Each strategy has a line through the means of `TeamAttempt.score`, with Student's t
    intervals. There is no interval where all teams have the same share. Above each size is
    the number of teams that were evaluated; the legend has the number of teams of each
    strategy in which no service failed. Without a runner, only the merges decide what lands.
    Pairs are left out.

    Args:
        reports: The reports of teams, or anything that `summarize` takes.
        confidence: The confidence of the intervals.
        ax: Where to draw; by default in a new figure.

    Returns:
        The figure, which is not kept elsewhere.

    Raises:
        AnalysisError: No team was evaluated under a strategy.
        ImportError: matplotlib is not installed.
    """
    facts = iterate_team_facts(reports)
    sizes = summarize(facts, policies=(), confidence=confidence).teams
    lines = _lines(sizes)
    if not lines:
        raise AnalysisError("no team was evaluated under a strategy, so nothing can be drawn")
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    ax = canvas.axes_for(ax, 5.2, 3.6 + 0.1 * len(lines))
    handles = [_draw(ax, number, means, len(lines)) for number, means in enumerate(lines.values())]
    _label(ax, [sizes[size] for size in sorted({n for means in lines.values() for n in means})])
    legend = [
        f"{canvas.name_of(name)}: n = {sum(mean.count for mean in means.values()):,}, "
        f"{canvas.percent(confidence)} intervals"
        for name, means in lines.items()
    ]
    canvas.add_legend(ax, handles, legend, columns=1)
    return canvas.figure_of(ax)


def _lines(sizes: Mapping[int, TeamSummary]) -> dict[str, dict[int, Mean]]:
    """Return for each strategy what lands of teams of each size."""
    found: dict[str, dict[int, Mean]] = {}
    for size, summary in sizes.items():
        for name, strategy in summary.strategies.items():
            if strategy.landed.count:
                found.setdefault(name, {})[size] = strategy.landed
    return found


def _draw(ax: "Axes", number: int, means: Mapping[int, Mean], lines: int) -> "Line2D":
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    look = canvas.LINES[number % len(canvas.LINES)]
    aside = _BESIDE * (number - (lines - 1) / 2)
    shares = [_interval(mean) for mean in means.values()]
    ax.errorbar(
        [size + aside for size in means],
        [100 * middle for _, middle, _ in shares],
        yerr=[
            [100 * max(middle - low, 0.0) for low, middle, _ in shares],
            [100 * max(high - middle, 0.0) for _, middle, high in shares],
        ],
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markersize=5,
        capsize=3,
        elinewidth=1,
    )
    return canvas.Line2D([], [], color=look.colour, linestyle=look.line, marker=look.marker)


def _interval(mean: Mean) -> tuple[float, float, float]:
    """Return the low end, the mean and the high end; the mean for ends that are not known."""
    middle = 0.0 if mean.mean is None else mean.mean
    low = middle if mean.low is None else mean.low
    high = middle if mean.high is None else mean.high
    return low, middle, high


def _label(ax: "Axes", teams: list[TeamSummary]) -> None:
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    ax.set_ylim(0, 103)  # so that a marker at the top is whole
    ax.set_xlim(teams[0].size - 0.5, teams[-1].size + 0.5)
    ax.set_xticks([each.size for each in teams])
    for each in teams:
        ax.annotate(
            f"n = {each.teams - each.not_evaluated:,}",
            (each.size, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
    canvas.add_labels(ax, "features of a team", "features that land, %")
    ax.spines[["top", "right"]].set_visible(False)
