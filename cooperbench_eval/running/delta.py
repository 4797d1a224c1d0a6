"""Judges the runs of a suite by what its cases do on the base: the rule `delta`.

A failure counts only if the suite requires the case: its patch adds or changes it, or it
passes on the base. So tests that have always failed blame nobody, and tests that another
feature's suite rewrites are left to that suite.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import attrs
from attrs import field, frozen

from cooperbench_eval.models import (
    BAD,
    Judgement,
    PatchStatus,
    TestCase,
    TestCaseStatus,
    TestResult,
    TestStatus,
    lost_cases,
)
from cooperbench_eval.patching.apply import apply_patch
from cooperbench_eval.running.readers.frameworks import FRAMEWORKS
from cooperbench_eval.running.readers.javascript.javascript_tests import NAME_SEPARATOR
from cooperbench_eval.running.readers.protocol import NewTests, Reader
from cooperbench_eval.running.readers.results import is_unnamed
from cooperbench_eval.running.suite import TestSuite
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = ["DeltaJudge"]


@frozen(kw_only=True)
class DeltaJudge:
    """Judges the runs of one suite on trees that come from one base.

    Attributes:
        base: The base.
        suite: The suite.
        others: The suites that alone judge the tests that their patches change or remove.
        on_base: The suite's run on the base; `None` if there is none.
        on_bare_base: Returns the run of the suite's command on the base without the
            suite's patch. It is called only if a verdict depends on it, at most once for
            each judgement.
    """

    base: Snapshot
    suite: TestSuite
    others: Sequence[TestSuite] = ()
    on_base: TestResult | None
    on_bare_base: Callable[[], TestResult | None] = lambda: None

    def judge(self, run: TestResult) -> Judgement | None:
        """Judge *run*; `None` if every case must pass.

        That is so if the suite has no complete run on the base, if the run itself is not
        complete, or if its tests have no names.
        """
        if self.on_base is None or not _shows_cases(self.on_base) or self._reader.added is None:
            return None
        if run.status not in {TestStatus.PASSED, TestStatus.FAILED} or any(
            map(is_unnamed, run.cases)
        ):
            return None
        failed = [case for case in run.cases if case.status in BAD]
        lost = frozenset(lost_cases(self.on_base, run)).difference(case.id for case in failed)
        if not failed and not lost:
            return Judgement(broken=())
        return _Sorting(self, run).judgement(failed, sorted(lost))

    @property
    def _reader(self) -> Reader:
        return FRAMEWORKS[self.suite.framework]


@frozen
class _Sorting:
    """Sorts the cases of one run that do not pass."""

    _judge: DeltaJudge
    _run: TestResult
    _broken: list[str] = field(factory=list, init=False)
    _preexisting: list[str] = field(factory=list, init=False)
    _foreign: list[str] = field(factory=list, init=False)
    _unsure: list[str] = field(factory=list, init=False)

    def judgement(self, failed: Sequence[TestCase], lost: Sequence[str]) -> Judgement:
        names = _Names(self._judge, self._run.cases)
        reference = self._judge.on_base
        assert reference is not None  # noqa: S101 - for mypy
        before = _statuses(reference)
        for case in failed:
            self._place(case, before.get(case.id), names).append(case.id)
        skipped = {case.id: case for case in self._run.cases}
        for id_ in lost:
            case = skipped.get(id_, TestCase(id=id_, status=TestCaseStatus.PASSED))
            if names.is_own(case):
                # The runner judges whether one of the suite's own tests may be skipped.
                if id_ not in skipped:
                    self._broken.append(id_)
            else:
                (self._foreign if names.is_foreign(case) else self._broken).append(id_)
        self._settle(before)
        return Judgement(
            broken=tuple(self._broken),
            preexisting=tuple(self._preexisting),
            foreign=tuple(self._foreign),
        )

    def _place(self, case: TestCase, before: TestCaseStatus | None, names: "_Names") -> list[str]:
        if names.is_own(case):
            return self._broken
        if names.is_foreign(case):
            return self._foreign
        if before is not None and before not in BAD:
            return self._broken
        if before is not None and names.is_unaffected(case):
            return self._preexisting
        return self._unsure

    def _settle(self, before: dict[str, TestCaseStatus]) -> None:
        """Sort the cases whose result on the base may be due to the suite's own patch."""
        if not self._unsure:
            return
        if not self._broken and not self._run.missing_tests:
            bare = self._judge.on_bare_base()
            before = _statuses(bare) if bare is not None and _shows_cases(bare) else {}
        for id_ in self._unsure:
            already = before.get(id_) in BAD
            (self._preexisting if already else self._broken).append(id_)


class _Names:
    """The tests that the suites' patches touch, in the names of one suite's reader."""

    def __init__(self, judge: DeltaJudge, cases: tuple[TestCase, ...]) -> None:
        self._judge = judge
        self._cases = cases
        self._reader = FRAMEWORKS[judge.suite.framework]

    def is_own(self, case: TestCase) -> bool:
        """Whether the suite's patch adds or changes the test of *case*.

        A case that stands for a file or a package, because that could not be loaded, is
        the suite's own if one of these tests is in it.
        """
        return any(self._reader.covers(case, each) for each in self._own)

    def is_foreign(self, case: TestCase) -> bool:
        """Whether another suite's patch changes or removes exactly the test of *case*.

        A file or a package that cannot be loaded is more than one test, so it is not.
        """
        test = attrs.evolve(case, status=TestCaseStatus.PASSED)
        return self._reader.file_of(case) != case.id and any(
            self._reader.covers(test, name) and _is_of_one_test(name, test)
            for name in self._foreign
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
    def _own(self) -> tuple[str, ...]:
        return tuple(self._touched(self._brought, self._brought))

    @cached_property
    def _foreign(self) -> tuple[str, ...]:
        """The tests of the base that are changed or missing with the others' patches."""
        base = self._judge.base
        found: dict[str, None] = {}
        for other in self._judge.others:
            changes = _changes_of(base, other)
            paths = [path for path in changes if base.get(path) is not None]
            found |= dict.fromkeys(self._touched(changes, paths, backwards=True))
        return tuple(found)

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
        """Yield the tests in *paths* that *changes* add or change, or, *backwards*, remove."""
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
    if run.status in {TestStatus.PASSED, TestStatus.FAILED}:
        return bool(run.cases)
    return run.status is TestStatus.INCONCLUSIVE and bool(run.missing_tests) and bool(run.cases)
