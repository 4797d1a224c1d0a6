"""The host's half of a supervised command: starts it, drains it, hears how it ended."""

import marshal
import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from attrs import frozen

from cooperbench_eval.errors import TestRunError
from cooperbench_eval.running.sandboxes.capture import Capture
from cooperbench_eval.running.sandboxes.protocol import Execution

__all__ = ["Job", "kill_strays", "supervise"]

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_PATIENCE_SECONDS = 7.0
"""How much longer than the deadline a healthy supervisor may take."""
_STOP_SECONDS = 1.0
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
    """

    command: tuple[str, ...]
    tree: Path
    env: dict[str, str]
    timeout_seconds: float
    limits: tuple[tuple[int, int], ...] = ()

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
            )
        )
        return len(data).to_bytes(8, "big") + data


def supervise(job: Job, capture: Capture) -> Execution | None:
    """Do *job* under a supervisor of its own, feeding its output to *capture*.

    Returns:
        How the command ended, or `None` where the supervisor was lost before it
        could say so: strays may then be left.

    Raises:
        TestRunError: The command, or its supervisor, cannot be started.
    """
    give_up = time.monotonic() + job.timeout_seconds + _PATIENCE_SECONDS
    report_fd, supervisor_fd = os.pipe()
    with closing(os.fdopen(report_fd, "rb", buffering=0)) as report:
        try:
            process = _start_supervisor(supervisor_fd)
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
            line = _drain(stdout, report, capture, give_up)
        finally:
            _stop(process, stdin)
            stdout.close()
    return _execution(line, job, capture)


def _start_supervisor(report_fd: int) -> subprocess.Popen[bytes]:
    # Nothing of the host's environment but what its interpreter needs to start.
    env = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    try:
        return subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-I", "-S", "-X", "utf8", str(_SUPERVISOR), str(report_fd)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(report_fd,),
            start_new_session=True,
            env=env,
        )
    except OSError as exc:
        raise TestRunError(f"the supervisor cannot be started ({exc})") from exc


def _drain(output: IO[bytes], report: IO[bytes], capture: Capture, give_up: float) -> bytes:
    """Take output until the supervisor has gone, then what is left of it."""
    line = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        selector.register(report, selectors.EVENT_READ)
        while report in selector.get_map() and (left := give_up - time.monotonic()) > 0:
            for key, _ in selector.select(left):
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


def _execution(line: bytes, job: Job, capture: Capture) -> Execution | None:
    match line.split(b" ", 1):
        case [b"exit", rest]:
            status, seconds = rest.split()
            return Execution(
                exit_code=int(status), duration_seconds=float(seconds), output=capture.value()
            )
        case [b"timeout", rest]:
            return Execution(
                exit_code=None,
                timed_out=True,
                duration_seconds=float(rest),
                output=capture.value(),
            )
        case [b"refused", rest]:
            problem = f"cannot be started ({rest.decode(errors='backslashreplace')})"
            raise TestRunError(problem, job.command)
        case _:
            return None


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
