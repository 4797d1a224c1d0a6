"""Runs one command under a supervisor process, and leaves none of its processes running.

This is the host's side: it starts `supervisor.py`, collects the command's output, and
reads how the command ended.
"""

import marshal
import math
import os
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from enum import StrEnum
from pathlib import Path
from typing import IO, Final

from attrs import evolve, field, frozen

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.running.processes.unsupervised import kill_strays, run_plainly
from cooperbench_eval.support.systems import IS_LINUX

CLEANER: Final = "cooperbench-cleaner"
"""An argument that marks a process which cleans up after its parent has ended."""


def describe_exit(code: int | None) -> str:
    """Say how a process ended, from its exit status or the negative number of a signal."""
    if code is None:
        return "did not end"
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit status {code}"


class Capture:
    r"""Receives output piece by piece, and keeps its beginning and its end.

    Example:
        >>> capture = Capture(3)
        >>> for data in (b"12345", b"6789"):
        ...     capture.feed(data)
        >>> capture.value()
        b'123\n[... 3 bytes cut ...]\n789'
    """

    def __init__(self, limit: int) -> None:
        """Keep *limit* bytes at each end."""
        self._limit = limit
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        self._total += len(data)
        room = self._limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # At twice the limit, so that many small pieces move the tail only once.
        if len(self._tail) > 2 * self._limit:
            del self._tail[: len(self._tail) - self._limit]

    def skip(self, size: int) -> None:
        """Count *size* bytes between both ends as cut."""
        self._total += size

    def value(self) -> bytes:
        """Return both ends; a line between them says how many bytes were cut."""
        tail = bytes(self._tail[-self._limit :])
        cut = self._total - len(self._head) - len(tail)
        if not cut:
            return bytes(self._head) + tail
        return b"%b\n[... %d bytes cut ...]\n%b" % (bytes(self._head), cut, tail)


_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_PATIENCE_SECONDS = 7.0
"""How much longer than the deadline a healthy supervisor may take."""
_STOP_SECONDS = 1.0
_WAKE_SECONDS = 1.0
_PIECE = 1 << 16
_REPORT_LIMIT = 1 << 14
# A supervisor that has ended must not raise SIGPIPE here.
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)


@frozen(kw_only=True)
class SupervisedCommand:
    """A command and its limits.

    Attributes:
        timeout_seconds: Its deadline, from its start.
        grace_seconds: How long it may go on after SIGTERM asked it to stop; 0 kills it
            at once.
        limits: Resource limits, as `resource.setrlimit` takes them.
        memory_bytes: How much memory all its processes may hold together; 0 for no limit.
        processes: How many processes it may have; 0 for no limit.
        output_limit: How many bytes of its output to keep at each end; `None` lets it
            write to the standard streams of this process.
        marks: Directories by which its processes are recognized if the supervisor dies.
        pass_fds: Descriptors of this process that it inherits.
        spared: An argument that marks descendants which clean up after the command; they
            are killed only if they take too long.
        temporary: A folder that the supervisor removes if this process dies.
        result: A file that appears when the command has done its work; if the command
            goes on after that, it is stopped.
    """

    command: tuple[str, ...]
    folder: Path
    env: dict[str, str]
    timeout_seconds: float = math.inf
    grace_seconds: float = 0.0
    limits: tuple[tuple[int, int], ...] = ()
    memory_bytes: int = 0
    processes: int = 0
    output_limit: int | None
    marks: tuple[Path, ...]
    pass_fds: tuple[int, ...] = ()
    spared: str = ""
    temporary: Path | None = None
    result: Path | None = None

    def encode(self) -> bytes:
        """Write the order that `supervisor.py` reads."""
        data = marshal.dumps(
            {
                "host": os.getpid(),
                "command": [str(part) for part in self.command],
                "folder": str(self.folder),
                "env": {str(name): str(value) for name, value in self.env.items()},
                "timeout_seconds": float(self.timeout_seconds),
                "grace_seconds": self.grace_seconds,
                "limits": list(self.limits),
                "memory_bytes": self.memory_bytes,
                "processes": self.processes,
                "spared": self.spared.encode(),
                "temporary": str(self.temporary or ""),
            }
        )
        return len(data).to_bytes(8, "big") + data


class EndReason(StrEnum):
    """Why a command is over, in the words of the supervisor's report."""

    EXITED = "exit"
    """The command ended."""
    TIMEOUT = "timeout"
    """The deadline passed, or the command was stopped."""
    MEMORY = "memory"
    """Its processes together held more memory than allowed."""
    PROCESSES = "processes"
    """It had more processes than allowed."""
    REFUSED = "refused"
    """It could not be started."""
    LOST = "lost"
    """The supervisor died without a report; processes that could be recognized were killed."""


