"""Finds processes that belong to a command, and kills them, if its supervisor has died."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

__all__ = ["kill_strays"]

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
