"""Test cases, the results of running them, and what a judge makes of these."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import ClassVar, Literal

from attrs import evolve, field, fields, frozen

from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.rendering.shown import Shown


class TestCaseStatus(StrEnum):
    """How one test case ended."""

    __test__: ClassVar[bool] = False

    PASSED = "passed"
    """It ran and passed."""
    FAILED = "failed"
    """It ran and failed."""
    ERROR = "error"
    """It could not be completed: collection, set-up or tear-down failed."""
    SKIPPED = "skipped"
    """It was skipped on purpose."""
    XFAILED = "xfailed"
    """It failed as its author expects."""


class TestStatus(StrEnum):
    """How a run of a suite ended."""

    __test__: ClassVar[bool] = False

    PASSED = "passed"
    """At least one case passed, none failed, and the exit status agrees."""
    FAILED = "failed"
    """At least one case failed or could not run."""
    NO_TESTS = "no_tests"
    """No case counts: none ran, or all were skipped or failed as expected."""
    PATCH_REJECTED = "patch_rejected"
    """The suite's tests patch does not apply to the tree; nothing was run."""
    SETUP_FAILED = "setup_failed"
    """The tests could not be started: a set-up step failed, a required program is missing, or
    the tested patch has a file where a prepared cache belongs."""
    TIMED_OUT = "timed_out"
    """The deadline passed and every process of the run was killed."""
    OUT_OF_MEMORY = "out_of_memory"
    """A process of the run was killed because memory ran out."""
    INCONCLUSIVE = "inconclusive"
    """Exit status and structured result disagree, a required test did not run, or the run
    changed a file that decides its result."""
    INFRASTRUCTURE_ERROR = "infrastructure_error"
    """Nothing is known about the code: the sandbox failed even when retried, the suite could not
    be started, or it gives no result on the base either."""

    @property
    def was_run(self) -> bool:
        """Whether the status is a result of the tree that was tested.

        It is not if the tests patch was rejected, or if the sandbox failed.
        """
        return self not in _NOT_RUN


_NOT_RUN = frozenset({TestStatus.PATCH_REJECTED, TestStatus.INFRASTRUCTURE_ERROR})
_CUT_OFF = frozenset({TestStatus.TIMED_OUT, TestStatus.OUT_OF_MEMORY})
_SILENT = _CUT_OFF | {TestStatus.INCONCLUSIVE, TestStatus.NO_TESTS, TestStatus.SETUP_FAILED}


class RepeatPolicy(StrEnum):
    """How many of a suite's repeated runs must pass."""

    ANY = "any"
    """At least one."""
    ALL = "all"
    """Every one."""
    MAJORITY = "majority"
    """More than half."""

    def is_met(self, passed: int, runs: int) -> bool:
        """Whether *passed* of *runs* runs are enough."""
        match self:
            case RepeatPolicy.ANY:
                return passed > 0
            case RepeatPolicy.ALL:
                return passed == runs
            case RepeatPolicy.MAJORITY:
                return passed * 2 > runs


@frozen(kw_only=True, field_transformer=named_fields)
class TestCase:
    """One test case of a run.

    Attributes:
        id: The framework's own name of the case, with which it can be selected.
        status: How it ended.
        duration_seconds: How long it took, as the framework measured it.
        message: Why it did not pass, shortened; empty if it passed.
    """

    __test__: ClassVar[bool] = False

    id: str
    status: TestCaseStatus = field(converter=TestCaseStatus)
    duration_seconds: float = 0.0
    message: str = field(default="", repr=False)


@frozen(kw_only=True)
class CaseCounts:
    """How many test cases ended in each way: a field for each `TestCaseStatus`."""

    passed_tests: int = 0
    failed_tests: int = 0
    error_tests: int = 0
    skipped_tests: int = 0
    xfailed_tests: int = 0

    @property
    def total_tests(self) -> int:
        """Passed, failed and errored cases."""
        return self.passed_tests + self.failed_tests + self.error_tests

    @property
    def pass_rate(self) -> float:
        """Passed cases over the total; 0.0 if the total is zero."""
        total = self.total_tests
        return self.passed_tests / total if total else 0.0


