"""Intervals and tests from the tails of distributions, also for samples of clusters.

Members of one cluster, such as the pairs of a task, are alike, so a hundred pairs of five tasks
say less about other tasks than a hundred pairs of a hundred tasks.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

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
    if throws <= _MOST_EXACT:
        return math.comb(throws, heads) / (1 << throws)
    ways = math.lgamma(throws + 1) - math.lgamma(heads + 1) - math.lgamma(throws - heads + 1)
    return math.exp(ways - throws * math.log(2))


@lru_cache(maxsize=64)
def student(confidence: float, free: float) -> float:
    """Return how many standard errors Student's t interval extends to each side.

    As a function of the angle `a = atan(t / sqrt(free))`, the probability that `|T| < t` is
    concave, so Newton's method approaches the solution from below. It starts at the normal
    distribution's value, which is always less. The degrees of freedom may be a fraction.
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


# --- samples of clusters ---


Cluster = Literal["task", "repo"]
"""What pairs or teams are clustered by, as text, so that editors complete it."""
Counts = tuple[int, int]
"""How many things of a cluster have a property, and how many there are."""


def cluster_of(task: str, cluster: Cluster) -> str:
    """Return the cluster of a *task*, which is named by its repository and number."""
    return task if cluster == "task" else task.rpartition("/")[0]


def effective_total(clusters: Sequence[Counts], confidence: float) -> float | None:
    """Return how many independent things tell as much as the things of the *clusters*.

    It is the total divided by the design effect: the variance of the share, divided by the
    variance with independent things (Kish, Survey Sampling, 1965). The variance is estimated
    from few clusters, so the total is also multiplied by the squared ratio of two quantiles
    of Student's t (Korn and Graubard, Survey Methodology 24, 1998), with the degrees of freedom
    of Bell and McCaffrey (see `mean_error`).

    The design effect is the greatest of three numbers: the cluster-robust one, Kish's with the
    intraclass correlation of an analysis of variance (Donner and Klar, Design and Analysis of
    Cluster Randomization Trials in Health Research, 2000), and 1. If all things agree, no
    correlation can be estimated, and the greatest is assumed: things of a cluster always agree.

    Args:
        clusters: The counts of clusters that are not empty.
        confidence: The confidence of the interval that the result is for.

    Returns:
        More than 0 and at most the total; `None` with one cluster of several things, which
        does not show how much clusters differ.
    """
    count, total = (sum(part) for part in zip(*clusters, strict=True))
    if len(clusters) == total:
        return float(total)
    if len(clusters) == 1:
        return None
    sizes = [size for _, size in clusters]
    ratio = student(confidence, total - 1) / student(confidence, _free(sizes))
    effect = max(1.0, _kish(sizes, _intraclass(clusters)))
    if 0 < count < total:
        independent = count * (total - count) / total**2 / (total - 1)
        effect = max(effect, _robust(clusters, count / total) / independent)
    return float(total / effect * min(ratio, 1.0) ** 2)


def mean_error(clusters: Sequence[tuple[float, int]], confidence: float) -> float | None:
    """Return half the width of the interval of the mean of clustered values.

    The variance is cluster-robust and unbiased if the values are in fact independent, and the
    degrees of freedom are Satterthwaite's (Bell and McCaffrey, Survey Methodology 28, 2002:
    "CR2"). With one value in each cluster it is Student's interval. Each of the *clusters* is the
    sum of its values and their number. The result is `None` if there are fewer than two.
    """
    if len(clusters) < 2:  # noqa: PLR2004 - one cluster does not show how much clusters differ
        return None
    sizes = [size for _, size in clusters]
    mean = math.fsum(found for found, _ in clusters) / sum(sizes)
    return student(confidence, _free(sizes)) * math.sqrt(_robust(clusters, mean))


def _robust(clusters: Sequence[tuple[float, int]], mean: float) -> float:
    """Return the variance of the mean of all values.

    A cluster's deviation from its expected sum is too small, because it also moves the mean.
    The factor `1 - size / total` corrects this.
    """
    total = sum(size for _, size in clusters)
    parts = ((found - mean * size) ** 2 / (1 - size / total) for found, size in clusters)
    return math.fsum(parts) / total**2


def _free(sizes: Sequence[int]) -> float:
    """Return the degrees of freedom: `2 E² / Var` of the variance, with independent values."""
    total = sum(sizes)
    parts = [size**2 / (1 - size / total) for size in sizes]
    squares = math.fsum(parts) ** 2 - math.fsum(each**2 for each in parts)
    return total**2 / (sum(size**2 for size in sizes) + squares / total**2)


def _kish(sizes: Sequence[int], correlation: float) -> float:
    return 1 + (sum(size**2 for size in sizes) / sum(sizes) - 1) * correlation


def _intraclass(clusters: Sequence[Counts]) -> float:
    """Return the correlation of two things of a cluster, from 0 to 1; 1 if all things agree."""
    count, total = (sum(part) for part in zip(*clusters, strict=True))
    share, groups = count / total, len(clusters)
    between = math.fsum(size * (found / size - share) ** 2 for found, size in clusters)
    within = math.fsum(found * (1 - found / size) for found, size in clusters)
    usual = (total - sum(size**2 for _, size in clusters) / total) / (groups - 1)
    one, other = between / (groups - 1), within / (total - groups)
    whole = one + (usual - 1) * other
    return min(max((one - other) / whole, 0.0), 1.0) if whole else 1.0
