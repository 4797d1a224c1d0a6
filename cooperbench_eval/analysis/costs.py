"""What agents' work cost over many pairs, and what a correct pair costs."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, fields, frozen

from cooperbench_eval.analysis.rates import Distribution
from cooperbench_eval.analysis.tails import student

__all__ = ["AgentSummary", "CostPerCorrect", "measure_agents", "measure_cost"]

_FEWEST = 2


@frozen(kw_only=True)
class AgentSummary:
    """What agents' work cost: how each number is spread over the pairs or teams that have it.

    `count` of each distribution is the number of pairs for which it is known; the others are
    in none of its other numbers. An agent that made both features of a pair counts once.

    Attributes:
        cost_usd: What the requests to models cost, in US dollars.
        steps: The number of requests to models.
        input_tokens: The tokens that the models read.
        output_tokens: The tokens that they wrote.
        cache_read_tokens: The tokens that were read from a cache of prompts.
        cache_write_tokens: The tokens that were written to it.
        messages_sent: The messages to other agents.
    """

    cost_usd: Distribution = field(factory=Distribution)
    steps: Distribution = field(factory=Distribution)
    input_tokens: Distribution = field(factory=Distribution)
    output_tokens: Distribution = field(factory=Distribution)
    cache_read_tokens: Distribution = field(factory=Distribution)
    cache_write_tokens: Distribution = field(factory=Distribution)
    messages_sent: Distribution = field(factory=Distribution)

    def to_dict(self) -> dict[str, Any]:
        """Return the distributions as plain JSON values."""
        return {each.name: getattr(self, each.name).to_dict() for each in fields(type(self))}


@frozen(kw_only=True)
class CostPerCorrect:
    """What the agents' work cost for each pair that is correct.

    It is the cost of all pairs over the number of correct ones, so pairs that fail make it
    dearer. Only pairs with an answer and a known cost count. The interval is Fieller's for
    the ratio of two means (Some Problems in Interval Estimation, Journal of the Royal
    Statistical Society B 16, 1954, 175-185), with Student's t. It assumes that pairs are
    independent; those of one task are only partly.

    Attributes:
        pairs: The number of pairs that count.
        unknown: The number of pairs with an answer whose cost is not known.
        correct: How many of *pairs* are correct.
        total_usd: What all *pairs* cost, in US dollars.
        low: The lower end of the interval; `None` if there is no correct pair, or fewer than
            two pairs.
        high: The upper end; `None` for the same reasons, and if there are too few correct pairs
            to bound it.

    Example:
        >>> CostPerCorrect(pairs=5, correct=3, total_usd=8.25).value
        2.75
    """

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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON values."""
        names = ("pairs", "unknown", "correct", "total_usd", "value", "low", "high")
        return {name: getattr(self, name) for name in names}


def measure_agents(amounts: Mapping[str, Sequence[float]]) -> AgentSummary:
    """Measure the known amounts of each number."""
    found = {name: Distribution.of(each) for name, each in amounts.items()}
    return AgentSummary(**found)


def measure_cost(
    correct: Sequence[float],
    others: Sequence[float],
    *,
    unknown: int = 0,
    confidence: float = 0.95,
) -> CostPerCorrect:
    """Measure the known costs of the *correct* pairs and of the *others*, in any order.

    Example:
        >>> costs = measure_cost([1.0, 2.0, 1.5], [2.5, 1.0], confidence=0.9)
        >>> f"{costs.value:.2f} from {costs.low:.2f} to {costs.high:.2f}"
        '2.67 from 1.11 to 22.44'
    """
    low, high = _fieller(correct, others, confidence) if correct else (None, None)
    return CostPerCorrect(
        pairs=len(correct) + len(others),
        unknown=unknown,
        correct=len(correct),
        total_usd=math.fsum((*correct, *others)),
        low=low,
        high=high,
    )


def _fieller(
    correct: Sequence[float], others: Sequence[float], confidence: float
) -> tuple[float | None, float | None]:
    """Return Fieller's interval for the mean cost over the share of correct pairs.

    A ratio `r` is in it unless `mean(y) - r mean(x)` differs from 0 by more than `t` standard
    errors, where `y` is a pair's cost, and `x` is 1 for a correct pair and else 0. The ends are
    the roots of `a r² - 2 b r + c`. If `a` is not positive, the share of correct pairs may be 0,
    and the ratio has no upper bound.
    """
    n = len(correct) + len(others)
    if n < _FEWEST:
        return None, None
    share, mean = len(correct) / n, math.fsum((*correct, *others)) / n
    scale = student(confidence, n - 1) ** 2 / (n * (n - 1))
    square = math.fsum((cost - mean) ** 2 for cost in (*correct, *others))
    together = math.fsum(cost - mean for cost in correct)
    a = share**2 - scale * n * share * (1 - share)
    b = share * mean - scale * together
    c = mean**2 - scale * square
    inner = b * b - a * c
    if a > 0:
        root = math.sqrt(max(inner, 0.0))
        return max((b - root) / a, 0.0), (b + root) / a
    if inner <= 0 or c <= 0:
        return 0.0, None
    # The set lies outside of the roots, or beyond the only one. A cost is not negative.
    return c / (b + math.sqrt(inner)), None
