"""Runs the suites of features on a merged tree."""

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.evaluation.pairs import Feature
from cooperbench_eval.evaluation.suite_runs import SuiteRuns
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.path_kinds import is_test_path
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting.landings import SuiteRun, TeamSuite
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.judgements import JudgeRule

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
            problem = f"has a suite for feature {number}, but none of the features has that number"
            raise ArgumentError("suites", problem)
        if known[number].tests is not None:
            problem = f"has a suite for feature {number}, which already has one"
            raise ArgumentError("suites", problem)
    return tuple(evolve(each, tests=given.get(each.number, each.tests)) for each in features)


def run_suites(
    group: TestedGroup, merged: Changes, runner: TestRunner | None, judge: JudgeRule
) -> Iterator[SuiteRun]:
    """Run every suite on the merged tree, one at a time.

    A suite that fails runs a second time before it counts: cases that pass then are flaky. Whoever
    made the tree may have written tests of the same names, so a suite's own tests replace those.

    Raises:
        TestRunError: A test command cannot be started.
    """
    runs: SuiteRuns | None = None
    for which, number, suite in group.suites:
        runs = runs or SuiteRuns(group, runner or TestRunner(), judge, test_base=True)
        run = runs.confirmed(suite, _with_room(group.base, merged, suite))
        yield SuiteRun(suite=which, feature=number, tests=run.tests, judgement=run.judgement)


def _with_room(base: Snapshot, merged: Changes, suite: TestSuite) -> Changes:
    """Return a merged tree to which the tests patch of a suite applies as it does to the base.

    Test files that the patch touches are those of the base. So are the other files that it
    touches, if it would not apply otherwise.
    """
    paths = {path for file in suite.patch.files for path in file.paths}
    found = _as_in_base(merged, filter(is_test_path, paths))
    if apply_patch(base.overlay(found), suite.patch).status.is_usable:
        return found
    return _as_in_base(merged, paths)


def _as_in_base(merged: Changes, paths: Iterable[str]) -> Changes:
    """Undo what a merged tree changes at paths, below them and above them."""
    found = dict(merged)
    for path in paths:
        for other in merged:
            one, two = sorted((path, other), key=len)
            if one == two or two.startswith(f"{one}/"):
                found.pop(other, None)
    return Changes(found)
