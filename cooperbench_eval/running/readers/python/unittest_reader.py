"""Reads what unittest did, from JUnit XML that a script of ours has it write."""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from attrs import frozen

from cooperbench_eval.models import TestCase, TestCaseStatus
from cooperbench_eval.running.readers.junit import JUnitCase, parse_junit
from cooperbench_eval.running.readers.protocol import (
    FinishedRun,
    Launch,
    NewTests,
    read_result_file,
)
from cooperbench_eval.running.readers.python.unittest_output import read_unittest_output
from cooperbench_eval.running.readers.python.unittest_tests import added_unittest_tests
from cooperbench_eval.running.readers.results import clean, joined

__all__ = ["UnittestReader"]

_SCRIPT = Path(__file__).with_name("unittest_script.py")
_RESULT = "unittest.xml"
_NO_TESTS = 5
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")


@frozen
class UnittestReader:
    """Has `python -m unittest` write JUnit XML, and reads it.

    Unittest itself writes text alone, so `-m unittest` is replaced by a script of
    ours that runs unittest's own command line and writes the file at its end. Of
    another command, such as a script, the closing lines of each session in its
    output are read, which any code can print: they give cases by number only.

    Case ids are unittest's own, `module.Class.method`; of what failed outside of
    a test, the name that unittest gives it, such as `setUpClass (module.Class)`,
    and of a module that does not import, its own. Subtests are part of their
    test, which is skipped where the worst of them was. An unexpected success
    failed.
    """

    @property
    def no_test_codes(self) -> frozenset[int]:
        """Success, and unittest's own code for no tests, from Python 3.12 on."""
        return frozenset({0, _NO_TESTS})

    def launch(self, command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
        """Put the script in the place of `-m unittest`."""
        at = _place_of_module(command)
        if at is not None:
            script = scratch / _SCRIPT.name
            shutil.copyfile(_SCRIPT, script)
            command = (*command[:at], str(script), str(scratch / _RESULT), *command[at + 2 :])
        return Launch(command=command, env=env)

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return the cases, in the order in which they began.

        Raises:
            UnreadableResultError: There is no result, or it is not one.
        """
        if _place_of_module(run.command) is None:
            return read_unittest_output(run.output)
        elements = parse_junit(read_result_file(run.scratch / _RESULT))
        return joined(case for element in elements for case in _cases(element))

    def required(self, new: NewTests) -> tuple[str, ...]:
        """Name the test methods that the patch adds or changes."""
        at = _place_of_module(new.command)
        return () if at is None else added_unittest_tests(new, new.command[at + 2 :])

    def covers(self, case: TestCase, name: str) -> bool:
        """Whether *case* is that method."""
        return case.id == name


def _place_of_module(command: tuple[str, ...]) -> int | None:
    """Return where `-m unittest` is, behind a Python and its own options."""
    for at in range(len(command)):
        if _PYTHON.fullmatch(PurePosixPath(command[at]).name):
            arguments = iter(range(at + 1, len(command) - 1))
            for place in arguments:
                if command[place : place + 2] == ("-m", "unittest"):
                    return place
                if command[place] in {"-W", "-X"}:
                    next(arguments, None)
                elif not re.fullmatch(r"-[bBdEIOPqsSuvxWX].*", command[place]):
                    break
    return None


def _cases(element: JUnitCase) -> Iterator[TestCase]:
    for outcome in element.outcomes:
        expected = outcome.kind == "unittest.xfail"
        status = TestCaseStatus.XFAILED if expected else outcome.status
        yield _case(element, status, outcome.message)
    if not element.outcomes:
        yield _case(element, TestCaseStatus.PASSED)


def _case(element: JUnitCase, status: TestCaseStatus, message: str = "") -> TestCase:
    seconds = element.duration_seconds if element.outcomes[1:] == () else 0.0
    return TestCase(
        id=element.name, status=status, duration_seconds=seconds, message=clean(message)
    )
