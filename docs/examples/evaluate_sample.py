"""Evaluates one pair of the bundled sample task and shows its report.

    python docs/examples/evaluate_sample.py [FEATURE1 FEATURE2] [--out DIR]

The sample's repository is built in a temporary directory. With --out the
report's files are written there.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import cooperbench_eval as ce

SAMPLE = Path(__file__).resolve().parent / "sample"
sys.path.insert(0, str(SAMPLE))

from build_repo import build_repo  # noqa: E402 - the sample lies beside this script


def show_run(label: str, run: ce.TestResult | None) -> None:
    """Print a test run in one line."""
    if run is None:
        print(f"  {label:<28} not run")
    else:
        print(f"  {label:<28} {run.status}, {run.passed_tests} of {run.total_tests} tests pass")


def show(report: ce.MergeReport) -> None:
    """Print a report for a person to read."""
    print(f"{report.repo_name} task {report.task_id}, feature {report.feature1.number}", end=" ")
    print(f"merged into feature {report.feature2.number}")
    for feature in (report.feature1, report.feature2):
        show_run(f"feature {feature.number} alone", feature.tests)
    print(f"git merge: {report.merge_status}")
    if report.conflict_details:
        details = report.conflict_details
        print(
            f"  score {details.conflict_score} ({details.severity}): "
            f"{details.conflict_sections} sections, {details.conflict_lines} lines"
        )
    for attempt in report.attempts:
        print(f"strategy {attempt.strategy}: {attempt.status}, verdict {attempt.verdict}")
        show_run(f"feature {report.feature1.number} on the merged tree", attempt.feature1_tests)
        show_run(f"feature {report.feature2.number} on the merged tree", attempt.feature2_tests)


def main() -> None:
    """Evaluate the pair that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("features", nargs="*", type=int, default=[1, 2], help="two of 1 to 7")
    parser.add_argument("--out", type=Path, help="write the report's files into this folder")
    options = parser.parse_args()
    feature1, feature2 = options.features
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "pennybook"
        build_repo(repository)
        report = ce.evaluate(
            setting="coop",
            repo_name="pennybook_task",
            task_id=1,
            feature1_id=feature1,
            feature2_id=feature2,
            model="gold",
            patch_location="gold",
            dataset_dir=SAMPLE / "dataset",
            repo_dir=repository,
        )
    show(report)
    if options.out:
        for path in ce.write_report(report, options.out):
            print(path)


if __name__ == "__main__":
    main()
