"""Judges the runs of a suite by what its cases do on the base: the rule `delta`.

A failure counts only if the suite requires the case: its patch adds or changes it, or it
passes on the base. So tests that have always failed are not held against either feature,
and tests that another feature's suite rewrites are left to that suite.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

import attrs
from attrs import field, frozen

from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch_parts import PatchStatus
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS
from cooperbench_eval.running.readers.javascript_tests import NAME_SEPARATOR
from cooperbench_eval.running.readers.protocol import NewTests, Reader
from cooperbench_eval.running.readers.result_files import is_unnamed
from cooperbench_eval.running.results import (
    BAD,
    COMPLETE,
    Judgement,
    TestCase,
    TestCaseStatus,
    TestResult,
    TestStatus,
    lost_cases,
)
from cooperbench_eval.running.suite import TestSuite


@frozen(kw_only=True)
class DeltaJudge:
    """Judges the runs of one suite on trees that come from one base.

    Attributes:
        others: The other suites, each with the ids of the cases that were seen in its runs. Only
            such a suite judges a test that its patch changes and that it runs.
        on_base: The suite's run on the base; `None` if there is none.
        brings_tests: Whether every case counts if the suite's patch adds or changes no test.
        on_bare_base: Returns the run of the suite's command on the base without the
            suite's patch. It is called only if a verdict depends on it, at most once for
            each judgement.
    """

    base: Snapshot
    suite: TestSuite
    others: Mapping[TestSuite, Collection[str]] = field(factory=dict)
    on_base: TestResult | None
    brings_tests: bool = False
    on_bare_base: Callable[[], TestResult | None] = lambda: None

    def judge(self, run: TestResult, alone: TestResult | None = None) -> Judgement | None:
        """Judge *run*; `None` if every case must pass.

        That is so if the suite has no complete run on the base, if the run itself is not complete,
        if its tests have no names, or if its exit status is not that of failing tests. For a merged
        tree, *alone* is the suite's run on its feature's own side, which may show cases that cannot
        be loaded on the base.
        """
        if self.on_base is None or not self._can_judge(run, self.on_base):
            return None
        names = _Names(self, run.cases)
        if self.brings_tests and not names.own:
            return None
        failed = frozenset(case.id for case in run.cases if case.status in BAD)
        before = [self.on_base] if alone is None else [self.on_base, alone]
        lost = [
            frozenset(lost_cases(each, run)) - failed if each.status in COMPLETE else frozenset()
            for each in before
        ]
        if not failed and not any(lost):
            return Judgement(broken=())
        return _sorted(self, run, names, frozenset().union(*lost))

    def _can_judge(self, run: TestResult, on_base: TestResult) -> bool:
        if self._reader.added is None or not _shows_cases(on_base) or run.status not in COMPLETE:
            return False
        fails = TestStatus.FAILED in {run.status, on_base.status}
        if (fails and _stops_early(self.suite)) or any(map(is_unnamed, run.cases)):
            return False
        # A run may also fail for a reason that no case shows.
        return run.status is not TestStatus.FAILED or run.exit_code in {
            *_FAILING_TESTS,
            on_base.exit_code,
        }

    @property
    def _reader(self) -> Reader:
        return FRAMEWORKS[self.suite.framework]


_FAILING_TESTS = frozenset({1, 100, 101})
"""The exit statuses of a framework whose tests fail; 100 is nextest's and 101 cargo's."""
_STOP = re.compile(r"-x|--exitfirst|--maxfail(?:=.*)?|--?failfast|-f|--bail(?:=.*)?")


def _stops_early(suite: TestSuite) -> bool:
    """Whether the suite's command stops at a failure, so that other tests do not run."""
    if suite.framework in {"cargo", "nextest"}:
        return "--no-fail-fast" not in suite.command
    return any(map(_STOP.fullmatch, suite.command))


def _sorted(judge: DeltaJudge, run: TestResult, names: "_Names", lost: frozenset[str]) -> Judgement:
    """Sort the cases that do not pass; *lost* ones passed before and neither pass nor fail now."""
    assert judge.on_base is not None  # noqa: S101 - for mypy
    before = _statuses(judge.on_base)
    ran = {case.id: case for case in run.cases}
    broken: list[str] = []
    preexisting: list[str] = []
    foreign: list[str] = []
    unsure: list[str] = []
    for case in (each for each in run.cases if each.status in BAD):
        known = before.get(case.id)
        if names.is_own(case):
            broken.append(case.id)
        elif names.is_foreign(case):
            foreign.append(case.id)
        elif known is not None and known not in BAD:
            broken.append(case.id)
        else:
            is_old = known is not None and names.is_unaffected(case)
            (preexisting if is_old else unsure).append(case.id)
    for id_ in sorted(lost):
        case = ran.get(id_, TestCase(id=id_, status=TestCaseStatus.PASSED))
        if names.is_own(case):
            broken.append(id_)
        elif before.get(id_) not in BAD:
            (foreign if names.is_foreign(case) else broken).append(id_)
    if unsure and not broken and not run.missing_tests:
        # Their result on the base may be due to the suite's own patch.
        bare = judge.on_bare_base()
        before = _statuses(bare) if bare is not None and _shows_cases(bare) else {}
    for id_ in unsure:
        (preexisting if before.get(id_) in BAD else broken).append(id_)
    return Judgement(broken=broken, preexisting=preexisting, foreign=foreign)


