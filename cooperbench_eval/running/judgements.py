"""How the cases of a test run count towards a verdict."""

from enum import StrEnum
from typing import Literal

from attrs import field, frozen

from cooperbench_eval.running.results import TestCaseStatus, TestResult, TestStatus
from cooperbench_eval.support.arguments import checked, named_fields


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
_COMPLETE = frozenset({TestStatus.PASSED, TestStatus.FAILED})


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
        if run.status not in _COMPLETE or self.broken or run.missing_tests:
            return False
        excused = self.excused
        counting = [case for case in run.cases if case.id not in excused]
        if any(case.status in BAD for case in counting):
            return False
        passed = any(case.status is TestCaseStatus.PASSED for case in counting)
        return True if passed else None


def outcome_of(run: TestResult | None, judgement: Judgement | None = None) -> bool | None:
    """Return whether a run counts as a pass; `None` if that is not known.

    Args:
        run: The run.
        judgement: Its judgement; `None` if every case must pass.
    """
    if run is None or not run.was_run:
        return None
    return run.passed if judgement is None else judgement.decide(run)
