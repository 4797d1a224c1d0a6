"""The sandbox without isolation: a plain process of this machine."""

import os

from attrs import field, frozen

from cooperbench_eval.running.processes.supervision import EndReason, SupervisedCommand, Supervision
from cooperbench_eval.running.sandboxes import hosting
from cooperbench_eval.running.sandboxes.protocol import Execution
from cooperbench_eval.support.arguments import checked_fields

__all__ = ["LocalSandbox"]


@frozen(kw_only=True, field_transformer=checked_fields)
class LocalSandbox(hosting.HostSandbox):
    r"""Runs commands as plain processes of this machine, without isolation.

    The command can read and write everything that the caller can, and reach the
    network. Use it for code that you would run yourself.

    No process of the command is left running. When the command ends or
    its deadline passes, every descendant is killed, even if it left the session,
    ignores signals or holds the output open. All of them die with the caller. If a
    command kills its own supervisor, the processes that can still be recognized are
    killed, and the execution has no exit status.

    Needs Linux. On other systems, making one raises `SandboxError`; use a
    `ContainerSandbox` there.

    The command gets a small environment of its own: a `PATH` that begins with the
    folder of the running Python, so that `python` is the same interpreter, and goes on with
    the caller's; a fresh `HOME` and `TMPDIR`; a UTF-8 locale; no byte code written; a fixed
    hash seed. Its standard input is empty.

    Attributes:
        inherit: Variables of the caller's environment to pass on, by name.
        output_limit: How many bytes of output to keep at each end; the bytes in
            between are counted and dropped.
        memory_bytes: How much resident memory all processes of the command together
            may hold; memory that they share counts once. The supervisor checks every
            50 milliseconds, less often on a busy machine, and kills the command if it
            holds more. Between two checks, a fast command may exceed the limit by some
            hundred megabytes. Memory that is reserved but not touched does not count,
            nor do files in memory that no process has mapped. The limit also applies
            to root.
        file_bytes: The largest file that the command may write; the kernel enforces it.
        processes: How many processes of the command may live at once. The supervisor
            enforces this like the memory limit, so a fork bomb is killed and not only
            slowed down. The limit also applies to root.

    Example:
        >>> from pathlib import Path
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

    name: str = field(default="local", init=False)

    @property
    def identity(self) -> str:
        """The name, the limits, and a digest of the machine's state."""
        limits = (self.memory_bytes, self.file_bytes, self.processes, self.output_limit)
        return f"{self.name} {limits} {hosting.surroundings(self.inherit)}"

    def _execute(self, supervised: SupervisedCommand) -> Execution:
        end = Supervision().run(supervised)
        if end.reason is EndReason.REFUSED:
            problem = os.strerror(end.error_number) if end.error_number else end.problem
            raise hosting.cannot_start(supervised, problem)
        return hosting.execution(end, end.exit_code)
