"""Reads what pytest did, from the JUnit XML it writes itself."""

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath

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
from cooperbench_eval.running.readers.python.pytest_options import pytest_arguments
from cooperbench_eval.running.readers.python.python_tests import added_python_tests
from cooperbench_eval.running.readers.results import joined
from cooperbench_eval.snapshot import Snapshot

__all__ = ["PytestReader"]

_RESULT = "junit.xml"
# Within a test of a session this is another name: what a test starts is no session
# of the suite.
_PIPE = "junit${PYTEST_CURRENT_TEST}.xml"
_GATHERED = "sessions.xml"
# Sessions of a script write to one pipe, one behind the other. Somebody reads it until
# a line that says that the script has ended, and thus not before all of it is read. The
# pipe is open for both ends throughout: nothing blocks, nothing ends early. Busybox's
# sed looks one line ahead, hence the empty one at the end.
_GATHER = """\
if command -v sed >/dev/null && mkfifo "$0" 2>/dev/null; then
  { LC_ALL=C sed -n '/^cooperbench-eval: end$/q;p' \
      >"${0%/*}/sessions.xml" 2>/dev/null; } <>"$0" &
  reader=$!
  exec 9<>"$0"
  "$@" 9<&-
  status=$?
  printf '\\ncooperbench-eval: end\\n\\n' >&9
  wait "$reader"
  [ "$status" -le 128 ] || kill -"$((status - 128))" $$ 2>/dev/null
  exit "$status"
fi
exec "$@"
"""
# Of another program nobody knows whether it is there: a sandbox says so, `sh` does not.
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
_NOTHING_COLLECTED = 5


@frozen
class PytestReader:
    """Asks pytest for JUnit XML through `PYTEST_ADDOPTS` and reads it.

    Case ids are pytest's own, relative to its root directory. Expected failures
    are told from skips. A file that could not be collected is one case, named
    after the file, with status `error`; a case whose tear-down failed is one
    `error`. A test that passes with a skipped subtest counts as skipped, since
    the XML does not tell the two apart.

    A command that starts pytest is one session. Of a shell's script every session
    that ends counts, but not what a test starts. Of another program's sessions the
    last one's result stands.
    """

    @property
    def no_test_codes(self) -> frozenset[int]:
        """Success, and pytest's own code for an empty collection."""
        return frozenset({0, _NOTHING_COLLECTED})

    def launch(self, command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
        """Add what makes pytest write its result to the suite's own options."""
        arguments = pytest_arguments(command)
        file = scratch / (_PIPE if _is_script(command) else _RESULT)
        # The old family names the file of each case; captured logs are not read.
        ours = (f"--junitxml={file}", "-o", "junit_family=xunit1", "-o", "junit_logging=no")
        options = " ".join(filter(None, (env.get("PYTEST_ADDOPTS"), shlex.join(ours))))
        env = {**env, "PYTEST_ADDOPTS": options}
        if _is_script(command):
            command = ("sh", "-c", _GATHER, str(file), *command)
        if arguments is None:
            return Launch(command=command, env=env)
        # Of several such options the last one counts.
        end = len(command) - len(arguments)
        end += arguments.index("--") if "--" in arguments else len(arguments)
        return Launch(command=(*command[:end], *ours, *command[end:]), env=env)

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return the cases of a session, in the order in which they first occur.

        Raises:
            UnreadableResultError: No result was written, it is not one, or pytest
                reports an error of its own.
        """
        sessions = _sessions(run)
        elements = tuple(element for data in sessions for element in parse_junit(data))
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


def _is_script(command: tuple[str, ...]) -> bool:
    """Whether a shell, or a file of the tree, may start pytest more than once."""
    if pytest_arguments(command) is not None:
        return False
    program = PurePosixPath(command[0])
    return program.name in _SHELLS or ("/" in command[0] and not program.is_absolute())


def _sessions(run: FinishedRun) -> list[bytes]:
    """Return the result of each session of a run.

    Raises:
        UnreadableResultError: There is none.
    """
    if not _is_script(run.command):
        return [read_result_file(run.scratch / _RESULT)]
    try:
        data = read_result_file(run.scratch / _GATHERED)
    except UnreadableResultError:
        # Without a pipe each session writes over the last one's file.
        data = read_result_file(run.scratch / _PIPE)
    sessions = [text for text in re.split(rb"(?=<\?xml )", data) if text.strip()]
    if not sessions:
        raise UnreadableResultError("no result file was written")
    return sessions


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
