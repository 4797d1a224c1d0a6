"""The signs that show how a pair ended under a strategy, and what each of them means."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.reporting import Attempt, Verdict

__all__ = ["NOT_TRIED", "SIGNS", "Sign", "sign_of"]

UNTESTED = "untested"
NOT_TRIED = "not_tried"
_UNANSWERED = Verdict.NOT_RUN.value


class Sign(NamedTuple):
    """A sign, its words, and its meaning as a sentence without a full stop."""

    symbol: str
    words: str
    meaning: str


SIGNS: Mapping[str, Sign] = MappingProxyType(
    {
        "correct": Sign("✓", wording.ANSWERS["correct"], "merged, and the tests of both pass"),
        "incorrect": Sign(
            "✗", wording.ANSWERS["incorrect"], "merged, and tests of a feature do not pass"
        ),
        "unhandled": Sign(
            "≠", wording.ANSWERS["unhandled"], "a conflict is left, or the strategy failed"
        ),
        "missing_input": Sign(
            "∅", wording.ANSWERS["missing_input"], "a patch is empty or does not apply"
        ),
        _UNANSWERED: Sign("?", wording.ANSWERS[_UNANSWERED], "nothing is known about the result"),
        UNTESTED: Sign("○", "merged, not tested", "no tests were run; counts as unanswered"),
        NOT_TRIED: Sign("·", "not tried", "the strategy was not asked; counts as unanswered"),
    }
)
"""The answers that a summary counts, and two kinds of being unanswered."""


def sign_of(attempt: Attempt, answer: str) -> str:
    """Return the key of an attempt's sign; *answer* is its answer as a summary counts it."""
    merged = attempt.status in {MergeStatus.CLEAN, MergeStatus.RESOLVED}
    tests = (attempt.feature1_tests, attempt.feature2_tests)
    if answer == _UNANSWERED and merged and tests == (None, None):
        return UNTESTED
    return answer
