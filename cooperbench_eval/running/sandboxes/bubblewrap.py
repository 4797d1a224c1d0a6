"""The bubblewrap sandbox: a process that sees very little of this machine."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from errno import E2BIG
from functools import cache
from pathlib import Path

from attrs import evolve, field, frozen, validators

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running.processes.supervision import (
    CommandEnd,
    EndReason,
    SupervisedCommand,
    Supervision,
    above_standard,
    interpreter_variables,
)
from cooperbench_eval.running.processes.temporary import temporary_folder
from cooperbench_eval.running.sandboxes.bubblewrap_options import HOSTS, bubblewrap_options
from cooperbench_eval.running.sandboxes.environments import EnvironmentFinder, running_python
from cooperbench_eval.running.sandboxes.local import (
    SIGKILL,
    HostSandbox,
    cannot_start,
    execution,
    listed,
    surroundings,
)
from cooperbench_eval.running.sandboxes.overlays import Caches, OverlayError, as_caches, lent_caches
from cooperbench_eval.running.sandboxes.protocol import Execution
from cooperbench_eval.support.arguments import checked_fields

_SHELLS_SIGNAL_BASE = 128
_PROBE_SECONDS = 30
_LEAST_OUTPUT = 256
"""Enough to read bubblewrap's own error messages."""
_MOST_ARGUMENTS = 8900
"""Bubblewrap takes 9000, including its own options."""
_LAUNCHER = """
import os, signal, sys
command, refusal = map(int, sys.argv[1:])
os.set_inheritable(refusal, False)
with open(command, "rb") as file:
    words = file.read().split(b"\\0")[:-1]
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
try:
    os.execvp(words[0], words)
except OSError as exc:
    os.write(refusal, os.strerror(exc.errno).encode())
"""
"""Starts a command with more arguments than bubblewrap takes."""
_HIDDEN = "or its interpreter is not shown in the sandbox; see `readable`"
_OWN_PROCESSES = 2
"""Bubblewrap's monitor outside and its first process inside."""


