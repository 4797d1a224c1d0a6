"""The sandbox that is none: a plain process of this machine."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import field, frozen, validators

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.running.sandboxes import hosting
from cooperbench_eval.running.sandboxes.processes import How, Job, supervise
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

    inherit: tuple[str, ...] = field(default=(), converter=hosting.names)
    output_limit: int = field(default=_MEBIBYTE, validator=validators.ge(0))
    memory_bytes: int | None = field(default=None, validator=_POSITIVE)
    file_bytes: int | None = field(default=None, validator=_POSITIVE)
    processes: int | None = field(default=None, validator=_POSITIVE)
    name: str = field(default="local", init=False)

    @property
    def identity(self) -> str:
        """The name with the limits that are set, and a digest of what is around it."""
        limits = (self.memory_bytes, self.file_bytes, self.processes, self.output_limit)
        return f"{self.name} {limits} {hosting.surroundings(self.inherit)}"

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

        Where a limit of memory or processes was exceeded, or the command brought
        its supervisor down, there is no exit status. Memory was short, too, where
        the command died of SIGKILL while the kernel killed something of this
        machine for want of memory: most likely it was this.

        Raises:
            TestRunError: There is no such command, it may not be run, or a
                limit cannot be set.
            SandboxError: There is no room for its folders, or no process for its
                supervisor.
        """
        checked = hosting.check(command, env)
        job = Job(
            command=checked,
            tree=tree,
            env=hosting.environment(scratch, self.inherit) | dict(env),
            timeout_seconds=timeout_seconds,
            limits=hosting.file_limit(self.file_bytes),
            memory_bytes=self.memory_bytes or 0,
            processes=self.processes or 0,
            output_limit=self.output_limit,
            marks=(tree, scratch),
        )
        ending = supervise(job)
        if ending.how is How.REFUSED:
            raise TestRunError(f"cannot be started ({ending.reason})", checked)
        return hosting.execution(ending, ending.exit_code)
