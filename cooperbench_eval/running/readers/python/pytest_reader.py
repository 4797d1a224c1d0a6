"""Reads what pytest did, from the JUnit XML it writes itself."""

import shlex
from collections.abc import Iterator, Mapping
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
from cooperbench_eval.running.readers.results import joined
from cooperbench_eval.snapshot import Snapshot

__all__ = ["PytestReader"]

_RESULT = "junit.xml"
_NOTHING_COLLECTED = 5


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
        if any((each.classname, each.name) == ("pytest", "internal") for each in elements):
            raise UnreadableResultError("pytest met an internal error")
        # One without a name was begun, and cut off by a stop of the session.
        return joined(
            case
            for element in elements
            if element.name
            for case in _cases(namer.id_of(element), element)
        )

    def required(self, new: NewTests) -> tuple[str, ...]:
        """Name the test functions that the patch adds or changes."""
        return added_python_tests(new)

    def covers(self, case: TestCase, name: str) -> bool:
        """Whether *case* is that function, or one of its parameter sets."""
        file, separator, function = case.id.partition("::")
        if not separator:  # all of a file that skips itself
            return case.status is TestCaseStatus.SKIPPED and name.startswith(f"{file}::")
        return name == f"{file}::{function.partition('[')[0]}"


def _cases(case_id: str, element: JUnitCase) -> Iterator[TestCase]:
    """Yield what was reported of a case, each outcome by itself."""
    seconds = element.duration_seconds
    for outcome in element.outcomes:
        yield TestCase(
            id=case_id, status=_status(outcome), duration_seconds=seconds, message=outcome.message
        )
        seconds = 0.0
    if not element.outcomes:
        yield TestCase(id=case_id, status=TestCaseStatus.PASSED, duration_seconds=seconds)


def _status(outcome: JUnitOutcome) -> TestCaseStatus:
    return TestCaseStatus.XFAILED if outcome.kind == "pytest.xfail" else outcome.status


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
