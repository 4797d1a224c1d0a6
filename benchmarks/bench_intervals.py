"""Simulates teams, and counts how often intervals and rankings are right.

    python benchmarks/bench_intervals.py [--repeats N] [--seed N]

Each task has 1 to 45 pairs, as many as 2 to 10 features have. The chance of success differs
between tasks. For intervals it has a beta distribution, so that two pairs of a task have the
given correlation. For rankings it comes from a normal variable with this correlation, half of
whose variance is common to all teams, because some tasks are hard for all.

The first table has the share of the 95% intervals that contain the true rate, without clusters
and with them, and the mean width. The second table has three shares: rankings that tell equal
teams apart or put teams in the wrong order (at most 5% are wanted), rankings in which every true
rank is in its interval (at least 95% are wanted), and pairs of different teams that are told
apart. The last column is the standard error of a share of 95%.
"""

import argparse
import math
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from statistics import NormalDist

from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.analysis.signflips import Teams, adjusted_p_values

PAIRS = (1, 3, 6, 10, 15, 21, 28, 36, 45)
_LEVEL = 0.05


def chance(rng: random.Random, rate: float, alike: float) -> float:
    """Return a task's chance of success."""
    if not alike:
        return rate
    others = (1 - alike) / alike
    return rng.betavariate(rate * others, (1 - rate) * others)


def successes(rng: random.Random, pairs: int, probability: float) -> int:
    """Return how many pairs succeed."""
    return sum(rng.random() < probability for _ in range(pairs))


def covered(rng: random.Random, tasks: int, alike: float, rate: float, repeats: int) -> str:
    """Simulate one row of the first table."""
    hits, widths = [0, 0], [0.0, 0.0]
    for _ in range(repeats):
        totals = rng.choices(PAIRS, k=tasks)
        counts = [successes(rng, total, chance(rng, rate, alike)) for total in totals]
        clusters = list(zip(counts, totals, strict=True))
        count, total = sum(counts), sum(totals)
        rates = (Rate(count, total), Rate(count, total, clusters=clusters))
        for place, each in enumerate(rates):
            low, high = each.low or 0.0, 1.0 if each.high is None else each.high
            hits[place] += low <= rate <= high
            widths[place] += high - low
    shares = [
        f"{hit / repeats:9.1%}{width / repeats:9.3f}"
        for hit, width in zip(hits, widths, strict=True)
    ]
    return f"{tasks:5}{alike:7.1f}{rate:6.1f}{''.join(shares)}{error(repeats):8.1%}"


def error(repeats: int) -> float:
    """Return the standard error of a share of 95%."""
    return math.sqrt(0.95 * 0.05 / repeats)


def common_chances(rng: random.Random, rates: Sequence[float], alike: float) -> Iterator[float]:
    """Yield each team's chance in a task, half of whose difficulty is the same for all teams.

    The chance is that of a normal variable, so that each team has its rate over all tasks.
    """
    normal = NormalDist()
    shared = rng.gauss(0, 1)
    for rate in rates:
        own = math.sqrt(0.5) * shared + math.sqrt(0.5) * rng.gauss(0, 1)
        centre = normal.inv_cdf(rate) + math.sqrt(alike) * own
        yield normal.cdf(centre / math.sqrt(1 - alike))


def ranked(
    rng: random.Random, tasks: int, alike: float, rates: Sequence[float], repeats: int
) -> tuple[int, int, float]:
    """Return how often an order is wrong, how often all ranks are right, and the power."""
    wrong, right, power = 0, 0, 0.0
    different = sum(one > other for one, other in product(rates, rates))
    for number in range(repeats):
        totals = rng.choices(PAIRS, k=tasks)
        columns = [
            [successes(rng, total, each) for each in common_chances(rng, rates, alike)]
            for total in totals
        ]
        teams = Teams(tuple(zip(*columns, strict=True)), (tuple(totals),) * len(rates))
        differences = teams.differences()
        p_values = adjusted_p_values(teams, differences, draws=500, seed=number)
        apart = [
            (each.first, each.second)
            for each, p_value in zip(differences, p_values, strict=True)
            if p_value <= _LEVEL
        ]
        wrong += any(rates[one] <= rates[other] for one, other in apart)
        right += all(_holds(place, rates, apart) for place in range(len(rates)))
        found = sum(rates[one] > rates[other] for one, other in apart)
        power += found / different if different else 0.0
    return wrong, right, power


def _holds(place: int, rates: Sequence[float], apart: Sequence[tuple[int, int]]) -> bool:
    """Whether a team's true rank is in its interval."""
    true = 1 + sum(rate > rates[place] for rate in rates)
    best = 1 + sum(other == place for _, other in apart)
    worst = len(rates) - sum(one == place for one, _ in apart)
    return best <= true <= worst


RATES: dict[str, Callable[[int], list[float]]] = {
    "equal": lambda size: [0.4] * size,
    "equal, low": lambda size: [0.1] * size,
    "one better": lambda size: [0.6] + [0.4] * (size - 1),
    "halves": lambda size: [0.6] * (size // 2) + [0.3] * (size - size // 2),
    "spread": lambda size: [0.2 + 0.5 * place / (size - 1) for place in range(size)],
}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=3200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - not for secrets
    print("tasks  alike  rate  without    width     with    width   error")
    for tasks, alike, rate in product((5, 12, 30), (0.0, 0.1, 0.3, 0.5), (0.1, 0.3, 0.5, 0.9)):
        print(covered(rng, tasks, alike, rate, options.repeats), flush=True)
    repeats = max(options.repeats // 4, 1)
    print("\ntasks  teams  alike  rates        wrong order  ranks right  told apart   error")
    for tasks, size, alike, name in product((12, 30), (3, 8), (0.1, 0.4), RATES):
        wrong, right, power = ranked(rng, tasks, alike, RATES[name](size), repeats)
        shares = f"{wrong / repeats:12.1%}{right / repeats:13.1%}{power / repeats:12.1%}"
        print(f"{tasks:5}{size:7}{alike:7.1f}  {name:12}{shares}{error(repeats):8.1%}", flush=True)


if __name__ == "__main__":
    main()
