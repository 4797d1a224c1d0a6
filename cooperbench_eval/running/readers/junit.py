"""Reads JUnit XML that hostile code may have written.

The file is parsed piece by piece, so that a file with too many cases or elements is
rejected early.
"""

import math
from collections.abc import Iterator, Mapping

from attrs import field, frozen

from cooperbench_eval.running.readers.protocol import (
    CASE_LIMIT,
    ID_LIMIT,
    UnreadableResultError,
    lengthened,
    shortened,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus

__all__ = ["JUnitCase", "JUnitOutcome", "parse_junit"]

_DEPTH_LIMIT = 32
_ELEMENTS_PER_CASE = 10
_PIECE = 1 << 16
_OUTCOMES = {
    "failure": TestCaseStatus.FAILED,
    "error": TestCaseStatus.ERROR,
    "skipped": TestCaseStatus.SKIPPED,
}
_EXPECTED_FAILURES = frozenset({"pytest.xfail", "unittest.xfail"})


@frozen(kw_only=True)
class JUnitOutcome:
    """A child element that says how a case ended, with its `message` and its text, cut."""

    status: TestCaseStatus
    message: str = field(default="", repr=False)


@frozen(kw_only=True)
class JUnitCase:
    """A `testcase` element. Absent attributes are empty; a case that passed has no outcome."""

    classname: str
    name: str
    file: str = ""
    duration_seconds: float = 0.0
    outcomes: tuple[JUnitOutcome, ...] = ()

    def cases(self, case_id: str) -> Iterator[TestCase]:
        """Yield a case for each outcome; the first one has the duration."""
        seconds = self.duration_seconds
        for outcome in self.outcomes or (JUnitOutcome(status=TestCaseStatus.PASSED),):
            yield TestCase(
                id=case_id,
                status=outcome.status,
                duration_seconds=seconds,
                message=outcome.message,
            )
            seconds = 0.0


def parse_junit(data: bytes) -> tuple[JUnitCase, ...]:
    """Read the cases of a JUnit file, in its order.

    Raises:
        UnreadableResultError: The bytes are not JUnit XML, hold too many cases or elements,
            or declare a document type, without which no entity bomb is possible.
    """
    # A program that runs no tests should not wait for an XML parser to load.
    from defusedxml.ElementTree import ParseError, XMLParser  # noqa: PLC0415

    collector = _CaseCollector()
    parser = XMLParser(target=collector, forbid_dtd=True)
    try:
        for start in range(0, len(data), _PIECE):
            parser.feed(data[start : start + _PIECE])
        parser.close()
    # defusedxml's refusals are ValueErrors; so are the errors of some encodings.
    except (ParseError, ValueError, LookupError) as exc:
        reason = " ".join(str(exc).split()) or type(exc).__name__
        raise UnreadableResultError(f"the result file is not plain XML ({reason})") from exc
    return tuple(collector.cases)


class _CaseCollector:
    """Collects cases while the parser reads elements; no tree is built."""

    def __init__(self) -> None:
        self.cases: list[JUnitCase] = []
        self._open: list[str] = []
        self._case: Mapping[str, str] = {}
        self._outcomes: list[JUnitOutcome] = []
        self._outcome: Mapping[str, str] | None = None
        self._text = ""
        self._elements = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if not self._open and tag not in {"testsuites", "testsuite"}:
            raise UnreadableResultError(
                f"the result file is not JUnit XML: it begins with {tag[:40]!r}"
            )
        self._elements += 1
        if self._elements > _ELEMENTS_PER_CASE * CASE_LIMIT:
            raise UnreadableResultError("the result file has too many elements")
        if len(self._open) >= _DEPTH_LIMIT:
            raise UnreadableResultError("the result file is nested too deeply")
        if tag == "testcase":
            self._case, self._outcomes = attributes, []
        elif tag in _OUTCOMES and self._open[-1] == "testcase":
            self._outcome, self._text = attributes, ""
        self._open.append(tag)

    def data(self, text: str) -> None:
        if self._outcome is not None:
            self._text = lengthened(self._text, text)

    def end(self, tag: str) -> None:
        self._open.pop()
        if tag == "testcase":
            self._end_case()
        elif self._outcome is not None and tag in _OUTCOMES and self._open[-1] == "testcase":
            self._end_outcome(_OUTCOMES[tag], self._outcome)

    def close(self) -> None:
        """Do nothing; the parser requires this method."""

    def _end_outcome(self, status: TestCaseStatus, attributes: Mapping[str, str]) -> None:
        if len(self._outcomes) == CASE_LIMIT:
            raise UnreadableResultError("a case of the result file has too many outcomes")
        message = "\n".join(filter(None, (attributes.get("message"), self._text)))
        if attributes.get("type") in _EXPECTED_FAILURES:
            status = TestCaseStatus.XFAILED
        self._outcomes.append(JUnitOutcome(status=status, message=shortened(message)))
        self._outcome = None

    def _end_case(self) -> None:
        if len(self.cases) == CASE_LIMIT:
            raise UnreadableResultError(f"the result has more than {CASE_LIMIT} cases")
        self.cases.append(
            JUnitCase(
                classname=self._case.get("classname", "")[:ID_LIMIT],
                name=self._case.get("name", "")[:ID_LIMIT],
                file=self._case.get("file", "")[:ID_LIMIT],
                duration_seconds=_seconds(self._case.get("time", "")),
                outcomes=tuple(self._outcomes),
            )
        )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return seconds if 0 <= seconds < math.inf else 0.0
