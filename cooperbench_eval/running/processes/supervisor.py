"""Runs one command, and ends every process that the command started.

A separate script; `supervision.py` starts one for each command.

Standard input is a socket. It brings the order, and stays open for as long as the
host lives. A byte after the order, or the end of the stream, asks to stop the
command. The report goes to the file descriptor in the first argument. Its first
line is `starting`, and is written before the command starts. The second line is
one of

    exit STATUS SECONDS KILLS   the command ended; during its run the kernel killed
                                KILLS processes of the machine because memory ran out
    timeout SECONDS             the deadline passed, or the host asked to stop
    memory SECONDS              its processes together held more memory than allowed
    processes SECONDS           it had more processes than allowed
    refused ERRNO REASON        the command could not be started
    failed REASON               the supervisor itself failed

Every test run waits for this script to start, so it imports little: `signal`, `json`,
`typing` and `contextlib` would double its start-up time.
"""

import ctypes
import marshal
import os
import select
import sys
import time
from types import SimpleNamespace

Process = tuple[int, int, int]
"""A process id, a process group, and how many bytes are resident."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_KEYCTL = {"x86_64": 250, "aarch64": 219}
"""The number of a system call that the C library does not wrap."""
_KEYCTL_JOIN_SESSION_KEYRING = 1
_SIGKILL = 9
_SIGTERM = 15
_SIGCHLD = 17 if sys.platform == "linux" else 20
_LAST_SIGNAL = 64
_SIG_SETMASK = 2 if sys.platform == "linux" else 3
_SIGNAL_SET_BYTES = 128

_GIVE_UP_SECONDS = 5.0
_SPARED_SECONDS = 30.0
"""How long processes that clean up after the command may take."""
_WAKE_SECONDS = 1.0
_POLL_SECONDS = 0.02
_LOOK_SECONDS = 0.05
"""How often to look at the command's processes while there is a limit to enforce."""
_LOOK_SHARE = 20
"""On a busy machine, looking takes at most this fraction (one part in 20) of a processor."""
_LONGEST_LOOK_SECONDS = 0.5
_REAP_SECONDS = 0.1
_DYING_SHARE = 2
_EASY_SECONDS = 0.3
"""Killing all descendants rarely takes longer than this."""
_SPARE_PROCESSES = 4096
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_libc = ctypes.CDLL(None)


Order = SimpleNamespace
"""The host's request; `SupervisedCommand` explains the fields."""


def main() -> None:
    """Carry out the order on standard input."""
    report_fd = int(sys.argv[1])
    os.set_inheritable(report_fd, False)
    _reset_signals(_SIGCHLD)
    order = _receive()
    if order is None:
        return
    try:
        os.write(report_fd, b"starting\n")
        os.write(report_fd, _report(order))
    except BrokenPipeError:  # the host has died
        pass
    if order.temporary and os.getppid() != order.host:
        # Nothing else is left to do, so this process becomes the script that removes the folder.
        script = os.path.join(os.path.dirname(__file__), "folders.py")  # noqa: PTH118, PTH120
        os.execv(sys.executable, [sys.executable, "-I", "-S", script, order.temporary])  # noqa: S606


def _report(order: Order) -> bytes:
    try:
        return _run(order)
    except Exception as exc:  # noqa: BLE001 - whatever it is, the host can explain it better
        return b"failed " + str(exc).encode(errors="backslashreplace")


def _run(order: Order) -> bytes:
    if sys.platform == "linux":
        # Orphans of the command become children of this process instead of init's.
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if order.is_limited:
        _raise_priority()
    kills = _oom_kills()
    started = time.monotonic()
    child, problem = _start(order)
    if problem:
        return b"refused " + problem
    try:
        end = _wait(child, order, started)
        seconds = time.monotonic() - started
        if order.is_limited and end not in (b"memory", b"processes"):
            _raise_priority(undo=True)
    finally:
        _end_descendants(child, order)
    if isinstance(end, bytes):
        return b"%b %.6f" % (end, seconds)
    status = os.waitstatus_to_exitcode(end)
    return b"exit %d %.6f %d" % (status, seconds, _oom_kills() - kills)


def _raise_priority(*, undo: bool = False) -> None:
    """Raise this process's priority, so that it runs even beside thousands of busy processes.

    A supervisor that mostly sleeps can keep high priority at no cost. One that is busy
    killing cannot, so it gives the priority up first. Does nothing without permission.
    """
    try:
        # The processes that this one starts get ordinary priority.
        policy = os.SCHED_OTHER if undo else os.SCHED_RR | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(0 if undo else 1))
    except (AttributeError, OSError):  # another system, or not permitted
        pass


