"""How much manual work strategies save, by the cost of an incorrect merge."""

import math
from typing import TYPE_CHECKING

from cooperbench_eval.analysis.summary import Summary
from cooperbench_eval.analysis.verdicts import Verdicts
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.presentation.views.summaries import named_rows
from cooperbench_eval.support.arguments import able_to, checked

if TYPE_CHECKING:
    from cooperbench_eval.presentation.plots.canvas import Axes, Figure

__all__ = ["plot_effort"]

_LOWEST = -1.0
_LONGEST = 48
_STEPS = 8  # between the markers on a line, which is straight


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
    known = _known(summary)
    if not known:
        raise AnalysisError("nothing was merged and tested, so no effort can be drawn")
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    ax = canvas.axes_for(ax, 6.0, 3.8 + 0.1 * len(known))
    handles = []
    for number, verdicts in enumerate(known):
        look = canvas.LINES[number % len(canvas.LINES)]
        costs = [1 + (up_to - 1) * step / _STEPS for step in range(_STEPS + 1)]
        (line,) = ax.plot(
            costs,
            [_saved(verdicts, k) for k in costs],
            color=canvas.GREY if verdicts.is_mostly_unanswered else look.colour,
            linestyle=look.line,
            marker=look.marker,
            markersize=4,
        )
        handles.append(line)
    ax.axhline(0, color=canvas.GREY, linewidth=0.8, zorder=0)
    _label(ax, up_to)
    canvas.add_legend(
        ax, handles, [_legend(names, each) for each, names in known.items()], columns=1
    )
    return canvas.figure_of(ax)


def _known(summary: Summary) -> dict[Verdicts, list[str]]:
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


def _saved(verdicts: Verdicts, k: float) -> float:
    saved = verdicts.effort_reduction(k)
    return math.nan if saved is None else saved


def _merges(verdicts: Verdicts) -> int:
    return verdicts.correct + verdicts.incorrect + verdicts.unhandled


def _legend(names: list[str], verdicts: Verdicts) -> str:
    from cooperbench_eval.presentation.plots.canvas import name_of  # noqa: PLC0415

    if not verdicts.correct:
        until = "saves nothing"
    elif not verdicts.incorrect:
        until = "saves at any k"
    else:
        until = f"saves below k = {1 + verdicts.correct / verdicts.incorrect:.3g}"
    beside = f" ({verdicts.unanswered} unanswered)" if verdicts.unanswered else ""
    return f"{name_of(', '.join(names), _LONGEST)}: n = {_merges(verdicts)}{beside}, {until}"


def _label(ax: "Axes", up_to: float) -> None:
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    ax.set_xlim(1, up_to)
    low, high = ax.get_ylim()
    ax.set_ylim(max(low, _LOWEST), min(max(high, 0.1), 1.03))
    canvas.add_labels(
        ax,
        "k: cost of an incorrect merge, in merges by hand",
        "effort saved, as a share of\nmerging all pairs by hand",
    )
    ax.spines[["top", "right"]].set_visible(False)
