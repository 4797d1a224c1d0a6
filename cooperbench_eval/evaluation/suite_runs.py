"""Runs the suites of a pair or team on its trees, and judges the runs."""

import functools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import ClassVar, Protocol

import attrs

from cooperbench_eval.evaluation.pairs import Feature, start_of
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, rewritten
from cooperbench_eval.reporting.landings import SuiteRun, TeamSuite
from cooperbench_eval.reporting.rows import Judged
from cooperbench_eval.running import TestRunner, TestSuite
from cooperbench_eval.running.delta_judge import DeltaJudge
from cooperbench_eval.running.results import (
    BAD,
    Judgement,
    JudgeRule,
    TestCaseStatus,
    TestResult,
    TestStatus,
)


class Suites(Protocol):
    """Features with their tests: a pair, a team, or a part of a team."""

    @property
    def base(self) -> Snapshot:
        """Return the tree from which they start."""
        ...

    @property
    def features(self) -> tuple[Feature, ...]:
        """Return the features with their own tests."""
        ...

    @property
    def joint(self) -> TestSuite | None:
        """Return the tests of all features together."""
        ...

    @property
    def regression(self) -> TestSuite | None:
        """Return the repository's own tests."""
        ...


@attrs.frozen(kw_only=True)
class TestedGroup:
    """Features with their tests that are neither a pair nor a team."""

    __test__: ClassVar[bool] = False

    base: Snapshot
    features: tuple[Feature, ...]
    joint: TestSuite | None = None
    regression: TestSuite | None = None


class Runner(Protocol):
    """Runs a suite, as `TestRunner` does."""

    def run(
        self, base: Snapshot, changes: Changes, suite: TestSuite, *, number: int = 1
    ) -> TestResult:
        """Run *suite* on *base* with *changes*."""
        ...


