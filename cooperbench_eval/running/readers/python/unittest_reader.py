"""Reads the JUnit XML that our own script makes unittest write.

Unittest itself only prints text. So `-m unittest` is replaced by a script that runs
unittest's own command line and writes the file at its end. If the command starts
something else, such as a script, the closing lines of each session are read from the
output. Any code can print such lines; their cases have numbers and no names.

Case ids are unittest's own, `module.Class.method`. A failure outside of a test has the
name that unittest gives it, such as `setUpClass (module.Class)`; a module that cannot be
imported is a case under its own name. Subtests are part of their test, which has the
status of the worst of them. An unexpected success counts as failed.
"""

import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from cooperbench_eval.running.readers.junit import parse_junit
from cooperbench_eval.running.readers.protocol import (
    FinishedRun,
    Launch,
    NewTests,
    Reader,
    read_result_file,
)
from cooperbench_eval.running.readers.python.unittest_output import read_unittest_output
from cooperbench_eval.running.readers.python.unittest_tests import (
    ANY_CLASS,
    added_unittest_tests,
    changed_unittest_tests,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus

__all__ = ["UNITTEST_READER"]

_SCRIPT = Path(__file__).with_name("unittest_script.py")
_RESULT = "unittest.xml"
_NO_TESTS = 5  # from Python 3.12 on
_PLACE = re.compile(r"\w+ \((.+)\)")  # of a failed `setUpClass`, for example
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")


def _launch(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    at = _place_of_module(command)
    if at is not None:
        script = scratch / _SCRIPT.name
        shutil.copyfile(_SCRIPT, script)
        command = (*command[:at], str(script), str(scratch / _RESULT), *command[at + 2 :])
    return Launch(command=command, env=env)


def _read(run: FinishedRun) -> Iterable[TestCase]:
    if _place_of_module(run.command) is None:
        return read_unittest_output(run.output)
    elements = parse_junit(read_result_file(run.scratch / _RESULT))
    return (case for element in elements for case in element.cases(element.name))


def _required(new: NewTests) -> tuple[str, ...]:
    at = _place_of_module(new.command)
    return () if at is None else added_unittest_tests(new, new.command[at + 2 :])


def _place_of_module(command: tuple[str, ...]) -> int | None:
    """Return the position of `-m unittest` after a Python and its own options, if any."""
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


def _covers(case: TestCase, name: str) -> bool:
    """Whether *case* is the method *name*, or the failure of its class or module.

    A name may also be that of a module, or stand for the method of any class.
    """
    if name.startswith(ANY_CLASS):
        return case.id.endswith(name.removeprefix("*"))
    if case.status is TestCaseStatus.ERROR:
        place = _PLACE.fullmatch(case.id)
        if name.startswith(f"{place[1] if place else case.id}."):
            return True
    return f"{case.id}.".startswith(f"{name}.")


UNITTEST_READER = Reader(
    launch=_launch,
    read=_read,
    required=_required,
    added=changed_unittest_tests,
    covers=_covers,
    no_test_codes=frozenset({0, _NO_TESTS}),
)
