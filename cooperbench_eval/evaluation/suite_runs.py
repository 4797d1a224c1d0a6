"""Runs the suites of a pair, a team or a set of features on their trees, and judges the runs.

All calls run their suites here, so runs without an answer, flaky cases and spent budgets are
treated in the same way everywhere.
"""

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from cooperbench_eval.errors import RepositoryError, TestRunError
from cooperbench_eval.evaluation.pairs import Feature, FeatureGroup, Suites, own_base, suites_on
from cooperbench_eval.evaluation.placing import Placed
from cooperbench_eval.git.patching.apply import ApplyResult
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy
from cooperbench_eval.git.patching.path_kinds import (
    PathKind,
    classify_path,
    files_that_name_a_framework,
)
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, cache_of, rewritten
from cooperbench_eval.reporting import FeatureReport, PatchReport
from cooperbench_eval.reporting.landings import SuiteRun
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
    is_cut_off,
    is_silent,
    unanswered,
)
from cooperbench_eval.support.memo import Memo


class BudgetSpentError(Exception):
    """The budget does not allow another run."""


class Runs:
    """Runs each suite once on a tree, within a budget.

    If the runner or the host fails, the run has no answer, and its result gives the reason.

    Attributes:
        budget: How many runs are allowed; `None` if any number is.
        used: How many different runs were asked for.
    """

    def __init__(self, runner: TestRunner | None, budget: int | None = None) -> None:
        """Allow *budget* runs by *runner*, which may be missing if nothing is to run."""
        self.runner = runner
        self.budget = budget
        self.used = 0
        self._known: dict[tuple[str, TestSuite, int], TestResult] = {}

    def know(self, base: Snapshot, changes: Changes, suite: TestSuite, run: TestResult) -> None:
        """Add the result of an earlier run."""
        self._known[changes.tree_id(base), suite, 1] = run

    def run(
        self, base: Snapshot, changes: Changes, suite: TestSuite, *, number: int = 1
    ) -> TestResult:
        """Run *suite* on *base* with *changes*, if it did not run there before."""
        key = changes.tree_id(base), suite, number
        if key not in self._known:
            self._known[key] = self._counted(base, changes, suite, number)
        return self._known[key]

    def rerun(self, base: Snapshot, changes: Changes, suite: TestSuite) -> TestResult:
        """Run *suite* again even if its result is known; the new result replaces the known one."""
        run = self._counted(base, changes, suite, 3)  # after the evaluation's two
        self.know(base, changes, suite, run)
        return run

    def _counted(
        self, base: Snapshot, changes: Changes, suite: TestSuite, number: int
    ) -> TestResult:
        if self.runner is None or (self.budget is not None and self.used >= self.budget):
            raise BudgetSpentError
        self.used += 1
        try:
            return self.runner.run(base, changes, suite, number=number)
        except RepositoryError:
            raise
        except TestRunError as exc:
            reason = str(exc)
        # The caller's own runner may raise anything; no feature is to blame for that.
        except Exception as exc:  # noqa: BLE001
            reason = f"the runner raised {exc!r}"
        status = TestStatus.INFRASTRUCTURE_ERROR
        return TestResult(status=status, reason=reason, command=suite.command)


