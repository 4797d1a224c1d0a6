"""Judges what an agent integrated, with the tests of both features, and writes the reward.

    python verify.py --tests DIR --integrated DIR --out DIR

The tree that the agent left is the result of a strategy, so it is judged as any merge is. What
git makes of the same branches stands beside it in the report.
"""

import argparse
import sys
from pathlib import Path

import cooperbench_eval as ce


class Integrated:
    """A merge that somebody else has made already."""

    name = "integrated"

    def __init__(self, tree: ce.Snapshot) -> None:
        self._tree = tree

    def merge(self, merge_input: ce.MergeInput, /) -> ce.MergeOutcome:
        """Return what turns the base into the tree, whatever the sides are."""
        return ce.MergeOutcome(changes=ce.Changes.between(merge_input.base, self._tree))


def pair_in(tests: Path) -> ce.FeaturePair:
    """Return the two agents' features, from files that the integrating agent never had."""
    base = ce.Snapshot.from_dir(tests / "base")
    command = ("python3", "-m", "pytest", "-q")
    features = [
        ce.Feature(
            number=number,
            patch=tests / f"agent-{number}.patch",
            tests=ce.TestSuite(
                command=(*command, name),
                patch=ce.Patch.read(tests / f"feature-{number}.patch"),
                env={"PYTHONPATH": "."},
            ),
        )
        for number, name in ((1, "test_discount.py"), (2, "test_tax.py"))
    ]
    return ce.FeaturePair(
        repo_name="prices",
        task_id=1,
        base=base,
        feature1=features[0],
        feature2=features[1],
        regression=ce.TestSuite(command=(*command, "test_prices.py"), env={"PYTHONPATH": "."}),
    )


def write(tests: Path, integrated: Path, out: Path) -> None:
    """Evaluate the pair, and write the report and its reward."""
    evaluator = ce.Evaluator(
        strategies=["naive", Integrated(ce.Snapshot.from_dir(integrated))],
        runner=ce.TestRunner(sandbox=ce.LocalSandbox()),  # the task's container is the sandbox
        test_other=False,
    )
    report = evaluator.evaluate(pair_in(tests))
    print(report)
    ce.write_report(report, out)
    policy = ce.analysis.Policy(name="integrated", strategies="integrated")
    ce.write_reward(report, out, policy=policy)


def main() -> None:
    """Judge what the arguments name; without an answer, end with an error and no reward."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("--tests", "--integrated", "--out"):
        parser.add_argument(name, type=Path, required=True)
    options = parser.parse_args()

    try:
        write(options.tests, options.integrated, options.out)
    except ce.CooperBenchEvalError as exc:
        sys.exit(f"no reward: {exc}")


if __name__ == "__main__":
    main()