class SuiteRuns:
    """The runs of the suites of one pair or team.

    Args:
        group: The pair or team.
        runner: Runs the suites; `None` to run nothing.
        rule: How runs are judged.
        test_base: Whether the features' suites run on the base. If they do not, every
            case of them must pass.
    """

    def __init__(
        self, group: Suites, runner: Runner | None, rule: JudgeRule, *, test_base: bool
    ) -> None:
        self._group = group
        self._runner = runner
        self._rule = rule
        self._test_base = test_base
        # Kept here as well, because a runner may have no cache.
        self._on_base = functools.cache(self._run_on_base)
        self._on_bare_base = functools.cache(self._run_on_bare_base)
        self._seen: dict[TestSuite, set[str]] = {}
        # A suite that several features share is judged against the base of the group.
        owners = Counter(each.tests for each in group.features if each.tests)
        self._starts = {
            each.tests: start_of(each, group.base)
            for each in group.features
            if each.tests and owners[each.tests] == 1
        }

    def plain(self, suite: TestSuite | None, changes: Changes) -> TestResult | None:
        """Run a suite on the base with *changes*, without judging it."""
        if self._runner is None or suite is None:
            return None
        run = self._runner.run(self._group.base, changes, suite)
        self._seen.setdefault(suite, set()).update(case.id for case in run.cases)
        return run

    def is_underway(self, suite: TestSuite | None, changes: Changes) -> bool:
        """Whether another worker is running a suite on the base, with or without *changes*.

        See `TestRunner.is_underway`.
        """
        if suite is None or not isinstance(self._runner, TestRunner):
            return False
        wanted = [changes, self._untouched(suite)] if self._test_base else [changes]
        base, runner = self._group.base, self._runner
        return any(runner.is_underway(base, each, suite) for each in wanted)

    def on_base(self, feature: Feature) -> TestResult | None:
        """Run a feature's suite on the tree from which the feature starts, if that is wanted."""
        return self._on_base(feature.tests) if self._test_base else None

    def on_base_of_group(self, suite: TestSuite | None) -> TestResult | None:
        """Run the joint or the regression suite on the base."""
        return self._on_base(suite)

    def judged(
        self, suite: TestSuite | None, changes: Changes, alone: TestResult | None = None
    ) -> Judged:
        """Run a suite on a merged tree, the base with *changes*, and judge the run.

        Args:
            suite: The suite; `None` to run nothing.
            changes: The merge.
            alone: The suite's run on its own feature's side, if it belongs to a feature.
        """
        run = self.plain(suite, changes)
        return Judged(run, self.judge(suite, run, alone))

    def confirmed(
        self, suite: TestSuite | None, changes: Changes, alone: TestResult | None = None
    ) -> Judged:
        """Do the same as `judged`, but run the suite a second time if it fails.

        Cases that fail and then pass are flaky.
        """
        first = self.judged(suite, changes, alone)
        return first if first.outcome is not False else self._again(suite, changes, first, alone)

    def of_features(
        self, numbers: Collection[int], changes: Changes, alone: Mapping[int, TestResult | None]
    ) -> Iterator[SuiteRun]:
        """Run the suites of some features on their tree, one at a time.

        The joint tests run only if the tree holds all features. A suite that fails runs a second
        time before it counts.

        Args:
            numbers: The features.
            changes: The changes that turn the base into their tree.
            alone: The run of each feature's tests without the others, by the feature's number.
        """
        for which, number, suite in suites_on(self._group, numbers):
            own = None if number is None else alone.get(number)
            run = self.confirmed(suite, changes, own)
            yield SuiteRun(suite=which, feature=number, tests=run.tests, judgement=run.judgement)

    def regression(self, changes: Changes, *, decides: bool = True) -> Judged:
        """Run the regression suite on the base with *changes*, and judge the run.

        If it breaks cases, it runs a second time: cases that pass then are flaky.

        Args:
            changes: The changes.
            decides: Whether a verdict depends on this run; if not, there is no second one.
        """
        suite = self._group.regression
        first = self.judged(suite, changes)
        if first.judgement is None or not first.judgement.broken or not decides:
            return first
        return self._again(suite, changes, first)

    def _again(
        self,
        suite: TestSuite | None,
        changes: Changes,
        first: Judged,
        alone: TestResult | None = None,
    ) -> Judged:
        """Run a suite a second time on a tree where it failed, and judge both runs together."""
        if suite is None or self._runner is None or first.tests is None:
            return first
        second = self._runner.run(self._group.base, changes, suite, number=2)
        if second.status not in {TestStatus.PASSED, TestStatus.FAILED}:
            return first
        passed = {case.id for case in second.cases if case.status is TestCaseStatus.PASSED}
        judgement = first.judgement
        if judgement is not None and judgement.broken:
            flaky = tuple(id_ for id_ in judgement.broken if id_ in passed)
            still = tuple(id_ for id_ in judgement.broken if id_ not in passed)
            return Judged(first.tests, attrs.evolve(judgement, broken=still, flaky=flaky))
        again = Judged(second, self.judge(suite, second, alone))
        if not again.outcome:
            return first
        failed = (case.id for case in first.tests.cases if case.status in BAD)
        flaky = tuple(id_ for id_ in failed if id_ in passed)
        judgement = again.judgement or Judgement(broken=())
        return Judged(second, attrs.evolve(judgement, flaky=flaky) if flaky else again.judgement)

    def judge(
        self, suite: TestSuite | None, run: TestResult | None, alone: TestResult | None = None
    ) -> Judgement | None:
        """Judge a run of a suite; `None` if every case must pass. See `judged`."""
        if suite is None or run is None or self._rule is JudgeRule.ABSOLUTE:
            return None
        judge = DeltaJudge(
            base=self._start_of(suite),
            suite=suite,
            others={other: self._seen.get(other, ()) for other in self._others(suite)},
            on_base=self._on_base(suite) if self._compares(suite) else None,
            on_bare_base=functools.partial(self._on_bare_base, suite),
            brings_tests=suite == self._group.joint,
        )
        return judge.judge(run, alone)

    def _compares(self, suite: TestSuite) -> bool:
        """Whether a suite runs on the base too."""
        return self._test_base or suite in {self._group.joint, self._group.regression}

    def _others(self, suite: TestSuite) -> Iterator[TestSuite]:
        """Yield the features' suites other than *suite*."""
        for feature in self._group.features:
            if feature.tests is not None and feature.tests != suite:
                yield feature.tests

    def _run_on_base(self, suite: TestSuite | None) -> TestResult | None:
        return None if suite is None else self.plain(suite, self._untouched(suite))

    def _run_on_bare_base(self, suite: TestSuite) -> TestResult | None:
        bare = attrs.evolve(suite, patch=Patch.parse(b""), required=None)
        return self.plain(bare, self._untouched(suite))

    def _start_of(self, suite: TestSuite) -> Snapshot:
        """Return the tree from which a suite's feature starts; for other suites, the base."""
        return self._starts.get(suite, self._group.base)

    def _untouched(self, suite: TestSuite) -> Changes:
        """Return the changes that turn the base into that tree."""
        return rewritten(Changes(), self._start_of(suite), self._group.base)


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
