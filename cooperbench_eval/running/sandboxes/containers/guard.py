"""Finds and removes containers whose process has ended.

Each process starts its own watchdog (`watchdog.py`) and sends it the names of the
containers that exist or are about to exist. In case the watchdog dies too, a label of each
container names its owner: a process on this machine. The label also names the boot and the
process namespace, because processes of other machines and namespaces cannot be checked.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from cooperbench_eval.errors import SandboxError
from cooperbench_eval.running.processes.supervision import CLEANER
from cooperbench_eval.support.systems import after_fork

OWNER_LABEL = "cooperbench_eval.owner"
"""The label of every container; its value is the owner."""

_STARTED = 19
"""The position of a process's start time in its `stat`, counted after its name."""
_ENDED = (b"Z", b"X")
"""States of a process that has ended but was not yet waited for."""


def owner_of(process_id: int) -> str:
    """Return the value of `OWNER_LABEL` that identifies a running process."""
    return f"{_machine()}/{process_id}/{_start_of(process_id)}"


def is_gone(owner: str) -> bool:
    """Whether the process that a label names has ended; `False` for one of another machine."""
    machine, _, process = owner.partition("/")
    process_id, _, start = process.partition("/")
    if machine != _machine() or not process_id.isdecimal():
        return False
    return _start_of(int(process_id)) != start


def _start_of(process_id: int) -> str:
    """Return when a process started, in ticks since the boot; empty if it has ended."""
    with suppress(OSError):
        status = Path(f"/proc/{process_id}/stat").read_bytes()
        # The name is in parentheses, and may contain anything, even parentheses.
        fields = status.rpartition(b")")[2].split()
        return "" if fields[0] in _ENDED else fields[_STARTED].decode()
    return ""


def _machine() -> str:
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"
    return ""  # without /proc, no owner ever counts as ended


_SCRIPT = Path(__file__).with_name("watchdog.py")
# Writing to a watchdog that has died must not raise SIGPIPE.
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)


class Guard:
    """This process's containers, and its watchdogs: one for each engine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, set[str]] = {}
        self._links: dict[str, _SocketLink | _PipeLink] = {}

    def hold(self, engine: str, name: str) -> None:
        """Let the watchdog remove a container if this process ends before calling `release`."""
        with self._lock:
            self._names.setdefault(engine, set()).add(name)
            self._send_names(engine)

    def release(self, engine: str, name: str) -> None:
        """Remove a container from the watchdog's list: it is gone for good."""
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
            try:
                link.send(data)
            except OSError:
                self._links.pop(engine).close()
            else:
                return
        try:
            self._links[engine] = link = _SocketLink() if hasattr(os, "fork") else _PipeLink()
            link.send(data)
        except (OSError, subprocess.CalledProcessError) as exc:
            raise SandboxError(f"the containers' watchdog cannot be started ({exc})") from exc


class _SocketLink:
    """A socket to a watchdog that is not a child of this process."""

    def __init__(self) -> None:
        """Start the watchdog; if that fails, raise an `OSError` or `CalledProcessError`."""
        self._socket, theirs = socket.socketpair()
        self._waits = 0
        try:
            with theirs:
                # The process that is waited for here ends at once: the watchdog is its child.
                subprocess.run(  # noqa: S603 - our own script
                    _command(),
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    cwd="/",
                    check=True,
                )
        except BaseException:
            self._socket.close()
            raise

    def send(self, data: bytes) -> None:
        """Send *data*, or raise an `OSError`; a stuck watchdog must not block this process."""
        sent = self._socket.send(data, _NO_SIGNAL | self._waits)
        self._waits = socket.MSG_DONTWAIT
        if sent < len(data):
            raise BlockingIOError

    def close(self) -> None:
        self._socket.close()


class _PipeLink:
    """A pipe to a watchdog, on Windows; it is a child, and has no part in this console."""

    def __init__(self) -> None:
        """Start the watchdog; if that fails, raise an `OSError`."""
        self._process = subprocess.Popen(  # noqa: S603 - our own script
            _command(),
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        )

    def send(self, data: bytes) -> None:
        """Send *data*, or raise an `OSError`."""
        assert self._process.stdin  # noqa: S101 - for mypy
        self._process.stdin.write(data)

    def close(self) -> None:
        assert self._process.stdin  # noqa: S101 - for mypy
        self._process.stdin.close()


def _command() -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-X", "utf8", str(_SCRIPT), CLEANER)


GUARD: Final = Guard()
after_fork(GUARD.forget)
