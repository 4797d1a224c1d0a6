"""Runs one command and leaves none of its processes behind.

A script of its own, started for each run by the sandboxes of this machine.
Standard input holds the job; after that it stays open for as long as the host
lives. The file descriptor named by the first argument takes the report: the line
`starting`, before which nothing of the command has run, and then one of

    exit STATUS SECONDS KILLS   the command ended; meanwhile the kernel killed so
                                many processes of the machine for want of memory
    timeout SECONDS             the deadline passed
    memory SECONDS              together its processes held more than allowed
    processes SECONDS           they were more than allowed
    refused ERRNO REASON        the command could not be started
    failed REASON               the supervisor could not do its part

It imports little, because its own start is what a run costs over the command:
`signal`, `json`, `typing` and `contextlib` would double it.
"""

import ctypes
import marshal
import os
import select
import sys
import time
from collections.abc import Callable

Job = tuple[int, float, list[str], dict[str, str], str, list[tuple[int, int]], int, int]
"""Host's process id, timeout, command, environment, tree, resource limits; and
how many bytes and processes are allowed to all together, 0 for any."""

Process = tuple[int, int, int]
"""Its id, its group, and how many bytes of it are resident."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_KEYCTL = {"x86_64": 250, "aarch64": 219}
"""The number of a call that has no name in the C library."""
_KEYCTL_JOIN_SESSION_KEYRING = 1
_SIGKILL = 9
_LAST_SIGNAL = 64
_SIG_SETMASK = 2 if sys.platform == "linux" else 3
_SIGNAL_SET_BYTES = 128

_GIVE_UP_SECONDS = 5.0
_WAKE_SECONDS = 1.0
_POLL_SECONDS = 0.02
_LOOK_SECONDS = 0.05
"""How often the run's processes are looked at, if there is a limit to watch."""
_LOOK_SHARE = 20
"""One part in how many of a processor the looking may take, on a busy machine."""
_LONGEST_LOOK_SECONDS = 0.5
_BURIAL_SECONDS = 0.1
_DYING_SHARE = 2
_EASY_SECONDS = 0.3
"""How long an ordinary killing takes at most."""
_SPARE_PROCESSES = 4096
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_libc = ctypes.CDLL(None)


def main() -> None:
    """Do the job on standard input."""
    report_fd = int(sys.argv[1])
    os.set_inheritable(report_fd, False)
    job = _receive()
    if job is None:
        return
    os.write(report_fd, b"starting\n")
    try:
        report = _do(job)
    except Exception as exc:  # noqa: BLE001 - whatever it is, the host can say it better
        report = b"failed " + str(exc).encode(errors="backslashreplace")
    os.write(report_fd, report)


def _do(job: Job) -> bytes:
    if sys.platform == "linux":
        # Orphans of the command come to this process instead of to init.
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    *_, memory, processes = job
    if memory or processes:
        _take_precedence()
    kills = _oom_kills()
    started = time.monotonic()
    child, problem = _start(job)
    if problem:
        return b"refused " + problem
    try:
        ending = _wait(child, job, started)
        seconds = time.monotonic() - started
        if (memory or processes) and ending not in (b"memory", b"processes"):
            _take_precedence(take=False)
    finally:
        kill_descendants(child)
    if isinstance(ending, bytes):
        return b"%b %.6f" % (ending, seconds)
    status = os.waitstatus_to_exitcode(ending)
    return b"exit %d %.6f %d" % (status, seconds, _oom_kills() - kills)


def _take_precedence(*, take: bool = True) -> None:
    """See to it that thousands of others do not keep this process from looking.

    One that sleeps nearly always takes little from anybody; not so one that does
    not, as while it kills. What is not permitted it does without.
    """
    try:
        # What it starts is not preferred.
        policy = os.SCHED_RR | os.SCHED_RESET_ON_FORK if take else os.SCHED_OTHER
        os.sched_setscheduler(0, policy, os.sched_param(int(take)))
    except (AttributeError, OSError):  # another system, or not permitted
        pass


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
            number = exc.errno if isinstance(exc, OSError) else 0
            os.write(child_fd, f"{number or 0} {exc}".encode(errors="backslashreplace"))
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
    _, _, command, env, tree, limits, _, processes = job
    os.setsid()
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
        if os.getppid() != supervisor:
            os._exit(127)
        _leave_keyring()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Dispositions and masks outlive exec: Python ignores SIGPIPE, hosts more. 32 and 33 are
    # the C library's own; it lets nobody have them.
    for number in range(1, _LAST_SIGNAL + 1):
        _libc.signal(number, None)
    _libc.sigprocmask(_SIG_SETMASK, ctypes.create_string_buffer(_SIGNAL_SET_BYTES), None)
    if limits or processes:
        import resource  # noqa: PLC0415 - rarely needed

        for kind, value in limits:
            resource.setrlimit(kind, (value, value))
        if processes:
            # Counts all of the user's, so that it is but a last resort; not for root.
            most = _threads() + processes + _SPARE_PROCESSES
            hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    os.chdir(tree)
    os.execvpe(command[0], command, env)  # noqa: S606 - running what the caller names is the point


def _leave_keyring() -> None:
    """Take a new session keyring, since neither namespaces nor sessions part with the old.

    Where keys are not to be had there are none to hide.
    """
    number = _KEYCTL.get(os.uname().machine)
    if number:
        join = ctypes.c_long(_KEYCTL_JOIN_SESSION_KEYRING)
        _libc.syscall(ctypes.c_long(number), join, None)


