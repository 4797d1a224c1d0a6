"""Judges strategies by tests, on the gold pairs that conflict in the naive merge.

    python benchmarks/resolve.py --dataset DIR --repos DIR [--task NAME/ID ...]
        [--patches DIR] [--strategy NAME ...] [--tools DIR] [--cache FILE] [--jobs N]
        [--show] [--times]

Feature 1 is merged into feature 2, as an evaluation does it. A result is correct if no
conflict is left and both features' suites pass; each distinct tree is tested once. Pairs
of which a side fails its own suite alone are not counted. The suites need the Python
projects' test dependencies in this environment, and for Go and TypeScript a folder that
--tools names: what is missing in it is installed, with pip, and with npm on Node 20 or
later. Tasks whose suites need more are judged only by their text.

A strategy is a name, `structured+tokens+union` for a cascade, or `cascade` for that same
one; `structured-strict` is `structured` without changes to other lines. The strategies
were developed on the development tasks, so only results on the held-out tasks show
their worth. Precision is correct over accepted; intervals are Wilson's at 95 %; *against
union* counts the pairs that only this strategy and only union get right, with McNemar's
exact p. Pairs of a task share features, so they are less independent than both
statistics assume.

With --patches the features are not those of the dataset's own solutions: it takes
DIR/REPO_ID/feature1.patch and so on, for example the patches of real agents. Folders
with a prefix, such as DIR/first_REPO_ID, are pairs of their own. With the prefix `dev_`
they count as development, otherwise as held-out, whatever their task is.

With --times it only measures the processor time of each merge, by language. Each
strategy runs in a process of its own, pair after pair, so that it finds only what its
own merges remember.

With --cache the suites' results are kept; remove the file after the suites or the
installed packages changed.
"""

import argparse
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from repositories import add_dataset_options, tasks_with_bases
from resolving_pairs import Pair, load_strategies, patches_of, resolve_task
from resolving_suites import Job, Results, TestBed, run_missing
from resolving_tables import Judge, print_judged, print_textual
from resolving_times import print_times

from cooperbench_eval import Snapshot


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=True)
    parser.add_argument("--task", action="append", help="default: all")
    parser.add_argument("--strategy", action="append", help="default: all three and their cascade")
    parser.add_argument("--patches", type=Path, help="take these instead of the gold patches")
    parser.add_argument("--tools", type=Path, help="run Go and TypeScript suites with tools here")
    parser.add_argument("--cache", type=Path, help="keep what the suites showed in this file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("--show", action="store_true", help="print the verdicts on every pair")
    parser.add_argument("--times", action="store_true", help="only measure how long merges take")
    return parser.parse_args()


def evaluate(options: argparse.Namespace, specs: Iterable[str]) -> None:
    """Resolve, test, and print the tables."""
    strategies = load_strategies(specs)
    judged: list[Pair] = []
    textual: list[Pair] = []
    jobs: list[Job] = []
    for _, task, base in tasks_with_bases(options, options.task):
        pairs = [
            pair
            for patches in patches_of(task, options.patches)
            for pair in resolve_task(task, base, patches, strategies)
        ]
        bed = TestBed.of(task, base, options.tools) if pairs else None
        if bed is None:
            textual += pairs
        else:
            judged += pairs
            jobs += jobs_of(base, bed, pairs)
    results = Results(options.cache)
    run_missing(jobs, results, options.jobs)
    if judged:
        print_judged(judged, list(strategies), Judge(results), show=options.show)
    if textual:
        print_textual(textual, list(strategies), show=options.show)


def jobs_of(base: Snapshot, bed: TestBed, pairs: Iterable[Pair]) -> Iterator[Job]:
    """Yield each side's suite on that side alone, and both on each tree without conflicts."""
    for pair in pairs:
        for number, changes, tree in zip(pair.features, pair.sides, pair.alone, strict=True):
            yield bed.job((pair.task, number, tree), base, changes)
        for resolution in pair.resolutions.values():
            for number in pair.features if resolution.accepted else ():
                key = (pair.task, number, resolution.tree_id)
                yield bed.job(key, base, resolution.changes)


def main() -> None:
    """Print the tables; an interrupt leaves only the kept results."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = parse_options()
    specs = dict.fromkeys(options.strategy or ["union", "tokens", "structured", "cascade"])
    try:
        if options.times:
            print_times(specs, options)
        else:
            evaluate(options, specs)
    except KeyboardInterrupt:
        sys.exit("interrupted; with --cache, finished runs are kept")


if __name__ == "__main__":
    main()
