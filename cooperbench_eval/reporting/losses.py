"""The tests that a merge lost, each with the case that shows why."""

from collections.abc import Iterator
from typing import NamedTuple

from cooperbench_eval.reporting.blame import Blame
from cooperbench_eval.reporting.explanation import SuiteKind
from cooperbench_eval.reporting.rows import Attempt
from cooperbench_eval.running.results import TestCase, TestCaseStatus, TestResult

__all__ = ["LostTest", "lost_tests_of"]


class LostTest(NamedTuple):
    """A test that a merge lost.

    Attributes:
        suite: Its suite.
        name: Its id.
        case: The case of the merged tree's run that shows why it was lost. If the test did not
            run, this is the case of its file, or the first case that could not run. `None` if
            there is no such case.
        is_own: Whether *case* is the test itself.
    """

    suite: SuiteKind
    name: str
    case: TestCase | None
    is_own: bool

    @property
    def message(self) -> str:
        """Why it was lost, as far as the framework says; empty if it says nothing."""
        return "" if self.case is None else self.case.message


def lost_tests_of(attempt: Attempt, blame: Blame) -> Iterator[LostTest]:
    """Yield the tests that an attempt's merge lost, by suite; *blame* is that of the attempt."""
    found = (
        (SuiteKind.FEATURE1, blame.lost_tests1, attempt.feature1_tests),
        (SuiteKind.FEATURE2, blame.lost_tests2, attempt.feature2_tests),
        (SuiteKind.JOINT, blame.lost_joint_tests, attempt.joint_tests),
        (SuiteKind.REGRESSION, blame.lost_regression_tests, attempt.regression_tests),
    )
    for suite, names, run in found:
        if names and run is not None:
            yield from _lost(suite, names, run)


def _lost(suite: SuiteKind, names: tuple[str, ...], run: TestResult) -> Iterator[LostTest]:
    cases = {case.id: case for case in run.cases}
    error = next((case for case in run.cases if case.status is TestCaseStatus.ERROR), None)
    for name in names:
        own = cases.get(name)
        case = own or cases.get(name.partition("::")[0]) or error
        yield LostTest(suite, name, case, own is not None)
