"""Runs one command and leaves none of its processes behind.

A script of its own, started by `LocalSandbox` for each run. Standard input
holds the job; after that it stays open for as long as the host lives. The file
descriptor named by the first argument takes one line of report:

    exit STATUS SECONDS     the command ended
    timeout SECONDS         the deadline passed
    refused REASON          the command could not be started

It imports little, because its own start is what a run costs over the command:
`signal`, `json`, `typing` and `contextlib` would double it.
"""

import ctypes
import marshal
import os
import select
import sys
import time

Job = tuple[int, float, list[str], dict[str, str], str, list[tuple[int, int]]]
"""Host's process id, timeout, command, environment, tree, resource limits."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_SIGKILL = 9
_LAST_CLASSIC_SIGNAL = 31
_SIG_SETMASK = 2 if sys.platform == "linux" else 3
_SIGNAL_SET_BYTES = 128

_GIVE_UP_SECONDS = 5.0
_WAKE_SECONDS = 1.0
_POLL_SECONDS = 0.02
_BURIALS = 1000

_libc = ctypes.CDLL(None)


def main() -> None:
    """Do the job on standard input."""
    report_fd = int(sys.argv[1])
    os.set_inheritable(report_fd, False)
    job = _receive()
    if job is not None:
        os.write(report_fd, _do(job))


def _do(job: Job) -> bytes:
    host, timeout_seconds, *_ = job
    if sys.platform == "linux":
        # Orphans of the command come to this process instead of to init.
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = time.monotonic()
    child, problem = _start(job)
    if problem:
        return b"refused " + problem
    status = _wait(child, started + timeout_seconds, host)
    seconds = time.monotonic() - started
    _kill_descendants(child)
    if status is None:
        return b"timeout %.6f" % seconds
    return b"exit %d %.6f" % (os.waitstatus_to_exitcode(status), seconds)


def _receive() -> Job | None:
    """Read the job, or `None` if the host died before it was complete."""
    size = int.from_bytes(_read(8), "big")
    data = _read(size)
    if not size or len(data) < size:
        return None
    job: Job = marshal.loads(data)  # noqa: S302 - written by the host, same interpreter
    return job


def _read(size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (piece := os.read(0, size - len(data))):
        data += piece
    return bytes(data)


# --- the command ------------------------------------------------------------


def _start(job: Job) -> tuple[int, bytes]:
    """Start the command; return its process id, and why it did not start if so."""
    supervisor = os.getpid()
    problem_fd, child_fd = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _become(job, supervisor)
        except BaseException as exc:  # noqa: BLE001 - a forked child must not go on as its parent
            os.write(child_fd, str(exc).encode(errors="backslashreplace"))
        finally:
            os._exit(127)
    os.close(child_fd)
    problem = b""
    # Closed by a successful exec.
    while piece := os.read(problem_fd, 4096):
        problem += piece
    os.close(problem_fd)
    return child, problem


def _become(job: Job, supervisor: int) -> None:
    _, _, command, env, tree, limits = job
    os.setsid()
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            os._exit(127)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Dispositions and masks outlive exec: Python ignores SIGPIPE, hosts more.
    for number in range(1, _LAST_CLASSIC_SIGNAL + 1):
        _libc.signal(number, None)
    _libc.sigprocmask(_SIG_SETMASK, ctypes.create_string_buffer(_SIGNAL_SET_BYTES), None)
    if limits:
        import resource  # noqa: PLC0415 - rarely needed

        for kind, value in limits:
            resource.setrlimit(kind, (value, value))
    os.chdir(tree)
    os.execvpe(command[0], command, env)  # noqa: S606 - running what the caller names is the point


def _wait(child: int, deadline: float, host: int) -> int | None:
    """Wait for *child*; `None` if the deadline passed or the host is gone."""
    wake, poller = _POLL_SECONDS, select.poll()
    poller.register(0, select.POLLHUP)
    if hasattr(os, "pidfd_open"):
        try:
            poller.register(os.pidfd_open(child), select.POLLIN)
            wake = _WAKE_SECONDS
        except OSError:  # an old kernel
            pass
    while True:
        status, _ = _reap(child)
        left = deadline - time.monotonic()
        # Another process forked by the host may hold the pipe, hence getppid.
        if status is not None or left <= 0 or os.getppid() != host:
            return status
        if any(fd == 0 for fd, _ in poller.poll(min(left, wake) * 1000)):
            return None


# --- its descendants --------------------------------------------------------


def _reap(child: int) -> tuple[int | None, bool]:
    """Bury the dead; return *child*'s status if among them, and whether any live."""
    status = None
    try:
        # Not for ever: a fork bomb dies as fast as we bury.
        for _ in range(_BURIALS):
            pid, raw = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return status, True
            if pid == child:
                status = raw
    except ChildProcessError:
        return status, False
    return status, True


def _kill_descendants(child: int) -> None:
    """Kill until none is left; give up on what does not die, say a setuid one.

    With no child there is no descendant either, since orphans become children.
    """
    give_up = time.monotonic() + _GIVE_UP_SECONDS
    # First its own group, at one blow: a fork bomb outruns any look at /proc.
    _kill(-child)
    while _reap(child)[1] and time.monotonic() < give_up:
        for pid, group in _descendants():
            # Groups too: one that forks and exits all the time is gone by now,
            # but its group is not, unless it makes new ones as well.
            _kill(-group)
            _kill(pid)


def _kill(pid: int) -> None:
    try:  # noqa: SIM105 - contextlib is slow to import
        os.kill(pid, _SIGKILL)
    except OSError:
        pass


def _descendants() -> list[tuple[int, int]]:
    """Return process id and process group of each."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208 - nor pathlib
        if name.isdigit() and (ids := _parent_and_group(name)):
            children.setdefault(ids[0], []).append((int(name), ids[1]))
    found = children.pop(os.getpid(), [])
    for pid, _ in found:
        found += children.pop(pid, [])
    return found


def _parent_and_group(pid: str) -> tuple[int, int] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            # The name stands in brackets and may hold anything, brackets too.
            parent, group = file.read().rpartition(b")")[2].split()[1:3]
    except OSError:
        return None
    return int(parent), int(group)


if __name__ == "__main__":
    main()
    os._exit(0)
