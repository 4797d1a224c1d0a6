"""What the sandboxes of this machine share: options, environment, limits and results."""

import hashlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import field, frozen, validators

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.processes.supervision import CommandEnd, EndReason, SupervisedCommand
from cooperbench_eval.running.sandboxes.protocol import Execution

__all__ = [
    "NEUTRAL_ENVIRONMENT",
    "POSITIVE",
    "SIGKILL",
    "HostSandbox",
    "check",
    "execution",
    "listed",
    "surroundings",
]

POSITIVE = validators.optional(validators.gt(0))
SIGKILL = 9
NEUTRAL_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}
"""Variables that make runs repeatable, in every sandbox."""


def listed(given: Iterable[str]) -> tuple[str, ...]:
    """Return the items of an option that takes a list.

    Raises:
        TypeError: *given* is a single string or path.
    """
    if isinstance(given, str | bytes | os.PathLike):
        raise TypeError(f"expected a list, not {given!r}")
    return tuple(given)


@frozen(kw_only=True)
class HostSandbox:
    """A sandbox that starts processes of this machine; `LocalSandbox` documents the options."""

    inherit: tuple[str, ...] = field(default=(), converter=listed)
    output_limit: int = field(default=1 << 20, validator=validators.ge(0))
    memory_bytes: int | None = field(default=None, validator=POSITIVE)
    file_bytes: int | None = field(default=None, validator=POSITIVE)
    processes: int | None = field(default=None, validator=POSITIVE)

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

        There is no exit status if the command exceeded its limit of memory or
        processes, or killed its own supervisor. The result also counts as out of
        memory if SIGKILL ended the command while the kernel killed a process of
        this machine for want of memory: most likely it was this one.

        Raises:
            TestRunError: The command does not exist, may not be run or is not visible
                in the sandbox; a limit cannot be set; or a path that the sandbox is
                to show is missing.
            SandboxError: The sandbox cannot be set up: its folders cannot be made,
                its supervisor cannot be started, or what it needs is not installed.
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

    def _execute(self, supervised: SupervisedCommand) -> Execution:
        """Run *supervised*, whose marks are the tree and the scratch directory."""
        raise NotImplementedError


def check(command: Sequence[str], env: Mapping[str, str]) -> tuple[str, ...]:
    """Return *command*, if it and *env* are what a process can be given at all.

    Raises:
        TestRunError: There is no command, a NUL or half a character in it, or no name
            that a variable can have.
    """
    checked = tuple(str(part) for part in command)
    if not checked:
        raise TestRunError("there is no command")
    try:
        told = "".join((*checked, *env, *env.values())).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as exc:
        raise TestRunError(f"cannot be started ({exc})", checked) from exc
    if b"\0" in told:
        raise TestRunError("cannot be started (embedded null byte)", checked)
    if any(not name or "=" in name for name in env):
        raise TestRunError("cannot be started (illegal environment variable name)", checked)
    return (_without_detours(checked[0]), *checked[1:])


def _without_detours(program: str) -> str:
    """Return a program's path without `..`, where that is the same file.

    So does a Python call itself that was started so, and a sandbox shows the folder
    that it is in, not the one that the detour goes through.
    """
    plain = os.path.normpath(program)
    try:
        is_same = Path(program).is_absolute() and Path(plain).samefile(program)
    except OSError:
        return program
    return plain if is_same else program


def _environment(scratch: Path, inherit: Sequence[str]) -> dict[str, str]:
    """Return what a command sees before a suite's own variables are laid over it.

    The caller's `PATH` behind the folder of the running Python, so that `python`
    is that one; a fresh `HOME` and `TMPDIR` in *scratch*; a UTF-8 locale; no byte
    code written; a fixed hash seed; and what of the caller's is in *inherit*.

    Raises:
        SandboxError: There is no room for the two folders.
    """
    home, temporary = scratch / "home", scratch / "tmp"
    try:
        for folder in (home, temporary):
            folder.mkdir(exist_ok=True)
    except OSError as exc:
        raise SandboxError(f"its folders cannot be made ({exc})") from exc
    own_python = os.path.dirname(sys.executable)  # noqa: PTH120 - a link is kept as it is
    base = {
        "PATH": os.pathsep.join((own_python, os.environ.get("PATH", os.defpath))),
        "HOME": str(home),
        "TMPDIR": str(temporary),
    }
    return (
        base
        | NEUTRAL_ENVIRONMENT
        | {name: os.environ[name] for name in inherit if name in os.environ}
    )


def surroundings(inherit: Sequence[str], shown: Sequence[str] = ()) -> str:
    """Return a digest of what of this machine a verdict may depend on.

    The running Python and when a package was last put beside it or taken away, the
    caller's `PATH`, the values of *inherit*, which may be secret, and when the paths
    in *shown* last changed. Neither a program that is replaced where it stands nor
    what is deep in a folder is noticed.
    """
    packages = [sysconfig.get_path(name) for name in ("purelib", "platlib")]
    states = [_state(path) for path in (*packages, *shown)]
    values = {name: os.environ.get(name) for name in inherit}
    facts = (sys.version, sys.prefix, states, os.environ.get("PATH"), sorted(values.items()))
    return hashlib.sha256(repr(facts).encode(errors="surrogateescape")).hexdigest()[:16]


def _state(path: str) -> tuple[int, int] | None:
    """Return which file or folder *path* is and when it changed, `None` if none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - also one that is no text
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


def _file_limit(file_bytes: int | None) -> tuple[tuple[int, int], ...]:
    """Return the resource limits of a command."""
    if file_bytes is None:
        return ()
    import resource  # noqa: PLC0415 - not everywhere

    return ((resource.RLIMIT_FSIZE, file_bytes),)


def execution(end: CommandEnd, exit_code: int | None) -> Execution:
    """Return *end* as a sandbox reports it.

    The command ran out of memory if it exceeded its limit. It probably did if it died of
    SIGKILL while the kernel killed a process of this machine because memory ran out.

    Args:
        end: How the supervised command ended.
        exit_code: The exit status of the command itself, if it ended.
    """
    was_killed = exit_code == -SIGKILL and end.oom_kills > 0
    has_too_many = end.reason is EndReason.PROCESSES
    return Execution(
        exit_code=exit_code,
        timed_out=end.reason is EndReason.TIMEOUT,
        out_of_memory=was_killed or end.reason is EndReason.MEMORY,
        duration_seconds=end.seconds,
        output=end.output,
        reason="it had more processes than it may have" if has_too_many else "",
    )
