"""Runs one command as an ordinary child process, on systems that have no supervisor.

Only the process itself is ended and, except on Windows, the others of its group.
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

from attrs import frozen

from cooperbench_eval.running.processes.capture import Capture

__all__ = ["PlainEnd", "run_plainly"]

_LOOK_SECONDS: Final = 0.02
_PIECE: Final = 1 << 16


@frozen(kw_only=True)
class PlainEnd:
    """How the command ended.

    Attributes:
        exit_code: Its exit status; negative for a signal.
        seconds: How long it ran.
        output: Its output, cut in the middle if it is long.
    """

    exit_code: int
    seconds: float
    output: bytes


def run_plainly(
    command: tuple[str, ...],
    *,
    folder: Path,
    env: dict[str, str],
    is_over: Callable[[float], bool],
    grace_seconds: float,
    output_limit: int | None,
) -> PlainEnd:
    """Run *command* and wait for its end.

    Args:
        command: The program and its arguments.
        folder: Where it starts.
        env: Its whole environment.
        is_over: Given how many seconds it has run, whether it must stop now.
        grace_seconds: How long it may then take before it is killed.
        output_limit: How many bytes of its output to keep at each end; `None` lets it write
            to the standard streams of this process.

    Raises:
        OSError: It cannot be started.
    """
    capture = Capture(output_limit or 0)
    is_captured = output_limit is not None
    started = time.monotonic()
    process = subprocess.Popen(  # noqa: S603 - the caller names it
        command,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if is_captured else None,
        stderr=subprocess.STDOUT if is_captured else None,
        start_new_session=True,  # without effect on Windows
    )
    reader = threading.Thread(target=_read, args=(process, capture), daemon=True)
    reader.start()
    try:
        while not _has_ended(process, _LOOK_SECONDS):
            if is_over(time.monotonic() - started):
                process.terminate()
                _has_ended(process, grace_seconds)
                break
    finally:
        _kill(process)
        reader.join(grace_seconds)
    return PlainEnd(
        exit_code=process.returncode,
        seconds=time.monotonic() - started,
        output=capture.value(),
    )


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _read(process: subprocess.Popen[bytes], capture: Capture) -> None:
    if process.stdout:
        with process.stdout as output:
            while data := os.read(output.fileno(), _PIECE):
                capture.feed(data)


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()  # does nothing if it was waited for
    process.wait()
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
