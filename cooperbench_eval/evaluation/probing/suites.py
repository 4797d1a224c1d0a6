"""The tests of a probe."""

from collections.abc import Mapping

from attrs import field, frozen

from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.judgements import JudgeRule

__all__ = ["Suites"]


@frozen(kw_only=True)
class Suites:
    """The tests of a probe.

    Attributes:
        of: The suites of branches, by their numbers.
        joint: Tests that must pass on a tree with all branches.
        regression: Tests that run on every tree.
        budget: How many test runs are allowed.
        runner: Runs the tests; by default one with default options.
        judge: Which cases must pass.
    """

    of: Mapping[int, TestSuite] = field(factory=dict)
    joint: TestSuite | None
    regression: TestSuite | None
    budget: int
    runner: TestRunner | None
    judge: JudgeRule
