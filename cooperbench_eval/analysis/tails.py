"""The tails of three distributions: normal, binomial and Student's t."""

import math
from functools import lru_cache
from statistics import NormalDist

__all__ = ["mcnemar", "student", "wilson"]

_MOST_EXACT = 10_000
"""With more throws of a coin, whole numbers take long; logarithms are right to eight digits."""
_EPSILON = 1e-17
"""A term that is smaller than the sum by this factor does not change it."""


def wilson(count: int, total: int, confidence: float) -> tuple[float, float]:
    """Return Wilson's score interval (Wilson 1927, JASA 22: 209-212).

    Its ends are the shares `p` whose normal approximation puts the observed share `z` standard
    deviations away: `(share - p)² = z² p (1 - p) / total`, a quadratic equation in `p`.
    """
    z = -NormalDist().inv_cdf((1 - confidence) / 2)
    share = count / total
    whole = 2 * (total + z**2)
    middle = (2 * total * share + z**2) / whole
    half = z / whole * math.sqrt(4 * total * share * (1 - share) + z**2)
    return (middle - half if count else 0.0), (middle + half if count < total else 1.0)


def mcnemar(fewer: int, disagreements: int) -> float:
    """Return the p-value of McNemar's exact test, two-sided (Psychometrika 12, 1947).

    It is twice the probability that a fair coin shows heads at most *fewer* times in
    *disagreements* throws. The most probable of these counts is computed exactly, or from
    logarithms if there are thousands. The others
    follow from the ratio of two neighbours, `C(n, k - 1) / C(n, k) = k / (n - k + 1)`.
    """
    if 2 * fewer + 1 >= disagreements:  # the two halves cover every count
        return 1.0
    total = term = 1.0
    for k in range(fewer, 0, -1):
        term *= k / (disagreements - k + 1)
        total += term
        if term < _EPSILON * total:
            break
    return 2 * total * _coin(fewer, disagreements)


def _coin(heads: int, throws: int) -> float:
    """Return the probability that a fair coin shows heads exactly so many times."""
    if throws <= _MOST_EXACT:
        return math.comb(throws, heads) / (1 << throws)
    ways = math.lgamma(throws + 1) - math.lgamma(heads + 1) - math.lgamma(throws - heads + 1)
    return math.exp(ways - throws * math.log(2))


@lru_cache(maxsize=64)
def student(confidence: float, free: int) -> float:
    """Return how many standard errors Student's t interval extends to each side.

    With the angle `a = atan(t / sqrt(free))`, the probability that `|T| < t` is a finite sum of
    sines and cosines (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and
    26.7.4). As a function of the angle it is concave, so Newton's method approaches the solution
    from below. It starts at the normal distribution's value, which is always less.

    Args:
        confidence: The probability of the interval, between 0 and 1.
        free: The degrees of freedom, at least 1.
    """
    root = math.sqrt(free)
    angle = math.atan(NormalDist().inv_cdf((1 + confidence) / 2) / root)
    # The slope is constant * cos(a)^(free - 1), where the integral over the angles is 1.
    gammas = math.exp(math.lgamma((free + 1) / 2) - math.lgamma(free / 2))
    constant = 2 / math.sqrt(math.pi) * gammas
    for _ in range(100):
        step = (confidence - _within(angle, free)) / (constant * math.cos(angle) ** (free - 1))
        if step <= angle * 1e-16:
            break
        angle += step
    return math.tan(angle) * root


def _within(angle: float, free: int) -> float:
    """Return the probability that `|T|` is less than `tan(angle) * sqrt(free)`."""
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = free % 2
    term = sine * cosine if is_odd else sine
    total = 0.0
    for k in range(1 + is_odd, free, 2):  # one term for each second degree of freedom
        total += term
        term *= cosine**2 * k / (k + 1)
        if term < _EPSILON * total:
            break
    return 2 / math.pi * (angle + total) if is_odd else total
