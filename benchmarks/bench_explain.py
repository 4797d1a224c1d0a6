"""Lets `explain` find the reason of clean merges that lost a test.

    python benchmarks/bench_explain.py [--seed N] [--budget N] [--verbose]

Each of 15 shapes of interference is planted twice, with either feature losing its test,
among innocent changes of both features. A pair is found if the planted lines of both
features are among the reported ones.
"""

import argparse
import random
import statistics
import time
from collections.abc import Iterator

from broken_merges import SHAPES, BrokenPair, build

from cooperbench_eval import Evaluator, Explanation, LocalSandbox, TestRunner, explain
from cooperbench_eval.explaining.splitting import split_side
from cooperbench_eval.patching.apply import apply_patch

_ROW = "{:34}{:>8}{:>7}{:>9}{:>10}{:>6}{:>9}"


def pairs(seed: int) -> Iterator[tuple[str, BrokenPair]]:
    """Yield each pair with its name."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    for is_mirrored in (False, True):
        for shape in SHAPES:
            name = f"{shape.name}, mirrored" if is_mirrored else shape.name
            yield name, build(shape, rng, is_mirrored=is_mirrored)


def explained(broken: BrokenPair, budget: int) -> Explanation:
    """Evaluate the pair, and explain why it broke."""
    runner = TestRunner(sandbox=LocalSandbox())
    report = Evaluator(strategies=["naive"], runner=runner).evaluate(broken.pair)
    if report.blame("naive").features != (broken.owner,):
        raise ValueError(f"the pair did not break as planned: {report.blame('naive')}")
    return explain(report, broken.pair, strategy="naive", runner=runner, budget=budget)


def hunks_of(broken: BrokenPair) -> str:
    """Return how many hunks each side has."""
    base = broken.pair.base
    features = (broken.pair.feature1, broken.pair.feature2)
    sides = (apply_patch(base, feature.patch).changes for feature in features)
    return "+".join(str(len(split_side(base, side, {}).hunks)) for side in sides)


def main() -> None:
    """Print a row for each pair, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("--verbose", action="store_true", help="print each explanation")
    options = parser.parse_args()
    runs: list[int] = []
    found = minimal = 0
    print(_ROW.format("pair", "hunks", "found", "minimal", "reported", "runs", "seconds"))
    for name, broken in pairs(options.seed):
        began = time.perf_counter()
        explanation = explained(broken, options.budget)
        seconds = f"{time.perf_counter() - began:.1f}"
        is_found, is_minimal = broken.is_found(explanation), explanation.is_minimal
        reported = len(explanation.feature1_hunks) + len(explanation.feature2_hunks)
        runs.append(explanation.runs_used)
        found, minimal = found + is_found, minimal + is_minimal
        yes = {True: "yes", False: "no"}
        print(
            _ROW.format(
                name, hunks_of(broken), yes[is_found], yes[is_minimal], reported, runs[-1], seconds
            ),
            flush=True,
        )
        if options.verbose:
            print(explanation)
    print(
        f"{len(runs)} pairs: {found} found, {minimal} minimal, "
        f"runs: median {statistics.median(runs):g}, at most {max(runs)}"
    )


if __name__ == "__main__":
    main()