class SuiteRuns:
    """The runs of the suites of one pair or team, and what they say about its trees.

    A suite that fails runs a second time before anybody is blamed. A run without a result counts
    against its tree only if the suite has a result on the base. Without *runs*, nothing runs.
    Without *test_base*, no feature's suite runs on the base, and every case of it must pass.
    """

    def __init__(
        self, group: Suites, runs: Runs | None, rule: JudgeRule, *, test_base: bool = True
    ) -> None:
        self._group = group
        self._runs = runs
        self._rule = rule
        self._test_base = test_base
        self._seen: dict[TestSuite, set[str]] = {}
        self._flaky: dict[TestSuite, set[str]] = {}
        # A suite that several features share is judged against the base of the group.
        owners = Counter(each.tests for each in group.features if each.tests)
        self._starts = {
            each.tests: start
            for each in group.features
            if each.tests and owners[each.tests] == 1 and (start := own_base(each))
        }
        self._untouched = {
            suite: rewritten(Changes(), start, group.base) for suite, start in self._starts.items()
        }

    def plain(self, suite: TestSuite | None, changes: Changes) -> TestResult | None:
        """Run a suite on the base with *changes*, without judging it."""
        if self._runs is None or suite is None:
            return None
        run = self._runs.run(self._group.base, changes, suite)
        self._seen.setdefault(suite, set()).update(case.id for case in run.cases)
        return run

    def is_underway(self, suite: TestSuite | None, changes: Changes) -> bool:
        """Whether another worker runs a suite there or on the base: see `TestRunner`."""
        if suite is None or self._runs is None or not isinstance(self._runs.runner, TestRunner):
            return False
        wanted = [changes, self._start_of(suite)] if self._test_base else [changes]
        try:
            return any(self._runs.runner.is_underway(self._group.base, c, suite) for c in wanted)
        except TestRunError:  # the run itself reports it
            return False

    def on_base(self, feature: Feature) -> TestResult | None:
        """Run a feature's suite on the tree from which the feature starts, if that is wanted."""
        return self.on_base_of_group(feature.tests) if self._test_base else None

    def on_base_of_group(self, suite: TestSuite | None) -> TestResult | None:
        """Run the joint or the regression suite on the base."""
        return None if suite is None else self.plain(suite, self._start_of(suite))

    def judged(
        self, suite: TestSuite | None, changes: Changes, alone: TestResult | None = None
    ) -> Judged:
        """Run a suite once on the base with *changes*, and judge the run.

        For a merge, *alone* is the suite's run on its own feature's side, if it has one.
        """
        run = self.plain(suite, changes)
        return Judged(run, self.judge(suite, run, alone))

    def confirmed(
        self, suite: TestSuite | None, changes: Changes, alone: TestResult | None = None
    ) -> Judged:
        """Do the same as `judged`, but run a suite that fails a second time.

        Cases that fail and then pass are flaky. A suite that gives a result neither on this tree
        nor on the base says nothing about the tree.
        """
        first = self._without_flaky(suite, self.judged(suite, changes, alone))
        if suite is None or first.tests is None:
            return first
        if first.outcome is not False:
            return first
        if is_silent(first.tests):
            if run := self._without_answer(suite, first.tests, number=1):
                return run
            if not is_cut_off(first.tests):
                return self._after_silence(suite, changes, first, alone)
        return self._again(suite, changes, first, alone)

    def _after_silence(
        self, suite: TestSuite, changes: Changes, first: Judged, alone: TestResult | None
    ) -> Judged:
        """Run a suite again on a tree where it ended without a result, unlike on the base."""
        assert first.tests is not None  # noqa: S101 - it was silent
        second = self._numbered(suite, changes, 2)
        if not is_silent(second):
            judged = Judged(second, self.judge(suite, second, alone))
            return judged if judged.outcome else self._again(suite, changes, judged, alone, 3)
        # The disk may be full by now.
        return self._without_answer(suite, first.tests, number=2) or first

    def of_features(
        self,
        numbers: Collection[int],
        tree_for: Callable[[TestSuite | None], Changes],
        alone: Mapping[int, TestResult | None],
    ) -> Iterator[SuiteRun]:
        """Run the suites of some features on their tree, one at a time.

        The joint tests run only if the tree holds all features. *tree_for* returns the tree for a
        suite, as changes, and *alone* has the run of each feature's tests without the others.
        """
        for which, number, suite in suites_on(self._group, numbers):
            own = None if number is None else alone.get(number)
            run = self.confirmed(suite, tree_for(suite), own)
            yield SuiteRun(suite=which, feature=number, tests=run.tests, judgement=run.judgement)

    def _again(
        self,
        suite: TestSuite,
        changes: Changes,
        first: Judged,
        alone: TestResult | None,
        number: int = 2,
    ) -> Judged:
        """Run a suite again on a tree where it failed, and judge both runs together."""
        assert first.tests is not None  # noqa: S101 - it failed
        second = self._numbered(suite, changes, number)
        if second.status not in {TestStatus.PASSED, TestStatus.FAILED}:
            return self._without_answer(suite, second, number=2) or first
        passed = {case.id for case in second.cases if case.status is TestCaseStatus.PASSED}
        judgement = first.judgement
        if judgement is not None and judgement.broken:
            flaky = tuple(id_ for id_ in judgement.broken if id_ in passed)
            still = tuple(id_ for id_ in judgement.broken if id_ not in passed)
            self._flaky.setdefault(suite, set()).update(flaky)
            flaky = (*judgement.flaky, *flaky)
            return Judged(first.tests, evolve(judgement, broken=still, flaky=flaky))
        again = Judged(second, self.judge(suite, second, alone))
        if not again.outcome:
            return first
        failed = [case.id for case in first.tests.cases if case.status in BAD]
        if is_cut_off(first.tests):  # each of the cases may be the reason
            failed = [case.id for case in second.cases]
        flaky = tuple(id_ for id_ in failed if id_ in passed)
        judgement = again.judgement or Judgement(broken=())
        return Judged(second, evolve(judgement, flaky=flaky) if flaky else again.judgement)

    def _without_flaky(self, suite: TestSuite | None, judged: Judged) -> Judged:
        """Excuse the cases that were flaky on another tree: they decide nothing on this one."""
        known = self._flaky.get(suite, set()) if suite else set()
        judgement = judged.judgement
        if judgement is None or known.isdisjoint(judgement.broken):
            return judged
        flaky = tuple(id_ for id_ in judgement.broken if id_ in known)
        still = tuple(id_ for id_ in judgement.broken if id_ not in known)
        return Judged(judged.tests, evolve(judgement, broken=still, flaky=flaky))

    def _numbered(self, suite: TestSuite, changes: Changes, number: int) -> TestResult:
        assert self._runs is not None  # noqa: S101 - there was a first run
        return self._runs.run(self._group.base, changes, suite, number=number)

    def _without_answer(self, suite: TestSuite, run: TestResult, *, number: int) -> Judged | None:
        """Return the record of a run without a result, if that says nothing about its tree.

        It says nothing if the suite has no result on the tree from which its feature starts
        either. A run that was cut off says nothing only if that one was too, or was not run.
        """
        if run.was_run and not is_silent(run):
            return None
        on_base = self._numbered(suite, self._start_of(suite), number)
        is_like_base = is_cut_off(on_base) or not is_cut_off(run)
        if on_base.was_run and not (is_silent(on_base) and is_like_base):
            return None
        return Judged(unanswered(run, on_base))

    def judge(
        self, suite: TestSuite | None, run: TestResult | None, alone: TestResult | None = None
    ) -> Judgement | None:
        """Judge a run of a suite; `None` if every case must pass. See `judged`."""
        if suite is None or run is None or self._rule is JudgeRule.ABSOLUTE:
            return None
        own = (each.tests for each in self._group.features)
        others = (each for each in own if each is not None and each != suite)
        compares = self._test_base or suite in {self._group.joint, self._group.regression}
        judge = DeltaJudge(
            base=self._starts.get(suite, self._group.base),
            suite=suite,
            others={other: self._seen.get(other, ()) for other in others},
            on_base=self.on_base_of_group(suite) if compares else None,
            on_bare_base=functools.partial(self._on_bare_base, suite),
            brings_tests=suite == self._group.joint,
        )
        return judge.judge(run, alone)

    def _on_bare_base(self, suite: TestSuite) -> TestResult | None:
        bare = evolve(suite, patch=Patch.parse(b""), required=None)
        return self.plain(bare, self._start_of(suite))

    def _start_of(self, suite: TestSuite) -> Changes:
        """Return the tree from which a suite's feature starts, as changes of the base."""
        return self._untouched.get(suite, Changes())


