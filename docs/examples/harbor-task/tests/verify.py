"""Audits what an agent integrated, with the tests of both features, and writes the reward.

    python verify.py --tests DIR --integrated DIR --out DIR

The audit also says which of the two agents' work is lost, and how the tree differs from what
git makes of the same branches.
"""

import argparse
import sys
from pathlib import Path

import cooperbench_eval as ce

PYTEST = ("python3", "-m", "pytest", "-q")


def features_in(tests: Path) -> list[ce.Feature]:
    """Return the two agents' features, from files that the integrating agent cannot change."""
    return [
        ce.Feature(
            number=number,
            patch=tests / f"agent-{number}.patch",
            tests=ce.TestSuite(
                command=(*PYTEST, name),
                patch=ce.Patch.read(tests / f"feature-{number}.patch"),
                env={"PYTHONPATH": "."},
            ),
        )
        for number, name in ((1, "test_discount.py"), (2, "test_tax.py"))
    ]


def write(tests: Path, integrated: Path, out: Path) -> None:
    """Audit the tree, and write the audit and its reward."""
    audit = ce.audit(
        ce.Snapshot.from_dir(tests / "base"),
        features_in(tests),
        integrated,
        regression=ce.TestSuite(command=(*PYTEST, "test_prices.py"), env={"PYTHONPATH": "."}),
        runner=ce.TestRunner(sandbox=ce.LocalSandbox()),  # the task's container is the sandbox
        strategies=["naive"],
    )
    print(audit)
    ce.write_reward(audit, out)
    (out / "audit.json").write_text(audit.to_json())


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
