"""Treats a whole command as one test case, which passed if the exit status is 0.

This is for commands whose framework has no reader. Anything that makes the command
exit with 0 counts as a pass, even an empty run or code that exits early.
"""

import shlex
from collections.abc import Iterator

from cooperbench_eval.running.readers.protocol import FinishedRun, Reader
from cooperbench_eval.running.results import TestCase, TestCaseStatus

__all__ = ["EXIT_READER"]


def _read(run: FinishedRun) -> Iterator[TestCase]:
    if run.exit_code == 0:
        status, message = TestCaseStatus.PASSED, ""
    elif run.exit_code > 0:
        status, message = TestCaseStatus.FAILED, f"exit status {run.exit_code}"
    else:
        status, message = TestCaseStatus.ERROR, f"killed by signal {-run.exit_code}"
    yield TestCase(id=shlex.join(run.command), status=status, message=message)


EXIT_READER = Reader(read=_read, no_test_codes=frozenset())
