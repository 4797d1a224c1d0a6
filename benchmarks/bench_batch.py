"""Measures batches: pairs per second, two workers against one, and a store of 100,000 reports.

    python benchmarks/bench_batch.py --dataset DIR --repos DIR [--reports 100000] [--store DIR]

1. merge (naive and union) and score every pair of the gold corpus, no tests, on one
   core: in this process, after one pass that fills the file system's cache;
2. evaluate the same pairs with one new worker and with two, without a store and with one:
   pairs per second, the speed-up, and the milliseconds of CPU time per pair in this process
   and in the workers; then the speed-up for pairs whose tests run for a while;
3. fill a store with that many reports, each with test runs: the seconds until a batch over
   all of its pairs and a new one has sent the new one to a worker, the seconds to summarize
   it, and the peak memory of each, in separate processes.
"""

import argparse
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from attrs import evolve, frozen
from repositories import add_dataset_options, tasks_with_bases, untested_gold_pairs

from cooperbench_eval import (
    Changes,
    Entry,
    Evaluator,
    Feature,
    FeaturePair,
    LocalSandbox,
    MergeReport,
    ReportStore,
    Snapshot,
    TestResult,
    TestRunner,
    TestSuite,
    evaluate_many,
    summarize,
)
from cooperbench_eval.evaluation.batch import BatchEvent, EventKind
from cooperbench_eval.evaluation.batch.keys import PairKeys
from cooperbench_eval.evaluation.batch.packing import pack
from cooperbench_eval.evaluation.batch.workers import WorkerPool
from cooperbench_eval.reporting import FeatureReport
from cooperbench_eval.running.results import TestCase

_EVALUATOR = Evaluator(strategies=("naive", "union"))
_CASES = 20


def in_this_process(pairs: Sequence[FeaturePair]) -> float:
    """Evaluate every pair with a new evaluator; return the seconds."""
    evaluator = Evaluator(strategies=("naive", "union"))
    began = time.perf_counter()
    for pair in pairs:
        evaluator.evaluate(pair)
    return time.perf_counter() - began


@frozen
class Cost:
    """What a batch took: seconds, and milliseconds of CPU time per pair, here and in workers."""

    seconds: float
    here: float
    workers: float


def by_workers(
    pairs: Sequence[FeaturePair], evaluator: Evaluator, workers: int, store: Path | None = None
) -> Cost:
    """Evaluate every pair with that many workers, which have started but seen no pair."""
    with WorkerPool(workers) as pool:
        first = [synthetic_pair(number) for number in range(8 * workers)]
        list(evaluate_many(first, evaluator=_EVALUATOR, executor=pool))
        began, here, there = time.perf_counter(), time.process_time(), _cpu_of(pool)
        count = 0
        for report in evaluate_many(pairs, evaluator=evaluator, executor=pool, store=store):
            if report.failure:
                raise SystemExit("a pair could not be evaluated")
            count += 1
        seconds, here = time.perf_counter() - began, time.process_time() - here
        there = _cpu_of(pool) - there
    if store is not None and len(ReportStore(store)) != count:
        raise SystemExit("a report is not in the store")
    return Cost(seconds, 1000 * here / count, 1000 * there / count)


def _cpu_of(pool: WorkerPool) -> float:
    """Return the seconds of CPU time that the pool's workers have used."""
    ticks = 0
    for process in pool._processes:  # noqa: SLF001 - nothing else needs them
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def speed_up(
    pairs: Sequence[FeaturePair], evaluator: Evaluator, rounds: int, *, has_store: bool = False
) -> tuple[list[float], list[Cost]]:
    """Return the speed-ups of two workers over one, measured in turns, and what two took."""
    ratios, costs = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            stores = [Path(folder, name) if has_store else None for name in ("one", "two")]
            one = by_workers(pairs, evaluator, 1, stores[0])
            costs.append(by_workers(pairs, evaluator, 2, stores[1]))
        ratios.append(one.seconds / costs[-1].seconds)
    return ratios, costs


# --- pairs of our own -----------------------------------------------------------------

_BASE = Snapshot.from_files({"f.py": b"".join(b"line = %d\n" % n for n in range(40))})


def synthetic_pair(number: int, suite: TestSuite | None = None) -> FeaturePair:
    """Make one of many pairs, every other one with a conflict."""
    lines = (5, 5 if number % 2 else 25)
    features = [_feature(n, line, number, suite) for n, line in enumerate(lines, start=1)]
    return FeaturePair(
        repo_name=f"repository{number % 7}",
        task_id=number,
        base=_BASE,
        feature1=features[0],
        feature2=features[1],
        model=f"model{number % 3}",
        setting="coop",
    )


def _feature(n: int, line: int, number: int, suite: TestSuite | None) -> Feature:
    text = b"line = %d\n" % line
    new = _BASE.read("f.py").replace(text, text + b"new%d = %d\n" % (n, number))
    return Feature(number=n, patch=Changes({"f.py": Entry(new)}).diff(_BASE), tests=suite)


def tested_pairs(count: int) -> list[FeaturePair]:
    """Make pairs whose tests keep a core busy for a quarter of a second."""
    program = "import time\nend = time.process_time() + 0.05\nwhile time.process_time() < end: pass"
    suite = TestSuite(command=("python3", "-c", program), framework="exit")
    return [synthetic_pair(number, suite) for number in range(count)]


