"""Reads the closing lines of unittest's sessions from an output."""

import re
from collections import Counter

from cooperbench_eval.running.readers.protocol import UnreadableResultError
from cooperbench_eval.running.readers.results import unnamed, whole_output
from cooperbench_eval.running.results import TestCase, TestCaseStatus

__all__ = ["read_unittest_output"]

# A line of hyphens, the number of tests, an empty line, the verdict.
_CLOSING = re.compile(
    r"(?m)^-{70}\r?\nRan (?P<ran>\d{1,9}) tests? in \d+\.\d+s\r?\n\r?\n"
    r"(?P<verdict>OK|FAILED|NO TESTS RAN)(?: \((?P<counts>[a-z]+(?: [a-z]+)?=\d{1,9}"
    r"(?:, [a-z]+(?: [a-z]+)?=\d{1,9})*)\))?\r?$"
)
_BEGUN = re.compile(r"(?m)^-{70}\r?\nRan \d+ tests? in ")
_KINDS = {
    "failures": TestCaseStatus.FAILED,
    "errors": TestCaseStatus.ERROR,
    "skipped": TestCaseStatus.SKIPPED,
    "expected failures": TestCaseStatus.XFAILED,
    "unexpected successes": TestCaseStatus.FAILED,
}
_BAD = frozenset({"failures", "errors", "unexpected successes"})


def read_unittest_output(output: bytes) -> tuple[TestCase, ...]:
    """Return the cases of every session, which have numbers and no names.

    A test counts once for each of its subtests that failed, as it does in unittest.

    Raises:
        UnreadableResultError: No session ended, one contradicts itself, or a part of
            the output was cut.
    """
    text = whole_output(output)
    sessions = list(_CLOSING.finditer(text))
    if not sessions:
        raise UnreadableResultError("no session of unittest printed a result")
    if len(sessions) != len(_BEGUN.findall(text)):
        raise UnreadableResultError("a session of unittest printed no whole result")
    total: Counter[TestCaseStatus] = Counter()
    for session in sessions:
        total.update(_counts(session))
    return unnamed("unittest", total)


def _counts(session: re.Match[str]) -> Counter[TestCaseStatus]:
    found: Counter[TestCaseStatus] = Counter()
    bad = 0
    for each in filter(None, (session["counts"] or "").split(", ")):
        kind, _, number = each.partition("=")
        if kind not in _KINDS:
            raise UnreadableResultError(f"unittest counts an unknown kind of result: {kind!r}")
        found[_KINDS[kind]] += int(number)
        bad += int(number) if kind in _BAD else 0
    if bool(bad) != (session["verdict"] == "FAILED"):
        raise UnreadableResultError("unittest's verdict contradicts its counts")
    found[TestCaseStatus.PASSED] = max(0, int(session["ran"]) - found.total())
    return found
