"""Line figures: the effort that is saved, what several tries solve, how much of a team lands."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cooperbench_eval.analysis.comparing import Tries, solved_within
from cooperbench_eval.analysis.measures import Mean
from cooperbench_eval.analysis.policies import Policy
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts, iterate_team_facts
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.analysis.summary import Summary, TeamSummary
from cooperbench_eval.analysis.verdicts import Verdicts
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.presentation.plots.looks import GREY, LINES, Share, name_of, percent
from cooperbench_eval.presentation.views.summaries import named_rows
from cooperbench_eval.support.arguments import able_to, checked

if TYPE_CHECKING:
    from cooperbench_eval.presentation.plots.canvas import Axes, Canvas, Figure


_LOWEST = -1.0
_LONGEST = 48
_STEPS = 8  # between the markers on a line, which is straight
_NUMBERED = 20
_SPINES = ("left", "bottom")


@checked(ax=able_to("get_figure"))
def plot_effort(summary: Summary, *, up_to: float = 10.0, ax: "Axes | None" = None) -> "Figure":
    """Draw the effort that each strategy and policy saves, by *k*.

    The unit is a merge by hand. A conflict that is left costs 1, and an incorrect merge
    costs *k*, since it has to be found and undone. The effort saved is
    `Verdicts.effort_reduction`, the measure of Schesch et al. (Evaluation of Version
    Control Merge Tools, ASE 2024, 10.1145/3691620.3695075). The lines are straight, and
    their order depends on *k*. Below 0, merging by hand is cheaper. The legend gives the
    *k* at which a line crosses 0, and the numbers of merges and of unanswered pairs. Policies
    that cannot be answered (`Summary.unanswerable`) are not drawn, and a strategy without an
    answer for more than half of its pairs is grey. Strategies and policies with
    equal counts share a line. There are no intervals, because the figure makes no claim
    about chance.

    Here *k* is a cost; in `plot_tries` it is the number of a try. Effort does not include
    the price of models, which is `StrategySummary.cost_usd`.

    Args:
        summary: The result of `summarize`; `summary.groups[key]` for one group.
        up_to: The greatest *k* in the figure, above 1. The least *k* is 1.
        ax: Where to draw; by default in a new figure.

    Returns:
        The figure, which is not kept elsewhere.

    Raises:
        AnalysisError: No strategy or policy has a pair that was merged and tested, or
            *up_to* is not above 1.
        ImportError: matplotlib is not installed.
    """
    if not up_to > 1:
        raise AnalysisError(f"k begins at 1, so it cannot go up to {up_to}")
    known = _equal_counts(summary)
    if not known:
        raise AnalysisError("nothing was merged and tested, so no effort can be drawn")
    from cooperbench_eval.presentation.plots.canvas import Canvas  # noqa: PLC0415

    canvas = Canvas(ax, 6.0, 3.8 + 0.1 * len(known))
    handles = []
    for number, verdicts in enumerate(known):
        look = LINES[number % len(LINES)]
        costs = [1 + (up_to - 1) * step / _STEPS for step in range(_STEPS + 1)]
        (line,) = canvas.ax.plot(
            costs,
            [verdicts.effort_reduction(k) or 0.0 for k in costs],
            color=GREY if verdicts.is_mostly_unanswered else look.colour,
            linestyle=look.line,
            marker=look.marker,
            markersize=4,
        )
        handles.append(line)
    canvas.ax.axhline(0, color=GREY, linewidth=0.8, zorder=0)
    canvas.ax.set_xlim(1, up_to)
    low, high = canvas.ax.get_ylim()
    canvas.ax.set_ylim(max(low, _LOWEST), min(max(high, 0.1), 1.03))
    canvas.add_labels(
        "k: cost of an incorrect merge, in merges by hand",
        "effort saved, as a share of\nmerging all pairs by hand",
        spines=_SPINES,
    )
    canvas.add_legend(handles, [_effort_legend(names, each) for each, names in known.items()])
    return canvas.figure


def _equal_counts(summary: Summary) -> dict[Verdicts, list[str]]:
    """Return the counts of merged and tested pairs, each with the names that share them."""
    known: dict[Verdicts, list[str]] = {}
    for name, each in named_rows(summary, summary.unanswerable):
        found = each.verdicts
        if not found.is_untested and _merges(found):
            merges = Verdicts(
                correct=found.correct,
                incorrect=found.incorrect,
                unhandled=found.unhandled,
                not_run=found.unanswered,
            )
            known.setdefault(merges, []).append(name)
    return known


def _merges(verdicts: Verdicts) -> int:
    return verdicts.correct + verdicts.incorrect + verdicts.unhandled


def _effort_legend(names: list[str], verdicts: Verdicts) -> str:
    if not verdicts.correct:
        until = "saves nothing"
    elif not verdicts.incorrect:
        until = "saves at any k"
    else:
        until = f"saves below k = {1 + verdicts.correct / verdicts.incorrect:.3g}"
    beside = f" ({verdicts.unanswered} unanswered)" if verdicts.unanswered else ""
    return f"{name_of(', '.join(names), _LONGEST)}: n = {_merges(verdicts)}{beside}, {until}"


# --- tries ---


@checked(ax=able_to("get_figure"))
def plot_tries(
    reports: FactsSource,
    deciders: str | Policy | Iterable[str | Policy] = "strict",
    *,
    tries: int | None = None,
    confidence: float = 0.95,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw the share of pairs that are solved by one of the first tries.

    It draws `solved_within` for each of *deciders*, with Wilson intervals. The number of
    tries increases to the right. Their cost is not shown: a report has the cost of
    resolving conflicts with models, but not that of the agents.

    Args:
        reports: The reports of all tries, or anything that `summarize` takes.
        deciders: The policies and strategies that decide what is solved; each gets a line.
        tries: How many tries; by default the greatest `k`.
        confidence: The confidence of the intervals.
        ax: Where to draw; by default in a new figure.

    Returns:
        The figure, which is not kept elsewhere.

    Raises:
        AnalysisError: As for `solved_within`, or there is no decider.
        ImportError: matplotlib is not installed.
    """
    names = (deciders,) if isinstance(deciders, str | Policy) else tuple(deciders)
    facts = list(iterate_facts(reports))
    found = [solved_within(facts, each, tries=tries, confidence=confidence) for each in names]
    if not found:
        raise AnalysisError("no strategy or policy is given to decide what is solved")
    last = len(found[0].within)
    rates = [dict(enumerate(each.within, start=1)) for each in found]
    shares = [{n: Share.of(r.rate, r.low, r.high) for n, r in each.items()} for each in rates]
    legend = [_tries_legend(each, confidence) for each in found]
    canvas = _draw_shares(ax, [*zip(legend, shares, strict=True)])
    canvas.ax.set_xlim(0.5, last + 0.5)
    if last <= _NUMBERED:
        canvas.ax.set_xticks(range(1, last + 1))
    canvas.add_labels("tries", "pairs solved by at least one of them, %", spines=_SPINES)
    return canvas.figure


