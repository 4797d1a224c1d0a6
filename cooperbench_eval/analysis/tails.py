"""Wilson's interval, McNemar's test and Student's t interval, from the tails of distributions."""

import math
from functools import lru_cache
from statistics import NormalDist

_MOST_EXACT = 10_000
"""With more throws of a coin, whole numbers take long; logarithms are right to eight digits."""
_EPSILON = 1e-17
"""A term that is smaller than the sum by this factor does not change it."""
_MOST_TERMS = 10_000
_PRECISION = 1e-15


def wilson(count: float, total: float, confidence: float) -> tuple[float, float]:
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
def student(confidence: float, free: float) -> float:
    """Return how many standard errors Student's t interval extends to each side.

    As a function of the angle `a = atan(t / sqrt(free))`, the probability that `|T| < t` is
    concave, so Newton's method approaches the solution from below. It starts at the normal
    distribution's value, which is always less.

    Args:
        confidence: The probability of the interval, between 0 and 1.
        free: The degrees of freedom, at least 1; not necessarily a whole number.
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


def _within(angle: float, free: float) -> float:
    """Return the probability that `|T|` is less than `tan(angle) * sqrt(free)`.

    It is the regularized incomplete beta function of `sin²` (NIST Digital Library of Mathematical
    Functions, 8.17). Its continued fraction converges fast below the mean.
    """
    inside, outside = math.sin(angle) ** 2, math.cos(angle) ** 2
    if inside < 3 / (free + 5):
        return _beta(inside, outside, 0.5, free / 2)
    return 1 - _beta(outside, inside, free / 2, 0.5)


def _beta(x: float, rest: float, a: float, b: float) -> float:
    """Return `I_x(a, b)` by its continued fraction, 8.17.22; *rest* is `1 - x`.

    The fraction is evaluated from its front by Lentz's method.
    """
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)) * x**a * rest**b / a
    upper, lower = 1.0, 1 / (1 - (a + b) / (a + 1) * x)
    fraction = lower
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            lower, upper = 1 / (1 + term * lower), 1 + term / upper
            change *= lower * upper
        fraction *= change
        if abs(change - 1) < _PRECISION:
            break
    return float(scale * fraction)
