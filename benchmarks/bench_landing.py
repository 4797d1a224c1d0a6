"""Plans how the gold features of each task can land together.

    python benchmarks/bench_landing.py --dataset DIR --repos DIR [--task NAME/ID ...]
        [--strategy NAME ...] [--tests] [--budget N]

Without --tests, only the merges decide. Prints for each task its features, and for each
strategy how many of them land (with `~` if that is not certain to be the most) and the
seconds of processor time; under `naive` also whether this is the size of a largest clique
of the pairs.

With --tests, the tests run in a local sandbox with the Python that runs this script, so
their imports must be installed. Prints for each task and strategy what lands, the runs
of the plan, and next to them the runs of a queue in the given order and of all pairs: each
suite once on the base, once alone, and once on each merged pair. Results of equal runs are
shared, so only the plan's seconds mean something.
"""

import argparse
import time
from collections.abc import Iterable

from repositories import add_dataset_options, tasks_with_bases

from cooperbench_eval import (
    Changes,
    Evaluator,
    Feature,
    FeatureTeam,
    LandingPlan,
    Snapshot,
    Task,
    TestResult,
    TestRunner,
    TestSuite,
    cascade,
    get_strategy,
    land,
)
from cooperbench_eval.evaluation.landing.search import largest_clique
from cooperbench_eval.reporting import PairOutcome
from cooperbench_eval.strategies.protocol import MergeStrategy

_MERGED = {PairOutcome.CLEAN, PairOutcome.RESOLVED, PairOutcome.BREAKS_TESTS}


class Counting:
    """A runner that counts different runs."""

    def __init__(self, runner: TestRunner) -> None:
        """Pass runs on to *runner*."""
        self._runner = runner
        self.seen: set[tuple[str, TestSuite, int]] = set()

    def run(
        self, base: Snapshot, changes: Changes, suite: TestSuite, *, number: int = 1
    ) -> TestResult:
        """Run *suite* on *base* with *changes*."""
        self.seen.add((changes.tree_id(base), suite, number))
        return self._runner.run(base, changes, suite, number=number)


def strategies(names: Iterable[str]) -> list[MergeStrategy]:
    """Return the strategies; `cascade` tries structured, tokens and union in turn."""
    return [
        cascade("structured", "tokens", "union") if name == "cascade" else get_strategy(name)
        for name in names
    ]


def clique_size(plan: LandingPlan) -> int:
    """Return the size of a largest set of which every two features merge in some order."""
    graph: dict[int, set[int]] = {into: set() for into, _ in plan.pairs}
    for (into, number), outcome in plan.pairs.items():
        if outcome in _MERGED:
            graph[into].add(number)
            graph[number].add(into)
    return len(largest_clique(graph)) if graph else len(plan.landed)


def print_merges(task: Task, base: Snapshot, name: str, found: list[MergeStrategy]) -> None:
    """Print how many features land if only the merges decide."""
    features = [Feature(number=n, patch=task.gold_patch(n)) for n in task.features]
    cells = []
    for strategy in found:
        began = time.process_time()
        plan = land(base, features, strategy=strategy)
        seconds = time.process_time() - began
        sure = "" if plan.is_exact else "~"
        cell = f"{strategy.name} {sure}{len(plan.landed)} in {seconds:.2f} s"
        if strategy.name == "naive":
            cell += (
                ", as the clique" if clique_size(plan) == len(plan.landed) else ", NOT the clique"
            )
        cells.append(cell)
    print(f"{name:<36}{len(features):>3} features: {'; '.join(cells)}", flush=True)


def print_tests(
    task: Task, base: Snapshot, name: str, found: list[MergeStrategy], budget: int
) -> None:
    """Print what lands if the tests decide too, and the runs that this took."""
    features = [
        Feature(number=n, patch=task.gold_patch(n), tests=task.suite(n)) for n in task.features
    ]
    team = FeatureTeam(repo_name=task.repo_name, task_id=task.task_id, base=base, features=features)
    runner = TestRunner()
    for strategy in found:
        began = time.perf_counter()
        plan = land(base, features, strategy=strategy, runner=runner, budget=budget)
        seconds = time.perf_counter() - began
        merged = {frozenset(pair) for pair, outcome in plan.pairs.items() if outcome in _MERGED}
        of_pairs = 2 * len(features) + 2 * len(merged)
        queue = Counting(runner)
        evaluator = Evaluator(strategies=[strategy], runner=queue)  # type: ignore[arg-type] # runs suites too
        attempt = evaluator.evaluate_team(team).attempt(strategy.name)
        sure = "" if plan.is_exact else "~"
        print(
            f"{name} {strategy.name}: {sure}{len(plan.landed)} of {len(features)} land "
            f"{plan.order} in {plan.runs_used} runs and {seconds:.0f} s; a queue lands "
            f"{len(attempt.landed)} in {len(queue.seen)} runs; all pairs need {of_pairs} runs; "
            f"conflicts {plan.minimal_conflicts}",
            flush=True,
        )


def main() -> None:
    """Print a row for each task, or for each task and strategy."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=True)
    parser.add_argument("--task", action="append", help="pallets_click_task/2068; default: all")
    parser.add_argument("--strategy", action="append", help="default: naive, structured, cascade")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--budget", type=int, default=100)
    options = parser.parse_args()
    found = strategies(options.strategy or ["naive", "structured", "cascade"])
    for name, task, base in tasks_with_bases(options, options.task):
        if options.tests:
            print_tests(task, base, name, found, options.budget)
        else:
            print_merges(task, base, name, found)


if __name__ == "__main__":
    main()
