"""The host's half of a supervised command: starts it, drains it, hears how it ended."""

import marshal
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from enum import StrEnum
from pathlib import Path
from typing import IO

from attrs import evolve, field, frozen

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.running.sandboxes.capture import Capture

__all__ = ["Ending", "How", "Job", "above_standard", "kill_strays", "supervise"]

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_PATIENCE_SECONDS = 7.0
"""How much longer than the deadline a healthy supervisor may take."""
_STOP_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 3600.0
"""The system's own calls take no deadline, however far away."""
_STRAY_SECONDS = 2.0
_PIECE = 1 << 16
_REPORT_LIMIT = 1 << 14


@frozen(kw_only=True)
class Job:
    """What a supervisor is told.

    Attributes:
        command: The program and its arguments.
        tree: Where it starts.
        env: Its whole environment.
        timeout_seconds: Its deadline, from its start.
        limits: Resource limits, as `resource.setrlimit` takes them.
        memory_bytes: What all its processes together may hold, 0 for any amount.
        processes: How many they may be, 0 for any number.
        output_limit: How much of its output to keep at each end.
        marks: Directories by which its processes are known if the supervisor, who
            knows them otherwise, is lost.
        pass_fds: Descriptors of this process that it inherits.
    """

    command: tuple[str, ...]
    tree: Path
    env: dict[str, str]
    timeout_seconds: float
    limits: tuple[tuple[int, int], ...] = ()
    memory_bytes: int = 0
    processes: int = 0
    output_limit: int
    marks: tuple[Path, ...]
    pass_fds: tuple[int, ...] = ()

    def encode(self) -> bytes:
        """Write the job as `supervisor.py` reads it."""
        data = marshal.dumps(
            (
                os.getpid(),
                float(self.timeout_seconds),
                [str(part) for part in self.command],
                {str(name): str(value) for name, value in self.env.items()},
                str(self.tree),
                list(self.limits),
                self.memory_bytes,
                self.processes,
            )
        )
        return len(data).to_bytes(8, "big") + data


class How(StrEnum):
    """How a job came to its end, as the supervisor says it."""

    EXITED = "exit"
    """The command ended."""
    LATE = "timeout"
    """The deadline passed."""
    MEMORY = "memory"
    """Its processes together held more than allowed."""
    PROCESSES = "processes"
    """They were more than allowed."""
    REFUSED = "refused"
    """It could not be started."""
    LOST = "lost"
    """The supervisor was lost before it could say so; what could be found was killed."""


@frozen(kw_only=True)
class Ending:
    """What became of a job.

    Attributes:
        how: How it ended.
        seconds: How long the command took, if it was started.
        exit_code: Its exit status if it ended, negative for a signal.
        oom_kills: How many processes of the machine the kernel killed meanwhile
            for want of memory, if it ended.
        error_number: Why it was refused, if the system refused it.
        reason: The same in words.
        output: What was kept of what it wrote.
    """

    how: How
    seconds: float = 0.0
    exit_code: int | None = None
    oom_kills: int = 0
    error_number: int = 0
    reason: str = ""
    output: bytes = field(default=b"", repr=False)


def supervise(job: Job) -> Ending:
    """Do *job* under a supervisor of its own, and see that nothing of it is left.

    Raises:
        SandboxError: There is no supervisor, or it could not do its part.
    """
    if os.name != "posix" or not sys.executable:
        raise _without_supervisor("there is no Python for it", job)
    capture = Capture(job.output_limit)
    started = time.monotonic()
    reported = None
    try:
        report = _hear(job, capture)
        reported = _ending(report, job)
    finally:
        if reported is None:
            kill_strays(*job.marks)
    if reported is None:
        seconds = time.monotonic() - started
        late = seconds >= job.timeout_seconds
        reported = Ending(how=How.LATE if late else How.LOST, seconds=seconds)
    return evolve(reported, output=capture.value())


def _hear(job: Job, capture: Capture) -> bytes:
    """Have a supervisor do *job*; return its report."""
    give_up = time.monotonic() + job.timeout_seconds + _PATIENCE_SECONDS
    try:
        report_fd, supervisor_fd = map(above_standard, os.pipe())
    except OSError as exc:
        raise _without_supervisor(exc, job) from exc
    with closing(os.fdopen(report_fd, "rb", buffering=0)) as report:
        try:
            process = _start_supervisor(supervisor_fd, job)
        finally:
            os.close(supervisor_fd)
        stdin, stdout = process.stdin, process.stdout
        assert stdin  # noqa: S101 - for mypy: both were asked for
        assert stdout  # noqa: S101
        try:
            # One that is gone by now is found out by its missing report.
            with suppress(BrokenPipeError):
                stdin.write(job.encode())
                stdin.flush()
            return _drain(stdout, report, capture, give_up)
        finally:
            _stop(process, stdin)
            stdout.close()


