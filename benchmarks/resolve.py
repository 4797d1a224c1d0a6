"""Judges strategies by tests, on the gold pairs that conflict in the naive merge.

    python benchmarks/resolve.py --dataset DIR --repos DIR [--task NAME/ID ...]
        [--strategy NAME ...] [--cache FILE] [--jobs N] [--show] [--times]

Feature 1 is merged into feature 2, as an evaluation does it. A result is correct if
no conflict is left and both features' suites pass; each distinct tree is tested
once. The suites need the projects' test dependencies in this environment; tasks
whose suites need more than a plain machine are judged only by their text. A
strategy is a name, `structured+tokens+union` for a cascade, or `cascade` for that
same one; `structured-strict` is `structured` without changes to other lines. The
strategies were developed on the development tasks, so only results on the measuring
tasks show their worth. Precision is correct over accepted; intervals are Wilson's at
95 %; *against union* counts the pairs that only this strategy and only union get
right, with McNemar's exact p. Pairs of a task share features, so they are less
independent than both statistics assume.

With --times it only measures the processor time of each merge, by language. Each
strategy runs in a process of its own, pair after pair, so that it finds only what its
own merges remember.

With --cache the suites' results are kept; remove the file after the suites or the
installed packages changed.
"""

import argparse
import ast
import contextlib
import os
import resource
import signal
import sqlite3
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from attrs import field, frozen
from repositories import add_dataset_options, tasks_with_bases

from cooperbench_eval import (
    Changes,
    Entry,
    MergeStatus,
    MergeStrategy,
    PatchStatus,
    Snapshot,
    Task,
    TestResult,
    TestRunner,
    TestStatus,
    TestSuite,
    Verdict,
    apply_patch,
    cascade,
    get_strategy,
    merge,
)
from cooperbench_eval.analysis.tails import mcnemar, wilson
from cooperbench_eval.errors import StrategyError, StrategyFailedError
from cooperbench_eval.patching import TestFileFilter
from cooperbench_eval.structure.languages import find_syntax_fault

DEVELOPMENT = ("pallets_click_task/2068", "pallets_click_task/2800", "pallets_jinja_task/1465")
MEASURING = (
    "pallets_click_task/2956",
    "pallets_jinja_task/1559",
    "pallets_jinja_task/1621",
    "samuelcolvin_dirty_equals_task/43",
)
LANGUAGES = {
    ".py": "Python",
    ".js": "JavaScript",
    ".jsx": "JavaScript",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".go": "Go",
    ".rs": "Rust",
}
CASCADE = "structured+tokens+union"
TIMEOUT_SECONDS = 120

RunKey = tuple[str, int, str]
"""Task, feature, tree id."""


# --- strategies -------------------------------------------------------------


def load_strategies(specs: Iterable[str]) -> dict[str, MergeStrategy]:
    """Build the strategies, with a line for each that cannot be built."""
    found: dict[str, MergeStrategy] = {}
    for spec in specs:
        try:
            found[spec] = build_strategy(spec)
        except StrategyError as exc:
            print(f"{spec}: passed over, {exc}")
        else:
            warm_up(found[spec])
    return found


def build_strategy(spec: str) -> MergeStrategy:
    """Build one strategy, a cascade of several, or a variant.

    Raises:
        StrategyError: The strategy cannot be built.
    """
    rungs = [build_rung(name) for name in (CASCADE if spec == "cascade" else spec).split("+")]
    return rungs[0] if len(rungs) == 1 else cascade(*rungs)


def build_rung(name: str) -> MergeStrategy:
    """Build one strategy; `structured-strict` changes only conflicts."""
    if name == "structured-strict":
        return get_strategy("structured", resettles=False)
    return get_strategy(name)


def warm_up(strategy: MergeStrategy) -> None:
    """Let the strategy import its dependencies, so that no pair pays for it."""
    base = Snapshot.from_files({"a.py": b"x = 1\n"})
    ours, theirs = (Changes({"a.py": Entry(text)}) for text in (b"x = 2\n", b"x = 3\n"))
    with contextlib.suppress(StrategyFailedError):
        merge(base, ours, theirs, strategy=strategy)


# --- resolving --------------------------------------------------------------


@frozen(kw_only=True)
class Resolution:
    """A strategy's resolution of a pair.

    Attributes:
        changes: The merged changes.
        tree_id: The merged tree; empty if a conflict is left.
        note: The open conflicts, or why the strategy failed; otherwise empty.
    """

    changes: Changes = field(factory=Changes, repr=False)
    tree_id: str = ""
    note: str = ""

    @property
    def accepted(self) -> bool:
        """Return whether no conflict is left."""
        return bool(self.tree_id)


