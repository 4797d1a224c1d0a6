"""Reads what pytest did, from the JUnit XML it writes itself."""

import shlex
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from attrs import frozen

from cooperbench_eval.models import TestCase, TestCaseStatus
from cooperbench_eval.running.readers.junit import JUnitCase, JUnitOutcome, parse_junit
from cooperbench_eval.running.readers.protocol import (
    FinishedRun,
    Launch,
    NewTests,
    UnreadableResultError,
    read_result_file,
)
from cooperbench_eval.running.readers.python.python_tests import added_python_tests
from cooperbench_eval.snapshot import Snapshot

__all__ = ["PytestReader"]

_RESULT = "junit.xml"
_NOTHING_COLLECTED = 5
# Where one case is reported several times over (a failed call and a failed
# tear-down, several subtests), the first of these that occurs stands.
_RANKS = (
    TestCaseStatus.FAILED,
    TestCaseStatus.ERROR,
    TestCaseStatus.PASSED,
    TestCaseStatus.XFAILED,
    TestCaseStatus.SKIPPED,
)


@frozen
class PytestReader:
    """Asks pytest for JUnit XML through `PYTEST_ADDOPTS` and reads it.

    Case ids are pytest's own, relative to its root directory. Expected failures
    are told from skips. A file that could not be collected is one case, named
    after the file, with status `error`; a case whose tear-down failed is one
    `error`. A test that passes with a skipped subtest counts as skipped, since
    the XML does not tell the two apart.

    One command is one pytest session: of several in a row the last one's result
    stands.
    """

    @property
    def no_test_codes(self) -> frozenset[int]:
        """Success, and pytest's own code for an empty collection."""
        return frozenset({0, _NOTHING_COLLECTED})

    def launch(self, command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
        """Add what makes pytest write its result to the suite's own options."""
        file = shlex.quote(str(scratch / _RESULT))
        # The old family names the file of each case; captured logs are not read.
        ours = f"--junitxml={file} -o junit_family=xunit1 -o junit_logging=no"
        options = " ".join(filter(None, (env.get("PYTEST_ADDOPTS"), ours)))
        return Launch(command=command, env={**env, "PYTEST_ADDOPTS": options})

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return the cases of a session, in the order in which they first occur.

        Raises:
            UnreadableResultError: No result was written, it is not one, or pytest
                reports an error of its own.
        """
        elements = parse_junit(read_result_file(run.scratch / _RESULT))
        namer = _Namer(elements, run.tree)
        cases: dict[str, TestCase] = {}
        for element in elements:
            if (element.classname, element.name) == ("pytest", "internal"):
                raise UnreadableResultError("pytest met an internal error")
            if not element.name:
                continue  # begun, and cut off by a stop of the session
            case = _case(namer.id_of(element), element)
            cases[case.id] = _joined(cases[case.id], case) if case.id in cases else case
        return tuple(cases.values())

    def required(self, new: NewTests) -> tuple[str, ...]:
        """Name the test functions that the patch adds or changes."""
        return added_python_tests(new)

    def covers(self, case: TestCase, name: str) -> bool:
        """Whether *case* is that function, or one of its parameter sets."""
        function = case.id.partition("[")[0]
        # Ids start at pytest's root directory, which may lie below the tree's root.
        return name == function or name.endswith(f"/{function}")


def _case(case_id: str, element: JUnitCase) -> TestCase:
    statuses = [_status(outcome) for outcome in element.outcomes] or [TestCaseStatus.PASSED]
    status = _strongest(statuses)
    messages = (o.message for o, s in zip(element.outcomes, statuses, strict=False) if s is status)
    return TestCase(
        id=case_id,
        status=status,
        duration_seconds=element.duration_seconds,
        message=next(messages, ""),
    )


def _status(outcome: JUnitOutcome) -> TestCaseStatus:
    return TestCaseStatus.XFAILED if outcome.kind == "pytest.xfail" else outcome.status


def _strongest(statuses: Iterable[TestCaseStatus]) -> TestCaseStatus:
    return min(statuses, key=_RANKS.index)


def _joined(one: TestCase, other: TestCase) -> TestCase:
    status = _strongest((one.status, other.status))
    return TestCase(
        id=one.id,
        status=status,
        duration_seconds=one.duration_seconds + other.duration_seconds,
        message=one.message if one.status is status else other.message,
    )


class _Namer:
    """Turns pytest's `classname` and `name` back into the id they were made of.

    A class name is the file's path with dots, then the classes. Which file that
    is, the element's `file` says; but for an inherited test that is where the
    test is written, so the other elements and the tree are asked as well.
    """

    def __init__(self, elements: tuple[JUnitCase, ...], tree: Snapshot) -> None:
        self._reported = {_dotted(e.file): e.file for e in elements}
        self._tree = tree

    def id_of(self, element: JUnitCase) -> str:
        if not element.classname:
            return element.file or element.name
        own = {_dotted(element.file): element.file}
        for files in (own, self._reported, self._in_tree):
            if parts := _split(element.classname, files):
                return "::".join((*parts, element.name))
        return f"{element.classname}::{element.name}"

    @cached_property
    def _in_tree(self) -> dict[str, str]:
        return {_dotted(path): path for path in self._tree.paths()}


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _split(classname: str, files: Mapping[str, str]) -> list[str]:
    parts = classname.split(".")
    for count in range(len(parts), 0, -1):
        if file := files.get(".".join(parts[:count])):
            return [file, *parts[count:]]
    return []
