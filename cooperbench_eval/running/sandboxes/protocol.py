"""The sandbox protocol: somewhere to run one command on one tree."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from attrs import field, frozen


@frozen(kw_only=True)
class Execution:
    """How a command ended.

    Attributes:
        exit_code: The command's exit status, negative for a signal; `None` if it was
            stopped or brought down the sandbox from within.
        timed_out: Whether the command was stopped because the deadline passed.
        out_of_memory: Whether the command or one of its processes was killed because
            memory ran out.
        duration_seconds: Wall time of the command, without the sandbox's set-up.
        output: Standard output and standard error together, in order. A sandbox may
            cut the middle of a long output and insert a line that says how much.
        reason: Why there is no exit status, unless time or memory is the reason.
        changed_files: Which files of the tree the command changed, replaced or deleted in
            its copy of the tree, relative to it. Empty if it had no copy, since the caller
            then finds them itself, or if the sandbox cannot tell.
    """

    exit_code: int | None
    timed_out: bool = False
    out_of_memory: bool = False
    duration_seconds: float = 0.0
    output: bytes = field(default=b"", repr=False)
    reason: str = ""
    changed_files: frozenset[str] = field(default=frozenset(), repr=False)


class Sandbox(Protocol):
    """Runs a command on a tree and leaves none of its processes running.

    A sandbox may show the tree and the scratch directory at other paths, as a container
    does. It then replaces their paths wherever they occur in *command* and in the values
    of *env*; both are in a fresh directory whose name does not occur elsewhere by chance.
    It copies the plain files of *scratch* back before it returns. The tree is not copied
    back: the caller only looks at which of its files changed.

    The identity cannot know which programs of this machine a command will use. A sandbox
    that starts such programs may have a method `facts_about(command, env)`, which returns
    a text that changes when they do. It becomes part of the identity.

    Plug-ins are registered in the entry-point group `cooperbench_eval.sandboxes`.
    """

    @property
    def name(self) -> str:
        """The name of this sandbox in reports."""
        ...

    @property
    def identity(self) -> str:
        """The facts that a result depends on, besides the files and the command.

        It is the name, followed by everything about this sandbox that may change a
        verdict: an image's digest, limits, the network. It is part of the key under
        which results are cached.

        Raises:
            SandboxError: The sandbox cannot be reached, so its facts are unknown.
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
        """Run *command*, and wait until it ends or its deadline passes.

        Args:
            command: The program and its arguments; no shell is involved.
            tree: An absolute directory. The command starts there, and may write there.
            scratch: An absolute directory outside the tree. The command may write there,
                and the caller reads it afterwards. It may contain files that help a
                test framework to write its result.
            env: Variables that are added to the small environment of the sandbox.
                Nothing else of the caller's environment reaches the command.
            timeout_seconds: The deadline, counted from the command's start.

        Returns:
            How the command ended. A failing, crashing or late command is a
            result, not an error.

        Raises:
            TestRunError: The command does not exist, or may not be run. If something in
                the tree prevents it, the error names its path.
            SandboxError: The sandbox itself failed, so nothing is known about the
                command.
        """
        ...
