"""The sandbox of bubblewrap: a process of this machine that sees next to nothing of it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from errno import E2BIG, ENOENT
from functools import cache, partial
from pathlib import Path
from typing import Self

from attrs import field, frozen, validators

from cooperbench_eval.errors import SandboxError, TestRunError
from cooperbench_eval.running.sandboxes import hosting
from cooperbench_eval.running.sandboxes.bubblewrap_view import HOSTS, View
from cooperbench_eval.running.sandboxes.processes import (
    Ending,
    How,
    Job,
    above_standard,
    supervise,
)
from cooperbench_eval.running.sandboxes.protocol import Execution

__all__ = ["BubblewrapSandbox", "bubblewrap_problem"]

_MEBIBYTE = 1 << 20
_POSITIVE = validators.optional(validators.gt(0))
_SHELLS_SIGNAL_BASE = 128
_SIGKILL = 9
_PROBE_SECONDS = 30
_LEAST_OUTPUT = 256
"""So that what bubblewrap itself says can be read."""
_MOST_ARGUMENTS = 8900
"""Bubblewrap takes 9000, its own options among them."""
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
"""Stands for a command that is longer."""
_OWN_PROCESSES = 2
"""The monitor outside, and the first process inside."""


def _paths(values: Iterable[os.PathLike[str] | str]) -> tuple[str, ...]:
    if isinstance(values, str | bytes | os.PathLike):
        raise TypeError(f"a list of paths is wanted, not {values!r}")
    return tuple(os.path.abspath(value) for value in values)  # noqa: PTH100 - links are kept


@frozen(kw_only=True)
class BubblewrapSandbox:
    r"""Runs commands of this machine in namespaces of their own, by `bwrap`.

    The command sees the system's programs and libraries, a small part of `/etc`
    and the running Python, all read-only; an empty `/tmp` and `/dev/shm` of its
    own; and the tree and the scratch directory, which alone are the caller's and
    may be written. There is no network but an own loopback interface, no process
    but its own, no capability, no way to gain any or to make further namespaces,
    and neither the caller's home nor its environment. As with `LocalSandbox`
    nothing of the command is left running, with the kernel's word for it: its
    processes die with the first of them, which it cannot kill.

    What it does not keep from the command: the kernel with its faults, the
    processor, disk space and memory where no limit is set, and whatever
    *readable* and *network* add. It runs as the caller's user, so root's files
    under *readable* can be read where root runs it.

    Needs bubblewrap 0.8 or newer and unprivileged user namespaces or root;
    `bubblewrap_problem` tells whether it works here.

    A command killed by signal n has the exit status 128 + n, as in a shell,
    because bubblewrap does not tell the two apart. One that SIGKILL seems to have
    ended while the kernel was short of memory has -9.

    Attributes:
        network: Whether the command shares the machine's network, with all that
            listens on its loopback interface and on abstract sockets.
        readable: Further paths to show, read-only, such as a toolchain in a home.
        inherit: Variables of the caller's environment to pass on, by name.
        output_limit: How many bytes of output to keep at each end; what lies
            between is counted and dropped. At least 256.
        memory_bytes: As in `LocalSandbox`: what all processes hold together.
        shared_bytes: How much `/tmp` and `/dev/shm` may hold each. They lie in
            memory, beside what *memory_bytes* counts; `TMPDIR` and `HOME` do not.
        file_bytes: Largest size of a file that it may write.
        processes: As in `LocalSandbox`: how many may live at once.

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
        ...     assert execution.exit_code == 2  # neither is there
    """

    network: bool = False
    readable: tuple[str, ...] = field(default=(), converter=_paths)
    inherit: tuple[str, ...] = field(default=(), converter=hosting.names)
    output_limit: int = field(default=_MEBIBYTE, validator=validators.ge(_LEAST_OUTPUT))
    memory_bytes: int | None = field(default=None, validator=_POSITIVE)
    shared_bytes: int = field(default=512 * _MEBIBYTE, validator=validators.gt(0))
    file_bytes: int | None = field(default=None, validator=_POSITIVE)
    processes: int | None = field(default=None, validator=_POSITIVE)
    name: str = field(default="bubblewrap", init=False)

    @property
    def identity(self) -> str:
        """The name with bubblewrap's version, all that is set, and what is around it.

        Raises:
            SandboxError: There is no bubblewrap.
        """
        limits = (self.memory_bytes, self.shared_bytes, self.file_bytes, self.processes)
        return (
            f"{self.name} {_version(_find())} {(*limits, self.output_limit)} "
            f"network={self.network} {self.readable} "
            f"{hosting.surroundings(self.inherit, self.readable)}"
        )

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
            TestRunError: There is no such command, it may not be run or is not
                shown, a limit cannot be set, or a path of *readable* is missing.
            SandboxError: Bubblewrap is missing or cannot set the sandbox up, for
                want of namespaces, say.
        """
        checked = hosting.check(command, env)
        for path in self.readable:
            if not os.path.exists(path):  # noqa: PTH110 - also one that is no text
                raise TestRunError(f"cannot be started (`readable` {path} is not there)", checked)
        bwrap = _find()
        variables = hosting.environment(scratch, self.inherit) | dict(env)
        with _Files() as files:
            status, refusal = files.add(b""), None
            view = View(
                tree=tree,
                scratch=scratch,
                variables=variables,
                network=self.network,
                readable=self.readable,
                shared_bytes=self.shared_bytes,
            )
            options = tuple(view.options(status=status, hosts=files.add(HOSTS)))
            words = checked
            if len(checked) > _MOST_ARGUMENTS - len(options):
                # Not before: the launcher alone keeps it from the command.
                given, refusal = files.add(_encode(checked)), files.add(b"")
                words = (sys.executable, "-I", "-S", "-c", _LAUNCHER, str(given), str(refusal))
            arguments = files.add(_encode(options))
            ending = supervise(
                Job(
                    command=(bwrap, "--args", str(arguments), "--", *words),
                    tree=Path("/"),
                    # Not the command's, which could have bwrap load its libraries;
                    # but a mark, since one still on its way does not die with its parent.
                    env={"COOPERBENCH_TREE": str(tree)},
                    timeout_seconds=timeout_seconds,
                    limits=hosting.file_limit(self.file_bytes),
                    memory_bytes=self.memory_bytes or 0,
                    processes=self.processes + _OWN_PROCESSES if self.processes else 0,
                    output_limit=self.output_limit,
                    marks=(tree, scratch),
                    pass_fds=tuple(files.descriptors),
                )
            )
            cannot_start = partial(_cannot_start, checked, tree, variables["PATH"])
            if refusal is not None and (refused := files.read(refusal)):
                raise cannot_start(refused.decode())
            return _execution(ending, _exit_code(files.read(status)), checked, cannot_start)


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
        raise SandboxError(f"bubblewrap does not say its version ({exc})") from exc
    return done.stdout.decode(errors="backslashreplace").split()[-1]


