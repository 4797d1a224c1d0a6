"""Sees to it that a process's containers do not outlive it.

The process tells a watchdog of its own, see `watchdog.py`, which containers it
is about to make and which are gone.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.processes.stopping import CLEANER

__all__ = ["hold", "release"]

_SCRIPT = Path(__file__).with_name("watchdog.py")
# A watchdog that is gone or stuck is an error to handle: no signal, no waiting.
_QUIET = getattr(socket, "MSG_NOSIGNAL", 0)
_FLAGS = _QUIET | socket.MSG_DONTWAIT


class _Guard:
    """This process's watchdogs, one for each engine, and what they look after."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, set[str]] = {}
        self._links: dict[str, socket.socket] = {}

    def hold(self, engine: str, name: str) -> None:
        with self._lock:
            self._held.setdefault(engine, set()).add(name)
            self._tell(engine, f"+{name}\n")

    def release(self, engine: str, name: str) -> None:
        with self._lock:
            self._held[engine].discard(name)
            self._tell(engine, f"-{name}\n")

    def leave(self) -> None:
        """Forget everything: in a forked child it is the parent's."""
        for link in self._links.values():
            link.close()
        # The lock may have been held by a thread that does not exist here.
        self._lock, self._held, self._links = threading.Lock(), {}, {}

    def _tell(self, engine: str, message: str) -> None:
        data = message.encode()
        if link := self._links.get(engine):
            try:
                if link.send(data, _FLAGS) == len(data):
                    return
            except OSError:
                pass
            self._links.pop(engine).close()
        # None yet, or none any more: a new one hears of all.
        self._links[engine] = link = _start()
        held = "".join(f"+{name}\n" for name in self._held[engine])
        try:
            link.sendall(f"{json.dumps([engine, sys.path])}\n{held}".encode(), _QUIET)
        except OSError as exc:
            raise SandboxError(f"the watchdog does not listen ({exc})") from exc


def _start() -> socket.socket:
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            # What this waits for ends at once: the watchdog is its child.
            subprocess.run(  # noqa: S603 - our own script
                [sys.executable, "-I", "-S", "-X", "utf8", str(_SCRIPT), CLEANER],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                check=True,
            )
    except BaseException as exc:
        ours.close()
        if isinstance(exc, (OSError, subprocess.CalledProcessError)):
            raise SandboxError(f"the containers' watchdog cannot be started ({exc})") from exc
        raise
    return ours


_guard = _Guard()
os.register_at_fork(after_in_child=_guard.leave)


def hold(engine: str, name: str) -> None:
    """Have a container removed if this process ends before it says `release`.

    Args:
        engine: The engine's address.
        name: What the container will be called.

    Raises:
        SandboxError: No watchdog can be started.
    """
    _guard.hold(engine, name)


def release(engine: str, name: str) -> None:
    """Say that a container is gone, and will not come.

    Raises:
        SandboxError: The watchdog is gone, and no other can be started.
    """
    _guard.release(engine, name)