class _Names:
    """The tests that the suites' patches touch, named as one suite's reader names them."""

    def __init__(self, judge: DeltaJudge, cases: tuple[TestCase, ...]) -> None:
        self._judge = judge
        self._cases = cases
        self._reader = FRAMEWORKS[judge.suite.framework]

    def is_own(self, case: TestCase) -> bool:
        """Whether the suite's patch adds or changes the test of *case*.

        A case that stands for a file or a package, because that could not be loaded, is
        the suite's own if one of these tests is in it.
        """
        return any(self._reader.covers(case, each) for each in self.own)

    def is_foreign(self, case: TestCase) -> bool:
        """Whether only another suite judges *case*, because its patch changes exactly this test.

        A file or a package that cannot be loaded is more than one test.
        """
        test = attrs.evolve(case, status=TestCaseStatus.PASSED)
        return self._reader.file_of(case) != case.id and any(
            self._reader.covers(test, each) and _is_of_one_test(each, test)
            for each in self._foreign
        )

    def is_unaffected(self, case: TestCase) -> bool:
        """Whether the suite's patch surely has no effect on *case*.

        That is so if the patch only adds test files, and none of them holds the case.
        """
        file = self._reader.file_of(case)
        if not file or not self._only_adds_tests:
            return False
        return not any(path == file or path.endswith(f"/{file}") for path in self._brought)

    @cached_property
    def _brought(self) -> Changes:
        return _changes_of(self._judge.base, self._judge.suite)

    @cached_property
    def own(self) -> tuple[str, ...]:
        """The tests that the suite's patch adds or changes."""
        return tuple(self._touched(self._brought, self._brought))

    @cached_property
    def _foreign(self) -> frozenset[str]:
        """The tests of the base that other suites change with their patches, and also run.

        A test counts as changed if something that it uses is only in the changed version. A test
        that a suite deletes or does not run is judged by the suites that run it.
        """
        base = self._judge.base
        found: set[str] = set()
        for other, seen in self._judge.others.items():
            changes = _changes_of(base, other)
            paths = [path for path in changes if base.get(path) is not None]
            names = {*self._touched(changes, paths, backwards=True), *self._touched(changes, paths)}
            # A file that could not be loaded stands for all tests in it.
            ran = [TestCase(id=id_, status=TestCaseStatus.ERROR) for id_ in seen]
            found |= {
                each for each in names if any(self._reader.covers(case, each) for case in ran)
            }
        return frozenset(found)

    @cached_property
    def _only_adds_tests(self) -> bool:
        base = self._judge.base
        return all(
            base.get(path) is None and any(self._touched(self._brought, [path]))
            for path in self._brought
        )

    def _touched(
        self, changes: Changes, paths: Iterable[str], *, backwards: bool = False
    ) -> Iterator[str]:
        """Yield the tests in *paths* that *changes* add or change.

        If *backwards*, yield those that they change or remove.
        """
        trees = self._judge.base, self._judge.base.overlay(changes)
        before, after = reversed(trees) if backwards else trees
        new = NewTests(
            before=before,
            after=after,
            paths=tuple(paths),
            command=self._judge.suite.command,
            env=self._judge.suite.env,
            cases=self._cases,
        )
        if self._reader.added is not None:
            yield from self._reader.added(new)


def _changes_of(base: Snapshot, suite: TestSuite) -> Changes:
    """Return what the suite's patch changes on the base; nothing if it does not apply."""
    applied = apply_patch(base, suite.patch)
    return Changes() if applied.status is PatchStatus.FAILED else applied.changes


def _is_of_one_test(name: str, case: TestCase) -> bool:
    """Whether a name that covers *case* is that of its test, not of a file or of any class."""
    in_file = "::" in name or NAME_SEPARATOR in name
    return "*" not in name and (in_file or case.id == name or case.id.startswith(f"{name}/"))


def _statuses(run: TestResult) -> dict[str, TestCaseStatus]:
    return {case.id: case.status for case in run.cases}


def _shows_cases(run: TestResult) -> bool:
    """Whether a run on the base shows which cases pass there.

    A run in which required tests did not run is complete too.
    """
    is_short = run.status is TestStatus.INCONCLUSIVE and bool(run.missing_tests)
    return bool(run.cases) and (is_short or run.status in COMPLETE)
