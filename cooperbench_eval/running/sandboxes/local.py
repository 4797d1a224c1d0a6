"""The sandbox without isolation, and what all sandboxes of this machine share."""

import hashlib
import os
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from errno import ENOENT
from pathlib import Path
from typing import TypeVar

from attrs import field, frozen, validators

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running.processes.supervision import (
    CommandEnd,
    EndReason,
    SupervisedCommand,
    Supervision,
)
from cooperbench_eval.running.sandboxes.environments import (
    EnvironmentFinder,
    running_packages,
    state_of,
)
from cooperbench_eval.running.sandboxes.protocol import Execution
from cooperbench_eval.support.arguments import checked_fields
from cooperbench_eval.support.systems import linux_problem

POSITIVE = validators.optional(validators.gt(0))
SIGKILL = 9
NEUTRAL_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}
"""Variables that make runs repeatable, in every sandbox."""
_Item = TypeVar("_Item")


def listed(given: Iterable[_Item]) -> tuple[_Item, ...]:
    """Return the items of an option that takes a list; refuse a single string or path."""
    if isinstance(given, str | bytes | os.PathLike):
        raise TypeError(f"must be a list, not {given!r:.200}")
    return tuple(given)


@frozen(kw_only=True, field_transformer=checked_fields)
class HostSandbox(ABC):
    """A sandbox that starts processes of this machine; `LocalSandbox` documents the options."""

    inherit: tuple[str, ...] = field(default=(), converter=listed)
    output_limit: int = field(default=1 << 20, validator=validators.ge(0))
    memory_bytes: int | None = field(default=None, validator=POSITIVE)
    file_bytes: int | None = field(default=None, validator=POSITIVE)
    processes: int | None = field(default=None, validator=POSITIVE)

    def __attrs_post_init__(self) -> None:
        """Refuse, with a `SandboxError`, to be made on another system than Linux."""
        if problem := linux_problem(type(self).__name__):
            raise SandboxError(problem)

    def run(
        self,
        command: Sequence[str],
        *,
        tree: Path,
        scratch: Path,
        env: Mapping[str, str],
        timeout_seconds: float,
    ) -> Execution:
        """Run *command*; see `Sandbox.run`.

        There is no exit status if the command exceeded its limit of memory or
        processes, or killed its own supervisor. If SIGKILL ended the command, and
        during the run the kernel killed some process of this machine because memory
        ran out, the result counts as out of memory too, because the kernel most likely
        killed the command.

        Raises:
            TestRunError: The command does not exist, may not be run or is not visible
                in the sandbox; a limit cannot be set; or a path in `readable` does not
                exist.
            SandboxError: The sandbox cannot be set up: its folders cannot be made, its
                supervisor cannot be started, or a program that it needs is missing.
        """
        supervised = SupervisedCommand(
            command=check(command, env),
            folder=tree,
            env=_environment(scratch, self.inherit) | dict(env),
            timeout_seconds=timeout_seconds,
            limits=_file_limit(self.file_bytes),
            memory_bytes=self.memory_bytes or 0,
            processes=self.processes or 0,
            output_limit=self.output_limit,
            marks=(tree, scratch),
        )
        return self._execute(supervised)

    def facts_about(self, command: Sequence[str], env: Mapping[str, str]) -> str:
        """Return a digest of the environments that *command* uses; see `Sandbox`.

        It covers each interpreter and the last time that a package was installed or removed.
        """
        finder = EnvironmentFinder(env.get("PATH", search_path()))
        finder.search(command)
        return _digest(finder.facts) if finder.facts else ""

    @abstractmethod
    def _execute(self, supervised: SupervisedCommand) -> Execution:
        """Run *supervised*; its marks are the tree and the scratch directory."""


def check(command: Sequence[str], env: Mapping[str, str]) -> tuple[str, ...]:
    """Return *command* if a process can be started with it and *env*, or raise `TestRunError`."""
    checked = tuple(str(part) for part in command)
    if not checked:
        raise TestRunError("there is no command")
    try:
        text = "".join((*checked, *env, *env.values())).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as exc:
        raise TestRunError(f"cannot be started ({exc})", checked) from exc
    if b"\0" in text:
        raise TestRunError("cannot be started (embedded null byte)", checked)
    if any(not name or "=" in name for name in env):
        raise TestRunError("cannot be started (illegal environment variable name)", checked)
    return (_without_detours(checked[0]), *checked[1:])


