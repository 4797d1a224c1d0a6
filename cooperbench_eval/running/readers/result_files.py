"""Reads what hostile code may have written in place of a result: files, JSON and JUnit XML.

Everything is bounded: the size of a file, the number of values, cases and elements, and the
length of a text. JUnit XML is parsed piece by piece, so that it is rejected early.
"""

import json
import math
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, TypeVar

from attrs import evolve, frozen

from cooperbench_eval.errors import ReportError
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.processes.supervision import Capture
from cooperbench_eval.running.results import TestCase, TestCaseStatus
from cooperbench_eval.support.systems import OPEN_NO_LINK

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from cooperbench_eval.support.json_records import Converter


CASE_LIMIT = 100_000
"""The most cases of a run; more are not a result."""
ID_LIMIT = 4_000
"""The most characters of a case's id, or of a name in it; the rest is cut off."""
MESSAGE_LIMIT = 2_000
"""The most characters of a case's message; the middle of a longer one is left out."""
_LEFT_OUT = "\n[... cut ...]\n"
_HEAD = MESSAGE_LIMIT // 3
_TAIL = MESSAGE_LIMIT - _HEAD - len(_LEFT_OUT)
_SIZE_LIMIT = 64 << 20


class UnreadableResultError(Exception):
    """The result is missing or not trustworthy; the runner turns this into a verdict."""


def bounded(cases: Iterable[TestCase]) -> Iterator[TestCase]:
    """Yield cases with their ids and messages cut.

    There may be `CASE_LIMIT` of them, and their texts may have as many characters together as a
    result file may have bytes; otherwise, raise `UnreadableResultError`.
    """
    size = 0
    for number, case in enumerate(cases, 1):
        size += min(len(case.id), ID_LIMIT) + min(len(case.message), MESSAGE_LIMIT)
        if number > CASE_LIMIT:
            raise UnreadableResultError(f"the result has more than {CASE_LIMIT} cases")
        if size > _SIZE_LIMIT:
            raise UnreadableResultError("the ids and messages of the result's cases are too long")
        if len(case.id) > ID_LIMIT or len(case.message) > MESSAGE_LIMIT:
            yield evolve(case, id=case.id[:ID_LIMIT], message=shortened(case.message))
        else:
            yield case


def shortened(message: str) -> str:
    """Return a message of at most `MESSAGE_LIMIT` characters.

    A longer one loses its middle: the beginning names the error, and the end of a traceback
    is the place where it happened.
    """
    if len(message) <= MESSAGE_LIMIT:
        return message
    return f"{message[:_HEAD]}{_LEFT_OUT}{message[-_TAIL:]}"


def lengthened(message: str, more: str) -> str:
    """Append to a message that will be shortened, without collecting what that leaves out."""
    message += more
    if len(message) > 10 * MESSAGE_LIMIT:
        message = message[:MESSAGE_LIMIT] + message[-MESSAGE_LIMIT:]
    return message


def read_result_file(path: Path) -> bytes:
    """Return the bytes of a result file that hostile code may have written.

    If it is absent, not a plain file, or larger than 64 MiB, raise `UnreadableResultError`.
    """
    with _opened(path) as file:
        data = file.read(_SIZE_LIMIT + 1)
    if len(data) > _SIZE_LIMIT:
        raise UnreadableResultError(f"the result file is larger than {_SIZE_LIMIT} bytes")
    return data


def read_ends(path: Path, limit: int) -> bytes:
    """Return a file's first and last *limit* bytes; empty if it is not a readable file."""
    capture = Capture(limit)
    try:
        with _opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            capture.feed(file.read(limit))
            capture.skip(max(0, size - 2 * limit))
            file.seek(max(limit, size - limit))
            capture.feed(file.read(limit))
    except (UnreadableResultError, OSError):
        return b""
    return capture.value()


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        # The code under test may have put a link or a pipe there.
        fd = os.open(path, os.O_RDONLY | OPEN_NO_LINK)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise UnreadableResultError("the result file is not a plain file")
            yield file
    except FileNotFoundError:
        raise UnreadableResultError("no result file was written") from None
    except OSError as exc:
        raise UnreadableResultError(f"the result file cannot be read ({exc.strerror})") from exc


