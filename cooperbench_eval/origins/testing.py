"""Runs the suites of features on a merged tree."""

import operator
from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.models import JudgeRule
from cooperbench_eval.pairs import Feature
from cooperbench_eval.reporting.landings import SuiteRun, TeamSuite
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.snapshot import Changes, Snapshot
from cooperbench_eval.suiteruns import SuiteRuns

__all__ = ["TestedGroup", "run_suites", "with_suites"]


@frozen(kw_only=True)
class TestedGroup:
    """Features of one merged tree with all their suites."""

    base: Snapshot
    features: tuple[Feature, ...]
    joint: TestSuite | None = None
    regression: TestSuite | None = None

    @property
    def suites(self) -> Iterator[tuple[TeamSuite, int | None, TestSuite]]:
        """The suites, each with its feature's number."""
        for feature in self.features:
            if feature.tests is not None:
                yield TeamSuite.FEATURE, feature.number, feature.tests
        if self.joint is not None:
            yield TeamSuite.JOINT, None, self.joint
        if self.regression is not None:
            yield TeamSuite.REGRESSION, None, self.regression


def with_suites(
    features: Sequence[Feature], suites: Mapping[int, TestSuite] | None
) -> tuple[Feature, ...]:
    """Give features their suites.

    Raises:
        ArgumentError: A suite belongs to no feature, or to one that has other tests.
    """
    given = {operator.index(number): suite for number, suite in (suites or {}).items()}
    known = {feature.number: feature for feature in features}
    for number in given:
        if number not in known:
            raise ArgumentError("suites", f"has a suite for {number}, but there is no such feature")
        if known[number].tests is not None:
            problem = f"has tests for feature {number}, which has others"
            raise ArgumentError("suites", problem)
    return tuple(evolve(each, tests=given.get(each.number, each.tests)) for each in features)


def run_suites(
    group: TestedGroup, merged: Changes, runner: TestRunner | None, judge: JudgeRule
) -> Iterator[SuiteRun]:
    """Run every suite on the merged tree, one at a time.

    A suite that fails runs a second time before it counts: cases that pass then are flaky.

    Raises:
        TestRunError: A test command cannot be started.
    """
    runs: SuiteRuns | None = None
    for which, number, suite in group.suites:
        runs = runs or SuiteRuns(group, runner or TestRunner(), judge, test_base=True)
        run = runs.confirmed(suite, merged)
        yield SuiteRun(suite=which, feature=number, tests=run.tests, judgement=run.judgement)