def count_cases(cases: Iterable[TestCase]) -> CaseCounts:
    """Count *cases* in one pass, because a run may have many thousands."""
    return CaseCounts(**name_counts(cases))


def name_counts(cases: Iterable[TestCase]) -> dict[str, int]:
    """Return the numbers of *cases* that are not zero, by the names of `CaseCounts`."""
    counts = Counter(case.status for case in cases)
    return {f"{status.value}_tests": count for status, count in counts.items()}


COUNTS = (*(each.name for each in fields(CaseCounts)), "total_tests", "pass_rate")
"""The names under which a run's counts are reported."""


class Ended:
    """The facts that follow from the status of a run."""

    __slots__ = ()

    status: TestStatus

    @property
    def passed(self) -> bool:
        """Whether the suite passes on this tree."""
        return self.status is TestStatus.PASSED

    @property
    def was_run(self) -> bool:
        """Whether the status is a result of this tree: see `TestStatus.was_run`."""
        return self.status.was_run


def _statuses(given: Iterable[str]) -> tuple[TestStatus, ...]:
    return tuple(map(TestStatus, given))


@frozen(kw_only=True, field_transformer=named_fields)
class TestResult(Ended, Shown):
    """The result of running a suite on a tree.

    Attributes:
        status: The verdict.
        cases: Every case that the framework reported, in its order.
        exit_code: The command's exit status, negative for a signal; `None` if nothing
            ran or the deadline passed.
        duration_seconds: The wall time of the command.
        output: The command's standard output and error as one text. Undecodable bytes are
            shown as escapes. If the text was too long, a line in the middle says how much
            was left out there.
        reason: Why the status is neither passed nor failed; otherwise empty.
        command: The command, as the suite states it.
        sandbox: The name of the sandbox in which it ran.
        sandbox_identity: The sandbox, with facts that may change a verdict, such as the
            digest of an image.
        restored_files: Files that control test runs and were reset to the base's version
            before the run, sorted.
        missing_tests: Required tests that did not run.
        repeats: How each run ended, if the suite was run several times; the other
            attributes are those of the run that decided. Empty for a single run.
        repeat_policy: How many of the repeats had to pass.
    """

    __test__: ClassVar[bool] = False

    status: TestStatus = field(converter=TestStatus)
    cases: tuple[TestCase, ...] = field(default=(), converter=tuple[TestCase, ...], repr=False)
    exit_code: int | None = None
    duration_seconds: float = 0.0
    output: str = field(default="", repr=False)
    reason: str = ""
    command: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    sandbox: str = ""
    sandbox_identity: str = ""
    restored_files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    missing_tests: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    repeats: tuple[TestStatus, ...] = field(default=(), converter=_statuses)
    repeat_policy: RepeatPolicy | None = None

    @property
    def passed_tests(self) -> int:
        """Cases that passed."""
        return count_cases(self.cases).passed_tests

    @property
    def failed_tests(self) -> int:
        """Cases that failed."""
        return count_cases(self.cases).failed_tests

    @property
    def error_tests(self) -> int:
        """Cases that could not be completed."""
        return count_cases(self.cases).error_tests

    @property
    def skipped_tests(self) -> int:
        """Cases skipped on purpose; not part of the total."""
        return count_cases(self.cases).skipped_tests

    @property
    def xfailed_tests(self) -> int:
        """Cases that failed as expected; not part of the total."""
        return count_cases(self.cases).xfailed_tests

    @property
    def total_tests(self) -> int:
        """Passed, failed and errored cases."""
        return count_cases(self.cases).total_tests

    @property
    def pass_rate(self) -> float:
        """Passed cases over the total; 0.0 if the total is zero."""
        return count_cases(self.cases).pass_rate


def is_silent(run: TestResult) -> bool:
    """Whether a command ended without any result, for example because pytest is missing."""
    return run.status in _SILENT and not run.cases


def is_cut_off(run: TestResult) -> bool:
    """Whether a command was killed at a limit of time or memory."""
    return run.status in _CUT_OFF


