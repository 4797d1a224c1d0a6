"""Strategies and policies by verdict, as bars with the interval of their rate."""

from typing import TYPE_CHECKING

from cooperbench_eval.analysis.summary import Summary
from cooperbench_eval.analysis.verdicts import PolicySummary, StrategySummary
from cooperbench_eval.errors import AnalysisError, ArgumentError
from cooperbench_eval.presentation.plots.looks import Look, Share, name_of, percent
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.presentation.views.summaries import groups_of, named_rows, unanswerable_texts
from cooperbench_eval.support.arguments import able_to, checked

if TYPE_CHECKING:
    from cooperbench_eval.presentation.plots.canvas import Axes, Canvas, Figure


_MOST_BARS = 300
_WIDE_ENOUGH = 0.05  # of the whole, for a number to fit in
_BAR = 0.72
_INCHES = 0.27
_LONGEST = 110
_Bar = tuple[str, StrategySummary | PolicySummary | None]
"""A line of the figure: a bar, or the title of a group."""


@checked(summary=None, ax=able_to("get_figure"))
def plot_verdicts(summary: Summary, *, ax: "Axes | None" = None) -> "Figure":
    """Draw how the pairs ended under each strategy and policy, group by group.

    Each bar stands for all pairs. Its coloured parts are the pairs that are correct,
    incorrect, unhandled, or have a side missing; the grey rest has no answer. The interval is the
    Wilson interval of the rate of correct pairs among those with an answer, drawn along
    the coloured part; if more than half of the pairs have no answer, there is none. A text
    beside the bar gives the number of correct, answered and unanswered pairs. Policies that
    cannot be answered (`Summary.unanswerable`) are not drawn; their names are above the
    bars.

    Args:
        summary: The result of `summarize`; with `by`, its groups and all pairs are drawn.
        ax: Where to draw; by default in a new figure of a fitting height.

    Returns:
        The figure, which is not kept elsewhere: `figure.savefig("verdicts.svg")`.

    Raises:
        ArgumentError: *summary* is not a `Summary`.
        AnalysisError: There is nothing to draw, or there are more than 300 bars.
        ImportError: matplotlib is not installed.
    """
    if not isinstance(summary, Summary):
        found = type(summary).__qualname__
        raise ArgumentError(
            "summary", f"must be a Summary, not {found}: pass ce.summarize(reports)"
        )
    bars: list[_Bar] = []
    for title, group in groups_of(summary):
        if title:
            bars.append((title, None))
        bars += named_rows(group, summary.unanswerable)
    count = sum(one is not None for _, one in bars)
    if not count or not summary.pairs:
        raise AnalysisError("there is no strategy or policy with pairs to draw")
    if count > _MOST_BARS:
        raise AnalysisError(f"{count} bars are more than can be read; group by less")
    from cooperbench_eval.presentation.plots.canvas import Canvas  # noqa: PLC0415

    lines = len(bars) + len(summary.unanswerable)
    canvas = Canvas(ax, 7.5, 1.3 + _INCHES * lines)
    for place, (_, one) in enumerate(bars):
        if one is not None:
            _draw(canvas.ax, place, one)
    _label(canvas, bars, summary)
    return canvas.figure


# --- drawing -----------------------------------------------------------------


_LOOKS = {
    "correct": Look("#0072B2"),
    "incorrect": Look("#D55E00", hatch="///"),
    "unhandled": Look("#F0C870", hatch=".."),
    "missing_input": Look("#CC79A7", hatch="xx"),
    "unanswered": Look("#DDDDDD"),
}


def _draw(ax: "Axes", place: int, one: StrategySummary | PolicySummary) -> None:
    counts = one.verdicts
    if counts.pairs:
        _draw_parts(ax, place, [getattr(counts, word) for word in _LOOKS])
    if counts.answered and not (counts.is_untested or counts.is_mostly_unanswered):
        _draw_interval(ax, place, one)
    text = "untested" if counts.is_untested else f"{counts.correct}/{counts.answered}"
    beside = f", {counts.unanswered} unanswered" if counts.unanswered else ""
    ax.text(1.015, place, text + beside, va="center", fontsize="small", clip_on=False)


def _draw_parts(ax: "Axes", place: int, parts: list[int]) -> None:
    total, before = sum(parts), 0
    for count, look in zip(parts, _LOOKS.values(), strict=True):
        width = count / total
        ax.barh(
            place,
            width,
            left=before / total,
            height=_BAR,
            color=look.colour,
            hatch=look.hatch,
            edgecolor="white",
            linewidth=0.6,
        )
        if width > _WIDE_ENOUGH:
            middle = before / total + width / 2
            box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none"}
            ax.text(
                middle, place, str(count), ha="center", va="center", fontsize="x-small", bbox=box
            )
        before += count


def _draw_interval(ax: "Axes", place: int, one: StrategySummary | PolicySummary) -> None:
    share = Share.of(one.correct.rate, one.correct.low, one.correct.high)
    part = one.verdicts.answered / one.verdicts.pairs
    for width, colour in ((3.4, "white"), (1.4, "black")):
        low = place + _BAR / 2 - 0.09
        ax.errorbar(
            [part * share.middle],
            [low],
            xerr=[[part * share.below], [part * share.above]],
            fmt="o",
            markersize=2.2 + width / 2,
            color=colour,
            elinewidth=width,
            capsize=2.5,
            capthick=width,
            clip_on=False,
            zorder=3,
        )


def _label(canvas: "Canvas", bars: list[_Bar], summary: Summary) -> None:
    ax, names = canvas.ax, [name_of(label) for label, _ in bars]
    ax.set_yticks(range(len(bars)), names, parse_math=False, usetex=False)
    for label, (_, one) in zip(ax.get_yticklabels(), bars, strict=True):
        label.set_fontweight("bold" if one is None else "normal")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    canvas.add_labels("pairs, %", spines=["bottom"])
    left_out = [name_of(text, _LONGEST) for text in unanswerable_texts(summary)]
    canvas.add_title("\n".join(left_out), "small")
    counts = [one.verdicts for _, one in bars if one is not None]
    looks = {w: look for w, look in _LOOKS.items() if any(getattr(each, w) for each in counts)}
    interval = f"rate of correct pairs, {percent(summary.confidence)} interval"
    labels = [wording.ANSWERS.get(word, word) for word in looks]
    canvas.add_legend([*looks.values(), canvas.dot()], [*labels, interval], edge="white", columns=3)