def fill(store: ReportStore, count: int) -> None:
    """Put the reports of that many pairs into a store, with long test outputs."""
    cases = tuple(TestCase(id=f"tests/test_f.py::test_{n}", status="passed") for n in range(_CASES))
    run = TestResult(status="passed", cases=cases, output="what it printed\n" * 100, exit_code=0)
    keys = PairKeys(_EVALUATOR)
    store.prepare()
    for number in range(count):
        pair = synthetic_pair(number)
        report = _with_runs(_EVALUATOR.evaluate(pair), run)
        store.put_packed(keys.key(pair), pack(report))


def _with_runs(report: MergeReport, run: TestResult) -> MergeReport:
    def feature(row: FeatureReport) -> FeatureReport:
        return evolve(row, tests=run, base_tests=evolve(run, status="failed"))

    attempts = [
        evolve(row, feature1_tests=run, feature2_tests=run) if row.status != "conflicts" else row
        for row in report.attempts
    ]
    return evolve(
        report,
        feature1=feature(report.feature1),
        feature2=feature(report.feature2),
        attempts=attempts,
    )


# --- the store ----------------------------------------------------------------------


class _Begun(Exception):  # noqa: N818 - no error: the moment that is waited for
    """The new pair was submitted."""


def resume(directory: str, count: int) -> float:
    """Return the seconds until a batch over a store and one new pair has found the new pair."""

    def tell(event: BatchEvent) -> None:
        if event.kind is EventKind.SUBMITTED:
            raise _Begun

    began = 0.0

    def pairs() -> Iterator[FeaturePair]:
        # Making the pairs is the caller's time and is not measured.
        nonlocal began
        for number in range(count + 1):
            mine = time.perf_counter()
            pair = synthetic_pair(number)
            began += time.perf_counter() - mine
            yield pair

    with ThreadPoolExecutor(1) as executor:
        began += time.perf_counter()
        try:
            for _ in evaluate_many(
                pairs(), evaluator=_EVALUATOR, executor=executor, store=directory, progress=tell
            ):
                pass
        except _Begun:
            return time.perf_counter() - began
    raise AssertionError("the new pair was not found")


def sum_up(directory: str, count: int) -> float:
    """Return the seconds to summarize a store, by repository and model."""
    began = time.perf_counter()
    summary = summarize(ReportStore(directory), by=("repo_name", "model"))
    seconds = time.perf_counter() - began
    if summary.pairs != count:
        raise SystemExit(f"the store has {summary.pairs} reports")
    return seconds


def measured(task: Callable[[str, int], float], directory: str, count: int) -> tuple[float, float]:
    """Run *task* in a new process; return its seconds and its megabytes."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_measure, (task, directory, count))


def _measure(task: Callable[[str, int], float], directory: str, count: int) -> tuple[float, float]:
    seconds = task(directory, count)
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print the numbers next to their targets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=False)
    parser.add_argument("--reports", type=int, default=100_000, help="how many to store")
    parser.add_argument("--store", type=Path, help="where to make the store, and leave it")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.dataset and options.repos:
        pairs = [
            pair
            for _, task, base in tasks_with_bases(options)
            for pair in untested_gold_pairs(task, base)
        ]
        in_this_process(pairs)
        seconds = [in_this_process(pairs) for _ in range(options.rounds)]
        rate = len(pairs) / median(seconds)
        print(f"{len(pairs)} gold pairs on one core: {rate:.0f} pairs/s (target: 400)")
        for has_store, where in ((False, "no store"), (True, "with a store")):
            ratios, costs = speed_up(pairs, _EVALUATOR, options.rounds, has_store=has_store)
            print(f"two workers, gold pairs, {where}: {_shown(ratios)} of one (target: 1.7)")
            rate, here, there = (
                median(each)
                for each in zip(
                    *((len(pairs) / c.seconds, c.here, c.workers) for c in costs), strict=True
                )
            )
            print(
                f"  {rate:.0f} pairs/s; CPU time per pair: {here:.2f} ms in this process, "
                f"{there:.2f} ms in the workers"
            )
    runner = TestRunner(sandbox=LocalSandbox(), cache=None)
    ratios, _ = speed_up(tested_pairs(24), Evaluator(runner=runner), options.rounds)
    print(f"two workers, pairs with tests: {_shown(ratios)} of one (target: 1.7)")
    measure_store(options.store, options.reports)


def _shown(ratios: Sequence[float]) -> str:
    return f"median {median(ratios):.2f}, {min(ratios):.2f} to {max(ratios):.2f}"


def measure_store(given: Path | None, count: int) -> None:
    """Fill a store unless it exists, and print the cost of using it."""
    directory = given or Path(tempfile.mkdtemp())
    try:
        store = ReportStore(directory)
        if not store.exists:
            began = time.perf_counter()
            fill(store, count)
            print(f"a store of {count:,} reports: made in {time.perf_counter() - began:.0f} s")
        for name, task, goal in (("resumes", resume, 5), ("summarizes", sum_up, 30)):
            seconds, megabytes = measured(task, str(directory), count)
            print(f"it {name} in {seconds:.1f} s (target: {goal}),", end=" ")
            print(f"{megabytes:.0f} MB (target: 500)")
    finally:
        if given is None:
            shutil.rmtree(directory)


if __name__ == "__main__":
    main()
