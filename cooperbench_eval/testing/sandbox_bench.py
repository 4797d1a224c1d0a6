"""Runs scripts in a sandbox for one law, and looks for processes and files that are left."""

import os
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from attrs import define, field

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.running.sandboxes.protocol import Execution, Sandbox
from cooperbench_eval.support.error_texts import describe_error
from cooperbench_eval.testing.cases import shown_bytes
from cooperbench_eval.testing.laws import BrokenError, Counterexample, UncheckedError, mistake_of

_MOST_SHOWN = 600
_SECONDS_TO_DIE = 5.0


@define(kw_only=True)
class SandboxBench:
    """A sandbox under one law.

    The methods `run` and `expect...` raise `BrokenError` if the sandbox breaks the law.
    The options are those of `SandboxLaws`. Trees are made in `folder`. The `word` is an
    argument of every command and identifies its processes. Each run is described to
    `report` before it starts, and counted in `runs`.
    """

    sandbox: Sandbox
    folder: Path
    slack_seconds: float = 5.0
    patience_seconds: float = 5.0
    parallel_runs: int = 24
    parallel_width: int = 8
    leftovers: Callable[[], Sequence[object]] = list
    report: Callable[[str], None] = field(default=lambda _: None, init=False)
    word: str = field(factory=lambda: f"word-{uuid.uuid4()}", init=False)
    runs: int = field(default=0, init=False)
    _given: str = field(default="the sandbox", init=False)

    @property
    def temporary(self) -> Path:
        """A temporary directory that only the caller of the sandbox uses."""
        return self.folder / "temporary"

    def places(self) -> tuple[Path, Path]:
        """Make a fresh tree and scratch directory."""
        parent = Path(tempfile.mkdtemp(dir=self.folder))
        for name in ("tree", "scratch"):
            (parent / name).mkdir()
        return parent / "tree", parent / "scratch"

    def command(self, script: str, scratch: Path, *arguments: str) -> tuple[str, ...]:
        """Return the command for a shell script; its `$1` is the scratch directory."""
        return ("sh", "-c", script, self.word, str(scratch), *arguments)

    def run(
        self,
        script: str,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        timeout_seconds: float = 60.0,
        where: tuple[Path, Path] | None = None,
    ) -> Execution:
        """Run a shell script; raise `UncheckedError` if the sandbox failed or has no shell."""
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
        # The protocol allows no other error.
        except Exception as exc:  # noqa: BLE001
            came = f"it raised {describe_error(exc)}"
            self.fail(came=came, wanted="an Execution", cause=exc, mistake=mistake_of(exc))
        if not isinstance(execution, Execution) or not isinstance(execution.output, bytes):
            came, kind = f"it returned {execution!r:.200}", type(execution).__qualname__
            self.fail(came=came, wanted="an Execution", mistake=f"it returned {kind}")
        return execution

    def run_to_the_deadline(self, script: str, *, timeout_seconds: float) -> Execution:
        """Run a script that does not end by itself; the sandbox must end it in time."""
        most = timeout_seconds + self.slack_seconds
        with self.at_most(most):
            execution = self.run(script, timeout_seconds=timeout_seconds)
        is_right = execution.timed_out and execution.exit_code is None
        is_right &= timeout_seconds <= execution.duration_seconds < most
        came = f"{execution.duration_seconds:.1f} seconds, timed_out={execution.timed_out}, "
        came += f"exit_code={execution.exit_code}"
        wanted = f"{timeout_seconds:g} seconds or little more, timed_out=True, exit_code=None"
        self.expect(is_right, came=came, wanted=wanted)
        return execution

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """Expect the body to take less than this time."""
        started = time.monotonic()
        yield
        took = time.monotonic() - started
        came, wanted = f"it took {took:.1f} seconds", f"at most {seconds:g}"
        self.expect(took < seconds, came=came, wanted=wanted)

    def ask(
        self,
        script: str,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Count a run, and describe it for counterexamples."""
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
        self.report(self._given)

    def expect(self, is_right: bool, *, came: object, wanted: str) -> None:
        """Continue if *is_right*."""
        if not is_right:
            self.fail(came=came, wanted=wanted)

    def expect_output(self, execution: Execution, output: bytes, *, status: int = 0) -> None:
        """Continue if a command printed exactly this and ended with this exit status."""
        is_right = (execution.exit_code, execution.output) == (status, output)
        wanted = f"exit status {status} and {shown_bytes(output)}"
        self.expect(is_right, came=execution, wanted=wanted)

    def fail(
        self, *, came: object, wanted: str, cause: BaseException | None = None, mistake: str = ""
    ) -> NoReturn:
        """Report that the law is broken."""
        shown = _shown(came) if isinstance(came, Execution) else str(came)
        shown = shown[:_MOST_SHOWN]
        found = Counterexample(given=self._given, came=shown, wanted=wanted, mistake=mistake)
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

    def expect_nothing_left(self, within_seconds: float = 0.0, *, files: bool = True) -> None:
        """Continue if the runs left nothing: no process, temporary file or other leftover."""
        deadline = time.monotonic() + within_seconds
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.expect(not left, came=f"{len(left)} processes of the command are left", wanted="none")
        more = list(self.leftovers())
        self.expect(not more, came=f"left behind: {more}", wanted="nothing")
        names = sorted(map(str, self.temporary.iterdir())) if files else []
        came = f"left in the temporary directory: {', '.join(names[:5])}"
        self.expect(not names, came=came, wanted="nothing")


@contextmanager
def sandbox_bench(sandbox: Sandbox, **options: Any) -> Iterator[SandboxBench]:
    """Yield a bench with *options*; finally kill processes that a broken sandbox left."""
    with tempfile.TemporaryDirectory() as folder:
        bench = SandboxBench(sandbox=sandbox, folder=Path(folder), **options)
        bench.temporary.mkdir()
        try:
            yield bench
        finally:
            deadline = time.monotonic() + _SECONDS_TO_DIE
            while (found := bench.processes()) and time.monotonic() < deadline:
                for process in found:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(process, signal.SIGKILL)
                time.sleep(0.01)


def _shown(execution: Execution) -> str:
    parts = (
        f"exit status {execution.exit_code}",
        "timed out" if execution.timed_out else "",
        "out of memory" if execution.out_of_memory else "",
        execution.reason,
    )
    return f"{', '.join(filter(None, parts))}; output {shown_bytes(execution.output)}"
