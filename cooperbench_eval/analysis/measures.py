"""The mean of many numbers, how they are spread, and what a correct pair costs."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Self

from attrs import field, frozen

from cooperbench_eval.analysis.intervals import mean_error, student
from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.reporting.agent_costs import AGENT_USAGE
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


# --- what agents' work costs ---


_FEWEST = 2


@frozen(kw_only=True)
class AgentSummary(Plain):
    """What agents' work cost: the distribution of each number over pairs or teams.

    A distribution covers only the pairs for which the number is known, and its `count` says how
    many these are. An agent that made both features of a pair counts once.

    Attributes:
        cost_usd: What the requests to models cost, in US dollars.
        steps: The number of requests to models.
        input_tokens: The tokens that the models read.
        output_tokens: The tokens that they wrote.
        cache_read_tokens: The tokens that were read from a cache of prompts.
        cache_write_tokens: The tokens that were written to it.
        messages_sent: The messages to other agents.
    """

    _written = AGENT_USAGE

    cost_usd: Distribution = field(factory=Distribution)
    steps: Distribution = field(factory=Distribution)
    input_tokens: Distribution = field(factory=Distribution)
    output_tokens: Distribution = field(factory=Distribution)
    cache_read_tokens: Distribution = field(factory=Distribution)
    cache_write_tokens: Distribution = field(factory=Distribution)
    messages_sent: Distribution = field(factory=Distribution)


@frozen(kw_only=True)
class CostPerCorrect(Plain):
    """What the agents' work cost for each pair that is correct.

    It is the cost of all pairs over the number of correct ones, so pairs that fail raise it.
    Only pairs with an answer and a known cost count. The interval is Fieller's for
    the ratio of two means (Some Problems in Interval Estimation, Journal of the Royal
    Statistical Society B 16, 1954, 175-185), with Student's t. It assumes that pairs are
    independent, or, if the summary is clustered, that clusters are.

    Attributes:
        pairs: The number of pairs that count.
        unknown: The number of pairs with an answer whose cost is not known.
        correct: How many of *pairs* are correct.
        total_usd: What all *pairs* cost, in US dollars.
        low: The lower end of the interval; `None` if no pair is correct, or if there are fewer than
            two pairs or clusters.
        high: The upper end; `None` for the same reasons, and if there are too few correct pairs
            to bound it.

    Example:
        >>> CostPerCorrect(pairs=5, correct=3, total_usd=8.25).value
        2.75
    """

    _written = ("pairs", "unknown", "correct", "total_usd", "value", "low", "high")

    pairs: int = 0
    unknown: int = 0
    correct: int = 0
    total_usd: float = 0.0
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float | None:
        """The cost for each correct pair; `None` without a correct pair."""
        return self.total_usd / self.correct if self.correct else None


class KnownCost(NamedTuple):
    """The cost of one pair, or of the pairs of one cluster, and how many are correct."""

    pairs: int
    correct: int
    usd: float


def added_up(costs: Sequence[KnownCost]) -> KnownCost:
    """Return what several pairs cost together."""
    pairs, correct, usd = zip(*costs, strict=True)
    return KnownCost(sum(pairs), sum(correct), math.fsum(usd))


def measure_agents(amounts: Mapping[str, Sequence[float]]) -> AgentSummary:
    """Measure the known amounts of each number."""
    found = {name: Distribution.of(each) for name, each in amounts.items()}
    return AgentSummary(**found)


def measure_cost(
    known: Sequence[KnownCost], *, unknown: int = 0, confidence: float = 0.95
) -> CostPerCorrect:
    """Measure the known costs of pairs, or of clusters of pairs, in any order.

    Example:
        >>> pairs = [(1, 1.0), (1, 2.0), (1, 1.5), (0, 2.5), (0, 1.0)]
        >>> known = [KnownCost(pairs=1, correct=each, usd=usd) for each, usd in pairs]
        >>> costs = measure_cost(known, confidence=0.9)
        >>> f"{costs.value:.2f} from {costs.low:.2f} to {costs.high:.2f}"
        '2.67 from 1.11 to 22.44'
    """
    correct = sum(each.correct for each in known)
    low, high = _fieller(known, confidence) if correct else (None, None)
    return CostPerCorrect(
        pairs=sum(each.pairs for each in known),
        unknown=unknown,
        correct=correct,
        total_usd=math.fsum(each.usd for each in known),
        low=low,
        high=high,
    )


def _fieller(known: Sequence[KnownCost], confidence: float) -> tuple[float | None, float | None]:
    """Return Fieller's interval for the mean cost over the mean number of correct pairs.

    A ratio `r` is in it unless `mean(y) - r mean(x)` differs from 0 by more than `t` standard
    errors, where `y` is the cost and `x` the number of correct pairs of a pair or cluster. The
    ends are the roots of `a r² - 2 b r + c`. If `a` is not positive, the mean of `x` may be 0,
    and the ratio has no upper bound.
    """
    n = len(known)
    if n < _FEWEST:
        return None, None
    correct = sum(each.correct for each in known) / n
    usd = math.fsum(each.usd for each in known) / n
    scale = student(confidence, n - 1) ** 2 / (n * (n - 1))
    a = correct**2 - scale * math.fsum((each.correct - correct) ** 2 for each in known)
    b = correct * usd - scale * math.fsum(
        (each.correct - correct) * (each.usd - usd) for each in known
    )
    c = usd**2 - scale * math.fsum((each.usd - usd) ** 2 for each in known)
    inner = b * b - a * c
    if a > 0:
        root = math.sqrt(max(inner, 0.0))
        return max((b - root) / a, 0.0), (b + root) / a
    if inner <= 0 or c <= 0:
        return 0.0, None
    # The set lies outside of the roots, or beyond the only one. A cost is not negative.
    return c / (b + math.sqrt(inner)), None
