"""Runs the suites of features on the tree that holds them."""

from collections.abc import Collection, Iterator, Mapping

from attrs import field, frozen

from cooperbench_eval.evaluation.sides import Side
from cooperbench_eval.evaluation.suite_runs import SuiteRuns, Suites
from cooperbench_eval.reporting.landings import BrokenTests, SuiteRun, TeamSuite
from cooperbench_eval.running import TestSuite
from cooperbench_eval.running.results import TestResult

__all__ = ["Tester", "suites_on"]


@frozen
class Tester:
    """Tests merged features of one team.

    A suite that fails runs a second time before it counts: cases that pass then are flaky.

    Attributes:
        group: The team.
        runs: Runs its suites.
        alone: The run of each feature's tests without the others, by the feature's number.
    """

    group: Suites
    runs: SuiteRuns
    alone: Mapping[int, TestResult | None] = field(factory=dict)

    def runs_on(self, side: Side) -> Iterator[SuiteRun]:
        """Run the suites of the features of *side* on their tree, one at a time.

        The joint tests run only if the tree holds all features of the team.
        """
        for which, number, suite in suites_on(self.group, side.numbers):
            alone = None if number is None else self.alone.get(number)
            run = self.runs.confirmed(suite, side.changes, alone)
            yield SuiteRun(suite=which, feature=number, tests=run.tests, judgement=run.judgement)

    def broken(self, side: Side) -> tuple[BrokenTests, ...]:
        """Return the tests that fail on the tree of *side*."""
        found = (each.broken for each in self.runs_on(side))
        return tuple(each for each in found if each is not None)


def suites_on(
    group: Suites, numbers: Collection[int]
) -> Iterator[tuple[TeamSuite, int | None, TestSuite | None]]:
    """Yield the suites for a tree that holds some of the features, each with its feature's number.

    The joint tests are among them only if the tree holds all features.
    """
    for feature in group.features:
        if feature.number in numbers:
            yield TeamSuite.FEATURE, feature.number, feature.tests
    if group.joint is not None and all(each.number in numbers for each in group.features):
        yield TeamSuite.JOINT, None, group.joint
    if group.regression is not None:
        yield TeamSuite.REGRESSION, None, group.regression