@frozen(kw_only=True)
class Pair:
    """A conflicting pair and each strategy's resolution."""

    task: str
    features: tuple[int, int]
    resolutions: dict[str, Resolution] = field(repr=False)

    def __str__(self) -> str:
        """Name the pair."""
        return f"{self.task} f{self.features[0]}+f{self.features[1]}"


def resolve_task(
    task: Task, base: Snapshot, strategies: dict[str, MergeStrategy]
) -> Iterator[Pair]:
    """Yield each pair of the task that conflicts, resolved by each strategy."""
    name = f"{task.repo_name}/{task.task_id}"
    for pair in task.pairs:
        sides = apply_pair(task, base, pair)
        if sides is None:
            print(f"{name} f{pair[0]}+f{pair[1]}: passed over, a patch does not apply")
            continue
        theirs, ours = sides
        if merge(base, ours, theirs).status is MergeStatus.CLEAN:
            continue
        resolutions = {
            spec: resolve(strategy, base, ours, theirs) for spec, strategy in strategies.items()
        }
        yield Pair(task=name, features=pair, resolutions=resolutions)


def apply_pair(task: Task, base: Snapshot, pair: tuple[int, int]) -> tuple[Changes, Changes] | None:
    """Apply a pair's gold patches without their test files, as an evaluation does."""
    tests = [task.tests_patch(number) for number in pair]
    first, second = (
        apply_patch(base, TestFileFilter().split(task.gold_patch(number), tests)[0])
        for number in pair
    )
    if {first.status, second.status} <= {PatchStatus.APPLIED, PatchStatus.PARTIAL}:
        return first.changes, second.changes
    return None


def resolve(strategy: MergeStrategy, base: Snapshot, ours: Changes, theirs: Changes) -> Resolution:
    """Merge with one strategy; a failure counts as an open conflict."""
    try:
        outcome = merge(base, ours, theirs, strategy=strategy)
    except StrategyFailedError as exc:
        return Resolution(note=f"failed: {exc.problem}")
    if outcome.status is MergeStatus.RESOLVED:
        return Resolution(changes=outcome.changes, tree_id=outcome.tree_id(base))
    note = f"{len(outcome.conflicts)} of {outcome.conflicts_met} open"
    if outcome.failure:
        note = f"failed: {outcome.failure}"
    return Resolution(changes=outcome.changes, note=note)


# --- test runs --------------------------------------------------------------


@frozen(kw_only=True)
class Job:
    """A suite to run on a tree."""

    key: RunKey
    base: Snapshot = field(repr=False)
    changes: Changes = field(repr=False)
    suite: TestSuite = field(repr=False)


def run_job(job: Job) -> TestResult:
    """Run the suite; called in a worker process."""
    return TestRunner().run(job.base, job.changes, job.suite)


class Results:
    """Results of suites on trees, in a file or in memory."""

    def __init__(self, file: Path | None) -> None:
        """Open *file*, or keep everything in memory."""
        self._database = sqlite3.connect(file or ":memory:", timeout=60, isolation_level=None)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS runs (task TEXT, feature INTEGER, tree TEXT,"
            " status TEXT NOT NULL, reason TEXT NOT NULL, seconds REAL NOT NULL,"
            " PRIMARY KEY (task, feature, tree))"
        )

    def status(self, key: RunKey) -> TestStatus | None:
        """Return how the run ended; `None` if there was none."""
        row = self._database.execute(
            "SELECT status FROM runs WHERE task = ? AND feature = ? AND tree = ?", key
        ).fetchone()
        return TestStatus(row[0]) if row else None

    def add(self, key: RunKey, result: TestResult) -> None:
        """Keep how a run ended; it is on disk when this returns."""
        self._database.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
            (*key, result.status.value, result.reason, result.duration_seconds),
        )


def jobs_of(task: Task, base: Snapshot, pairs: Iterable[Pair]) -> Iterator[Job]:
    """Yield both suites of each pair on each tree without conflicts."""
    suites = {n: task.suite(n, timeout_seconds=TIMEOUT_SECONDS) for n in task.features}
    for pair in pairs:
        for resolution in pair.resolutions.values():
            for feature in pair.features if resolution.accepted else ():
                yield Job(
                    key=(pair.task, feature, resolution.tree_id),
                    base=base,
                    changes=resolution.changes,
                    suite=suites[feature],
                )


