"""What a test framework's reader does: it asks for a result file and reads it."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from attrs import field, frozen

from cooperbench_eval.models import TestCase
from cooperbench_eval.running.sandboxes.capture import Capture
from cooperbench_eval.snapshot import Snapshot

__all__ = [
    "FinishedRun",
    "Launch",
    "NewTests",
    "Reader",
    "UnreadableResultError",
    "read_ends",
    "read_result_file",
]

_SIZE_LIMIT = 64 << 20


class UnreadableResultError(Exception):
    """The result is missing or cannot be believed; the runner makes it a verdict."""


@frozen(kw_only=True)
class Launch:
    """How to start a suite's command so that its framework writes a result.

    Attributes:
        command: The command with what the framework needs to be told.
        env: The variables, likewise.
        stdout: Where the command's standard output goes, if it is redirected there:
            a file of the scratch directory. The runner shows it with the output.
    """

    command: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict)
    stdout: Path | None = None

    @classmethod
    def redirected(cls, command: tuple[str, ...], env: Mapping[str, str], stdout: Path) -> "Launch":
        """Send the standard output of *command* to a file, with nothing in between."""
        wrapped = ("sh", "-c", 'exec "$@" >"$0"', str(stdout), *command)
        return cls(command=wrapped, env=env, stdout=stdout)


@frozen(kw_only=True)
class FinishedRun:
    """A command that ran to its end, as a reader sees it.

    Attributes:
        command: The suite's command, as its author wrote it.
        exit_code: Its exit status.
        scratch: Where the framework was asked to write; may hold nothing, or
            anything that hostile code put there.
        tree: The files it ran on.
        output: What it printed, for a framework that writes nothing else; the
            middle of a long one may be cut.
    """

    command: tuple[str, ...]
    exit_code: int
    scratch: Path
    tree: Snapshot
    output: bytes = field(default=b"", repr=False)


@frozen(kw_only=True)
class NewTests:
    """What a tests patch did to a tree, to find the tests that it brings.

    Attributes:
        before: The tree without it.
        after: The tree with it.
        paths: The files that it adds or changes, sorted.
        command: The suite's command.
        env: The suite's variables.
        cases: What the run reported. Where the command does not tell which files
            it runs the tests of, this does.
    """

    before: Snapshot = field(repr=False)
    after: Snapshot = field(repr=False)
    paths: tuple[str, ...]
    command: tuple[str, ...]
    env: Mapping[str, str] = field(factory=dict, repr=False)
    cases: tuple[TestCase, ...] = field(default=(), repr=False)


class Reader(Protocol):
    """Knows one test framework.

    Another framework is another file with such a class, and one line in
    `frameworks.py`.
    """

    @property
    def no_test_codes(self) -> frozenset[int]:
        """Exit statuses that agree with a run in which no case counts."""
        ...

    def launch(self, command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
        """Say how to start *command* so that the framework writes its result.

        Args:
            command: The suite's command.
            env: The suite's variables.
            scratch: An empty directory, for the result and for files that help to
                write it.
        """
        ...

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return every case of the run, each once.

        Raises:
            UnreadableResultError: There is no result, or it is not one.
        """
        ...

    def required(self, new: NewTests) -> tuple[str, ...]:
        """Name the tests that a tests patch brings, as far as its text shows them.

        Only those that *command* surely runs: a name too many makes an honest run
        inconclusive, a name too few only lets a forged one pass.
        """
        ...

    def covers(self, case: TestCase, name: str) -> bool:
        """Whether *case* is the required test *name*, or one of its variants."""
        ...


def read_result_file(path: Path) -> bytes:
    """Return a result file's bytes, however it came to be there.

    Raises:
        UnreadableResultError: It is absent, no plain file, or beyond 64 MiB.
    """
    with _opened(path) as file:
        data = file.read(_SIZE_LIMIT + 1)
    if len(data) > _SIZE_LIMIT:
        raise UnreadableResultError(f"the result file is larger than {_SIZE_LIMIT} bytes")
    return data


def read_ends(path: Path, limit: int) -> bytes:
    """Return a file's first and last bytes, *limit* at each end; empty if it is not one."""
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
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise UnreadableResultError("the result file is no plain file")
            yield file
    except FileNotFoundError:
        raise UnreadableResultError("no result file was written") from None
    except OSError as exc:
        raise UnreadableResultError(f"the result file cannot be read ({exc.strerror})") from exc
