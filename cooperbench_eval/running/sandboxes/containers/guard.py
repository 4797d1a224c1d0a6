"""Has a process's containers removed if the process dies first.

Each process starts its own watchdog (`watchdog.py`) and sends it the names of the
containers that exist or are about to exist.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.processes.stopping import CLEANER

__all__ = ["GUARD", "Guard"]

_SCRIPT = Path(__file__).with_name("watchdog.py")
# Writing to a watchdog that has died must not raise SIGPIPE.
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)


class Guard:
    """This process's containers, and its watchdogs: one for each engine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, set[str]] = {}
        self._links: dict[str, socket.socket] = {}

    def hold(self, engine: str, name: str) -> None:
        """Let the watchdog remove a container if this process ends before calling `release`.

        Args:
            engine: The engine's address.
            name: The name that the container will get.

        Raises:
            SandboxError: No watchdog can be started.
        """
        with self._lock:
            self._names.setdefault(engine, set()).add(name)
            self._send_names(engine)

    def release(self, engine: str, name: str) -> None:
        """Remove a container from the watchdog's list: it is gone for good.

        Raises:
            SandboxError: The watchdog has died, and no other can be started.
        """
        with self._lock:
            self._names[engine].discard(name)
            self._send_names(engine)

    def forget(self) -> None:
        """Forget everything: in a forked child, it belongs to the parent."""
        for link in self._links.values():
            link.close()
        # The lock may be held by a thread that does not exist in the child.
        self._lock, self._names, self._links = threading.Lock(), {}, {}

    def _send_names(self, engine: str) -> None:
        data = json.dumps([engine, sys.path, sorted(self._names[engine])]).encode() + b"\n"
        if link := self._links.get(engine):
            # A watchdog that is stuck must not block this process.
            try:
                if link.send(data, _NO_SIGNAL | socket.MSG_DONTWAIT) == len(data):
                    return
            except OSError:
                pass
            self._links.pop(engine).close()
        self._links[engine] = link = _start_watchdog()
        try:
            link.sendall(data, _NO_SIGNAL)
        except OSError as exc:
            raise SandboxError(f"the watchdog cannot be reached ({exc})") from exc


def _start_watchdog() -> socket.socket:
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            # The process that is waited for here ends at once: the watchdog is its child.
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


GUARD: Final = Guard()
os.register_at_fork(after_in_child=GUARD.forget)
