"""The sandbox that is none: a plain process of this machine."""

from attrs import field, frozen

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.processes.supervision import EndReason, SupervisedCommand, Supervision
from cooperbench_eval.running.sandboxes import hosting
from cooperbench_eval.running.sandboxes.protocol import Execution

__all__ = ["LocalSandbox"]


@frozen(kw_only=True)
class LocalSandbox(hosting.HostSandbox):
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
        memory_bytes: How much memory all processes of the command together may
            hold resident, what they share counted once. They are looked at every
            50 milliseconds, on a crowded machine less often, and killed where it
            is more: one that is fast may hold some hundred megabytes above for
            that long. What is reserved and not touched does not count, nor do
            files in memory that none of them has mapped. Linux alone; it binds
            root too.
        file_bytes: Largest size of a file that it may write; the kernel sees to it.
        processes: How many processes of the command may live at once. Looked at as
            the memory is, with the same effect, so that a fork bomb is stopped and
            not slowed down. Linux alone; it binds root too.

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
        """The name with the limits that are set, and a digest of what is around it."""
        limits = (self.memory_bytes, self.file_bytes, self.processes, self.output_limit)
        return f"{self.name} {limits} {hosting.surroundings(self.inherit)}"

    def _execute(self, supervised: SupervisedCommand) -> Execution:
        end = Supervision().run(supervised)
        if end.reason is EndReason.REFUSED:
            raise TestRunError(f"cannot be started ({end.problem})", supervised.command)
        return hosting.execution(end, end.exit_code)