def _reset_signals(first: int, last: int | None = None) -> None:
    """Give signals their default effect, and block none; fork and exec keep other settings."""
    for number in range(first, (last or first) + 1):
        _libc.signal(number, None)
    _libc.sigprocmask(_SIG_SETMASK, ctypes.create_string_buffer(_SIGNAL_SET_BYTES), None)


def _receive() -> Order | None:
    """Read the order; return `None` if the host died before it was complete."""
    size = int.from_bytes(_read(8), "big")
    data = _read(size)
    if not size or len(data) < size:
        return None
    order = Order(**marshal.loads(data))  # noqa: S302 - written by the host, same interpreter
    order.is_limited = order.memory_bytes > 0 or order.processes > 0
    return order


def _read(size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (piece := os.read(0, size - len(data))):
        data += piece
    return bytes(data)


# --- the command ------------------------------------------------------------


def _start(order: Order) -> tuple[int, bytes]:
    """Start the command; return its process id, and the reason if it did not start."""
    supervisor = os.getpid()
    problem_fd, child_fd = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _become(order, supervisor)
        except BaseException as exc:  # noqa: BLE001 - a forked child must not go on as its parent
            number = exc.errno if isinstance(exc, OSError) else 0
            os.write(child_fd, f"{number or 0} {exc}".encode(errors="backslashreplace"))
        finally:
            os._exit(127)
    os.close(child_fd)
    # A successful exec closes the pipe.
    with open(problem_fd, "rb") as problem:  # noqa: PTH123
        return child, problem.read()


def _become(order: Order, supervisor: int) -> None:
    """Turn this forked child into the command."""
    os.setsid()
    if sys.platform == "linux":
        die_with_parent()
        if os.getppid() != supervisor:
            os._exit(127)
        _leave_keyring()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Python ignores SIGPIPE, and hosts may ignore more. The C library refuses to change its
    # own signals, 32 and 33.
    _reset_signals(1, _LAST_SIGNAL)
    if order.limits or order.processes:
        import resource  # noqa: PLC0415 - rarely needed

        for kind, value in order.limits:
            resource.setrlimit(kind, (value, value))
        if order.processes:
            # A last resort: it counts all processes of the user, and does not bind root.
            most = _threads() + order.processes + _SPARE_PROCESSES
            hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    os.chdir(order.folder)
    os.execvpe(order.command[0], order.command, order.env)  # noqa: S606 - the caller names it


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that started it ends; only on Linux."""
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)


def _leave_keyring() -> None:
    """Join a new session keyring; a new namespace or session would keep the old one.

    A machine whose system call number is unknown here keeps the old keyring.
    """
    number = _KEYCTL.get(os.uname().machine)
    if number:
        join = ctypes.c_long(_KEYCTL_JOIN_SESSION_KEYRING)
        _libc.syscall(ctypes.c_long(number), join, None)


def _wait(child: int, order: Order, started: float) -> int | bytes:
    """Wait for *child*; return its raw status, or the report's word if it must be killed.

    A child with a grace period is first asked to stop, and may then end by itself.
    """
    poller, wake = _poller(child)
    deadline = started + order.timeout_seconds
    requests = _stop_requests(order)
    is_asked = False
    while True:
        status, _ = reap(child)
        if status is not None:
            return status
        now = time.monotonic()
        # A process that the host forked may hold the socket open, so ask for the parent too.
        if not is_asked and (requests or now >= deadline or os.getppid() != order.host):
            is_asked, deadline = True, now + order.grace_seconds
            if order.grace_seconds:
                os.kill(child, _SIGTERM)
        if is_asked and now >= deadline:
            return b"timeout"
        if order.is_limited:
            excess = _excess(order.memory_bytes, order.processes)
            if excess:
                return excess
            took = time.monotonic() - now
            wake = min(max(_LOOK_SECONDS, _LOOK_SHARE * took), _LONGEST_LOOK_SECONDS)
        if any(fd == 0 for fd, _ in poller.poll(min(deadline - now, wake) * 1000)):
            poller.unregister(0)
            requests.append(0)


def _poller(child: int) -> tuple[select.poll, float]:
    """Return a poll object for standard input and *child*, and how often to check *child*."""
    poller = select.poll()
    poller.register(0, select.POLLIN)
    if hasattr(os, "pidfd_open"):
        try:
            poller.register(os.pidfd_open(child), select.POLLIN)
        except OSError:  # an old kernel
            pass
        else:
            return poller, _WAKE_SECONDS
    return poller, _POLL_SECONDS


def _stop_requests(order: Order) -> list[int]:
    """Return a list that gets an element when something asks this process to stop.

    A service manager that stops a service sends SIGTERM to all of its processes, this one
    included.
    """
    requests: list[int] = []
    if order.grace_seconds:
        import signal  # noqa: PLC0415 - rarely needed

        signal.signal(signal.SIGTERM, lambda number, _: requests.append(number))
    return requests


def _excess(memory: int, processes: int) -> bytes:
    """Return the report's word for the limit that the descendants exceed, if any."""
    found = descendants()
    if 0 < processes < len(found):
        return b"processes"
    # The first sum counts shared memory once for each process. The second sum counts it once,
    # but takes the kernel long to compute.
    if 0 < memory < sum(resident for *_, resident in found) and memory < sum(map(_share, found)):
        return b"memory"
    return b""


def _share(process: Process) -> int:
    """Return the resident bytes of a process; shared memory counts in proportion."""
    pid, _, resident = process
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:  # noqa: PTH123
            rollup = file.read()
    except PermissionError:  # the process made itself undumpable
        return resident
    except OSError:  # the process has ended, or the kernel is old
        return 0 if os.path.exists("/proc/self/smaps_rollup") else resident  # noqa: PTH110
    _, found, rest = rollup.partition(b"\nPss:")
    return int(rest.split(None, 1)[0]) * 1024 if found else resident


def _threads() -> int:
    found = _contents("/proc/loadavg").split()
    return int(found[3].partition(b"/")[2]) if found else 0


def _oom_kills() -> int:
    """Return how many processes the kernel has killed so far because memory ran out."""
    _, found, rest = _contents("/proc/vmstat").partition(b"\noom_kill ")
    return int(rest.split(None, 1)[0]) if found else 0


def _contents(path: str) -> bytes:
    """Return the contents of a file of the kernel; empty if it has none, or its process ended."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


# --- its descendants --------------------------------------------------------


def reap(child: int) -> tuple[int | None, bool]:
    """Reap dead children; return the raw status of *child* if it was one, and whether any lives."""
    status, enough = None, time.monotonic() + _REAP_SECONDS
    try:
        # Not forever: the processes of a fork bomb may end as fast as this process can reap.
        while time.monotonic() < enough:
            pid, raw = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return status, True
            if pid == child:
                status = raw
    except ChildProcessError:
        return status, False
    return status, True


def _end_descendants(child: int, order: Order) -> None:
    """Kill all descendants, but first give those that the order spares time to end."""
    enough = time.monotonic() + _SPARED_SECONDS
    while order.spared:
        kill_descendants(child, order.spared)
        if not reap(child)[1] or time.monotonic() > enough:
            break
        time.sleep(_LOOK_SECONDS)
    kill_descendants(child)


def kill_descendants(child: int, spared: bytes = b"") -> None:
    """Kill descendants until none is left, or until it is clear that some do not die.

    A setuid program, for example, cannot be killed. Orphans become children of this
    process, so once it has no children, it has no descendants either. *child* leads a process
    group, which is killed in one call. Processes with the argument *spared* are left alive.
    """
    started = time.monotonic()
    # The group goes first, in one call: a fork bomb is faster than any search of /proc.
    kill(-child)
    killed: set[int] = set()
    while reap(child)[1] and (seconds := time.monotonic() - started) < _GIVE_UP_SECONDS:
        if seconds > _EASY_SECONDS:
            _raise_priority()
        found = descendants()
        if spared:
            found = [
                each
                for each in found
                if spared not in _contents(f"/proc/{each[0]}/cmdline").split(b"\0")
            ]
            if not found:
                return
        for pid, group, _ in found:
            # A process that keeps forking and exiting has already gone, but its group
            # remains unless it makes new groups as well.
            kill(-group)
            kill(pid)
        if killed.issuperset(pid for pid, *_ in found):
            # A dying process needs a processor, and may have to wait for this one.
            time.sleep(_DYING_SHARE * (time.monotonic() - started - seconds))
        killed.update(pid for pid, *_ in found)


def kill(pid: int) -> None:
    """Kill a process, or a group if *pid* is negative; either may have ended."""
    try:  # noqa: SIM105 - contextlib is slow to import
        os.kill(pid, _SIGKILL)
    except OSError:
        pass


def descendants() -> list[Process]:
    """List all descendants of this process, including zombies."""
    children: dict[int, list[Process]] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208 - nor pathlib
        if name.isdigit() and (found := _look_at(name)):
            children.setdefault(found[0], []).append(found[1])
    below = children.pop(os.getpid(), [])
    for pid, *_ in below:
        below += children.pop(pid, [])
    return below


def _look_at(pid: str) -> tuple[int, Process] | None:
    # The program name is in parentheses and may itself contain parentheses.
    fields = _contents(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if not fields:
        return None
    return int(fields[1]), (int(pid), int(fields[2]), int(fields[21]) * _PAGE_BYTES)


if __name__ == "__main__":
    main()
    os._exit(0)
