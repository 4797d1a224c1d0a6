"""Runs and ends commands without a supervisor.

Systems other than Linux have none: there only the process itself is ended and, except on
Windows, the others of its group. On Linux, the processes of a command are searched for if
its supervisor has died.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

_LOOK_SECONDS: Final = 0.02
_PIECE: Final = 1 << 16


def run_plainly(
    command: tuple[str, ...],
    *,
    folder: Path,
    env: dict[str, str],
    is_over: Callable[[], bool],
    grace_seconds: float,
    take: Callable[[bytes], None] | None,
) -> int:
    """Run *command*, wait for its end and return its exit status, negative for a signal.

    When *is_over* returns true, the command is asked to stop, and killed after *grace_seconds*. Its
    output goes to *take*; without it, to the standard streams of this process. If it cannot be
    started, raise an `OSError`.
    """
    process = subprocess.Popen(  # noqa: S603 - the caller names it
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if take else None,
        stderr=subprocess.STDOUT if take else None,
        start_new_session=True,  # without effect on Windows
    )
    reader = threading.Thread(target=_read, args=(process, take), daemon=True)
    reader.start()
    try:
        while not _has_ended(process, _LOOK_SECONDS):
            if is_over():
                process.terminate()
                _has_ended(process, grace_seconds)
                break
    finally:
        _kill(process)
        reader.join(grace_seconds)
    return process.returncode


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _read(process: subprocess.Popen[bytes], take: Callable[[bytes], None] | None) -> None:
    if process.stdout and take:
        with process.stdout as output:
            while data := os.read(output.fileno(), _PIECE):
                take(data)


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()  # does nothing if it was waited for
    process.wait()
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


_STRAY_SECONDS = 2.0


def kill_strays(*directories: Path) -> None:
    """Kill every process whose working directory or environment is below *directories*.

    Needed only if the supervisor, which knows its descendants, has died. Only a process's
    initial environment can be read, so this misses a process that was started without the
    directories in its environment and has left them. Does nothing on systems without
    `/proc`.
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
            environment = (proc / str(pid) / "environ").read_bytes()
            works_in = os.readlink(os.fsencode(proc / str(pid) / "cwd"))  # noqa: PTH115 - as bytes
            is_marked = any(m in environment or works_in.startswith(m) for m in marks)
            if pid != os.getpid() and is_marked:
                found.append(pid)
    return found
