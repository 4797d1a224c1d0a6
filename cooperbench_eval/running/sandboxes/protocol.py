"""The sandbox protocol: somewhere to run one command on one tree."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

__all__ = ["Execution", "Sandbox"]


@frozen(kw_only=True)
class Execution:
    """What became of a command.

    Attributes:
        exit_code: Its exit status, negative for a signal; `None` where it was
            stopped or the sandbox itself was brought down from within.
        timed_out: Whether it was stopped because the deadline passed.
        out_of_memory: Whether it, or a process of it, was killed for want of memory.
        duration_seconds: Wall time of the command alone.
        output: Standard output and error as one, in order. A sandbox may cut the
            middle of a long output, with a line that says how much.
        reason: Why there is no exit status, if neither time nor memory is the reason.
    """

    exit_code: int | None
    timed_out: bool = False
    out_of_memory: bool = False
    duration_seconds: float = 0.0
    output: bytes = field(default=b"", repr=False)
    reason: str = ""


class Sandbox(Protocol):
    """Runs a command on a tree and leaves nothing running behind.

    A sandbox that shows the two directories elsewhere, as a container may,
    replaces their paths wherever they occur in *command* and in the values of
    *env*: both lie in a fresh directory whose name occurs nowhere else by chance.
    It brings the plain files of *scratch* back before it returns; the tree is not
    read again.

    Plug-ins are registered in the entry-point group `cooperbench_eval.sandboxes`.
    """

    @property
    def name(self) -> str:
        """How reports call this sandbox."""
        ...

    @property
    def identity(self) -> str:
        """What a result depends on beside the files and the command.

        The name, with whatever of this sandbox may change a verdict: an image's
        digest, limits, the network. Results are kept under it.

        Raises:
            SandboxError: It cannot be told, because the sandbox cannot be reached.
        """
        ...

    def run(
        self,
        command: Sequence[str],
        *,
        tree: Path,
        scratch: Path,
        env: Mapping[str, str],
        timeout_seconds: float,
    ) -> Execution:
        """Run *command* and wait for its end or its deadline.

        Args:
            command: The program and its arguments; no shell is involved.
            tree: An absolute directory, where the command starts. It may write
                there.
            scratch: An absolute directory outside the tree, where the command may
                write and the caller reads afterwards. It may hold files that help
                a test framework to write its result.
            env: Variables, laid over the sandbox's own small base. Nothing else
                of the caller's environment reaches the command.
            timeout_seconds: The deadline, counted from the command's start.

        Returns:
            How the command ended. A failing, crashing or late command is a
            result, not an error.

        Raises:
            TestRunError: There is no such command, or it may not be run.
            SandboxError: The sandbox itself failed, so that nothing is known of
                the command.
        """
        ...
