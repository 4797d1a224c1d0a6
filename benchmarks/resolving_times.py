"""How long the merges of conflicting pairs take."""

import argparse
import resource
import statistics
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context

from attrs import frozen
from repositories import tasks_with_bases
from resolving_pairs import applied_pairs, load_strategies, main_language, patches_of
from resolving_suites import DEVELOPMENT, MEASURING

from cooperbench_eval import merge
from cooperbench_eval.errors import StrategyFailedError

__all__ = ["print_times"]


@frozen(kw_only=True)
class Timed:
    """The processor time of the merge of one conflicting pair."""

    task: str
    features: tuple[int, int]
    language: str
    milliseconds: float


def time_merges(spec: str, options: argparse.Namespace) -> tuple[list[Timed], float]:
    """Merge all pairs with one strategy; also return the most memory used, in MB."""
    strategy = load_strategies([spec])[spec]
    found = []
    for name, task, base in tasks_with_bases(options, options.task):
        sources = patches_of(task, options.patches)
        pairs = chain.from_iterable(applied_pairs(task, base, source) for source in sources)
        for features, sides in pairs:
            if sides is None:
                continue
            theirs, ours = sides
            began = time.process_time()
            try:
                conflicts = merge(base, ours, theirs, strategy=strategy).conflicts_met
            except StrategyFailedError:
                conflicts = 1
            milliseconds = 1000 * (time.process_time() - began)
            if conflicts:
                language = main_language((*ours, *theirs))
                found.append(
                    Timed(
                        task=name, features=features, language=language, milliseconds=milliseconds
                    )
                )
    return found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def print_times(specs: Iterable[str], options: argparse.Namespace) -> None:
    """Measure each strategy in a process of its own, and print its times by language."""
    print(f"{'milliseconds':<30}{'pairs':>6}{'median':>8}{'worst':>8}   slowest pair")
    for spec in specs:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            times, megabytes = pool.submit(time_merges, spec, options).result()
        print(f"{spec}, at most {megabytes:.0f} MB")
        print_row("tasks with tests", [t for t in times if t.task in DEVELOPMENT + MEASURING])
        for language in sorted({each.language for each in times}):
            print_row(language, [each for each in times if each.language == language])


def print_row(title: str, times: list[Timed]) -> None:
    """Print the median, and the slowest merge."""
    if times:
        median = statistics.median(each.milliseconds for each in times)
        worst = max(times, key=lambda each: each.milliseconds)
        print(
            f"  {title:<28}{len(times):>6}{median:>8.1f}{worst.milliseconds:>8.1f}"
            f"   {worst.task} f{worst.features[0]}+f{worst.features[1]}"
        )
