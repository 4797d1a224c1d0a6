"""Reads JUnit XML that nobody vouches for, in memory that its size bounds."""

import math
from collections.abc import Mapping

from attrs import field, frozen

from cooperbench_eval.models import TestCaseStatus
from cooperbench_eval.running.readers.protocol import UnreadableResultError

__all__ = ["JUnitCase", "JUnitOutcome", "parse_junit"]

_DEPTH_LIMIT = 32
_MESSAGE_LIMIT = 2_000
_OUTCOMES = {
    "failure": TestCaseStatus.FAILED,
    "error": TestCaseStatus.ERROR,
    "skipped": TestCaseStatus.SKIPPED,
}


@frozen(kw_only=True)
class JUnitOutcome:
    """A child element that says how a case ended.

    Attributes:
        status: What the element's name stands for.
        kind: Its `type`.
        message: Its `message` and its text, cut.
    """

    status: TestCaseStatus
    kind: str = ""
    message: str = field(default="", repr=False)


@frozen(kw_only=True)
class JUnitCase:
    """One `testcase` element.

    Attributes:
        classname: Its attribute of that name; empty where there is none.
        name: Its attribute of that name; empty where there is none.
        file: Its attribute of that name; empty where there is none.
        duration_seconds: Its `time`.
        outcomes: What became of it; none for a case that passed.
    """

    classname: str
    name: str
    file: str = ""
    duration_seconds: float = 0.0
    outcomes: tuple[JUnitOutcome, ...] = ()


def parse_junit(data: bytes) -> tuple[JUnitCase, ...]:
    """Read the cases of a JUnit file, in its order.

    Raises:
        UnreadableResultError: The bytes are no JUnit XML, or declare a document
            type, as entity bombs must.
    """
    # Loaded here: a program that runs no tests need not wait for an XML parser.
    from defusedxml.ElementTree import ParseError, XMLParser  # noqa: PLC0415

    target = _Target()
    parser = XMLParser(target=target, forbid_dtd=True)
    try:
        parser.feed(data)
        parser.close()
    # defusedxml's refusals are ValueErrors, as are some odd encodings.
    except (ParseError, ValueError, LookupError) as exc:
        reason = " ".join(str(exc).split()) or type(exc).__name__
        raise UnreadableResultError(f"the result file is no plain XML ({reason})") from exc
    return tuple(target.cases)


class _Target:
    """Gathers cases as the parser meets elements; no tree is built."""

    def __init__(self) -> None:
        self.cases: list[JUnitCase] = []
        self._open: list[str] = []
        self._case: Mapping[str, str] = {}
        self._outcomes: list[JUnitOutcome] = []
        self._outcome: Mapping[str, str] | None = None
        self._text = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if not self._open and tag not in {"testsuites", "testsuite"}:
            raise UnreadableResultError(f"the result file is no JUnit XML but {tag[:40]!r}")
        if len(self._open) >= _DEPTH_LIMIT:
            raise UnreadableResultError("the result file is nested too deeply")
        if tag == "testcase":
            self._case, self._outcomes = attributes, []
        elif tag in _OUTCOMES and self._open[-1] == "testcase":
            self._outcome, self._text = attributes, ""
        self._open.append(tag)

    def data(self, text: str) -> None:
        if self._outcome is not None and len(self._text) < _MESSAGE_LIMIT:
            self._text += text[:_MESSAGE_LIMIT]

    def end(self, tag: str) -> None:
        self._open.pop()
        if tag == "testcase":
            self._end_case()
        elif self._outcome is not None and tag in _OUTCOMES and self._open[-1] == "testcase":
            self._end_outcome(_OUTCOMES[tag], self._outcome)

    def close(self) -> None:
        """Nothing is left to do; the parser wants it."""

    def _end_outcome(self, status: TestCaseStatus, attributes: Mapping[str, str]) -> None:
        message = "\n".join(filter(None, (attributes.get("message"), self._text)))
        kind = attributes.get("type", "")
        self._outcomes.append(
            JUnitOutcome(status=status, kind=kind, message=message[:_MESSAGE_LIMIT])
        )
        self._outcome = None

    def _end_case(self) -> None:
        self.cases.append(
            JUnitCase(
                classname=self._case.get("classname", ""),
                name=self._case.get("name", ""),
                file=self._case.get("file", ""),
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
