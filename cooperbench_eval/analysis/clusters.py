"""Intervals for samples of clusters, such as the pairs of each task.

Members of one cluster are alike, so a hundred pairs of five tasks say less about other tasks
than a hundred pairs of a hundred tasks.
"""

import math
from collections.abc import Sequence
from typing import Literal

from cooperbench_eval.analysis.tails import student

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
    "CR2"). With one value in each cluster it is Student's interval.

    Args:
        clusters: The sum and the number of the values of each cluster.
        confidence: The confidence of the interval.

    Returns:
        `None` with fewer than two clusters.
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
