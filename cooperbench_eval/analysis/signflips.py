"""Sign-flip tests of the differences between teams, with p-values adjusted for many tests.

If two teams are equally good, their results in a task differ only by chance, so each difference
could as well have the other sign. All pairs of a task change sign together, because they are not
independent.
"""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, combinations, compress

from attrs import frozen

_MOST_WORK = 5_000_000
_EPSILON = 1e-12
"""Sums that differ by less than this, relative to their spread, are equal but for rounding."""


def flip_test(differences: Sequence[int]) -> float:
    """Return the probability that random signs give a sum at least as far from zero.

    The *differences* say how far one team is ahead of the other in each cluster. The distribution
    is computed by adding one after the other. With thousands of clusters and disagreements, the
    normal distribution with the same variance approximates it.
    """
    return _flip_test(tuple(sorted(abs(each) for each in differences if each)), sum(differences))


@lru_cache(maxsize=256)
def _flip_test(sizes: tuple[int, ...], total: int) -> float:
    total = abs(total)
    if not total:
        return 1.0
    if len(sizes) * sum(sizes) > _MOST_WORK:
        spread = math.sqrt(2 * math.fsum(each**2 for each in sizes))
        return math.erfc(total / spread)
    ways = [1.0]  # the share of the flips in which each sum of the flipped differences occurs
    for size in sizes:
        rest = [0.0] * size
        ways = [
            (kept + flipped) / 2 for kept, flipped in zip(ways + rest, rest + ways, strict=True)
        ]
    # Flipping a sum of s changes the total by 2s, so at most this much is flipped.
    return min(1.0, 2 * math.fsum(ways[: (sum(sizes) - total) // 2 + 1]))


@frozen
class Difference:
    """How far one team is ahead of another.

    Attributes:
        first: The place of the team that is ahead, or of either if none is.
        second: The place of the other one.
        centre: The share of both together, which is the expected share of each task if they are
            equally good.
        spread: The root of the sum of the squared differences of the tasks. In a task, each team
            has an excess: its count minus the count that *centre* predicts, divided by the team's
            total in all tasks. The difference is the first's excess minus the second's.
        difference: The sum of these differences: how much greater the first's share is.
    """

    first: int
    second: int
    centre: float
    spread: float
    difference: float

    @property
    def statistic(self) -> float:
        """The difference divided by *spread*; 0 if the tasks do not differ."""
        return self.difference / self.spread if self.spread else 0.0


@frozen
class Teams:
    """The counts of teams in the same tasks, and their totals there, none of which is zero."""

    counts: tuple[tuple[int, ...], ...]
    totals: tuple[tuple[int, ...], ...]

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return len(self.counts[0])

    def differences(self) -> list[Difference]:
        """Return the difference of every two teams."""
        sums = [(sum(one), sum(all_)) for one, all_ in zip(self.counts, self.totals, strict=True)]
        found = []
        for one, other in combinations(range(len(sums)), 2):
            shares = [sums[team][0] / sums[team][1] for team in (one, other)]
            first, second = (one, other) if shares[0] >= shares[1] else (other, one)
            count, total = (sums[first][part] + sums[second][part] for part in (0, 1))
            centre = count / total
            ahead = zip(
                self._above(first, centre, sums[first][1]),
                self._above(second, centre, sums[second][1]),
                strict=True,
            )
            parts = [above - below for above, below in ahead]
            spread = math.sqrt(math.fsum(each**2 for each in parts))
            found.append(Difference(first, second, centre, spread, abs(shares[0] - shares[1])))
        return found

    def _above(self, team: int, centre: float, whole: int) -> list[float]:
        both = zip(self.counts[team], self.totals[team], strict=True)
        return [(count - centre * total) / whole for count, total in both]

    def flipped(self, differences: Iterable[Difference], keeps: Sequence[bool]) -> list[float]:
        """Return the statistics if the sign of every task that *keeps* does not mark is flipped."""
        counts = [2 * sum(compress(each, keeps)) - sum(each) for each in self.counts]
        totals = [2 * sum(compress(each, keeps)) - sum(each) for each in self.totals]
        wholes = [sum(each) for each in self.totals]
        return [
            (
                (counts[each.first] - each.centre * totals[each.first]) / wholes[each.first]
                - (counts[each.second] - each.centre * totals[each.second]) / wholes[each.second]
            )
            / (each.spread or 1.0)
            for each in differences
        ]


def is_exact(tasks: int, draws: int) -> bool:
    """Whether there are at most *draws* ways to flip the signs of so many tasks."""
    return tasks < draws.bit_length()


def adjusted_p_values(
    teams: Teams, differences: Sequence[Difference], *, draws: int, seed: int
) -> list[float]:
    """Return the p-value of each difference, adjusted for all of them.

    The sign of each task is flipped for all teams together. After each flip, a difference is
    compared with the greatest of all statistics. The more significant differences count in the
    wrong direction only, and the others in either direction (Romano and Wolf, Exact and
    Approximate Stepdown Methods for Multiple Hypothesis Testing, JASA 100, 2005). So for any `a`,
    the probability that a difference with a p-value of at most `a` is in fact zero or has the
    other sign is at most `a`, for all differences together.
    """
    order = sorted(range(len(differences)), key=lambda place: -differences[place].statistic)
    ranked = [differences[place] for place in order]
    statistics = [each.statistic - _EPSILON for each in ranked]
    reached = [0] * len(ranked)
    flips = 0
    for keeps in _flips(teams.tasks, draws, seed):
        flips += 1
        values = teams.flipped(ranked, keeps)
        wrong = accumulate((-each for each in values), max, initial=-math.inf)
        either = [*accumulate(map(abs, reversed(values)), max)]
        greatest = map(max, wrong, reversed(either))
        for place, (one, flipped) in enumerate(zip(statistics, greatest, strict=True)):
            reached[place] += flipped >= one
    shares = accumulate((each / flips for each in reached), max)
    found = dict(zip(order, shares, strict=True))
    return [found[place] for place in range(len(differences))]


def _flips(tasks: int, draws: int, seed: int) -> Iterator[list[bool]]:
    """Yield which tasks keep their sign: every possibility, or no flip and then random flips."""
    if is_exact(tasks, draws):
        numbers: Iterable[int] = range(2**tasks)
    else:
        bits = random.Random(seed)  # noqa: S311 - not for secrets
        numbers = chain([0], (bits.getrandbits(tasks) for _ in range(draws)))
    for number in numbers:
        yield [not number >> task & 1 for task in range(tasks)]