# The most values that a JSON text may hold, since each one takes memory.
_VALUE_LIMIT = 20 * CASE_LIMIT
_SESSION_LIMIT = 100
_MOST_FOLDERS = 64  # above a file
_LONGEST = 1e12
_CUT = re.compile(rb"(?m)^\[\.\.\. \d+ bytes cut \.\.\.\]$")
_UNNAMED = re.compile(rf" (?:{'|'.join(TestCaseStatus)}) #\d+$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_Record = TypeVar("_Record")


def clean(text: str) -> str:
    """Return a message without colours, cut to a sensible length."""
    return shortened(_COLOUR.sub("", lengthened("", text)))


def whole_output(output: bytes) -> str:
    """Return a command's output as text; raise `UnreadableResultError` if it was cut."""
    if _CUT.search(output):
        raise UnreadableResultError("the output is too long to be read whole")
    return output.decode(errors="backslashreplace")


def unnamed(label: str, counts: Mapping[TestCaseStatus, int]) -> tuple[TestCase, ...]:
    """Return cases of which only the number is known, with ids `<label> <status> #<number>`."""
    if sum(counts.values()) > CASE_LIMIT:
        raise UnreadableResultError("the result counts an impossible number of tests")
    return tuple(
        TestCase(id=f"{label} {status} #{number}", status=status)
        for status, count in counts.items()
        for number in range(1, count + 1)
    )


def is_unnamed(case: TestCase) -> bool:
    """Whether `unnamed` made a case, so that no test can be recognised by its id."""
    return _UNNAMED.search(case.id) is not None


def parse_json(data: bytes) -> Any:
    """Parse a JSON text.

    If it is not JSON as in RFC 8259, holds too many values, or is nested too deeply, raise
    `UnreadableResultError`.
    """
    if data.count(b",") + data.count(b"{") + data.count(b"[") > _VALUE_LIMIT:
        raise UnreadableResultError("the result file holds too many values")
    try:
        return json.loads(data.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        raise UnreadableResultError(f"the result file is not JSON ({type(exc).__name__})") from exc


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def as_record(value: object, kind: type[_Record]) -> _Record:
    """Read plain JSON values as a record, whose fields have the JSON keys as aliases.

    Characters that UTF-8 cannot express are escaped. A `float` is a duration: any value that cannot
    be one becomes 0. A `bool` is true only if the value is `true`. If a key is missing, or a value
    has the wrong type, raise `UnreadableResultError`.
    """
    from cooperbench_eval.support.json_records import (  # noqa: PLC0415 - cattrs loads slowly
        structure,
    )

    try:
        return structure(_converter(), value, kind, "the result file is unusual")
    except ReportError as exc:
        problem = "the result file is not as its framework writes it"
        raise UnreadableResultError(problem) from exc


@cache
def _converter() -> "Converter":
    from cooperbench_eval.support.json_records import make_converter  # noqa: PLC0415 - as above

    converter = make_converter(use_alias=True, detailed_validation=False)
    converter.register_structure_hook(str, _load_text)
    converter.register_structure_hook(float, _load_duration)
    converter.register_structure_hook(bool, lambda value, _: value is True)
    return converter


def _load_text(value: object, _: object) -> str:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    raise ValueError(value)


def _load_duration(value: object, _: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value < _LONGEST else 0.0


def tree_path(path: str, tree: Snapshot) -> str:
    """Return the path of a file in the tree, whatever directory the tree was written to.

    For a file that is not in the tree, such as one that a build made, only its name is
    returned: an id must not depend on where the run took place.
    """
    parts = [part for part in path[-ID_LIMIT:].split("/") if part][-_MOST_FOLDERS:]
    for start in range(len(parts)):
        candidate = "/".join(parts[start:])
        if tree.get(candidate) is not None:
            return candidate
    return parts[-1] if parts else path


def read_sessions(scratch: Path, prefix: str, suffix: str) -> list[bytes]:
    """Return the result files of all sessions of a run.

    If there is none, there are too many, or one cannot be read, raise `UnreadableResultError`.
    """
    try:
        names = sorted(os.listdir(scratch))  # noqa: PTH208 - names are wanted
    except OSError as exc:
        raise UnreadableResultError(f"the results cannot be read ({exc.strerror})") from exc
    found = [name for name in names if name.startswith(prefix) and name.endswith(suffix)]
    if not found:
        raise UnreadableResultError("no result file was written")
    if len(found) > _SESSION_LIMIT:
        raise UnreadableResultError("there are too many result files")
    results = []
    for name in found:
        results.append(read_result_file(scratch / name))
        if sum(map(len, results)) > _SIZE_LIMIT:
            raise UnreadableResultError("the result files are too large together")
    return results


_DEPTH_LIMIT = 32
_ELEMENTS_PER_CASE = 10
_OUTCOMES = {
    "failure": TestCaseStatus.FAILED,
    "error": TestCaseStatus.ERROR,
    "skipped": TestCaseStatus.SKIPPED,
}
_PASSED = TestCase(id="", status=TestCaseStatus.PASSED)
_EXPECTED_FAILURES = frozenset({"pytest.xfail", "unittest.xfail"})


@frozen(kw_only=True)
class JUnitCase:
    """A `testcase` element; absent attributes are empty.

    Its outcomes are the children that say how the case ended, under the element's name. A
    case that passed has none.
    """

    classname: str
    name: str
    file: str = ""
    duration_seconds: float = 0.0
    outcomes: tuple[TestCase, ...] = ()

    def cases(self, case_id: str) -> Iterator[TestCase]:
        """Yield a case for each outcome; the first one has the duration."""
        seconds = self.duration_seconds
        for outcome in self.outcomes or (_PASSED,):
            yield evolve(outcome, id=case_id, duration_seconds=seconds)
            seconds = 0.0


def parse_junit(data: bytes) -> tuple[JUnitCase, ...]:
    """Read the cases of a JUnit file, in its order.

    If the bytes are not JUnit XML, hold too many cases or elements, or declare a document type,
    without which no entity bomb is possible, raise `UnreadableResultError`.
    """
    # A program that runs no tests should not wait for an XML parser to load.
    from defusedxml.ElementTree import ParseError, iterparse  # noqa: PLC0415

    cases: list[JUnitCase] = []
    opened: list[Element] = []
    started = 0
    try:
        for event, element in iterparse(BytesIO(data), ("start", "end"), forbid_dtd=True):
            if event == "start":
                started += 1
                _check_start(element.tag, started, depth=len(opened))
                opened.append(element)
                continue
            opened.pop()
            if element.tag == "testcase":
                cases.append(_case_of(element))
            if len(cases) > CASE_LIMIT:
                raise UnreadableResultError(f"the result has more than {CASE_LIMIT} cases")
            if opened and all(above.tag != "testcase" for above in opened):
                opened[-1].remove(element)  # or the tree would grow with every case
    # defusedxml's refusals are ValueErrors; so are the errors of some encodings.
    except (ParseError, ValueError, LookupError) as exc:
        reason = " ".join(str(exc).split()) or type(exc).__name__
        raise UnreadableResultError(f"the result file is not plain XML ({reason})") from exc
    return tuple(cases)


def _check_start(tag: str, number: int, *, depth: int) -> None:
    if not depth and tag not in {"testsuites", "testsuite"}:
        raise UnreadableResultError(
            f"the result file is not JUnit XML: it begins with {tag[:40]!r}"
        )
    if number > _ELEMENTS_PER_CASE * CASE_LIMIT:
        raise UnreadableResultError("the result file has too many elements")
    if depth >= _DEPTH_LIMIT:
        raise UnreadableResultError("the result file is nested too deeply")


def _case_of(element: "Element") -> JUnitCase:
    name = element.get("name", "")[:ID_LIMIT]
    outcomes = [child for child in element if child.tag in _OUTCOMES]
    if len(outcomes) > CASE_LIMIT:
        raise UnreadableResultError("a case of the result file has too many outcomes")
    return JUnitCase(
        classname=element.get("classname", "")[:ID_LIMIT],
        name=name,
        file=element.get("file", "")[:ID_LIMIT],
        duration_seconds=_seconds(element.get("time", "")),
        outcomes=tuple(_outcome(name, each) for each in outcomes),
    )


def _outcome(name: str, element: "Element") -> TestCase:
    is_expected = element.get("type") in _EXPECTED_FAILURES
    status = TestCaseStatus.XFAILED if is_expected else _OUTCOMES[element.tag]
    message = "\n".join(filter(None, (element.get("message"), "".join(element.itertext()))))
    return TestCase(id=name, status=status, message=shortened(message))


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return seconds if 0 <= seconds < math.inf else 0.0