_KEPT = 64
_FEWEST_TO_MERGE = 2


@frozen(kw_only=True)
class FeaturesAlone:
    """Each feature without the others, and the runs of the shared suites on the base."""

    reports: tuple[FeatureReport, ...]
    base_joint: TestResult | None = None
    base_regression: TestResult | None = None

    @property
    def tests(self) -> dict[int, TestResult | None]:
        """The run of each feature's own tests, by its number."""
        return {each.number: each.tests for each in self.reports}


def evaluate_alone(
    group: FeatureGroup,
    placed: Sequence[Placed],
    runs: SuiteRuns,
    policy: ApplyPolicy,
    *,
    test_other: bool,
) -> FeaturesAlone:
    """Run the suites on each feature without the others."""
    usable = [each for each in placed if each.is_usable]
    reports: dict[int, FeatureReport] = {}
    # Features whose runs another worker is making come last: by then they may be done.
    for each in sorted(
        placed,
        key=lambda each: each.is_usable and runs.is_underway(each.feature.tests, each.changes),
    ):
        feature, others = each.feature, [other for other in placed if other is not each]
        tested = test_other and each.is_usable
        reports[each.number] = FeatureReport(
            number=each.number,
            patch=_patch(each, group.base, policy),
            tests=runs.plain(feature.tests, each.changes) if each.is_usable else None,
            base_tests=runs.on_base(feature),
            other_tests=runs.plain(others[0].feature.tests, each.changes) if tested else None,
            agent=feature.agent,
        )
    for each in usable:  # by now, the cases of each suite are known
        tests, judgement = runs.confirmed(each.feature.tests, each.changes)
        report = reports[each.number]
        reports[each.number] = evolve(report, tests=tests, judgement=judgement)
    joint = group.joint if len(usable) == len(placed) else None
    regression = group.regression if len(usable) >= _FEWEST_TO_MERGE else None
    base_joint, base_regression = map(runs.on_base_of_group, (joint, regression))
    for each in usable if joint or regression else ():
        judged = runs.confirmed(group.regression, each.changes)
        reports[each.number] = evolve(
            reports[each.number],
            joint_tests=runs.plain(joint, each.changes),
            regression_tests=judged.tests,
            regression_judgement=judged.judgement,
        )
    return FeaturesAlone(
        reports=tuple(reports[each.number] for each in placed),
        base_joint=base_joint,
        base_regression=base_regression,
    )


def _patch(placed: Placed, base: Snapshot, policy: ApplyPolicy) -> PatchReport:
    start = placed.start
    # Kept, because a feature is part of many pairs.
    report = cache_of(start, _reports).recall(
        (placed.patch, policy), lambda: _report(start, placed.patch, placed.result)
    )
    report = evolve(report, dropped_files=placed.dropped)
    if start is not base:
        report = evolve(report, base_tree_id=start.tree_id, base_commit=start.commit_id)
    return evolve(report, reason=placed.problem) if placed.has_only_tests else report


def _reports() -> Memo[tuple[Patch, ApplyPolicy], PatchReport]:
    return Memo(_KEPT)


def _report(base: Snapshot, patch: Patch, result: ApplyResult) -> PatchReport:
    return PatchReport(
        status=result.status,
        reason=result.reason,
        touched_runner_control=tuple(
            path for path in patch.paths if classify_path(path) is PathKind.RUNNER_CONTROL
        ),
        names_test_framework=files_that_name_a_framework(base, result.changes),
        hunks=result.hunks,
        diff=result.changes.diff(base) if result.status.is_usable else None,
    )
