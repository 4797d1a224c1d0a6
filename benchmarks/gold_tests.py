"""Evaluates pairs of gold patches in full, tests included.

    python benchmarks/gold_tests.py --dataset DIR --repos DIR --task NAME/ID [...] [--out DIR]

The tests run in a local sandbox with the Python that runs this script, so their
imports must be installed in the same environment. Prints for each task how many
features pass alone, and for each strategy its verdicts, over all pairs and over
those that conflict. Each pair is judged by both rules, `delta` and `absolute`; the
pairs on which they differ are printed. With --out each pair's report files are written
there, judged by `delta`.
"""

import argparse
import collections
import time
from collections.abc import Iterator
from pathlib import Path

from repositories import add_dataset_options, tasks_with_bases

from cooperbench_eval import (
    Evaluator,
    Feature,
    FeaturePair,
    MergeReport,
    Snapshot,
    Task,
    TestRunner,
    Verdict,
    write_report,
)
from cooperbench_eval.running.results import JudgeRule


def evaluate_task(
    task: Task, base: Snapshot, strategies: list[str]
) -> Iterator[tuple[MergeReport, MergeReport]]:
    """Yield the full reports of each pair of the task's features, by both rules."""
    runner = TestRunner()  # the second rule needs no further run
    by_delta = Evaluator(strategies=strategies, runner=runner)
    by_all_cases = Evaluator(strategies=strategies, runner=runner, judge=JudgeRule.ABSOLUTE)
    features = {
        n: Feature(number=n, patch=task.gold_patch(n), tests=task.suite(n)) for n in task.features
    }
    for first, second in task.pairs:
        pair = FeaturePair(
            repo_name=task.repo_name,
            task_id=task.task_id,
            base=base,
            feature1=features[first],
            feature2=features[second],
            model="gold",
        )
        yield by_delta.evaluate(pair), by_all_cases.evaluate(pair)


def print_differences(delta: MergeReport, absolute: MergeReport) -> None:
    """Print where the two rules give a pair another verdict or blame another cause."""
    for one, other in zip(delta.attempts, absolute.attempts, strict=True):
        found = [
            f"{attempt.verdict} ({report.blame(attempt.strategy).kind})"
            for report, attempt in ((delta, one), (absolute, other))
        ]
        if found[0] != found[1]:
            numbers = f"{delta.feature1.number}+{delta.feature2.number}"
            print(f"    {numbers} {one.strategy}: {found[0]} by delta, {found[1]} by absolute")
            for warning in delta.warnings:
                print(f"        {warning}")


def print_verdicts(reports: list[MergeReport], label: str) -> None:
    """Print how often each strategy came to each verdict."""
    verdicts: dict[str, collections.Counter[Verdict]] = {}
    for report in reports:
        for attempt in report.attempts:
            verdicts.setdefault(attempt.strategy, collections.Counter())[attempt.verdict] += 1
    for strategy, counts in verdicts.items():
        shown = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)
        print(f"    {strategy:<12}{label:<12}{len(reports):>4} pairs: {shown}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_dataset_options(parser, required=True)
    parser.add_argument("--task", action="append", required=True, help="pallets_click_task/2956")
    parser.add_argument("--strategy", action="append", help="default: naive and union")
    parser.add_argument("--out", type=Path, help="write every report below this folder")
    options = parser.parse_args()
    for name, task, base in tasks_with_bases(options, options.task):
        began = time.perf_counter()
        pairs = list(evaluate_task(task, base, options.strategy or ["naive", "union"]))
        reports = [delta for delta, _ in pairs]
        seconds = time.perf_counter() - began
        alone = {f.number: f.tests_passed for r in reports for f in (r.feature1, r.feature2)}
        passing = sum(bool(passed) for passed in alone.values())
        print(f"{name}: {passing} of {len(alone)} features pass alone; {seconds:.0f} s")
        print_verdicts(reports, "all")
        print_verdicts([r for r in reports if r.merge_status == "conflicts"], "conflicting")
        print_verdicts([r for r in reports if r.merge_status == "clean"], "clean")
        for delta, absolute in pairs:
            print_differences(delta, absolute)
        for report in reports if options.out else ():
            pair = f"f{report.feature1.number}_f{report.feature2.number}"
            write_report(report, options.out / name / pair)


if __name__ == "__main__":
    main()
