"""Evaluates pairs of the bundled sample task in asyncio, a few at once.

    python docs/examples/evaluate_async.py [PAIR ...] [--at-once N] [--timeout SECONDS]

A pair is two features, written as 1-2. Each verdict is printed as soon as it is known.
Ctrl-C or a deadline ends everything: no test continues, and nothing is left on disk.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

import cooperbench_eval as ce

SAMPLE = Path(__file__).resolve().parent / "sample"
TASK = ce.Dataset(SAMPLE / "dataset").task("pennybook_task", 1)
BASE = ce.Snapshot.from_dir(SAMPLE / "base")
# Pytest plug-ins that happen to be installed here are not part of the task.
ENV = {"PYTHONPATH": "src", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def pair_of(features: str) -> ce.FeaturePair:
    """Make the pair that is written as 1-2, from the task's own solutions."""
    first, second = (
        ce.Feature(number=number, patch=TASK.gold_patch(number), tests=TASK.suite(number, env=ENV))
        for number in map(int, features.split("-"))
    )
    return ce.FeaturePair(
        repo_name=TASK.repo_name, task_id=TASK.task_id, base=BASE, feature1=first, feature2=second
    )


async def judge(
    pair: ce.FeaturePair, evaluator: ce.Evaluator, places: asyncio.Semaphore, seconds: float
) -> None:
    """Evaluate one pair as soon as there is a place for it, and print its verdicts."""
    name = f"{pair.feature1.number}-{pair.feature2.number}"
    async with places:
        try:
            async with asyncio.timeout(seconds):
                report = await evaluator.aevaluate(pair)
        except TimeoutError:
            print(f"{name}: not done within {seconds:g} seconds", flush=True)
            return
    verdicts = ", ".join(f"{each.strategy} {each.verdict}" for each in report.attempts)
    print(f"{name}: {report.merge_status}; {verdicts}", flush=True)


async def run(pairs: list[ce.FeaturePair], at_once: int, seconds: float) -> None:
    """Evaluate all pairs; if one raises, the others are cancelled."""
    places = asyncio.Semaphore(at_once)
    with tempfile.TemporaryDirectory() as folder:
        # Processes share a cache file, so the base is tested once for all pairs.
        runner = ce.TestRunner(cache=Path(folder) / "results.sqlite")
        evaluator = ce.Evaluator(strategies=["naive", "union"], runner=runner)
        async with asyncio.TaskGroup() as group:
            for pair in pairs:
                group.create_task(judge(pair, evaluator, places, seconds))


def main() -> None:
    """Evaluate the pairs that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pairs", nargs="*", default=["1-2", "2-5"], help="as 1-2")
    parser.add_argument("--at-once", type=int, default=2, help="how many at a time")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for each")
    options = parser.parse_args()
    pairs = [pair_of(features) for features in options.pairs]
    try:
        asyncio.run(run(pairs, options.at_once, options.timeout))
    except KeyboardInterrupt:  # asyncio has cancelled and awaited all tasks by now
        sys.exit(130)


if __name__ == "__main__":
    main()