def run_missing(jobs: Iterable[Job], results: Results, workers: int) -> None:
    """Run each distinct job without a kept result.

    An interrupt drops waiting jobs, lets the few running ones end, and keeps their results.
    """
    missing = {job.key: job for job in jobs if results.status(job.key) is None}
    pool = ProcessPoolExecutor(workers, initializer=leave_interrupts_to_the_host)
    futures: dict[Future[TestResult], RunKey] = {}
    try:
        futures |= {pool.submit(run_job, job): key for key, job in missing.items()}
        for done, future in enumerate(as_completed(futures), start=1):
            results.add(futures.pop(future), future.result())
            show_progress(done, len(missing))
    finally:
        pool.shutdown(cancel_futures=True)
        for future, key in futures.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                results.add(key, future.result())


def leave_interrupts_to_the_host() -> None:
    """Start a worker that Ctrl-C does not reach.

    A terminated worker just ends: an exception in it could leave the pool's queue locked.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def show_progress(done: int, total: int) -> None:
    """Show the progress of the test runs on standard error."""
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\rtest runs: {done} of {total}", end=end, file=sys.stderr, flush=True)
    elif done % 50 == 0 or done == total:
        print(f"test runs: {done} of {total}", file=sys.stderr, flush=True)


# --- verdicts ---------------------------------------------------------------


@frozen(kw_only=True)
class Tally:
    """How many pairs a strategy got right, got wrong, and left."""

    pairs: int
    correct: int
    incorrect: int

    @property
    def accepted(self) -> int:
        """Pairs in which it left no conflict."""
        return self.correct + self.incorrect

    def __str__(self) -> str:
        """Show the counts and the two shares."""
        return (
            f"{self.pairs:>6}{self.correct:>9}{self.incorrect:>11}{self.pairs - self.accepted:>11}"
            f"   {share(self.correct, self.accepted):<24}{share(self.accepted, self.pairs):<24}"
        )


HEADER = (
    f"{'':<30}{'pairs':>6}{'correct':>9}{'incorrect':>11}{'unhandled':>11}"
    f"   {'precision':<24}{'accepted':<24}against union"
)


def share(count: int, total: int) -> str:
    """Show a percentage with its interval."""
    if not total:
        return "-"
    low, high = wilson(count, total, 0.95)
    return f"{100 * count / total:5.1f} [{100 * low:4.1f}, {100 * high:5.1f}]"


class Judge:
    """Knows the verdict on every resolution."""

    def __init__(self, results: Results) -> None:
        """Judge by *results*, which hold every run."""
        self._results = results

    def verdict(self, pair: Pair, spec: str) -> Verdict:
        """Return the verdict on the strategy."""
        if not pair.resolutions[spec].accepted:
            return Verdict.UNHANDLED
        return Verdict.INCORRECT if self.failing(pair, spec) else Verdict.CORRECT

    def failing(self, pair: Pair, spec: str) -> list[str]:
        """Name the features whose suites do not pass, and their statuses."""
        tree_id = pair.resolutions[spec].tree_id
        ends = {n: self._results.status((pair.task, n, tree_id)) for n in pair.features}
        return [f"f{n} {end}" for n, end in ends.items() if end is not TestStatus.PASSED]

    def tally(self, pairs: list[Pair], spec: str) -> Tally:
        """Count the verdicts."""
        verdicts = [self.verdict(pair, spec) for pair in pairs]
        return Tally(
            pairs=len(pairs),
            correct=verdicts.count(Verdict.CORRECT),
            incorrect=verdicts.count(Verdict.INCORRECT),
        )

    def against_union(self, pairs: list[Pair], spec: str) -> str:
        """Show the pairs that only one of the two gets right."""
        if spec == "union" or any("union" not in pair.resolutions for pair in pairs):
            return ""
        both = [(self._right(pair, spec), self._right(pair, "union")) for pair in pairs]
        more, less = both.count((True, False)), both.count((False, True))
        return f"+{more} -{less}  p = {mcnemar(min(more, less), more + less):.2g}"

    def _right(self, pair: Pair, spec: str) -> bool:
        return self.verdict(pair, spec) is Verdict.CORRECT

    def describe(self, pair: Pair, spec: str) -> str:
        """Show one verdict, and the reason if it is not correct."""
        note = pair.resolutions[spec].note or ", ".join(self.failing(pair, spec))
        return f"{spec} {self.verdict(pair, spec)}" + (f" ({note})" if note else "")


def print_verdicts(title: str, pairs: list[Pair], specs: Iterable[str], judge: Judge) -> None:
    """Print one row for each strategy."""
    if pairs:
        print(title)
    for spec in specs if pairs else ():
        row = f"  {spec:<28}{judge.tally(pairs, spec)}{judge.against_union(pairs, spec)}"
        print(row.rstrip())


def print_judged(pairs: list[Pair], specs: list[str], judge: Judge, *, show: bool) -> None:
    """Print the table of the tasks with suites: by task, by group, and in total."""
    for pair in pairs if show else ():
        print(f"{pair}: " + "; ".join(judge.describe(pair, spec) for spec in specs))
    print(HEADER)
    for group, tasks in (("development", DEVELOPMENT), ("measuring", MEASURING)):
        of_group = [pair for pair in pairs if pair.task in tasks]
        for task in dict.fromkeys(pair.task for pair in of_group):
            print_verdicts(task, [p for p in of_group if p.task == task], specs, judge)
        print_verdicts(f"all {group}", of_group, specs, judge)
    print_verdicts("all", pairs, specs, judge)


# --- text alone -------------------------------------------------------------


def print_textual(pairs: list[Pair], specs: list[str], *, show: bool) -> None:
    """Print how the tasks without suites were resolved: by task, and in total."""
    for pair in pairs if show else ():
        print(f"{pair}: " + "; ".join(describe_text(pair, spec) for spec in specs))
    print(
        f"{'without tests':<30}{'pairs':>6}{'accepted':>10}{'left open':>11}   merged files parse"
    )
    for task in dict.fromkeys(pair.task for pair in pairs):
        print_accepted(task, [pair for pair in pairs if pair.task == task], specs)
    print_accepted("all without tests", pairs, specs)


def print_accepted(title: str, pairs: list[Pair], specs: Iterable[str]) -> None:
    """Print one row for each strategy."""
    print(title)
    for spec in specs:
        accepted = [r for pair in pairs if (r := pair.resolutions[spec]).accepted]
        parsed = [p for r in accepted if (p := parses(r.changes)) is not None]
        left = len(pairs) - len(accepted)
        shown = f"{sum(parsed)} of {len(parsed)}" if parsed else "-"
        print(f"  {spec:<28}{len(pairs):>6}{len(accepted):>10}{left:>11}   {shown}")


def describe_text(pair: Pair, spec: str) -> str:
    """Show how one pair was resolved."""
    resolution = pair.resolutions[spec]
    if not resolution.accepted:
        return f"{spec} left open ({resolution.note})"
    broken = " (does not parse)" if parses(resolution.changes) is False else ""
    return f"{spec} accepted{broken}"


def parses(changes: Changes) -> bool | None:
    """Return whether every changed file of a known language parses; `None` if there is none."""
    files = {path: e.data for path, e in changes.items() if e and path.endswith(tuple(LANGUAGES))}
    if not files:
        return None
    return all(file_parses(path, text) for path, text in files.items())


def file_parses(path: str, text: bytes) -> bool:
    """Return whether Python, or the language's grammar, parses the file."""
    if not path.endswith(".py"):
        return not find_syntax_fault(path, text)
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


