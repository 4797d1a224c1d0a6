"""The sandbox that is none: a plain process of this machine."""

import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import field, frozen, validators

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.running.sandboxes.capture import Capture
from cooperbench_eval.running.sandboxes.processes import Job, kill_strays, supervise
from cooperbench_eval.running.sandboxes.protocol import Execution

__all__ = ["LocalSandbox"]

_MEBIBYTE = 1 << 20
_POSITIVE = validators.optional(validators.gt(0))


@frozen(kw_only=True)
class LocalSandbox:
    r"""Runs commands as plain processes of this machine, without isolation.

    The command can read and write whatever the caller can, and reach the
    network. Use it for code you would run yourself.

    What it does promise, on Linux: nothing of the command is left running. At
    the command's end and at its deadline every descendant is killed, also those
    that left its session, ignore signals or hold its output open; and all of it
    dies with the caller. Where a command kills its own supervisor, what can
    still be recognised is killed, and the execution has no exit status.
    Elsewhere (macOS) only the command's process group is killed.

    The command sees a small environment of its own: the caller's `PATH` behind
    the folder of the running Python, so that `python` is that one; a fresh
    `HOME` and `TMPDIR`; a UTF-8 locale; no byte code written; a fixed hash seed.
    Its standard input is empty.

    Attributes:
        inherit: Variables of the caller's environment to pass on, by name.
        output_limit: How many bytes of output to keep at each end; what lies
            between is counted and dropped.
        memory_bytes: Address space of each process.
        file_bytes: Largest size of a file that it may write.
        processes: How many processes the user may have; does not bind root.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as tree, TemporaryDirectory() as scratch:
        ...     execution = LocalSandbox().run(
        ...         ("echo", "hello"),
        ...         tree=Path(tree),
        ...         scratch=Path(scratch),
        ...         env={},
        ...         timeout_seconds=10,
        ...     )
        >>> execution.exit_code, execution.output
        (0, b'hello\n')
    """

    inherit: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    output_limit: int = field(default=_MEBIBYTE, validator=validators.ge(0))
    memory_bytes: int | None = field(default=None, validator=_POSITIVE)
    file_bytes: int | None = field(default=None, validator=_POSITIVE)
    processes: int | None = field(default=None, validator=_POSITIVE)
    name: str = field(default="local", init=False)

    @property
    def identity(self) -> str:
        """The name with the limits that are set, and the Python it runs in front of."""
        limits = (self.memory_bytes, self.file_bytes, self.processes)
        return f"{self.name} {platform.python_version()} {sys.prefix} {limits} {self.inherit}"

    def run(
        self,
        command: Sequence[str],
        *,
        tree: Path,
        scratch: Path,
        env: Mapping[str, str],
        timeout_seconds: float,
    ) -> Execution:
        """Run *command* as `Sandbox.run` says.

        Raises:
            TestRunError: There is no such command, it may not be run, or a
                limit cannot be set.
        """
        if os.name != "posix" or not sys.executable:
            raise TestRunError("there is no Python to supervise it", tuple(command))
        job = Job(
            command=tuple(command),
            tree=tree,
            env=self._environment(scratch) | dict(env),
            timeout_seconds=timeout_seconds,
            limits=tuple(self._limits()),
        )
        capture = Capture(self.output_limit)
        started = time.monotonic()
        execution = None
        try:
            execution = supervise(job, capture)
        finally:
            if execution is None:
                kill_strays(tree, scratch)
        if execution is None:
            seconds = time.monotonic() - started
            return Execution(
                exit_code=None,
                timed_out=seconds >= timeout_seconds,
                duration_seconds=seconds,
                output=capture.value(),
            )
        return execution

    def _environment(self, scratch: Path) -> dict[str, str]:
        home, temporary = scratch / "home", scratch / "tmp"
        for folder in (home, temporary):
            folder.mkdir(exist_ok=True)
        own_python = os.path.dirname(sys.executable)  # noqa: PTH120 - a link is kept as it is
        base = {
            "PATH": os.pathsep.join((own_python, os.environ.get("PATH", os.defpath))),
            "HOME": str(home),
            "TMPDIR": str(temporary),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
        }
        return base | {name: os.environ[name] for name in self.inherit if name in os.environ}

    def _limits(self) -> Iterator[tuple[int, int]]:
        import resource  # noqa: PLC0415 - not everywhere

        for kind, value in (
            (resource.RLIMIT_AS, self.memory_bytes),
            (resource.RLIMIT_FSIZE, self.file_bytes),
            (resource.RLIMIT_NPROC, self.processes),
        ):
            if value is not None:
                yield kind, value
