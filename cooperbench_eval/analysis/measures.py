"""The mean of many numbers, and how they are spread."""

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Self

from attrs import frozen

from cooperbench_eval.analysis.clusters import mean_error
from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.support.arguments import checked, rule_of
from cooperbench_eval.support.plain import Plain

_NUMBERS: Final = rule_of(list[float])


@frozen(kw_only=True)
class Mean(Plain):
    """The mean of shares, each from 0 to 1, and its interval.

    The interval is Student's t interval (The Probable Error of a Mean, Biometrika 6, 1908),
    cut off at 0 and 1. It assumes that the shares are independent; teams of one task are only
    partly independent. With few shares it is approximate, because they are not normally
    distributed. With clusters, such as tasks, shares of one cluster may be alike. The interval
    then has a cluster-robust variance (Bell and McCaffrey, Bias Reduction in Standard Errors for
    Linear Regression with Multi-Stage Samples, Survey Methodology 28, 2002), and it is at least
    as wide as without clusters.

    Attributes:
        count: How many shares there are.
        mean: Their mean; `None` without shares.
        low: The lower end of the interval; `None` if there are fewer than two shares or
            clusters, or all shares are equal, because then they do not show how much shares vary.
        high: The upper end of the interval, or `None` for the same reason.

    Example:
        >>> shares = Mean.of([1, 1, 0.5, 1, 0.5])
        >>> print(f"{shares.mean} {shares.low:.2f} {shares.high:.2f}")
        0.8 0.46 1.00
    """

    _written = ("count", "mean", "low", "high")

    count: int = 0
    mean: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    @checked
    def of(
        cls,
        shares: Iterable[float],
        *,
        confidence: float = 0.95,
        clusters: Iterable[Hashable] | None = None,
    ) -> Self:
        """Measure *shares*, in any order.

        Args:
            shares: Numbers from 0 to 1.
            confidence: The confidence level of the interval, between 0 and 1.
            clusters: The cluster of each share, such as its task, if shares of one cluster are
                not independent.

        Raises:
            ArgumentError: The confidence is not between 0 and 1, a share is not
                from 0 to 1, or there are not as many clusters as shares.
        """
        if not 0 < confidence < 1:
            raise ArgumentError("confidence", "must be greater than 0 and less than 1")
        found = _finite(shares, "shares")
        if not all(0 <= share <= 1 for share in found):
            raise ArgumentError("shares", "must be numbers from 0 to 1")
        groups = _sums(found, range(len(found)) if clusters is None else list(clusters))
        if not found:
            return cls()
        mean = math.fsum(found) / len(found)
        half = None if len(set(found)) == 1 else mean_error(groups, confidence)
        if half is None:
            return cls(count=len(found), mean=mean)
        # Chance can make shares of one cluster look less alike than those of different ones.
        alone = mean_error([(share, 1) for share in found], confidence)
        half = max(half, alone or 0.0)
        return cls(
            count=len(found), mean=mean, low=max(mean - half, 0.0), high=min(mean + half, 1.0)
        )


@frozen(kw_only=True)
class Distribution(Plain):
    """How a quantity is spread; without values, all but count and total are `None`.

    Attributes:
        count: How many values there are.
        total: Their sum.
        minimum: The least value.
        lower_quartile: A quarter of the values are at most this, interpolated linearly.
        median: The middle value, or the mean of the two in the middle.
        upper_quartile: Three quarters of the values are at most this, interpolated
            linearly.
        maximum: The greatest value.
    """

    _written = (
        *("count", "total", "mean", "minimum", "lower_quartile", "median"),
        *("upper_quartile", "maximum"),
    )

    count: int = 0
    total: float = 0.0
    minimum: float | None = None
    lower_quartile: float | None = None
    median: float | None = None
    upper_quartile: float | None = None
    maximum: float | None = None

    @classmethod
    @checked
    def of(cls, values: Iterable[float]) -> Self:
        """Measure *values*, in any order.

        Raises:
            ArgumentError: A value is not a finite number.

        Example:
            >>> Distribution.of([1, 2, 3, 10]).median
            2.5
        """
        ranked = sorted(_finite(values, "values"))
        if not ranked:
            return cls()
        return cls(
            count=len(ranked),
            total=math.fsum(ranked),
            minimum=ranked[0],
            lower_quartile=_quantile(ranked, 1, 4),
            median=_quantile(ranked, 1, 2),
            upper_quartile=_quantile(ranked, 3, 4),
            maximum=ranked[-1],
        )

    @property
    def mean(self) -> float | None:
        """The average."""
        return self.total / self.count if self.count else None


def _sums(shares: list[float], clusters: Sequence[Hashable]) -> list[tuple[float, int]]:
    """Return the sum and the number of the shares of each cluster."""
    if len(clusters) != len(shares):
        problem = f"must have a cluster for each of {len(shares)} shares, not {len(clusters)}"
        raise ArgumentError("clusters", problem)
    found: dict[Hashable, list[float]] = {}
    for share, cluster in zip(shares, clusters, strict=True):
        found.setdefault(cluster, []).append(share)
    return [(math.fsum(each), len(each)) for each in found.values()]


def _finite(given: Iterable[float], argument: str) -> list[float]:
    """Return numbers that can be added up; the items of an iterator are checked only here."""
    found = list(given)
    if _NUMBERS and not _NUMBERS.allows(found):
        raise ArgumentError(argument, _NUMBERS.problem(found))
    try:
        # The sum shows an infinity, a NaN and an integer that is too large for a float.
        is_finite = math.isfinite(math.fsum(found))
    except (ValueError, OverflowError):
        is_finite = False
    if not is_finite:
        raise ArgumentError(argument, "must be finite numbers with a finite sum")
    return found


def _quantile(ranked: list[float], part: int, parts: int) -> float:
    """Interpolate between the two nearest values, as NumPy and pandas do by default."""
    whole, rest = divmod((len(ranked) - 1) * part, parts)
    low = ranked[whole]
    return low + (ranked[whole + 1] - low) * rest / parts if rest else low
