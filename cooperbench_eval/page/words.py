"""What the page calls things."""

from collections.abc import Sequence

from cooperbench_eval.models import MergeStatus, PatchStatus, TestResult, TestStatus
from cooperbench_eval.reporting import Attempt, Blame, BlameKind, Failure, PatchReport

__all__ = ["ANSWERS", "blame_text", "failure_text", "patch_text", "run_text", "spoken"]

ANSWERS = {
    "correct": "correct",
    "incorrect": "incorrect",
    "unhandled": "unhandled",
    "missing_input": "missing input",
    "not_run": "no answer",
}
"""What became of a pair under a strategy: the five ways in which a summary counts."""

_BLAME = {
    BlameKind.MISSING_SIDE: "no usable patch of {features}",
    BlameKind.BROKEN_ALONE: "{features} broken alone",
    BlameKind.CONFLICT: "the conflict",
    BlameKind.MERGE_BROKE_FEATURE1: "the merge broke {features}",
    BlameKind.MERGE_BROKE_FEATURE2: "the merge broke {features}",
    BlameKind.MERGE_BROKE_BOTH: "the merge broke {features}",
    BlameKind.UNKNOWN: "not known",
    BlameKind.NOBODY: "",
}
_NO_PATCH = {
    PatchStatus.EMPTY: "it is empty",
    PatchStatus.FAILED: "it does not apply",
    PatchStatus.NOT_TRIED: "nobody looked",
}


def spoken(status: str) -> str:
    """Return an enum's value as words."""
    return str(status).replace("_", " ")


def blame_text(blame: Blame, attempt: Attempt) -> str:
    """Say what is to blame for how a strategy's row ended; nothing where nobody is."""
    if blame.kind is BlameKind.CONFLICT and attempt.status is MergeStatus.FAILED:
        return "the strategy failed"
    return _BLAME[blame.kind].format(features=_features(blame.features))


def _features(numbers: Sequence[int]) -> str:
    named = " and ".join(map(str, numbers))
    return f"feature {named}" if len(numbers) == 1 else f"features {named}"


def patch_text(patch: PatchReport) -> str:
    """Say what became of a patch."""
    reason = patch.reason or _NO_PATCH.get(patch.status, "")
    return f"{spoken(patch.status)}: {reason}" if reason else spoken(patch.status)


def failure_text(failure: Failure) -> str:
    """Say why a pair has no answer."""
    tries = f", tried {failure.tries} times" if failure.tries > 1 else ""
    error = f" ({failure.error})" if failure.error else ""
    return f"{spoken(failure.kind)}: {failure.problem}{error}{tries}"


def run_text(run: TestResult | None) -> str:
    """Say how a test run ended, and how many cases ended how."""
    if run is None:
        return "not run"
    counts = [
        (run.passed_tests, "passed"),
        (run.failed_tests, "failed"),
        (run.error_tests, "error" if run.error_tests == 1 else "errors"),
        (run.skipped_tests, "skipped"),
        (run.xfailed_tests, "failed as expected"),
    ]
    counted = ", ".join(f"{count} {word}" for count, word in counts if count)
    if run.status in {TestStatus.PASSED, TestStatus.FAILED} and counted:
        return counted
    return f"{spoken(run.status)}; {counted}" if counted else spoken(run.status)
