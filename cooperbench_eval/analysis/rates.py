"""Counts and what follows from them: rates, paired comparisons, means, distributions."""

import math
from collections.abc import Iterable
from typing import Any, Final, Self

from attrs import field, frozen, validators

from cooperbench_eval.analysis.tails import mcnemar, student, wilson
from cooperbench_eval.arguments import checked, named_fields, rule_of
from cooperbench_eval.display.shown import Shown
from cooperbench_eval.errors import ArgumentError

__all__ = ["Comparison", "Distribution", "Mean", "Rate"]

_is_count = validators.ge(0)
_NUMBERS: Final = rule_of(list[float])


@frozen(field_transformer=named_fields)
class Rate(Shown):
    """A count out of a total, with the share and its interval.

    The interval assumes that the counted things are independent. Pairs of one task are
    only partly independent and test cases of one suite are not, so their interval is too
    narrow.

    Attributes:
        count: How many things have the property.
        total: How many things there are.
        confidence: The confidence level of the interval, between 0 and 1.

    Example:
        >>> rate = Rate(8, 10)
        >>> print(rate)
        8/10 = 80.0% [49.0%, 94.3%]
    """

    _view = "cooperbench_eval.views.summaries:rate_view"

    count: int = field(validator=_is_count)
    total: int = field(validator=_is_count)
    confidence: float = field(
        default=0.95, kw_only=True, validator=[validators.gt(0), validators.lt(1)]
    )

    @total.validator
    def _check_total(self, _: object, total: int) -> None:
        if total < self.count:
            raise ValueError(f"{self.count} of {total} is not a rate")

    @property
    def rate(self) -> float | None:
        """The share, from 0 to 1; `None` if the total is zero."""
        return self.count / self.total if self.total else None

    @property
    def low(self) -> float | None:
        """The lower end of Wilson's score interval; `None` if the total is zero."""
        return wilson(self.count, self.total, self.confidence)[0] if self.total else None

    @property
    def high(self) -> float | None:
        """The upper end of Wilson's score interval; `None` if the total is zero."""
        return wilson(self.count, self.total, self.confidence)[1] if self.total else None

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, the share and its interval as plain JSON values."""
        names = ("count", "total", "rate", "low", "high")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        if not self.total:
            return "0/0"
        return f"{self.count}/{self.total} = {self.rate:.1%} [{self.low:.1%}, {self.high:.1%}]"


@frozen(kw_only=True)
class Comparison(Shown):
    """Two ways to get a pair right, on the same pairs.

    Only pairs with both answers are compared; the others are counted separately.

    Attributes:
        first: The name of the first one.
        second: The name of the second one.
        both: Pairs that both get right.
        only_first: Pairs that only the first gets right.
        only_second: Pairs that only the second gets right.
        neither: Pairs that neither gets right.
        unanswered: Pairs that both have, with no answer from at least one.
        unmatched_first: Pairs that only the first has.
        unmatched_second: Pairs that only the second has.
        confidence: The confidence level of the rates' intervals.

    Example:
        >>> teams = Comparison(both=30, only_first=9, only_second=1, neither=10)
        >>> print(f"{teams.difference:+.2f} {teams.p_value:.4f}")
        -0.16 0.0215
    """

    _view = "cooperbench_eval.views.summaries:comparison_view"

    first: str = "first"
    second: str = "second"
    both: int
    only_first: int
    only_second: int
    neither: int
    unanswered: int = 0
    unmatched_first: int = 0
    unmatched_second: int = 0
    confidence: float = 0.95

    @property
    def pairs(self) -> int:
        """How many pairs are compared."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def first_rate(self) -> Rate:
        """The share of the compared pairs that the first gets right."""
        return Rate(self.both + self.only_first, self.pairs, confidence=self.confidence)

    @property
    def second_rate(self) -> Rate:
        """The share of the compared pairs that the second gets right."""
        return Rate(self.both + self.only_second, self.pairs, confidence=self.confidence)

    @property
    def difference(self) -> float | None:
        """The second's share minus the first's; `None` if no pair is compared."""
        return (self.only_second - self.only_first) / self.pairs if self.pairs else None

    @property
    def p_value(self) -> float | None:
        """The probability that chance alone splits the disagreements at least this unevenly.

        This is McNemar's test, exact and two-sided. It assumes that each pair which only
        one gets right is equally likely to be the first's or the second's, independently
        of the other pairs. The value is 1.0 if the two never disagree and `None` if no pair
        is compared. It holds for one comparison: among many comparisons, some p-values
        are small by chance.
        """
        if not self.pairs:
            return None
        disagreements = self.only_first + self.only_second
        return mcnemar(min(self.only_first, self.only_second), disagreements)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, both shares and the p-value as plain JSON values."""
        names = ("first", "second", "both", "only_first", "only_second", "neither")
        beside = ("unanswered", "unmatched_first", "unmatched_second", "difference", "p_value")
        return {name: getattr(self, name) for name in (*names, *beside)}

    def __str__(self) -> str:
        p_value = "-" if self.p_value is None else f"{self.p_value:.3g}"
        return (
            f"{self.first} {self.first_rate}, {self.second} {self.second_rate}; both {self.both}, "
            f"only {self.first} {self.only_first}, only {self.second} {self.only_second}, "
            f"neither {self.neither}; p = {p_value}"
        )


@frozen(kw_only=True)
class Mean:
    """The mean of shares, each from 0 to 1, and its interval.

    The interval is Student's t interval (The Probable Error of a Mean, Biometrika 6, 1908),
    cut off at 0 and 1. It assumes that the shares are independent; teams of one task are only
    partly independent. With few shares it is approximate, because they are not normally
    distributed.

    Attributes:
        count: How many shares there are.
        mean: Their mean; `None` without shares.
        low: The lower end of the interval; `None` if there are fewer than two shares or all
            are equal, because then they do not show how much shares vary.
        high: The upper end of the interval, or `None` for the same reason.

    Example:
        >>> shares = Mean.of([1, 1, 0.5, 1, 0.5])
        >>> print(f"{shares.mean} {shares.low:.2f} {shares.high:.2f}")
        0.8 0.46 1.00
    """

    count: int = 0
    mean: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    @checked
    def of(cls, shares: Iterable[float], *, confidence: float = 0.95) -> Self:
        """Measure *shares*, in any order.

        Args:
            shares: Numbers from 0 to 1.
            confidence: The confidence level of the interval, between 0 and 1.

        Raises:
            ArgumentError: The confidence is not between 0 and 1, or a share is not
                from 0 to 1.
        """
        if not 0 < confidence < 1:
            raise ArgumentError("confidence", "must be greater than 0 and less than 1")
        found = _finite(shares, "shares")
        if not all(0 <= share <= 1 for share in found):
            raise ArgumentError("shares", "must be numbers from 0 to 1")
        if not found:
            return cls()
        mean = math.fsum(found) / len(found)
        if len(set(found)) == 1:
            return cls(count=len(found), mean=mean)
        free = len(found) - 1
        variance = math.fsum((each - mean) ** 2 for each in found) / free
        half = student(confidence, free) * math.sqrt(variance / len(found))
        return cls(
            count=len(found), mean=mean, low=max(mean - half, 0.0), high=min(mean + half, 1.0)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON values."""
        return {name: getattr(self, name) for name in ("count", "mean", "low", "high")}


@frozen(kw_only=True)
class Distribution:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON values."""
        names = ("count", "total", "mean", "minimum", "lower_quartile", "median")
        return {name: getattr(self, name) for name in (*names, "upper_quartile", "maximum")}


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