# --- times ------------------------------------------------------------------


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
    for name, task, base in tasks_with_bases(options, chosen_tasks(options)):
        for pair in task.pairs:
            sides = apply_pair(task, base, pair)
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
                    Timed(task=name, features=pair, language=language, milliseconds=milliseconds)
                )
    return found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main_language(paths: Iterable[str]) -> str:
    """Return the language of most of the files that a pair changes."""
    counts = Counter(LANGUAGES.get(Path(path).suffix, "other") for path in paths)
    return counts.most_common(1)[0][0]


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


# --- the whole --------------------------------------------------------------


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=True)
    parser.add_argument("--task", action="append", help="default: all")
    parser.add_argument("--strategy", action="append", help="default: all three and their cascade")
    parser.add_argument("--cache", type=Path, help="keep what the suites showed in this file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("--show", action="store_true", help="print the verdicts on every pair")
    parser.add_argument("--times", action="store_true", help="only measure how long merges take")
    return parser.parse_args()


def chosen_tasks(options: argparse.Namespace) -> Collection[str] | None:
    """Return the names of the chosen tasks; `None` for all."""
    return None if options.task is None else dict.fromkeys(options.task)


def evaluate(options: argparse.Namespace, specs: Iterable[str]) -> None:
    """Resolve, test, and print the tables."""
    strategies = load_strategies(specs)
    judged: list[Pair] = []
    textual: list[Pair] = []
    jobs: list[Job] = []
    for name, task, base in tasks_with_bases(options, chosen_tasks(options)):
        pairs = list(resolve_task(task, base, strategies))
        if name in DEVELOPMENT + MEASURING:
            judged += pairs
            jobs += jobs_of(task, base, pairs)
        else:
            textual += pairs
    results = Results(options.cache)
    run_missing(jobs, results, options.jobs)
    if judged:
        print_judged(judged, list(strategies), Judge(results), show=options.show)
    if textual:
        print_textual(textual, list(strategies), show=options.show)


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