@frozen(kw_only=True)
class CommandEnd:
    """How a command ended.

    Attributes:
        seconds: How long it took, if it was started.
        exit_code: Its exit status if it ended, negative for a signal.
        oom_kills: If it ended, how many processes of the machine the kernel killed
            during its run because memory ran out.
        error_number: If the system could not start it, the number of the error.
        problem: If it could not be started, the error in words.
        output: Its output, cut in the middle if it is long.
    """

    reason: EndReason
    seconds: float = 0.0
    exit_code: int | None = None
    oom_kills: int = 0
    error_number: int = 0
    problem: str = ""
    output: bytes = field(default=b"", repr=False)


class Supervision:
    """One command's supervisor, as its host sees it.

    Attributes:
        is_stopped: Whether the command was asked to stop.
        exit_code: How the supervisor itself ended, once it has.
    """

    def __init__(self, *, is_abandoned: Callable[[], bool] = lambda: False) -> None:
        """Prepare to run a command; it is also stopped when *is_abandoned* returns true."""
        self.is_stopped = False
        self.exit_code: int | None = None
        self._is_abandoned = is_abandoned
        self._lock = threading.Lock()
        self._link: socket.socket | None = None

    def stop(self) -> None:
        """Ask the command to stop; may be called at any time from any thread."""
        with self._lock:
            self.is_stopped = True
            if self._link:
                with suppress(OSError):
                    self._link.send(b"x", _NO_SIGNAL | socket.MSG_DONTWAIT)

    def run(self, command: SupervisedCommand) -> CommandEnd:
        """Run *command*; return once all its processes are gone.

        If the supervisor cannot be started, or fails, raise `SandboxError`.
        """
        if not sys.executable:
            raise _without_supervisor("there is no Python for it", command)
        capture = Capture(command.output_limit or 0)
        started = time.monotonic()
        if not IS_LINUX:
            return self._run_plainly(command, capture, started)
        end = None
        try:
            end = _read_end(self._report(command, capture), command)
        finally:
            if end is None:
                kill_strays(*command.marks)
        if end is None:
            seconds = time.monotonic() - started
            is_late = seconds >= command.timeout_seconds
            end = CommandEnd(
                reason=EndReason.TIMEOUT if is_late else EndReason.LOST, seconds=seconds
            )
        return evolve(end, output=capture.value())

    def _run_plainly(
        self, command: SupervisedCommand, capture: Capture, started: float
    ) -> CommandEnd:
        """Run a command of this library on a system other than Linux; tests cannot run there."""
        is_late = False

        def is_over() -> bool:
            nonlocal is_late
            is_late = time.monotonic() - started >= command.timeout_seconds
            is_done = command.result is not None and command.result.exists()
            return is_late or is_done or self.is_stopped or self._is_abandoned()

        try:
            exit_code = run_plainly(
                command.command,
                folder=command.folder,
                env=command.env,
                is_over=is_over,
                grace_seconds=command.grace_seconds,
                take=None if command.output_limit is None else capture.feed,
            )
        except OSError as exc:
            return CommandEnd(
                reason=EndReason.REFUSED, error_number=exc.errno or 0, problem=str(exc)
            )
        return CommandEnd(
            reason=EndReason.TIMEOUT if is_late or self.is_stopped else EndReason.EXITED,
            seconds=time.monotonic() - started,
            exit_code=exit_code,
            output=capture.value(),
        )

    def _report(self, command: SupervisedCommand, capture: Capture) -> bytes:
        try:
            report_fd, supervisor_fd = map(above_standard, os.pipe())
            here, there = socket.socketpair()
        except OSError as exc:
            raise _without_supervisor(exc, command) from exc
        with closing(os.fdopen(report_fd, "rb", buffering=0)) as report, closing(here):
            try:
                process = _start_supervisor(there, supervisor_fd, command)
            finally:
                os.close(supervisor_fd)
                there.close()
            try:
                self._connect(here, command)
                return self._drain(process, report, command, capture)
            finally:
                with self._lock:
                    self._link = None
                here.close()
                self.exit_code = _end_supervisor(process, command.grace_seconds)
                if process.stdout:
                    process.stdout.close()

    def _connect(self, link: socket.socket, command: SupervisedCommand) -> None:
        """Send the order, after which `stop` may write to the socket."""
        with suppress(OSError):  # the missing report will show that the supervisor is gone
            link.sendall(command.encode(), _NO_SIGNAL)
        with self._lock:
            self._link = link
        if self.is_stopped:
            self.stop()

    def _drain(
        self,
        process: subprocess.Popen[bytes],
        report: IO[bytes],
        command: SupervisedCommand,
        capture: Capture,
    ) -> bytes:
        """Collect output until the supervisor has ended; return its report."""
        line = bytearray()
        most_seconds = command.timeout_seconds + command.grace_seconds + _PATIENCE_SECONDS
        give_up = time.monotonic() + most_seconds
        with selectors.DefaultSelector() as selector:
            selector.register(report, selectors.EVENT_READ)
            if process.stdout:
                selector.register(process.stdout, selectors.EVENT_READ)
            while report in selector.get_map() and (left := give_up - time.monotonic()) > 0:
                ready = selector.select(min(left, _WAKE_SECONDS))
                for key, _ in ready:
                    data = os.read(key.fd, _PIECE)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is report:
                        line += data[: _REPORT_LIMIT - len(line)]
                    else:
                        capture.feed(data)
                # A process that the host forked may hold the report's pipe open.
                if not ready and process.poll() is not None:
                    break
                is_done = command.result is not None and command.result.exists()
                if not self.is_stopped and (is_done or self._is_abandoned()):
                    self.stop()
        if process.stdout:
            _drain_rest(process.stdout.fileno(), capture)
        return bytes(line)


