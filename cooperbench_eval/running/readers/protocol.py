"""The records that the runner and the reader of a test framework exchange."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from attrs import evolve, field, frozen

from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.processes.capture import Capture
from cooperbench_eval.running.results import TestCase, TestCaseStatus
from cooperbench_eval.support.systems import OPEN_NO_LINK

__all__ = [
    "CASE_LIMIT",
    "ID_LIMIT",
    "MESSAGE_LIMIT",
    "FinishedRun",
    "Launch",
    "NewTests",
    "Reader",
    "UnreadableResultError",
    "bounded",
    "lengthened",
    "read_ends",
    "read_result_file",
    "shortened",
]

CASE_LIMIT = 100_000
"""The most cases of a run; more are not a result."""
ID_LIMIT = 4_000
"""The most characters of a case's id, or of a name in it; the rest is cut off."""
MESSAGE_LIMIT = 2_000
"""The most characters of a case's message; the middle of a longer one is left out."""
_CUT = "\n[... cut ...]\n"
_HEAD = MESSAGE_LIMIT // 3
_TAIL = MESSAGE_LIMIT - _HEAD - len(_CUT)
_SIZE_LIMIT = 64 << 20
_WORST_FIRST = (
    TestCaseStatus.FAILED,
    TestCaseStatus.ERROR,
    TestCaseStatus.PASSED,
    TestCaseStatus.XFAILED,
    TestCaseStatus.SKIPPED,
)


class UnreadableResultError(Exception):
    """The result is missing or not trustworthy; the runner turns this into a verdict."""


@frozen(kw_only=True)
class Launch:
    """How to start a suite's command so that its framework writes a result.

    Attributes:
        command: The command, with the options that the framework needs.
        env: The variables, with those that the framework needs.
        stdout: The file of the scratch directory to which the command's standard
            output is redirected, if any. The runner shows it with the output.
    """

    command: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict)
    stdout: Path | None = None


@frozen(kw_only=True)
class FinishedRun:
    """A command that ran to its end, as a reader sees it.

    Attributes:
        command: The suite's command, as its author wrote it.
        exit_code: Its exit status.
        scratch: The directory where the framework was asked to write. It may be empty,
            or hold anything that hostile code wrote there.
        tree: The files that the command ran on.
        output: What the command printed. The middle of a long output may be cut.
    """

    command: tuple[str, ...]
    exit_code: int
    scratch: Path
    tree: Snapshot
    output: bytes = field(default=b"", repr=False)


@frozen(kw_only=True)
class NewTests:
    """A tests patch applied to a tree, in which readers look for the tests it adds.

    Attributes:
        before: The tree without the patch.
        after: The tree with the patch.
        paths: The files that the patch adds or changes, sorted.
        command: The suite's command.
        env: The suite's variables.
        cases: The cases that the run reported. They show which files ran if the command
            does not.
    """

    before: Snapshot = field(repr=False)
    after: Snapshot = field(repr=False)
    paths: tuple[str, ...]
    command: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict, repr=False)
    cases: tuple[TestCase, ...] = field(default=(), repr=False)


def _launch_as_given(command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
    del scratch
    return Launch(command=command, env=env)


def _require_nothing(new: NewTests) -> tuple[str, ...]:
    del new
    return ()


def _no_file(case: TestCase) -> str:
    del case
    return ""


def _has_id(case: TestCase, name: str) -> bool:
    return case.id == name


@frozen(kw_only=True)
class Reader:
    """What the runner needs to know about one test framework.

    To support another framework, write a module with such a record and add the record
    to `frameworks.py`.

    Attributes:
        launch: Returns how to start a command so that the framework writes its result.
            It takes the suite's command, the suite's variables, and an empty directory
            for the result and for files that help to write it.
        required: Returns the tests that a tests patch adds or changes, found in its text,
            but only tests that the command is certain to run: one name too many makes an
            honest run inconclusive, whereas one too few only lets a forged run pass.
        added: Returns every test that a tests patch adds or changes, found in its text,
            whatever the command runs. It errs on the side of one name too many. With the
            trees swapped, it returns the tests that the patch changes or removes; with an
            empty tree before, all tests of the files. `None` if tests have no names.
        covers: Whether a case belongs to the test with a given name: it is the test, a
            variant of it, or the `error` of the file or program that contains it. A case of
            a file or program with any other status does not count.
        file_of: Returns the path of a case's file, as it is in the id; empty if the id
            does not show it.
        no_test_codes: The exit statuses that agree with a run in which no case counts.
        result: What the framework writes, for messages.
    """

    _read: Callable[[FinishedRun], Iterable[TestCase]]
    launch: Callable[[tuple[str, ...], Mapping[str, str], Path], Launch] = _launch_as_given
    required: Callable[[NewTests], tuple[str, ...]] = _require_nothing
    added: Callable[[NewTests], tuple[str, ...]] | None = None
    covers: Callable[[TestCase, str], bool] = _has_id
    file_of: Callable[[TestCase], str] = _no_file
    no_test_codes: frozenset[int] = frozenset({0})
    result: str = "result"

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return every case of the run once, in the order of first occurrence.

        A case may be reported several times, because it ran again or because two cases
        share a name. Then the worst reported status counts.

        Raises:
            UnreadableResultError: The result is missing, too large or not credible.
        """
        found: dict[str, TestCase] = {}
        for case in bounded(self._read(run)):
            known = found.get(case.id)
            found[case.id] = case if known is None else _worst_of(known, case)
        return tuple(found.values())


def bounded(cases: Iterable[TestCase]) -> Iterator[TestCase]:
    """Yield cases with their ids and messages cut.

    Raises:
        UnreadableResultError: There are more than `CASE_LIMIT`, or their texts have more
            characters together than a result file may have bytes.
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
    return f"{message[:_HEAD]}{_CUT}{message[-_TAIL:]}"


def lengthened(message: str, more: str) -> str:
    """Append to a message that will be shortened, without collecting what that leaves out."""
    message += more
    if len(message) > 10 * MESSAGE_LIMIT:
        message = message[:MESSAGE_LIMIT] + message[-MESSAGE_LIMIT:]
    return message


def _worst_of(one: TestCase, other: TestCase) -> TestCase:
    worst = min(one, other, key=lambda case: _WORST_FIRST.index(case.status))
    return TestCase(
        id=worst.id,
        status=worst.status,
        duration_seconds=one.duration_seconds + other.duration_seconds,
        message=worst.message,
    )


def read_result_file(path: Path) -> bytes:
    """Return the bytes of a result file that hostile code may have written.

    Raises:
        UnreadableResultError: The file is absent, not a plain file, or larger than 64 MiB.
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