def above_standard(fd: int) -> int:
    """Return *fd*, moved if it took the number of a standard stream that was closed.

    Such a number means something else to a program that inherits it.
    """
    if fd > 2:  # noqa: PLR2004 - standard error
        return fd
    import fcntl  # noqa: PLC0415 - not everywhere

    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(fd)


def _without_supervisor(problem: object, job: Job) -> SandboxError:
    return SandboxError(f"the supervisor cannot be started ({problem})", job.command)


def _start_supervisor(report_fd: int, job: Job) -> subprocess.Popen[bytes]:
    # Nothing of the host's environment but what its interpreter needs to start.
    env = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    try:
        return subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-I", "-S", "-X", "utf8", str(_SUPERVISOR), str(report_fd)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(report_fd, *job.pass_fds),
            start_new_session=True,
            env=env,
        )
    except OSError as exc:
        raise _without_supervisor(exc, job) from exc


def _drain(output: IO[bytes], report: IO[bytes], capture: Capture, give_up: float) -> bytes:
    """Take output until the supervisor has gone, then what is left of it."""
    line = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        selector.register(report, selectors.EVENT_READ)
        while report in selector.get_map() and (left := give_up - time.monotonic()) > 0:
            for key, _ in selector.select(min(left, _LONGEST_WAIT_SECONDS)):
                data = os.read(key.fd, _PIECE)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is output:
                    capture.feed(data)
                else:
                    line += data[: _REPORT_LIMIT - len(line)]
    _drain_rest(output.fileno(), capture)
    return bytes(line)


def _drain_rest(fd: int, capture: Capture) -> None:
    os.set_blocking(fd, False)
    # A stray that goes on writing must not keep us here.
    enough = time.monotonic() + _STOP_SECONDS
    with suppress(BlockingIOError):
        while time.monotonic() < enough and (data := os.read(fd, _PIECE)):
            capture.feed(data)


def _stop(process: subprocess.Popen[bytes], stdin: IO[bytes]) -> None:
    """End the supervisor, if it has not ended; that ends the command."""
    with suppress(BrokenPipeError):
        stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _ending(data: bytes, job: Job) -> Ending | None:
    """Read a report, or `None` if there is none."""
    first, _, report = data.partition(b"\n")
    if first != b"starting":
        raise _without_supervisor("it ended at once", job)
    # What makes no sense was written by a command, as one without isolation can.
    with suppress(ValueError):
        match report.split(b" ", 1):
            case [b"exit", rest]:
                status, taken, kills = rest.split()
                return Ending(
                    how=How.EXITED,
                    seconds=_seconds(taken),
                    exit_code=int(status),
                    oom_kills=int(kills),
                )
            case [b"timeout" | b"memory" | b"processes" as word, rest]:
                return Ending(how=How(word.decode()), seconds=_seconds(rest))
            case [b"refused", rest]:
                number, _, reason = rest.decode(errors="backslashreplace").partition(" ")
                return Ending(how=How.REFUSED, error_number=int(number), reason=reason)
            case [b"failed", rest]:
                reason = rest.decode(errors="backslashreplace")
                raise SandboxError(f"the supervisor failed ({reason})", job.command)
    return None


def _seconds(taken: bytes) -> float:
    seconds = float(taken)
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError(taken)
    return seconds


def kill_strays(*directories: Path) -> None:
    """Kill every process that works below one of *directories*, or was told of it.

    For the case that the supervisor, who knows its descendants, is gone. A
    process is known by its working directory and by its first environment, so
    one that changed both is missed. Does nothing where there is no `/proc`.
    """
    marks = tuple(os.fsencode(each) for each in directories)
    enough = time.monotonic() + _STRAY_SECONDS
    while (strays := _strays(marks)) and time.monotonic() < enough:
        for pid in strays:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _strays(marks: tuple[bytes, ...]) -> list[int]:
    proc = Path("/proc")
    names = os.listdir(proc) if proc.is_dir() else []  # noqa: PTH208 - names are wanted
    found = []
    for pid in (int(name) for name in names if name.isdigit()):
        with suppress(OSError):
            told = (proc / str(pid) / "environ").read_bytes()
            works_in = os.readlink(os.fsencode(proc / str(pid) / "cwd"))  # noqa: PTH115 - as bytes
            if pid != os.getpid() and any(m in told or works_in.startswith(m) for m in marks):
                found.append(pid)
    return found