def _drain_rest(fd: int, capture: Capture) -> None:
    os.set_blocking(fd, False)
    # A process that was not killed and goes on writing must not block this one.
    enough = time.monotonic() + _STOP_SECONDS
    with suppress(BlockingIOError):
        while time.monotonic() < enough and (data := os.read(fd, _PIECE)):
            capture.feed(data)


def above_standard(fd: int) -> int:
    """Return *fd*, duplicated above 2 if it has the number of a closed standard stream.

    A program that inherits it would otherwise take it for the standard stream.
    """
    if fd > 2:  # noqa: PLR2004 - standard error
        return fd
    import fcntl  # noqa: PLC0415 - not everywhere

    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(fd)


def interpreter_variables() -> dict[str, str]:
    """Return the variables that this Python needs to start, for a script of ours."""
    names = ("LD_LIBRARY_PATH",)
    return {name: os.environ[name] for name in names if name in os.environ}


def _without_supervisor(problem: object, command: SupervisedCommand) -> SandboxError:
    return SandboxError(f"the supervisor cannot be started ({problem})", command.command)


def _start_supervisor(
    link: socket.socket, report_fd: int, command: SupervisedCommand
) -> subprocess.Popen[bytes]:
    is_captured = command.output_limit is not None
    try:
        return subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-I", "-S", "-X", "utf8", str(_SUPERVISOR), str(report_fd)],
            stdin=link.fileno(),
            stdout=subprocess.PIPE if is_captured else None,
            stderr=subprocess.STDOUT if is_captured else None,
            pass_fds=(report_fd, *command.pass_fds),
            # An interrupt from the terminal is for the host, which ends the command in turn.
            start_new_session=True,
            env=interpreter_variables(),
        )
    except OSError as exc:
        raise _without_supervisor(exc, command) from exc


def _end_supervisor(process: subprocess.Popen[bytes], grace_seconds: float) -> int:
    """Wait for a supervisor, which ends its command because its socket is closed."""
    try:
        return process.wait(_STOP_SECONDS + grace_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _read_end(data: bytes, command: SupervisedCommand) -> CommandEnd | None:
    first, _, report = data.partition(b"\n")
    if first != b"starting":
        raise _without_supervisor("it ended at once", command)
    # A command without isolation can write to the report; ignore lines that make no sense.
    with suppress(ValueError):
        match report.split(b" ", 1):
            case [b"exit", rest]:
                status, taken, kills = rest.split()
                return CommandEnd(
                    reason=EndReason.EXITED,
                    seconds=_seconds(taken),
                    exit_code=int(status),
                    oom_kills=int(kills),
                )
            case [b"timeout" | b"memory" | b"processes" as word, rest]:
                return CommandEnd(reason=EndReason(word.decode()), seconds=_seconds(rest))
            case [b"refused", rest]:
                number, _, problem = rest.decode(errors="backslashreplace").partition(" ")
                return CommandEnd(
                    reason=EndReason.REFUSED, error_number=int(number), problem=problem
                )
            case [b"failed", rest]:
                problem = rest.decode(errors="backslashreplace")
                raise SandboxError(f"the supervisor failed ({problem})", command.command)
    return None


def _seconds(taken: bytes) -> float:
    seconds = float(taken)
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError(taken)
    return seconds