def _paths(given: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    return tuple(map(os.path.abspath, listed(given)))  # does not resolve links


@frozen(kw_only=True, field_transformer=checked_fields)
class BubblewrapSandbox(HostSandbox):
    r"""Runs commands of this machine in namespaces of their own, with `bwrap`.

    The command sees the system's programs and libraries, a small part of `/etc`,
    the running Python, and each Python environment that the command uses or that is on
    its `PATH`, all read-only. An environment is shown with the installation that it is
    based on. The command has an empty `/tmp` and `/dev/shm` of
    its own. The only files of the caller that it sees are the tree and the scratch
    directory, and it may write to both. Its network is a loopback interface of its
    own. It sees only its own processes, has no capabilities, and cannot gain any or
    create namespaces. It sees neither the caller's home nor the caller's environment.
    As with `LocalSandbox`, no process of the command is left running. Here the kernel
    guarantees it: all processes die with the first one, which they cannot kill.

    The sandbox does not protect against bugs in the kernel, and does not limit
    processor time, disk space, or memory if no limit is set. *readable* and *network*
    give the command further access. The command runs as the caller's user: if the
    caller is root, it can read root's files under *readable*.

    Needs bubblewrap 0.8 or newer and unprivileged user namespaces or root;
    `bubblewrap_problem` says whether it works here.

    A command killed by signal n has the exit status 128 + n, as in a shell,
    because bubblewrap reports both the same way. If SIGKILL seems to have ended it
    while the kernel was short of memory, the exit status is -9.

    Attributes:
        network: Whether the command shares the machine's network, including all servers
            on the loopback interface and on abstract sockets.
        readable: Further paths that the command may read, such as a toolchain in a home.
        writable_cache: Prepared caches: directories that the command may change, such as Go's
            build cache or `node_modules`. Each run sees a private version, an overlay,
            which is discarded when the command ends; the directory itself never changes.
            Where the system does not allow overlays, each run gets a copy, of at most 4
            GiB. A mapping says where the command sees each directory: at an absolute
            path, or at a relative one below the tree.
        inherit: Variables of the caller's environment to pass on, by name.
        output_limit: How many bytes of output to keep at each end; the bytes in
            between are counted and dropped. At least 256.
        memory_bytes: The most memory that all processes may hold together, as in
            `LocalSandbox`.
        shared_bytes: How much `/tmp` and `/dev/shm` may hold each. Both are in memory, but
            *memory_bytes* does not count them. `TMPDIR` and `HOME` are not in
            memory.
        file_bytes: The largest file that the command may write.
        processes: How many processes may live at once, as in `LocalSandbox`.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> sandbox = BubblewrapSandbox()
        >>> if bubblewrap_problem() is None:
        ...     with TemporaryDirectory() as tree, TemporaryDirectory() as scratch:
        ...         execution = sandbox.run(
        ...             ("ls", "/home", "/root"),
        ...             tree=Path(tree),
        ...             scratch=Path(scratch),
        ...             env={},
        ...             timeout_seconds=10,
        ...         )
        ...     assert execution.exit_code == 2  # neither exists
    """

    network: bool = False
    readable: tuple[str, ...] = field(default=(), converter=_paths)
    writable_cache: Caches = field(default=(), converter=as_caches)
    output_limit: int = field(default=1 << 20, validator=validators.ge(_LEAST_OUTPUT))
    shared_bytes: int = field(default=512 * (1 << 20), validator=validators.gt(0))
    name: str = field(default="bubblewrap", init=False)

    @property
    def identity(self) -> str:
        """The name, bubblewrap's version, every option, and a digest of the surroundings.

        Raises:
            SandboxError: Bubblewrap is not installed.
        """
        limits = (self.memory_bytes, self.shared_bytes, self.file_bytes, self.processes)
        shown = (*self.readable, *(prepared for _, prepared in self.writable_cache))
        return (
            f"{self.name} {_version(_find())} {(*limits, self.output_limit)} "
            f"network={self.network} {self.readable} "
            f"{self.writable_cache or ''}{surroundings(self.inherit, shown)}"
        )

    def _execute(self, supervised: SupervisedCommand) -> Execution:
        for path in self.readable:
            if not os.path.exists(path):  # noqa: PTH110 - also paths that are not text
                problem = f"cannot be started (`readable` {path} does not exist)"
                raise TestRunError(problem, supervised.command)
        try:
            return self._run(supervised)
        except OverlayError:
            return self._run(supervised)  # with copies

    def _run(self, supervised: SupervisedCommand) -> Execution:
        bwrap = _find()
        environments = _environments(supervised)
        launch: tuple[int, ...] = ()
        with ExitStack() as files:
            status, hosts = _memory_file(files), _memory_file(files, HOSTS)
            with lent_caches(self.writable_cache, supervised) as (start, binds):
                options = tuple(
                    bubblewrap_options(
                        supervised,
                        network=self.network,
                        readable=(*running_python(), *environments.shown, *self.readable),
                        writable=binds,
                        shared_bytes=self.shared_bytes,
                        status=status,
                        hosts=hosts,
                    )
                )
                words = supervised.command
                if len(words) > _MOST_ARGUMENTS - len(options):
                    # Not for other commands: without the launcher, they would inherit these.
                    launch = _memory_file(files, _encode(words)), _memory_file(files)
                    words = (sys.executable, "-I", "-S", "-c", _LAUNCHER, *map(str, launch))
                arguments = _memory_file(files, _encode(options))
                outer = evolve(
                    supervised,
                    command=(*start, bwrap, "--args", str(arguments), "--", *words),
                    folder=Path("/"),
                    # The command's own variables could make bwrap load other libraries. The
                    # mark is needed because a bwrap that is still starting may outlive its
                    # parent.
                    env={"COOPERBENCH_TREE": str(supervised.folder)}
                    | (interpreter_variables() if start else {}),
                    processes=self.processes + _OWN_PROCESSES if self.processes else 0,
                    pass_fds=(status, hosts, arguments, *launch),
                )
                end = Supervision().run(outer)
            if launch and (refused := _read(launch[-1])):
                raise cannot_start(supervised, refused.decode(), _HIDDEN)
            return _execution(end, supervised, _exit_code(_read(status)))


def _environments(supervised: SupervisedCommand) -> EnvironmentFinder:
    """Find the Python environments that a command uses outside of its own directories."""

    def is_trusted(path: str) -> bool:
        return not any(Path(path).is_relative_to(mark) for mark in supervised.marks)

    finder = EnvironmentFinder(supervised.env["PATH"], is_trusted)
    finder.search(supervised.command)
    return finder


def _find() -> str:
    found = shutil.which("bwrap")
    if not found:
        raise SandboxError("bubblewrap is not installed: there is no bwrap on the PATH")
    return found


@cache
def _version(bwrap: str) -> str:
    try:
        done = subprocess.run([bwrap, "--version"], capture_output=True, check=True, timeout=30)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as exc:
        raise SandboxError(f"the version of bubblewrap cannot be read ({exc})") from exc
    return done.stdout.decode(errors="backslashreplace").split()[-1]


def _encode(options: Iterable[str]) -> bytes:
    return b"".join(option.encode("utf-8", "surrogateescape") + b"\0" for option in options)


def _memory_file(files: ExitStack, data: bytes = b"") -> int:
    """Create a file in memory that holds *data*, closed with *files*; return its descriptor."""
    try:
        fd = above_standard(os.memfd_create("bubblewrap"))
    except OSError as exc:
        raise SandboxError(f"no file can be created for bubblewrap's options ({exc})") from exc
    files.callback(os.close, fd)
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _read(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


def _exit_code(written: bytes) -> int | None:
    """Return the exit status that bubblewrap reported, `None` if no command was started.

    No process in the sandbox has the report's file open, so a command cannot pretend that
    it was never started.
    """
    for line in written.splitlines():
        # A line may be incomplete, if bubblewrap was killed while it wrote.
        with suppress(ValueError):
            facts = json.loads(line)
            if "exit-code" in facts:
                return int(facts["exit-code"])
    return None


def _execution(end: CommandEnd, supervised: SupervisedCommand, exit_code: int | None) -> Execution:
    match end.reason:
        case EndReason.REFUSED if end.error_number == E2BIG:
            raise TestRunError(f"cannot be started ({end.problem})", supervised.command)
        case EndReason.REFUSED:
            raise SandboxError(f"bubblewrap cannot be started ({end.problem})", supervised.command)
        case EndReason.LOST:
            # No process inside the sandbox can reach the supervisor.
            raise SandboxError("the supervisor of bubblewrap was killed", supervised.command)
        case EndReason.EXITED:
            was_killed = exit_code == _SHELLS_SIGNAL_BASE + SIGKILL or (
                exit_code is None and end.exit_code == -SIGKILL
            )
            if was_killed and end.oom_kills:
                exit_code = -SIGKILL
            elif exit_code is None:
                raise _own_failure(end, supervised)
            return execution(end, exit_code)
        case _:
            return execution(end, None)


def _own_failure(end: CommandEnd, supervised: SupervisedCommand) -> TestRunError:
    """Return the error for a failure of bubblewrap itself; the command was not started."""
    message = end.output.decode(errors="backslashreplace").strip()
    if message.startswith("bwrap: execvp "):
        return cannot_start(supervised, message.rpartition(": ")[2], _HIDDEN)
    message = message or f"exit status {end.exit_code}"
    return SandboxError(
        f"bubblewrap failed ({message.removeprefix('bwrap: ')})", supervised.command
    )


@cache
def bubblewrap_problem() -> str | None:
    """Return why `BubblewrapSandbox` does not work here; `None` if it works.

    Each process tries one run, and remembers the result.
    """
    try:
        with temporary_folder() as folder:
            execution = BubblewrapSandbox().run(
                ("true",), tree=folder, scratch=folder, env={}, timeout_seconds=_PROBE_SECONDS
            )
    except (TestRunError, OSError) as exc:
        return str(exc)
    return None if execution.exit_code == 0 else f"a test command failed: {execution}"
