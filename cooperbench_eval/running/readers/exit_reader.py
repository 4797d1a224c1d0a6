"""The last resort: nothing but the exit status."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from cooperbench_eval.models import TestCase, TestCaseStatus
from cooperbench_eval.running.readers.protocol import FinishedRun, Launch, NewTests

__all__ = ["ExitReader"]


@frozen
class ExitReader:
    """Takes a command as one test case: passed if it exits with 0.

    For commands whose framework has no reader. Whatever makes the command exit
    with 0 counts as a pass, an empty run and code that exits early included.
    """

    @property
    def no_test_codes(self) -> frozenset[int]:
        """None, since there is always the one case."""
        return frozenset()

    def launch(self, command: tuple[str, ...], env: Mapping[str, str], scratch: Path) -> Launch:
        """Ask for nothing."""
        del scratch
        return Launch(command=command, env=env)

    def read(self, run: FinishedRun) -> tuple[TestCase, ...]:
        """Return the command itself as a case; killed by a signal is an error."""
        if run.exit_code == 0:
            status, message = TestCaseStatus.PASSED, ""
        elif run.exit_code > 0:
            status, message = TestCaseStatus.FAILED, f"exit status {run.exit_code}"
        else:
            status, message = TestCaseStatus.ERROR, f"killed by signal {-run.exit_code}"
        return (TestCase(id=shlex.join(run.command), status=status, message=message),)

    def required(self, new: NewTests) -> tuple[str, ...]:
        """Nothing, since no test is told from another."""
        del new
        return ()

    def covers(self, case: TestCase, name: str) -> bool:
        """No; it is never asked."""
        del case, name
        return False
