"""What agents' work cost over many pairs, and what a correct pair costs."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attrs import field, frozen

from cooperbench_eval.analysis.measures import Distribution
from cooperbench_eval.analysis.tails import student
from cooperbench_eval.reporting.agent_costs import AGENT_USAGE
from cooperbench_eval.support.plain import Plain

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
        low: The lower end of the interval; `None` if there is no correct pair, or fewer than
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
    """The cost of one pair, or of the pairs of one cluster.

    Attributes:
        pairs: How many pairs there are.
        correct: How many of them are correct.
        usd: What they cost together, in US dollars.
    """

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