def _encode(options: Iterable[str]) -> bytes:
    return b"".join(option.encode("utf-8", "surrogateescape") + b"\0" for option in options)


class _Files:
    """Files without a name, for what bubblewrap reads and writes."""

    def __init__(self) -> None:
        self.descriptors: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self.descriptors:
            os.close(fd)

    def add(self, data: bytes) -> int:
        """Make one that holds *data*; return its descriptor."""
        try:
            fd = above_standard(os.memfd_create("bubblewrap"))
        except OSError as exc:
            raise SandboxError(f"bubblewrap cannot be told what to do ({exc})") from exc
        self.descriptors.append(fd)
        with open(fd, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    @staticmethod
    def read(fd: int) -> bytes:
        """Return all that one of them holds."""
        return os.pread(fd, os.fstat(fd).st_size, 0)


def _exit_code(written: bytes) -> int | None:
    """Return the exit status in what bubblewrap wrote, `None` if no command was started.

    Nothing in the sandbox holds that file, so it cannot be made out from within
    that the command was never started.
    """
    for line in written.splitlines():
        # One that is cut off was written by a bubblewrap that was killed.
        with suppress(ValueError):
            facts = json.loads(line)
            if "exit-code" in facts:
                return int(facts["exit-code"])
    return None


def _execution(
    ending: Ending,
    exit_code: int | None,
    command: tuple[str, ...],
    cannot_start: Callable[[str], TestRunError],
) -> Execution:
    match ending.how:
        case How.REFUSED if ending.error_number == E2BIG:
            raise TestRunError(f"cannot be started ({ending.reason})", command)
        case How.REFUSED:
            raise SandboxError(f"bubblewrap cannot be started ({ending.reason})", command)
        case How.LOST:
            # No process in the sandbox can have done it.
            raise SandboxError("the supervisor of bubblewrap was killed", command)
        case How.EXITED:
            if exit_code is None and ending.exit_code == -_SIGKILL and ending.oom_kills:
                exit_code = -_SIGKILL
            elif exit_code is None:
                raise _own_failure(ending, command, cannot_start)
            elif exit_code == _SHELLS_SIGNAL_BASE + _SIGKILL and ending.oom_kills:
                exit_code = -_SIGKILL
            return hosting.execution(ending, exit_code)
        case _:
            return hosting.execution(ending, None)


def _own_failure(
    ending: Ending, command: tuple[str, ...], cannot_start: Callable[[str], TestRunError]
) -> TestRunError:
    """Return the error for what bubblewrap itself says, as no command has said anything."""
    words = ending.output.decode(errors="backslashreplace").strip()
    if words.startswith("bwrap: execvp "):
        return cannot_start(words.rpartition(": ")[2])
    words = words or f"exit status {ending.exit_code}"
    return SandboxError(f"bubblewrap failed ({words.removeprefix('bwrap: ')})", command)


def _cannot_start(command: tuple[str, ...], tree: Path, path: str, problem: str) -> TestRunError:
    """Return the error for a program that cannot be started, as it is found or not found here."""
    program = command[0]
    found = str(tree / program) if "/" in program else shutil.which(program, path=path)
    if problem == os.strerror(ENOENT) and found and os.path.exists(found):  # noqa: PTH110
        problem += f": {found} or its interpreter is not shown in the sandbox; see `readable`"
    return TestRunError(f"cannot be started ({problem})", command)


@cache
def bubblewrap_problem() -> str | None:
    """Return why `BubblewrapSandbox` does not work here, `None` if it does.

    Found out by a run, once in each process.
    """
    sandbox = BubblewrapSandbox()
    try:
        with tempfile.TemporaryDirectory(prefix="cooperbench-") as name:
            folder = Path(name).resolve()
            for place in ("tree", "scratch"):
                (folder / place).mkdir()
            execution = sandbox.run(
                ("true",),
                tree=folder / "tree",
                scratch=folder / "scratch",
                env={},
                timeout_seconds=_PROBE_SECONDS,
            )
    except (TestRunError, OSError) as exc:
        return str(exc)
    return None if execution.exit_code == 0 else f"nothing runs under bubblewrap: {execution}"
