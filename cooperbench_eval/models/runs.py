"""Test cases, and what a run of them showed."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from operator import attrgetter
from typing import ClassVar

from attrs import field, fields, frozen

from cooperbench_eval.display.shown import Shown

__all__ = [
    "COUNTS",
    "CaseCounts",
    "Ended",
    "RepeatPolicy",
    "TestCase",
    "TestCaseStatus",
    "TestResult",
    "TestStatus",
    "count_cases",
    "name_counts",
]


class TestCaseStatus(StrEnum):
    """How one test case ended."""

    __test__: ClassVar[bool] = False

    PASSED = "passed"
    """It ran and held."""
    FAILED = "failed"
    """It ran and did not hold."""
    ERROR = "error"
    """It could not run to its end: collection, set-up or tear-down failed."""
    SKIPPED = "skipped"
    """It was not run, on purpose."""
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
    """No case that counts: none ran, or all were skipped or failed as expected."""
    PATCH_REJECTED = "patch_rejected"
    """The suite's tests patch does not apply to the tree; nothing was run."""
    SETUP_FAILED = "setup_failed"
    """What the suite needs before its tests could not be made ready."""
    TIMED_OUT = "timed_out"
    """The deadline passed and every process of the run was killed."""
    OUT_OF_MEMORY = "out_of_memory"
    """A process of the run was killed because memory ran out."""
    INCONCLUSIVE = "inconclusive"
    """Exit status and structured result disagree, or a required test did not run."""
    INFRASTRUCTURE_ERROR = "infrastructure_error"
    """The sandbox failed, also when tried again; says nothing about the code."""

    @property
    def was_run(self) -> bool:
        """Whether a run that ended so says anything about its tree.

        A tests patch that was rejected and a sandbox that failed say nothing.
        """
        return self not in _NOT_RUN


_NOT_RUN = frozenset({TestStatus.PATCH_REJECTED, TestStatus.INFRASTRUCTURE_ERROR})


class RepeatPolicy(StrEnum):
    """How many of a suite's repeated runs have to pass."""

    ANY = "any"
    """One of them."""
    ALL = "all"
    """Every one."""
    MAJORITY = "majority"
    """More than half."""

    def is_met(self, passed: int, runs: int) -> bool:
        """Whether *passed* of *runs* are enough."""
        match self:
            case RepeatPolicy.ANY:
                return passed > 0
            case RepeatPolicy.ALL:
                return passed == runs
            case RepeatPolicy.MAJORITY:
                return passed * 2 > runs


@frozen(kw_only=True)
class TestCase:
    """One test case of a run.

    Attributes:
        id: The framework's own name of the case, as one would ask for it.
        status: How it ended.
        duration_seconds: How long it took, as the framework measured it.
        message: Why it did not pass, cut to a sensible length; else empty.
    """

    __test__: ClassVar[bool] = False

    id: str
    status: TestCaseStatus = field(converter=TestCaseStatus)
    duration_seconds: float = 0.0
    message: str = field(default="", repr=False)


@frozen(kw_only=True)
class CaseCounts:
    """How many test cases ended in each way: a field for each `TestCaseStatus`.

    Attributes:
        passed_tests: Cases that passed.
        failed_tests: Cases that failed.
        error_tests: Cases that could not run to their end.
        skipped_tests: Cases skipped on purpose; not part of the total.
        xfailed_tests: Cases that failed as expected; not part of the total.
    """

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
    counts = Counter(map(_status_of, cases))
    return {f"{status.value}_tests": count for status, count in counts.items()}


_status_of = attrgetter("status")


COUNTS = (*(each.name for each in fields(CaseCounts)), "total_tests", "pass_rate")
"""The names under which a run's counts are reported."""


class Ended:
    """What follows from the status of a run."""

    __slots__ = ()

    status: TestStatus

    @property
    def passed(self) -> bool:
        """Whether the suite holds on this tree."""
        return self.status is TestStatus.PASSED

    @property
    def was_run(self) -> bool:
        """Whether the result says anything about the tree."""
        return self.status.was_run


def _statuses(given: Iterable[str]) -> tuple[TestStatus, ...]:
    return tuple(map(TestStatus, given))


@frozen(kw_only=True)
class TestResult(Ended, Shown):
    """What a run of a suite on a tree showed.

    Attributes:
        status: The verdict.
        cases: Every case the framework reported, in its order.
        exit_code: The command's exit status, negative for a signal; `None` where
            nothing ran or the deadline passed.
        duration_seconds: Wall time of the command.
        output: What it printed, standard output and error as one; undecodable
            bytes are shown as escapes. Where it was too long the middle is cut,
            with a line that says how much.
        reason: Why the status is not simply passed or failed; else empty.
        command: The command, as the suite has it.
        sandbox: The name of the sandbox it ran in.
        sandbox_identity: The sandbox with what may change a verdict, such as an
            image's digest.
        restored_files: Files of the tree that steer test runs and were put back to
            the base's version before, sorted.
        missing_tests: Tests that had to run and did not.
        repeats: How each run ended, if the suite was run several times; the other
            attributes are those of the run that decided. Empty for a single run.
        repeat_policy: How many of the repeats had to pass.
    """

    _view = "cooperbench_eval.views.pairs:run_view"

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
        """Cases that could not run to their end."""
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
