"""Reads the JUnit XML that pytest writes, which `PYTEST_ADDOPTS` asks for.

Case ids are pytest's own, relative to its root directory. Expected failures are
distinguished from skips. A file that could not be collected is one case, named after the
file, with status `error`; a case whose tear-down failed is one `error`. A test that passes
with a skipped subtest counts as skipped, since the XML does not distinguish the two.

A command that starts pytest is one session. In a shell script, every session that ends
counts, except those that a test starts. If any other program starts pytest, only the
result of its last session is read.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.junit import JUnitCase, parse_junit
from cooperbench_eval.running.readers.protocol import (
    FinishedRun,
    Launch,
    Reader,
    UnreadableResultError,
    read_result_file,
)
from cooperbench_eval.running.readers.python.pytest_options import pytest_arguments
from cooperbench_eval.running.readers.python.python_tests import (
    ANY_CLASS,
    added_python_tests,
    changed_python_tests,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus

__all__ = ["PYTEST_READER"]

_RESULT = "junit.xml"
# Inside a running test this expands to another name, so a pytest that a test starts does
# not count as a session of the suite.
_PIPE = "junit${PYTEST_CURRENT_TEST}.xml"
_GATHERED = "sessions.xml"
# The sessions of a script write to one pipe, one after the other. A process reads it up to
# a line that says that the script has ended, so it misses nothing. The pipe is always open
# at both ends: nothing blocks and nothing ends early. The empty line at the end is there
# because busybox's sed reads one line ahead.
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
# Other programs are started directly: the sandbox reports a missing program, `sh` does not.
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})
_NOTHING_COLLECTED = 5
_DEPTH_LIMIT = 64  # folders and classes above a test


def _launch(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
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
    # If an option is given twice, the last one counts.
    end = len(command) - len(arguments)
    end += arguments.index("--") if "--" in arguments else len(arguments)
    return Launch(command=(*command[:end], *ours, *command[end:]), env=env)


def _read(run: FinishedRun) -> Iterable[TestCase]:
    elements = tuple(element for data in _sessions(run) for element in parse_junit(data))
    namer = _Namer(elements, run.tree)
    if any((each.classname, each.name) == ("pytest", "internal") for each in elements):
        raise UnreadableResultError("pytest met an internal error")
    # A case without a name began and was cut off when the session was stopped.
    return (
        case for element in elements if element.name for case in element.cases(namer.id_of(element))
    )


def _covers(case: TestCase, name: str) -> bool:
    """Whether *case* is the function *name* or one of its parameter sets.

    A name may also be that of a file, or stand for the function of any class. A file that
    cannot be collected, or that skips all its tests, is a case of each of its tests.
    """
    file, separator, function = case.id.partition("::")
    if not separator:
        is_whole = case.status in {TestCaseStatus.SKIPPED, TestCaseStatus.ERROR}
        return name == file or (is_whole and name.startswith(f"{file}::"))
    own = f"{file}::{function.partition('[')[0]}"
    if name.startswith(ANY_CLASS):
        return own.endswith(name.removeprefix("*"))
    return name in {own, file}


def _file_of(case: TestCase) -> str:
    return case.id.partition("::")[0]


def _is_script(command: tuple[str, ...]) -> bool:
    """Whether a shell, or a file of the tree, may start pytest more than once."""
    if pytest_arguments(command) is not None:
        return False
    program = PurePosixPath(command[0])
    return program.name in _SHELLS or ("/" in command[0] and not program.is_absolute())


def _sessions(run: FinishedRun) -> list[bytes]:
    """Return the result of each session of a run.

    Raises:
        UnreadableResultError: There is no session.
    """
    if not _is_script(run.command):
        return [read_result_file(run.scratch / _RESULT)]
    try:
        data = read_result_file(run.scratch / _GATHERED)
    except UnreadableResultError:
        # Without a pipe, each session overwrites the file of the one before.
        data = read_result_file(run.scratch / _PIPE)
    sessions = [text for text in re.split(rb"(?=<\?xml )", data) if text.strip()]
    if not sessions:
        raise UnreadableResultError("no result file was written")
    return sessions


class _Namer:
    """Turns pytest's `classname` and `name` back into the id they were made from.

    A class name is the file's path with dots, then the classes. The element's `file` is
    the path, except for an inherited test, where it is the file that defines the test. So
    the other elements and the tree are searched as well.
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
    dots = [dot.start() for dot in islice(re.finditer(r"\.", classname), _DEPTH_LIMIT)]
    for end in (len(classname), *reversed(dots)):
        if file := files.get(classname[:end]):
            return [file, *filter(None, classname[end + 1 :].split("."))]
    return []


PYTEST_READER = Reader(
    launch=_launch,
    read=_read,
    required=added_python_tests,
    added=changed_python_tests,
    file_of=_file_of,
    covers=_covers,
    no_test_codes=frozenset({0, _NOTHING_COLLECTED}),
    result="JUnit file",
)