def _wait(child: int, job: Job, started: float) -> int | bytes:
    """Wait for *child*; return its raw status, or the word for why it is stopped."""
    host, timeout_seconds, *_, memory, processes = job
    wake, poller = _POLL_SECONDS, select.poll()
    poller.register(0, select.POLLHUP)
    if hasattr(os, "pidfd_open"):
        try:
            poller.register(os.pidfd_open(child), select.POLLIN)
            wake = _WAKE_SECONDS
        except OSError:  # an old kernel
            pass
    while True:
        status, _ = reap(child)
        if status is not None:
            return status
        now = time.monotonic()
        left = started + timeout_seconds - now
        # Another process forked by the host may hold the pipe, hence getppid.
        if left <= 0 or os.getppid() != host:
            return b"timeout"
        if memory or processes:
            excess = _excess(memory, processes)
            if excess:
                return excess
            took = time.monotonic() - now
            wake = min(max(_LOOK_SECONDS, _LOOK_SHARE * took), _LONGEST_LOOK_SECONDS)
        if any(fd == 0 for fd, _ in poller.poll(min(left, wake) * 1000)):
            return b"timeout"


def _excess(memory: int, processes: int) -> bytes:
    """Return the word for what the descendants have too much of, if any."""
    found = descendants()
    if 0 < processes < len(found):
        return b"processes"
    # What several share counts for each in the first sum, once in the second,
    # which takes the kernel long to find out.
    if 0 < memory < sum(resident for *_, resident in found) and memory < sum(map(_share, found)):
        return b"memory"
    return b""


def _share(process: Process) -> int:
    """Return its proportional part of the memory that it has resident."""
    pid, _, resident = process
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:  # noqa: PTH123
            rollup = file.read()
    except PermissionError:  # it made itself undumpable
        return resident
    except OSError:  # it is gone, or the kernel is old
        return 0 if os.path.exists("/proc/self/smaps_rollup") else resident  # noqa: PTH110
    _, found, rest = rollup.partition(b"\nPss:")
    return int(rest.split(None, 1)[0]) * 1024 if found else resident


def _threads() -> int:
    """Return how many threads this machine runs."""
    try:
        with open("/proc/loadavg", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[3].partition(b"/")[2])
    except OSError:
        return 0


def _oom_kills() -> int:
    """Return how many processes the kernel has killed so far for want of memory."""
    try:
        with open("/proc/vmstat", "rb") as file:  # noqa: PTH123
            _, found, rest = file.read().partition(b"\noom_kill ")
    except OSError:
        return 0
    return int(rest.split(None, 1)[0]) if found else 0


# --- its descendants --------------------------------------------------------


def reap(child: int) -> tuple[int | None, bool]:
    """Bury the dead; return *child*'s status if among them, and whether any live."""
    status, enough = None, time.monotonic() + _BURIAL_SECONDS
    try:
        # Not for ever: a fork bomb dies as fast as we bury.
        while time.monotonic() < enough:
            pid, raw = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return status, True
            if pid == child:
                status = raw
    except ChildProcessError:
        return status, False
    return status, True


def kill_descendants(child: int, is_spared: Callable[[int], bool] | None = None) -> None:
    """Kill until none is left; give up on what does not die, say a setuid one.

    With no child there is no descendant either, since orphans become children.

    Args:
        child: Leads a group of its own, which is killed at one blow.
        is_spared: Tells of a process whether it is to live on.
    """
    started = time.monotonic()
    # First its own group, at one blow: a fork bomb outruns any look at /proc.
    kill(-child)
    killed: set[int] = set()
    while reap(child)[1] and (seconds := time.monotonic() - started) < _GIVE_UP_SECONDS:
        if seconds > _EASY_SECONDS:
            _take_precedence()
        found = descendants()
        if is_spared:
            found = [each for each in found if not is_spared(each[0])]
            if not found:
                return
        for pid, group, _ in found:
            # Groups too: one that forks and exits all the time is gone by now,
            # but its group is not, unless it makes new ones as well.
            kill(-group)
            kill(pid)
        if killed.issuperset(pid for pid, *_ in found):
            # Dying takes a processor, which may be this one.
            time.sleep(_DYING_SHARE * (time.monotonic() - started - seconds))
        killed.update(pid for pid, *_ in found)


def kill(pid: int) -> None:
    """Kill a process, or a group by its number, negative; it may be gone."""
    try:  # noqa: SIM105 - contextlib is slow to import
        os.kill(pid, _SIGKILL)
    except OSError:
        pass


def descendants() -> list[Process]:
    """Look for all that came of this process, dead ones too that nobody buried."""
    children: dict[int, list[Process]] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208 - nor pathlib
        if name.isdigit() and (found := _look_at(name)):
            children.setdefault(found[0], []).append(found[1])
    below = children.pop(os.getpid(), [])
    for pid, *_ in below:
        below += children.pop(pid, [])
    return below


def _look_at(pid: str) -> tuple[int, Process] | None:
    """Return its parent and what is to be known of it."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            # The name stands in brackets and may hold anything, brackets too.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(fields[1]), (int(pid), int(fields[2]), int(fields[21]) * _PAGE_BYTES)


if __name__ == "__main__":
    main()
    os._exit(0)
