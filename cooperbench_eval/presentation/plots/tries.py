"""How many pairs are solved within several tries."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cooperbench_eval.analysis.policies import Policy
from cooperbench_eval.analysis.sources import FactsSource, iterate_facts
from cooperbench_eval.analysis.tries import Tries, solved_within
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.support.arguments import able_to, checked

if TYPE_CHECKING:
    from cooperbench_eval.presentation.plots.canvas import Axes, Figure, Line2D

__all__ = ["plot_tries"]

_NUMBERED = 20
_BESIDE = 0.06  # the distance between two intervals at the same try


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
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    ax = canvas.axes_for(ax, 5.2, 3.6 + 0.1 * len(found))
    handles = [_draw(ax, number, each, len(found)) for number, each in enumerate(found)]
    _label(ax, len(found[0].within))
    canvas.add_legend(ax, handles, [_legend(each, confidence) for each in found], columns=1)
    return canvas.figure_of(ax)


def _draw(ax: "Axes", number: int, tries: Tries, lines: int) -> "Line2D":
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    look = canvas.LINES[number % len(canvas.LINES)]
    aside = _BESIDE * (number - (lines - 1) / 2)
    places = [place + aside for place in range(1, len(tries.within) + 1)]
    shares = [canvas.Share.of(rate) for rate in tries.within]
    ax.errorbar(
        places,
        [100 * share.middle for share in shares],
        yerr=[[100 * share.below for share in shares], [100 * share.above for share in shares]],
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markersize=5,
        capsize=3,
        elinewidth=1,
    )
    return canvas.Line2D([], [], color=look.colour, linestyle=look.line, marker=look.marker)


def _legend(tries: Tries, confidence: float) -> str:
    from cooperbench_eval.presentation.plots.canvas import name_of, percent  # noqa: PLC0415

    beside = f", {tries.left_out} left out" if tries.left_out else ""
    total = tries.within[0].total
    return f"{name_of(tries.decider)}: n = {total}{beside}, {percent(confidence)} intervals"


def _label(ax: "Axes", tries: int) -> None:
    from cooperbench_eval.presentation.plots import canvas  # noqa: PLC0415

    ax.set_ylim(0, 103)  # so that a marker at the top is whole
    ax.set_xlim(0.5, tries + 0.5)
    if tries <= _NUMBERED:
        ax.set_xticks(range(1, tries + 1))
    canvas.add_labels(ax, "tries", "pairs solved by at least one of them, %")
    ax.spines[["top", "right"]].set_visible(False)
