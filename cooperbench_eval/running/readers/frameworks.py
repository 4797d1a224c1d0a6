"""The test frameworks: the reader of each, and the words in a command that start it."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Literal, NamedTuple

from cooperbench_eval.running.readers.cargo_reader import CARGO_READER, NEXTEST_READER
from cooperbench_eval.running.readers.go_reader import GO_READER
from cooperbench_eval.running.readers.javascript_reader import (
    JEST_READER,
    NODE_READER,
    VITEST_READER,
)
from cooperbench_eval.running.readers.protocol import NOT_FOUND, FinishedRun, Reader
from cooperbench_eval.running.readers.pytest_reader import PYTEST_READER
from cooperbench_eval.running.readers.result_files import UnreadableResultError
from cooperbench_eval.running.readers.unittest_reader import UNITTEST_READER
from cooperbench_eval.running.results import TestCase, TestCaseStatus

Framework = Literal[
    "pytest", "unittest", "go", "cargo", "nextest", "jest", "vitest", "node", "exit"
]
"""A key of `FRAMEWORKS`, so that editors complete it."""

# In this order: a script runs the first framework of which it has a command.
_COMMANDS: tuple[tuple[Framework, str], ...] = (
    ("nextest", r"cargo\s+nextest\b"),
    ("cargo", r"cargo\s+test\b"),
    ("go", r"go\s+test\b"),
    ("vitest", r"(?:\S+\s+)?vitest\b"),
    ("jest", r"(?:(?:\S+\s+)?jest|(?:npx\s+)?(?:p?npm|yarn)(?:@\S+)?\s+(?:run\s+)?test)\b"),
    ("node", r"node\s+.*--test\b"),
    ("pytest", r"(?:python\S*\s+-m\s+)?(?:pytest|py\.test)\b"),
    ("unittest", r"python\S*\s+-m\s+unittest\b"),
)
_NAMED_OTHERWISE = "py.test"
_PREFIX = r"\s*(?:timeout\s+\S+\s+)?(?:\w+=\S+\s+)*"


class _Recognized(NamedTuple):
    framework: Framework
    words: str

    @property
    def is_certain(self) -> bool:
        """Whether the words themselves name the framework; `npm test` may run any."""
        return self.framework in self.words or self.words.startswith(_NAMED_OTHERWISE)


def framework_of(script: str) -> Framework:
    """Return the test framework that a shell script runs; `exit` if none is found."""
    found = _find(script)
    return found.framework if found else "exit"


def recognize(command: Iterable[str]) -> _Recognized | None:
    """Return the framework that a command runs; `None` if it is not known.

    The command may start the framework itself, or be a shell with a script among its words.
    """
    program, *rest = command
    texts = (shlex.join((PurePosixPath(program).name, *rest)), *rest)
    return next(filter(None, map(_find, texts)), None)


def _find(script: str) -> _Recognized | None:
    for framework, pattern in _COMMANDS:
        if found := re.search(rf"^{_PREFIX}({pattern})", script, re.MULTILINE):
            return _Recognized(framework, " ".join(found[1].split()))
    return None


def _read_exit(run: FinishedRun) -> Iterator[TestCase]:
    if run.exit_code == NOT_FOUND:
        raise UnreadableResultError("nothing was tested")
    if run.exit_code == 0:
        status, message = TestCaseStatus.PASSED, ""
    elif run.exit_code > 0:
        status, message = TestCaseStatus.FAILED, f"exit status {run.exit_code}"
    else:
        status, message = TestCaseStatus.ERROR, f"killed by signal {-run.exit_code}"
    yield TestCase(id=shlex.join(run.command), status=status, message=message)


FRAMEWORKS: Mapping[str, Reader] = MappingProxyType(
    {
        "exit": Reader(read=_read_exit, no_test_codes=frozenset()),
        "pytest": PYTEST_READER,
        "unittest": UNITTEST_READER,
        "go": GO_READER,
        "cargo": CARGO_READER,
        "nextest": NEXTEST_READER,
        "jest": JEST_READER,
        "vitest": VITEST_READER,
        "node": NODE_READER,
    }
)
"""Readers by the name that `TestSuite.framework` takes."""


def other_framework(command: Iterable[str], framework: str) -> str:
    """Return advice if a command runs another framework than the given one; else empty."""
    found = recognize(command)
    if found is None or found.framework == framework or not found.is_certain:
        return ""
    result = FRAMEWORKS[framework].result
    return f"`{found.words}` wrote no {result}; pass framework={found.framework!r}"
