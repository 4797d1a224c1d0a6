"""What a test framework's reader does: it asks for a result file and reads it."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from attrs import frozen

from cooperbench_eval.models import TestCase
from cooperbench_eval.snapshot import Snapshot

__all__ = ["FinishedRun", "Reader", "UnreadableResultError", "read_result_file"]

_SIZE_LIMIT = 64 << 20


class UnreadableResultError(Exception):
    """The result is missing or cannot be believed; the runner makes it a verdict."""


@frozen(kw_only=True)
class FinishedRun:
    """A command that ran to its end, as a reader sees it.

    Attributes:
        command: The command.
        exit_code: Its exit status.
        result_file: Where the framework was asked to write; may be absent, or
            anything that hostile code put there.
        tree: The files it ran on.
    """

    command: tuple[str, ...]
    exit_code: int
    result_file: Path
    tree: Snapshot


class Reader(Protocol):
    """Knows one test framework.

    Another framework is another file with such a class, and one line in
    `frameworks.py`.
    """

    @property
    def no_test_codes(self) -> frozenset[int]:
        """Exit statuses that agree with a run in which no case counts."""
        ...

    def environment(self, result_file: Path, env: Mapping[str, str]) -> dict[str, str]:
        """Return the variables, beside *env*, that make the framework write its result."""
        ...

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return every case of the run, each once.

        Raises:
            UnreadableResultError: There is no result, or it is not one.
        """
        ...


def read_result_file(path: Path) -> bytes:
    """Return a result file's bytes, however it came to be there.

    Raises:
        UnreadableResultError: It is absent, no plain file, or beyond 64 MiB.
    """
    try:
        # The code under test may have put a link or a pipe there.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise UnreadableResultError("the result file is no plain file")
            data = file.read(_SIZE_LIMIT + 1)
    except FileNotFoundError:
        raise UnreadableResultError("no result file was written") from None
    except OSError as exc:
        raise UnreadableResultError(f"the result file cannot be read ({exc.strerror})") from exc
    if len(data) > _SIZE_LIMIT:
        raise UnreadableResultError(f"the result file is larger than {_SIZE_LIMIT} bytes")
    return data
