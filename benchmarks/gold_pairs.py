"""Applies, merges and scores every pair of a dataset's gold patches.

    python benchmarks/gold_pairs.py --dataset DIR --repos DIR [--task NAME/ID ...] [--verbose]

Prints for each task its pairs, how many of them conflict, on how many the naive
verdict agrees with the dataset's own `gold_conflict_report.json`, how many the
union strategy resolves, the sum of the conflict scores, and milliseconds per pair
(apply, naive, union and score; the patches are already parsed). A task whose
repository is not below --repos is named and skipped.
"""

import argparse
import json
import time
from pathlib import Path

from attrs import evolve, fields, frozen
from repositories import add_dataset_options, tasks_with_bases, untested_gold_pairs

from cooperbench_eval import Evaluator, MergeReport, Snapshot, Task

_Pair = tuple[str, int, int, int]


@frozen(kw_only=True)
class Row:
    """The printed figures of a task, or of all tasks."""

    name: str
    pairs: int = 0
    conflicts: int = 0
    judged: int = 0
    agreeing: int = 0
    resolved: int = 0
    missing: int = 0
    score: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Row") -> "Row":
        """Sum two rows under the name of the first."""
        numbers = [each.name for each in fields(Row) if each.name != "name"]
        return evolve(self, **{f: getattr(self, f) + getattr(other, f) for f in numbers})

    def __str__(self) -> str:
        """Show the row as a line of the table."""
        return (
            f"{self.name:<38}{self.pairs:>6}{self.conflicts:>10}{self.missing:>8}"
            f"{self.agreeing:>8}/{self.judged:<5}{self.resolved:>9}{self.score:>9}"
            f"{1000 * self.seconds / max(self.pairs, 1):>9.2f}"
        )


HEADER = (
    f"{'task':<38}{'pairs':>6}{'conflicts':>10}{'missing':>8}"
    f"{'agreeing':>14}{'resolved':>9}{'score':>9}{'ms/pair':>9}"
)


def reported_conflicts(dataset: Path) -> dict[_Pair, bool]:
    """Read the dataset's own verdicts, if it has them."""
    file = dataset / "gold_conflict_report.json"
    if not file.is_file():
        return {}
    rows = json.loads(file.read_bytes())["all_results"]
    return {
        (row["repo"], row["task_id"], *sorted((row["f1"], row["f2"]))): row["has_conflict"]
        for row in rows
    }


def evaluate_pairs(task: Task, base: Snapshot) -> tuple[list[MergeReport], float]:
    """Merge and score every pair of a task; return the reports and the seconds."""
    evaluator = Evaluator(strategies=["naive", "union"])
    pairs = untested_gold_pairs(task, base)
    began = time.perf_counter()
    reports = [evaluator.evaluate(pair) for pair in pairs]
    return reports, time.perf_counter() - began


def measure(task: Task, base: Snapshot, reported: dict[_Pair, bool], *, verbose: bool) -> Row:
    """Evaluate a task and sum it up; name each pair that disagrees."""
    reports, seconds = evaluate_pairs(task, base)
    row = Row(name=f"{task.repo_name}/{task.task_id}", pairs=len(reports), seconds=seconds)
    for report in reports:
        first, second = report.feature1.number, report.feature2.number
        conflicts = report.merge_status.value == "conflicts"
        known = reported.get((task.repo_name, task.task_id, first, second))
        agrees = known is not None and known == conflicts
        row += Row(
            name="",
            conflicts=conflicts,
            judged=known is not None,
            agreeing=agrees,
            resolved=any(a.strategy == "union" and a.status == "resolved" for a in report.attempts),
            missing=report.merge_status.value == "missing_input",
            score=report.conflict_score or 0,
        )
        if known is not None and not agrees:
            print(f"  {row.name} f{first}+f{second}: {report.merge_status}, reported {known}")
        if verbose:
            print(f"  {row.name} f{first}+f{second}: {report.merge_status} {report.conflict_score}")
    return row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=True)
    parser.add_argument("--task", action="append", help="such as pallets_click_task/2068")
    parser.add_argument("--verbose", action="store_true", help="print every pair")
    options = parser.parse_args()
    reported = reported_conflicts(options.dataset)
    total = Row(name="all")
    print(HEADER)
    for _, task, base in tasks_with_bases(options, options.task):
        row = measure(task, base, reported, verbose=options.verbose)
        print(row)
        total += row
    print(total)


if __name__ == "__main__":
    main()