def _draw_shares(ax: "Axes | None", lines: Sequence[tuple[str, Mapping[int, Share]]]) -> "Canvas":
    from cooperbench_eval.presentation.plots.canvas import Canvas  # noqa: PLC0415

    canvas = Canvas(ax, 5.2, 3.6 + 0.1 * len(lines))
    shares = [each for _, each in lines]
    handles = [canvas.add_line(number, len(lines), each) for number, each in enumerate(shares)]
    canvas.ax.set_ylim(0, 103)  # so that a marker at the top is whole
    canvas.add_legend(handles, [text for text, _ in lines])
    return canvas


def _tries_legend(tries: Tries, confidence: float) -> str:
    beside = f", {tries.left_out} left out" if tries.left_out else ""
    total = tries.within[0].total
    return f"{name_of(tries.decider)}: n = {total}{beside}, {percent(confidence)} intervals"


# --- teams ---


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
    lines = _landed_by_size(sizes)
    if not lines:
        raise AnalysisError("no team was evaluated under a strategy, so nothing can be drawn")
    shares: list[tuple[str, Mapping[int, Share]]] = []
    for name, means in lines.items():
        teams = sum(mean.count for mean in means.values())
        text = f"{name_of(name)}: n = {teams:,}, {percent(confidence)} intervals"
        shares.append((text, {n: Share.of(m.mean, m.low, m.high) for n, m in means.items()}))
    canvas = _draw_shares(ax, shares)
    drawn = sorted({size for means in lines.values() for size in means})
    canvas.ax.set_xlim(drawn[0] - 0.5, drawn[-1] + 0.5)
    canvas.ax.set_xticks(drawn)
    for size in drawn:
        canvas.ax.annotate(
            f"n = {sizes[size].teams - sizes[size].not_evaluated:,}",
            (size, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
    canvas.add_labels("features of a team", "features that land, %", spines=_SPINES)
    return canvas.figure


def _landed_by_size(sizes: Mapping[int, TeamSummary]) -> dict[str, dict[int, Mean]]:
    found: dict[str, dict[int, Mean]] = {}
    for size, summary in sizes.items():
        for name, strategy in summary.strategies.items():
            if strategy.landed.count:
                found.setdefault(name, {})[size] = strategy.landed
    return found
