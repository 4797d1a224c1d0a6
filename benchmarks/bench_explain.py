"""Lets `explain` find the reason of clean merges that lost a test.

    python benchmarks/bench_explain.py [--seed N] [--budget N] [--verbose]

Each of 15 shapes of interference is planted twice, with either feature losing its test,
among innocent changes of both features. A pair is found if the planted lines of both
features are among the reported ones, and traced if they are in the functions of the
report's trace, which needs no further runs.
"""

import argparse
import random
import statistics
import time
from collections.abc import Iterator

from broken_merges import SHAPES, BrokenPair, build

from cooperbench_eval import Evaluator, Explanation, LocalSandbox, TestRunner, explain
from cooperbench_eval.evaluation.explaining.splitting import split_side
from cooperbench_eval.git.patching.apply import apply_patch

_ROW = "{:34}{:>8}{:>8}{:>7}{:>9}{:>10}{:>6}{:>9}"


def pairs(seed: int) -> Iterator[tuple[str, BrokenPair]]:
    """Yield each pair with its name."""
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    for is_mirrored in (False, True):
        for shape in SHAPES:
            name = f"{shape.name}, mirrored" if is_mirrored else shape.name
            yield name, build(shape, rng, is_mirrored=is_mirrored)


def explained(broken: BrokenPair, budget: int) -> tuple[Explanation, bool]:
    """Evaluate the pair and explain why it broke, and say whether the report's trace shows it."""
    runner = TestRunner(sandbox=LocalSandbox())
    report = Evaluator(strategies=["naive"], runner=runner).evaluate(broken.pair)
    if report.blame("naive").features != (broken.owner,):
        raise ValueError(f"the pair did not break as planned: {report.blame('naive')}")
    explanation = explain(report, broken.pair, strategy="naive", runner=runner, budget=budget)
    return explanation, broken.is_traced(report.attempt("naive").trace)


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
    found = minimal = traced = 0
    print(_ROW.format("pair", "hunks", "traced", "found", "minimal", "reported", "runs", "seconds"))
    for name, broken in pairs(options.seed):
        began = time.perf_counter()
        explanation, is_traced = explained(broken, options.budget)
        seconds = f"{time.perf_counter() - began:.1f}"
        is_found, is_minimal = broken.is_found(explanation), explanation.is_minimal
        reported = len(explanation.feature1_hunks) + len(explanation.feature2_hunks)
        runs.append(explanation.runs_used)
        found, minimal, traced = found + is_found, minimal + is_minimal, traced + is_traced
        yes = {True: "yes", False: "no"}
        print(
            _ROW.format(
                name,
                hunks_of(broken),
                yes[is_traced],
                yes[is_found],
                yes[is_minimal],
                reported,
                runs[-1],
                seconds,
            ),
            flush=True,
        )
        if options.verbose:
            print(explanation)
    print(
        f"{len(runs)} pairs: {traced} traced, {found} found, {minimal} minimal, "
        f"runs: median {statistics.median(runs):g}, at most {max(runs)}"
    )


if __name__ == "__main__":
    main()