def unanswered(run: TestResult, on_base: TestResult) -> TestResult:
    """Return the record of a run without an answer; *on_base* has none either."""
    reason = run.reason
    if is_cut_off(run) and run.status is on_base.status:
        reason = f"{run.status.value.replace('_', ' ')} here and on the base: {reason}"
    return evolve(run, status=TestStatus.INFRASTRUCTURE_ERROR, reason=reason)


def lost_cases(before: TestResult, after: TestResult) -> tuple[str, ...]:
    """Return the ids of the cases that pass in one run and not in a later one.

    Cases that the later run lacks are included, unless cases with other parameters pass in
    their place: a parameter may differ from run to run, as a random UUID does, and the id
    with it.
    """
    passed = TestCaseStatus.PASSED
    ran = {case.id: case.status for case in after.cases}
    candidates = [
        case.id for case in before.cases if case.status is passed and ran.get(case.id) is not passed
    ]
    if not candidates:
        return ()
    known = {case.id for case in before.cases}
    renamed = Counter(
        _unparametrized(id_) for id_, status in ran.items() if status is passed and id_ not in known
    )
    lost = []
    for id_ in candidates:
        test = _unparametrized(id_)
        if id_ not in ran and test != id_ and renamed[test]:
            renamed[test] -= 1
        else:
            lost.append(id_)
    return tuple(lost)


def _unparametrized(id_: str) -> str:
    """Return the test of a case, as pytest names it: `test[parameters]`."""
    return id_.partition("[")[0] if id_.endswith("]") else id_


class JudgeRule(StrEnum):
    """Which test cases of a suite must pass."""

    DELTA = "delta"
    """Those that the suite's own patch adds or changes, and those that pass on the base."""
    ABSOLUTE = "absolute"
    """All of them."""


JudgeName = Literal["delta", "absolute"]
"""A `JudgeRule` by its value, so that editors complete it."""
BAD = frozenset({TestCaseStatus.FAILED, TestCaseStatus.ERROR})
"""The statuses of a case that failed or could not be completed."""
COMPLETE = frozenset({TestStatus.PASSED, TestStatus.FAILED})
"""The statuses of a run that ended by itself and whose cases count."""


@frozen(kw_only=True, field_transformer=named_fields)
class Judgement:
    """How the cases of a run count under the rule `delta`, by their ids.

    Attributes:
        broken: Required cases that do not pass. A case is required if the suite's patch
            adds or changes it, or if it passes on the base.
        preexisting: Cases that fail, and already fail on the base without the suite's
            patch. They are not held against either feature.
        foreign: Cases that fail or are missing, and that another suite's patch changes or
            removes. Only that suite judges them.
        flaky: Cases that failed and then passed on the same tree. They decide nothing.
    """

    broken: tuple[str, ...] = field(converter=tuple[str, ...])
    preexisting: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    foreign: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    flaky: tuple[str, ...] = field(default=(), converter=tuple[str, ...])

    @property
    def excused(self) -> frozenset[str]:
        """The cases that may fail."""
        return frozenset((*self.preexisting, *self.foreign, *self.flaky))

    @checked
    def decide(self, run: TestResult) -> bool | None:
        """Return whether *run*, the run that was judged, counts as a pass.

        It does if it ended by itself, at least one case passed, no required case is broken
        or missing, and every case that failed is excused. If only excused cases ran, it
        decides nothing, and the answer is `None`.
        """
        if run.status not in COMPLETE or self.broken or run.missing_tests:
            return False
        excused = self.excused
        counting = [case for case in run.cases if case.id not in excused]
        if any(case.status in BAD for case in counting):
            return False
        passed = any(case.status is TestCaseStatus.PASSED for case in counting)
        return True if passed else None


def outcome_of(run: TestResult | None, judgement: Judgement | None = None) -> bool | None:
    """Return whether a run counts as a pass; `None` if that is not known.

    Without a judgement, every case must pass.
    """
    if run is None or not run.was_run:
        return None
    return run.passed if judgement is None else judgement.decide(run)
