"""What the laws of sandboxes have in hand: places, runs, and what is left of them."""

import os
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from attrs import field, frozen

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.running.sandboxes.protocol import Execution, Sandbox
from cooperbench_eval.testing.cases import shown_bytes
from cooperbench_eval.testing.records import BrokenError, Counterexample, UncheckedError

__all__ = ["Allowance", "SandboxBench"]

_MOST_SHOWN = 600
_SECONDS_TO_DIE = 5.0


def _nothing() -> list[str]:
    return []


@frozen(kw_only=True)
class Allowance:
    """What a sandbox may take, and what is asked of it.

    Attributes:
        slack_seconds: How much longer than its command, or than its deadline, a run may
            take.
        patience_seconds: How long after a killed caller something may still run.
        parallel_runs: How many runs the law of many at once makes.
        parallel_width: How many of these at a time.
        isolates: Whether it claims to keep its command from the machine.
        leftovers: Lists what is left of runs beside processes and temporary files, such
            as containers.
    """

    slack_seconds: float = 5.0
    patience_seconds: float = 5.0
    parallel_runs: int = 24
    parallel_width: int = 8
    isolates: bool = False
    leftovers: Callable[[], Sequence[object]] = field(default=_nothing, repr=False)


class SandboxBench:
    """A sandbox under one law.

    Attributes:
        sandbox: The sandbox.
        allowance: What it may take.
        folder: Where trees and scratch directories are made.
        temporary: The temporary directory of whoever runs the sandbox; nobody else's.
        word: An argument of every command, by which its processes are known.
        runs: How often something was run.
        tell: Called with what is asked before each run.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        allowance: Allowance,
        folder: Path,
    ) -> None:
        """Take the sandbox and an empty folder."""
        self.sandbox = sandbox
        self.allowance = allowance
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.word = f"word-{uuid.uuid4()}"
        self.runs = 0
        self.tell: Callable[[str], None] = lambda _: None
        self._given = "the sandbox"

    def places(self) -> tuple[Path, Path]:
        """Make a fresh tree and scratch directory."""
        parent = Path(tempfile.mkdtemp(dir=self.folder))
        for name in ("tree", "scratch"):
            (parent / name).mkdir()
        return parent / "tree", parent / "scratch"

    def command(self, script: str, scratch: Path, *arguments: str) -> tuple[str, ...]:
        """Return the command for a shell script, `$1` being its scratch directory."""
        return ("sh", "-c", script, self.word, str(scratch), *arguments)

    def run(
        self,
        script: str,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        timeout_seconds: float = 60.0,
        where: tuple[Path, Path] | None = None,
    ) -> Execution:
        """Run a shell script.

        Raises:
            BrokenError: The sandbox raised what it must not, or returned no execution.
            UncheckedError: The sandbox failed, or has no shell.
        """
        tree, scratch = where or self.places()
        self.ask(script, *arguments, env=env, timeout_seconds=timeout_seconds)
        try:
            execution = self.sandbox.run(
                self.command(script, scratch, *arguments),
                tree=tree,
                scratch=scratch,
                env=env or {},
                timeout_seconds=timeout_seconds,
            )
        except TestRunError as exc:
            raise UncheckedError(str(exc)) from exc
        # Whatever else it raises is against the protocol.
        except Exception as exc:  # noqa: BLE001
            self.fail(came=f"it raised {exc!r}", wanted="an Execution", cause=exc)
        if not isinstance(execution, Execution) or not isinstance(execution.output, bytes):
            self.fail(came=f"it returned {execution!r:.200}", wanted="an Execution")
        return execution

    def run_to_the_deadline(self, script: str, *, timeout_seconds: float) -> Execution:
        """Run what does not end by itself, and go on if it is ended in time.

        Raises:
            BrokenError: It is not, or that is told wrongly.
        """
        started = time.monotonic()
        execution = self.run(script, timeout_seconds=timeout_seconds)
        took = time.monotonic() - started
        most = timeout_seconds + self.allowance.slack_seconds
        self.expect(took < most, came=f"it took {took:.1f} seconds", wanted=f"at most {most:g}")
        is_right = execution.timed_out and execution.exit_code is None
        is_right &= timeout_seconds <= execution.duration_seconds < most
        came = f"{execution.duration_seconds:.1f} seconds, timed_out={execution.timed_out}, "
        came += f"exit_code={execution.exit_code}"
        wanted = f"{timeout_seconds:g} seconds or little more, timed_out=True, exit_code=None"
        self.expect(is_right, came=came, wanted=wanted)
        return execution

    def ask(
        self,
        script: str,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Remember what is asked, for telling it where a law is broken; it counts as a run."""
        self.runs += 1
        parts = [f"the script {script.strip()!r}"]
        if arguments:
            shown = ", ".join(f"{each!r:.40}" for each in arguments[:3])
            parts.append(f"{len(arguments):,} arguments: {shown}")
        if env:
            parts.append(f"the variables {dict(env)!r}")
        if timeout_seconds is not None:
            parts.append(f"a deadline of {timeout_seconds:g} seconds")
        self._given = "\n".join(parts)
        self.tell(self._given)

    def expect(self, is_right: bool, *, came: object, wanted: str) -> None:
        """Go on if all is right.

        Raises:
            BrokenError: It is not.
        """
        if not is_right:
            self.fail(came=came, wanted=wanted)

    def expect_output(self, execution: Execution, output: bytes) -> None:
        """Go on if a command printed just that, and ended well.

        Raises:
            BrokenError: It did not.
        """
        is_right = execution.output == output and execution.exit_code == 0
        wanted = f"exit status 0 and {shown_bytes(output)}"
        self.expect(is_right, came=execution, wanted=wanted)

    def fail(self, *, came: object, wanted: str, cause: BaseException | None = None) -> NoReturn:
        """Say that the law is broken.

        Raises:
            BrokenError: Always.
        """
        told = _told(came) if isinstance(came, Execution) else str(came)
        found = Counterexample(given=self._given, came=told[:_MOST_SHOWN], wanted=wanted)
        raise BrokenError(found) from cause

    def processes(self) -> list[int]:
        """List the live processes of this bench's commands."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                arguments = (folder / "cmdline").read_bytes().split(b"\0")
                if self.word.encode() in arguments:
                    found.append(int(folder.name))
        return found

    def survivors(self, within_seconds: float = 0.0) -> list[int]:
        """List them once they are gone, or the time has passed."""
        deadline = time.monotonic() + within_seconds
        while (found := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return found

    def expect_nothing_left(self, within_seconds: float = 0.0) -> None:
        """Go on if no process and nothing else is left of the runs.

        Raises:
            BrokenError: Something is.
        """
        left = self.survivors(within_seconds)
        self.expect(not left, came=f"{len(left)} processes of the command are left", wanted="none")
        more = list(self.allowance.leftovers())
        self.expect(not more, came=f"left behind: {more}", wanted="nothing")

    def expect_no_files(self) -> None:
        """Go on if nothing is left in the temporary directory.

        Raises:
            BrokenError: Something is.
        """
        left = sorted(map(str, self.temporary.iterdir()))
        came = f"left in the temporary directory: {', '.join(left[:5])}"
        self.expect(not left, came=came, wanted="nothing")

    def clear(self) -> None:
        """Kill what a broken sandbox left running."""
        deadline = time.monotonic() + _SECONDS_TO_DIE
        while (found := self.processes()) and time.monotonic() < deadline:
            for process in found:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.01)


def _told(execution: Execution) -> str:
    parts = [f"exit status {execution.exit_code}"]
    parts += ["timed out"] * execution.timed_out + ["out of memory"] * execution.out_of_memory
    parts += [execution.reason] if execution.reason else []
    return f"{', '.join(parts)}; output {shown_bytes(execution.output)}"
