"""The axes of a figure, with lines, legends and labels. The adapter to matplotlib."""

import io
from collections.abc import Iterable, Mapping, Sequence

from cooperbench_eval.presentation.plots.looks import GREY, LINES, Look, Share

try:
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import PowerNorm, to_hex
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch, Rectangle
    from matplotlib.text import Text
    from matplotlib.transforms import ScaledTranslation
except ImportError as exc:
    raise ImportError("matplotlib is missing: pip install 'cooperbench-eval[plots]'") from exc

__all__ = ["Axes", "Canvas", "Figure"]

_BELOW = 0.5  # inches, for tick labels and the label of the axis
_BESIDE = 0.06  # the distance between two intervals at the same place


class _Picture(Figure):
    """A figure that a notebook shows without pyplot."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", dpi=120)
        return data.getvalue()


class Canvas:
    """The axes *ax*, or those of a new figure, to draw on."""

    def __init__(self, ax: Axes | None, width: float, height: float) -> None:
        """Draw on *ax*; if it is `None`, in a new figure of this size in inches."""
        if ax is None:
            ax = _Picture(figsize=(width, height), layout="constrained").add_subplot()
        self.ax = ax

    @property
    def figure(self) -> Figure:
        """The whole figure."""
        figure = self.ax.get_figure(root=True)
        if isinstance(figure, Figure):
            return figure
        raise ValueError("the axes do not belong to a figure")

    def add_line(self, number: int, lines: int, shares: Mapping[int, Share]) -> Line2D:
        """Draw line *number* of several, side by side, in percent; return its legend's handle."""
        look = LINES[number % len(LINES)]
        aside = _BESIDE * (number - (lines - 1) / 2)
        self.ax.errorbar(
            [place + aside for place in shares],
            [100 * share.middle for share in shares.values()],
            yerr=[
                [100 * share.below for share in shares.values()],
                [100 * share.above for share in shares.values()],
            ],
            color=look.colour,
            linestyle=look.line,
            marker=look.marker,
            markersize=5,
            capsize=3,
            elinewidth=1,
        )
        return Line2D([], [], color=look.colour, linestyle=look.line, marker=look.marker)

    def dot(self) -> Line2D:
        """Return the handle of an interval with a dot in the middle."""
        return Line2D([], [], color="black", marker="o", markersize=4, linewidth=1.4)

    def add_box(self, low: int, high: int, look: Look) -> None:
        """Draw a square around a place."""
        box = Rectangle((low - 0.5, high - 0.5), 1, 1)
        box.set(facecolor=look.colour, hatch=look.hatch, edgecolor=GREY, linewidth=0.4)
        self.ax.add_patch(box)

    def add_shades(self, scores: Sequence[int], label: str) -> dict[int, Look]:
        """Return a shade of one colour for each score, and put a bar beside the axes.

        Shades go from white for 0 to dark for the greatest score, so they can be told apart
        without seeing colours. Small scores differ more than large ones, since most conflicts
        are small.
        """
        norm, shades = PowerNorm(0.5, vmin=0, vmax=max([*scores, 1])), colormaps["Blues"]
        bar = self.figure.colorbar(ScalarMappable(norm, shades), ax=self.ax, shrink=0.7, pad=0.02)
        bar.set_label(label)
        bar.outline.set_visible(False)
        return {score: Look(to_hex(shades(float(norm(score))))) for score in scores}

    def add_title(self, title: str, size: str) -> None:
        """Put a title above the axes, to the left."""
        _plain([self.ax.set_title(title, loc="left", fontsize=size)])

    def add_labels(self, across: str, up: str = "", *, spines: Sequence[str] = ()) -> None:
        """Label the axes, and draw only these *spines* of their frame."""
        _plain([self.ax.set_xlabel(across), *([self.ax.set_ylabel(up)] if up else [])])
        self.ax.spines[[name for name in self.ax.spines if name not in spines]].set_visible(False)

    def add_legend(
        self,
        handles: Sequence[Line2D | Look],
        labels: Sequence[str],
        *,
        edge: str = GREY,
        columns: int = 1,
    ) -> None:
        """Put a legend below the axes; a label that begins with `_` is shown like any other."""
        below = ScaledTranslation(0, -_BELOW, self.figure.dpi_scale_trans)
        legend = self.ax.legend(
            [
                Patch(facecolor=each.colour, hatch=each.hatch, edgecolor=edge)
                if isinstance(each, Look)
                else each
                for each in handles
            ],
            [str(number) for number in range(len(labels))],
            loc="upper left",
            bbox_to_anchor=(0, 0),
            bbox_transform=self.ax.transAxes + below,
            ncols=columns,
            frameon=False,
            fontsize="small",
            borderaxespad=0,
        )
        for text, label in zip(legend.get_texts(), labels, strict=True):
            text.set_text(label)
        _plain(legend.get_texts())


def _plain(texts: Iterable[Text]) -> None:
    """Draw *texts* literally whatever the host's settings: `$` and `%` have no meaning."""
    for text in texts:
        text.set_parse_math(False)
        text.set_usetex(False)
