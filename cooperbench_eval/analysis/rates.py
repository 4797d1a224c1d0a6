"""Counts and what follows from them: rates and paired comparisons."""

from collections.abc import Iterable
from typing import Any

from attrs import field, frozen, validators

from cooperbench_eval.analysis.intervals import Counts, effective_total, mcnemar, wilson
from cooperbench_eval.analysis.signflips import flip_test
from cooperbench_eval.support.arguments import named_fields
from cooperbench_eval.support.plain import Plain
from cooperbench_eval.support.rendering.shown import Shown

_is_count = validators.ge(0)
Cells = tuple[int, int, int, int]
"""Pairs that both get right, only the first, only the second, and neither."""


def _as_counts(clusters: Iterable[Counts] | None) -> tuple[Counts, ...] | None:
    """Leave out clusters of nothing."""
    if clusters is None:
        return None
    return tuple((count, total) for count, total in clusters if total)


def _as_cells(clusters: Iterable[Cells] | None) -> tuple[Cells, ...] | None:
    return None if clusters is None else tuple(each for each in clusters if any(each))


@frozen(field_transformer=named_fields)
class Rate(Shown, Plain):
    """A count out of a total, with the share and its interval.

    Without *clusters*, the interval assumes that the counted things are independent. Pairs of
    one task are only partly independent and test cases of one suite are not, so their interval
    is too narrow. With *clusters*, things of different clusters are independent, and those of
    one cluster may be alike: Wilson's interval is computed with `effective_total` things.

    Attributes:
        count: How many things have the property.
        total: How many things there are.
        confidence: The confidence level of the interval, between 0 and 1.
        clusters: The count and the total of each cluster, such as a task; `None` if the things
            are not clustered.

    Example:
        >>> rate = Rate(8, 10)
        >>> print(rate)
        8/10 = 80.0% [49.0%, 94.3%]
    """

    _written = ("count", "total", "rate", "low", "high")

    count: int = field(validator=_is_count)
    total: int = field(validator=_is_count)
    confidence: float = field(
        default=0.95, kw_only=True, validator=[validators.gt(0), validators.lt(1)]
    )
    clusters: tuple[Counts, ...] | None = field(
        default=None, kw_only=True, repr=False, converter=_as_counts
    )

    @total.validator
    def _check_total(self, _: object, total: int) -> None:
        if total < self.count:
            raise ValueError(f"{self.count} of {total} is not a rate")

    @clusters.validator
    def _check_clusters(self, _: object, clusters: tuple[Counts, ...] | None) -> None:
        if clusters is None:
            return
        for count, total in clusters:
            if not 0 <= count <= total:
                raise ValueError(f"a cluster of {count} of {total} is not a rate")
        count, total = (sum(each[place] for each in clusters) for place in (0, 1))
        if (count, total) != (self.count, self.total):
            raise ValueError(f"clusters of {count} of {total} are not {self.count} of {self.total}")

    @property
    def rate(self) -> float | None:
        """The share, from 0 to 1; `None` if the total is zero."""
        return self.count / self.total if self.total else None

    @property
    def low(self) -> float | None:
        """The lower end of Wilson's score interval; `None` if there is no interval.

        There is none if the total is zero, or if several things are all of one cluster, because
        one cluster does not show how much clusters differ.
        """
        interval = self._interval
        return None if interval is None else interval[0]

    @property
    def high(self) -> float | None:
        """The upper end of Wilson's score interval, or `None` for the same reason."""
        interval = self._interval
        return None if interval is None else interval[1]

    @property
    def effective_total(self) -> float | None:
        """How many independent things tell as much; `None` if there is no interval.

        It is the total without clusters, or if each thing is a cluster of its own, and less if
        things of one cluster are alike. It takes into account that few clusters do not show
        exactly how alike they are. The sources of the formula are Korn and Graubard
        (Confidence Intervals for Proportions with Small Expected Number of Positive Counts
        Estimated from Survey Data, Survey Methodology 24, 1998) and Franco et al. (Comparative
        Study of Confidence Intervals for Proportions in Complex Sample Surveys, Journal of
        Survey Statistics and Methodology 7, 2019). With 0% or 100%, where nothing shows how
        alike things are, things of one cluster are taken to be equal.
        """
        if not self.total:
            return None
        if self.clusters is None:
            return float(self.total)
        return effective_total(self.clusters, self.confidence)

    @property
    def _interval(self) -> tuple[float, float] | None:
        effective = self.effective_total
        if effective is None:
            return None
        if effective == self.total:
            return wilson(self.count, self.total, self.confidence)
        return wilson(self.count / self.total * effective, effective, self.confidence)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, the share and its interval as plain JSON values."""
        plain = super().to_dict()
        if self.clusters is None:
            return plain
        return plain | {"clusters": len(self.clusters), "effective_total": self.effective_total}

    def __str__(self) -> str:
        if not self.total:
            return "0/0"
        share = f"{self.count}/{self.total} = {self.rate:.1%}"
        if self.low is None:
            return f"{share} [no interval: one cluster]"
        return f"{share} [{self.low:.1%}, {self.high:.1%}]"


@frozen(kw_only=True, field_transformer=named_fields)
class Comparison(Shown, Plain):
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
        clusters: The first four numbers for each cluster, such as a task; `None` if the pairs
            are not clustered.

    Example:
        >>> teams = Comparison(both=30, only_first=9, only_second=1, neither=10)
        >>> print(f"{teams.difference:+.2f} {teams.p_value:.4f}")
        -0.16 0.0215
    """

    _written = (
        *("first", "second", "both", "only_first", "only_second", "neither", "unanswered"),
        *("unmatched_first", "unmatched_second", "difference", "p_value"),
    )

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
    clusters: tuple[Cells, ...] | None = field(default=None, repr=False, converter=_as_cells)

    @clusters.validator
    def _check_clusters(self, _: object, clusters: tuple[Cells, ...] | None) -> None:
        if clusters is None:
            return
        cells = (self.both, self.only_first, self.only_second, self.neither)
        if tuple(sum(each[place] for each in clusters) for place in range(len(cells))) != cells:
            raise ValueError(f"the clusters do not add up to {cells}")

    @property
    def pairs(self) -> int:
        """How many pairs are compared."""
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def first_rate(self) -> Rate:
        """The share of the compared pairs that the first gets right."""
        return self._rate(1)

    @property
    def second_rate(self) -> Rate:
        """The share of the compared pairs that the second gets right."""
        return self._rate(2)

    def _rate(self, own: int) -> Rate:
        """Return the share of pairs that both get right, or one, whose cell is *own*."""
        count = self.both + (self.only_first, self.only_second)[own - 1]
        counts = None
        if self.clusters is not None:
            counts = [(each[0] + each[own], sum(each)) for each in self.clusters]
        return Rate(count, self.pairs, confidence=self.confidence, clusters=counts)

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

        With *clusters*, the disagreements of a whole cluster are equally likely to be the other
        way round, independently of the other clusters. This is the randomization test of
        Canay, Romano and Shaikh (Randomization Tests under an Approximate Symmetry Assumption,
        Econometrica 85, 2017). With one pair in each cluster it is McNemar's test.
        """
        if not self.pairs:
            return None
        if self.clusters is not None:
            return flip_test([each[1] - each[2] for each in self.clusters])
        disagreements = self.only_first + self.only_second
        return mcnemar(min(self.only_first, self.only_second), disagreements)

    def __str__(self) -> str:
        p_value = "-" if self.p_value is None else f"{self.p_value:.3g}"
        return (
            f"{self.first} {self.first_rate}, {self.second} {self.second_rate}; both {self.both}, "
            f"only {self.first} {self.only_first}, only {self.second} {self.only_second}, "
            f"neither {self.neither}; p = {p_value}"
        )
