"""Watches over a process that works for another one, and leaves none of its processes behind.

A script of its own. Standard input is a socket to whoever started it, the host: a
byte, or its end, tells it to stop the work. It says there at last how the worker
ended: its exit status, or a signal's number, negative. The arguments are the host's
process id, descriptors of two files, of the call and for its answer, and how many
seconds a worker may go on that was told to stop, or has answered.

The worker is asked to stop before it is killed, so that it can clean up. Orphans of
the worker come to this process; when the worker has ended, they are killed.
"""

import ctypes
import importlib.util
import marshal
import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

_HEAD = 8
"""Bytes at the beginning of an answer that are not all zero when it is complete."""
_GIVE_UP_SECONDS = 5.0
_CLEANERS_SECONDS = 30.0
_WAKE_SECONDS = 1.0
_PAUSE_SECONDS = 0.05
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PACKAGE = Path(__file__).parents[1]
_SANDBOXES = _PACKAGE / "running" / "sandboxes"
# It removes containers when the worker has ended, and ends itself.
_CLEANER = bytes(_SANDBOXES / "containers" / "watchdog.py")
_libc = ctypes.CDLL(None)


def main() -> None:
    """Fork the worker, and watch over it."""
    host, call, answer = map(int, sys.argv[1:4])
    # The host may block or ignore signals, and that outlives its fork and exec.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    supervisor = _load(_SANDBOXES / "supervisor.py")
    if sys.platform == "linux":
        # Orphans of the worker come to this process instead of to init.
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    guardian = os.getpid()
    worker = os.fork()
    if worker == 0:
        _work(guardian, call, answer)
        return
    os.close(call)
    watch = _Watch(supervisor, worker, host=host, answer=answer, grace_seconds=float(sys.argv[4]))
    ending = watch.until_the_end()
    _kill_the_rest(supervisor, worker)
    with suppress(OSError):  # the host may be dying
        os.write(0, b"%d" % ending)
    if os.getppid() != host:
        _remove(os.environ["TMPDIR"])
    os._exit(0)


def _load(script: Path) -> Any:
    """Import a script by its path, and nothing of the package around it."""
    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec  # noqa: S101 - for mypy
    assert spec.loader  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _work(guardian: int, call: int, answer: int) -> None:
    """Be the worker."""
    os.setsid()
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != guardian:
        return
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for each in (call, answer):
        os.set_inheritable(each, False)
    with open(call, "rb") as file:
        # Where the host imports from, also what it does not have installed.
        sys.path[:] = marshal.load(file)  # noqa: S302 - written by the host, same interpreter
        from cooperbench_eval.apart.worker import serve  # noqa: PLC0415 - not before

        serve(file, answer)


class _Watch:
    """Waits for the worker, and sees to it that it ends."""

    def __init__(
        self, supervisor: Any, worker: int, *, host: int, answer: int, grace_seconds: float
    ) -> None:
        self._supervisor = supervisor
        self._worker = worker
        self._host = host
        self._answer = answer
        self._grace_seconds = grace_seconds
        self._is_told = self._is_asked = False
        self._kill_at = float("inf")
        # Also what stops a whole service comes here, and to the worker.
        signal.signal(signal.SIGTERM, self._tell)

    def until_the_end(self) -> int:
        """Return how the worker ended."""
        poller = select.poll()
        poller.register(0, select.POLLIN)
        poller.register(os.pidfd_open(self._worker), select.POLLIN)
        while True:
            status, _ = self._supervisor.reap(self._worker)
            if status is not None:
                return os.waitstatus_to_exitcode(status)
            now = time.monotonic()
            self._ask(now)
            if now > self._kill_at:
                self._supervisor.kill(-self._worker)
                self._supervisor.kill(self._worker)
            if now > self._kill_at + _GIVE_UP_SECONDS:
                return -signal.SIGKILL
            wake = _WAKE_SECONDS if now + _WAKE_SECONDS < self._kill_at else _PAUSE_SECONDS
            if any(fd == 0 for fd, _ in poller.poll(wake * 1000)):
                poller.unregister(0)
                self._is_told = True

    def _ask(self, now: float) -> None:
        """Ask the worker to stop, if it is to; give it its time, and also if it has answered."""
        # Another process forked by the host may hold the socket, hence getppid.
        if not self._is_asked and (self._is_told or os.getppid() != self._host):
            self._is_asked = True
            os.kill(self._worker, signal.SIGTERM)
        elif not any(os.pread(self._answer, _HEAD, 0)):
            return
        self._kill_at = min(self._kill_at, now + self._grace_seconds)

    def _tell(self, *_: object) -> None:
        self._is_told = True


def _kill_the_rest(supervisor: Any, worker: int) -> None:
    """Kill what the worker left, and wait for what cleans up after it."""
    enough = time.monotonic() + _CLEANERS_SECONDS
    supervisor.kill_descendants(worker, _is_cleaner)
    while supervisor.reap(worker)[1] and time.monotonic() < enough:
        time.sleep(_PAUSE_SECONDS)
        supervisor.kill_descendants(worker, _is_cleaner)
    # What is left is stuck, or took the name of a cleaner.
    supervisor.kill_descendants(worker)


def _is_cleaner(pid: int) -> bool:
    try:
        return _CLEANER in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def _remove(folder: str) -> None:
    """Remove the temporary files, since the host is gone."""
    sys.path.append(str(_PACKAGE.parent))
    from cooperbench_eval.running.worktrees import remove  # noqa: PLC0415 - rarely needed

    remove(Path(folder))


if __name__ == "__main__":
    main()
