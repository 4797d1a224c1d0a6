"""What all figures share: palette, legends, names as plain text. The adapter to matplotlib."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Self

from attrs import frozen

from cooperbench_eval.support.rendering.visible import visible

try:
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import PowerNorm, to_hex, to_rgb
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch, Rectangle
    from matplotlib.text import Text
    from matplotlib.transforms import ScaledTranslation
except ImportError as exc:
    raise ImportError("matplotlib is missing: pip install 'cooperbench-eval[plots]'") from exc

__all__ = [
    "GREY",
    "INK",
    "LINES",
    "Axes",
    "Figure",
    "Line2D",
    "Look",
    "Patch",
    "Rectangle",
    "Shades",
    "Share",
    "add_labels",
    "add_legend",
    "add_line",
    "axes_for",
    "figure_of",
    "is_dark",
    "name_of",
    "percent",
    "plain",
]

INK = "#222222"
GREY = "#8a8a8a"
_LONGEST_NAME = 30
_DARK = 0.45
_BELOW = 0.5  # inches, for tick labels and the label of the axis
_BESIDE = 0.06  # the distance between two intervals at the same place


@frozen
class Look:
    """How something is drawn, so that more than its colour distinguishes it."""

    colour: str
    hatch: str = ""
    line: Literal["-", "--", "-.", ":"] = "-"
    marker: str = "o"


# The palette of Okabe and Ito (Color universal design, 2008). People with any kind of
# colour blindness can tell its colours apart.
LINES = (
    Look("#0072B2", line="-", marker="o"),
    Look("#D55E00", line="--", marker="s"),
    Look("#009E73", line="-.", marker="^"),
    Look("#CC79A7", line=":", marker="D"),
    Look("#E69F00", line="-", marker="v"),
    Look("#56B4E9", line="--", marker="P"),
    Look("#000000", line="-.", marker="X"),
)


class _Picture(Figure):
    """A figure that a notebook shows without pyplot."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", dpi=120)
        return data.getvalue()


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """Return *ax*; if it is `None`, the axes of a new figure of this size in inches."""
    if ax is not None:
        return ax
    figure = _Picture(figsize=(width, height), layout="constrained")
    return figure.add_subplot()


def figure_of(ax: Axes) -> Figure:
    """Return the whole figure that *ax* is in."""
    figure = ax.get_figure(root=True)
    if isinstance(figure, Figure):
        return figure
    raise ValueError("the axes do not belong to a figure")


@frozen
class Share:
    """A share, and how far its interval extends below and above it."""

    middle: float
    below: float
    above: float

    @classmethod
    def of(cls, middle: float | None, low: float | None, high: float | None) -> Self:
        """Return a share with its interval; rounding never makes a distance negative.

        Without an interval, as with one cluster, the distances are zero.
        """
        if middle is None:
            raise ValueError("a rate of no pairs cannot be drawn")
        if low is None or high is None:
            return cls(middle, 0.0, 0.0)
        return cls(middle, max(0.0, middle - low), max(0.0, high - middle))


def add_line(ax: Axes, number: int, lines: int, shares: Mapping[int, Share]) -> Line2D:
    """Draw a line through shares in percent with their intervals; return its legend's handle.

    Args:
        ax: Where to draw.
        number: Which of the lines it is, counted from 0.
        lines: How many lines there are; intervals at one place stand side by side.
        shares: The shares by their places.
    """
    look = LINES[number % len(LINES)]
    aside = _BESIDE * (number - (lines - 1) / 2)
    ax.errorbar(
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


def percent(share: float) -> str:
    """Return a confidence in percent without needless digits: `95%`, `99.9%`."""
    return f"{100 * share:.6g}%"


def name_of(text: object, longest: int = _LONGEST_NAME) -> str:
    """Return a name from outside as one short line."""
    name = str(text)
    shown = visible(name[:longest])
    is_whole = len(name) <= longest and len(shown) <= longest
    return shown if is_whole else f"{shown[: longest - 1]}…"


def plain(texts: Text | Iterable[Text]) -> None:
    """Draw *texts* literally whatever the host's settings: `$` does not start a formula."""
    for text in [texts] if isinstance(texts, Text) else texts:
        text.set_parse_math(False)
        text.set_usetex(False)


def add_labels(ax: Axes, across: str, up: str = "") -> None:
    """Label the axes; `%` does not start a TeX comment."""
    plain([ax.set_xlabel(across), *([ax.set_ylabel(up)] if up else [])])


def add_legend(
    ax: Axes, handles: Sequence[Patch | Line2D], labels: Sequence[str], *, columns: int
) -> None:
    """Put a legend below the axes; a label that begins with `_` is shown like any other."""
    blank = [str(number) for number in range(len(labels))]
    legend = ax.legend(
        handles,
        blank,
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + _below(ax),
        ncols=columns,
        frameon=False,
        fontsize="small",
        borderaxespad=0,
    )
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)
    plain(legend.get_texts())


def _below(ax: Axes) -> ScaledTranslation:
    return ScaledTranslation(0, -_BELOW, figure_of(ax).dpi_scale_trans)


def is_dark(colour: str) -> bool:
    """Whether white text is more readable than black text on *colour*."""
    red, green, blue = to_rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue < _DARK


class Shades:
    """Shades of one colour, from white for 0 to dark for the greatest value.

    They can be told apart without seeing colours. Small values differ more in shade than
    large ones, since most conflicts are small.
    """

    def __init__(self, greatest: float) -> None:
        self._norm = PowerNorm(0.5, vmin=0, vmax=max(greatest, 1))
        self._map = colormaps["Blues"]

    def colour(self, value: float) -> str:
        """Return the shade of *value*."""
        return to_hex(self._map(float(self._norm(value))))

    def add_bar(self, ax: Axes, label: str) -> None:
        """Put a bar beside the axes that shows the value of each shade."""
        shades = ScalarMappable(self._norm, self._map)
        bar = figure_of(ax).colorbar(shades, ax=ax, shrink=0.7, pad=0.02)
        bar.set_label(label)
        bar.outline.set_visible(False)
