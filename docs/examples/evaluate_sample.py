"""Evaluates one pair of the bundled sample task, prints the report and writes a page.

    python docs/examples/evaluate_sample.py [FEATURE1 FEATURE2] [--out DIR]

The sample's repository is built in a temporary directory. The page and the benchmark's
files are written into DIR, by default `sample_report`.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import cooperbench_eval as ce

SAMPLE = Path(__file__).resolve().parent / "sample"
sys.path.insert(0, str(SAMPLE))

from build_repo import build_repo  # noqa: E402 - the sample lies beside this script


def main() -> None:
    """Evaluate the pair that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("features", nargs="*", type=int, default=[1, 2], help="two of 1 to 7")
    parser.add_argument("--out", type=Path, default=Path("sample_report"), help="where to write")
    options = parser.parse_args()
    feature1, feature2 = options.features

    with tempfile.TemporaryDirectory() as folder:
        build_repo(Path(folder) / "pennybook")
        dataset = ce.Dataset(SAMPLE / "dataset", repo_dirs=folder)
        pair = dataset.task("pennybook_task", 1).pair(feature1, feature2, model="gold")
        report = ce.Evaluator(runner=ce.TestRunner()).evaluate(pair)

    print(report)
    written = ce.write_report(report, options.out)
    page = ce.write_page([report], options.out / "report.html", title=f"Pair {feature1}-{feature2}")
    print(f"\nOpen {page} in a browser. The benchmark's files are next to it:")
    for path in written:
        print(f"  {path.name}")


if __name__ == "__main__":
    main()
