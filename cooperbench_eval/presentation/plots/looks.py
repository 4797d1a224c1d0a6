"""How things look in figures: colours, names and intervals. It needs no matplotlib."""

from typing import Literal, Self

from attrs import frozen

from cooperbench_eval.support.rendering.visible import visible

INK = "#222222"
GREY = "#8a8a8a"
_LONGEST_NAME = 30
_DARK = 0.45


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


def percent(share: float) -> str:
    """Return a confidence in percent without needless digits: `95%`, `99.9%`."""
    return f"{100 * share:.6g}%"


def name_of(text: object, longest: int = _LONGEST_NAME) -> str:
    """Return a name from outside as one short line."""
    name = str(text)
    shown = visible(name[:longest])
    is_whole = len(name) <= longest and len(shown) <= longest
    return shown if is_whole else f"{shown[: longest - 1]}…"


def is_dark(colour: str) -> bool:
    """Whether white text is more readable than black text on *colour*."""
    red, green, blue = (each / 255 for each in bytes.fromhex(colour.removeprefix("#")))
    return 0.299 * red + 0.587 * green + 0.114 * blue < _DARK