def cannot_start(supervised: SupervisedCommand, problem: str, hidden: str = "") -> TestRunError:
    """Return the error for a program that cannot be started, given the system's message.

    If the system does not find a file that exists, *hidden* says why.
    """
    program = supervised.command[0]
    if problem == os.strerror(ENOENT):
        if "/" in program:
            found = str(supervised.folder / program)
        else:
            found = shutil.which(program, path=supervised.env["PATH"]) or ""
            if not found:
                missing = f"there is no program {program!r} on PATH"
                return TestRunError(missing, supervised.command)
        if hidden and os.path.exists(found):  # noqa: PTH110
            problem += f": {found} {hidden}"
    return TestRunError(f"cannot be started ({problem})", supervised.command)


def _without_detours(program: str) -> str:
    """Return a program's path without `..`, if that is the same file.

    A Python that is started with `..` in its path keeps that path in `sys.executable`. A
    sandbox shows the program's folder, but not the folders that the path passes through.
    """
    plain = os.path.normpath(program)
    try:
        is_same = Path(program).is_absolute() and Path(plain).samefile(program)
    except OSError:
        return program
    return plain if is_same else program


def _environment(scratch: Path, inherit: Sequence[str]) -> dict[str, str]:
    """Return the environment that `LocalSandbox` documents, without the suite's variables."""
    home, temporary = scratch / "home", scratch / "tmp"
    try:
        for folder in (home, temporary):
            folder.mkdir(exist_ok=True)
    except OSError as exc:
        raise SandboxError(f"its folders cannot be created ({exc})") from exc
    own = {"PATH": search_path(), "HOME": str(home), "TMPDIR": str(temporary)}
    inherited = {name: os.environ[name] for name in inherit if name in os.environ}
    return own | NEUTRAL_ENVIRONMENT | inherited


def search_path() -> str:
    """Return the `PATH` of a command: the folder of the running Python, and the caller's."""
    own_python = os.path.dirname(_without_detours(sys.executable))  # noqa: PTH120 - links stay
    return os.pathsep.join((own_python, os.environ.get("PATH", os.defpath)))


def surroundings(inherit: Sequence[str], shown: Sequence[str] = ()) -> str:
    """Return a digest of the facts about this machine that a verdict may depend on.

    These are the running Python, the last time that a package was installed or removed,
    the caller's `PATH`, the values of *inherit*, which may be secret, and the last change
    of each path in *shown*. The digest misses a program that is overwritten in place, and
    changes deep inside a folder.
    """
    states = [state_of(Path(path)) for path in (*running_packages(), *shown)]
    values = {name: os.environ.get(name) for name in inherit}
    facts = (sys.version, sys.prefix, states, os.environ.get("PATH"), sorted(values.items()))
    return _digest(facts)


def _digest(facts: object) -> str:
    return hashlib.sha256(repr(facts).encode(errors="surrogateescape")).hexdigest()[:16]


def _file_limit(file_bytes: int | None) -> tuple[tuple[int, int], ...]:
    if file_bytes is None:
        return ()
    import resource  # noqa: PLC0415 - not everywhere

    return ((resource.RLIMIT_FSIZE, file_bytes),)


def execution(end: CommandEnd, exit_code: int | None) -> Execution:
    """Return *end* as `HostSandbox.run` reports it, with the exit status of the command."""
    was_killed = exit_code == -SIGKILL and end.oom_kills > 0
    has_too_many = end.reason is EndReason.PROCESSES
    return Execution(
        exit_code=exit_code,
        timed_out=end.reason is EndReason.TIMEOUT,
        out_of_memory=was_killed or end.reason is EndReason.MEMORY,
        duration_seconds=end.seconds,
        output=end.output,
        reason="it had more processes than allowed" if has_too_many else "",
    )


@frozen(kw_only=True, field_transformer=checked_fields)
class LocalSandbox(HostSandbox):
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
        return f"{self.name} {limits} {surroundings(self.inherit)}"

    def _execute(self, supervised: SupervisedCommand) -> Execution:
        end = Supervision().run(supervised)
        if end.reason is EndReason.REFUSED:
            problem = os.strerror(end.error_number) if end.error_number else end.problem
            raise cannot_start(supervised, problem)
        return execution(end, end.exit_code)
