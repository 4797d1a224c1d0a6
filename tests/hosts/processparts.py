"""Functions that the tests of hosts call in other processes, which import this module."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import cooperbench_eval as ce

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

# Leaves its session and its parent, ignores signals, and sleeps; its last argument identifies it.
STUBBORN = """
import os, signal, sys, time
if os.fork():
    time.sleep(300)
os.setsid()
if os.fork():
    os._exit(0)
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
open(sys.argv[1], "w").close()
time.sleep(300)
"""


def children(pid=None):
    """List the children of a process, by default this one, including zombies.

    The resource tracker of multiprocessing is left out, because it stays once it was used.
    """
    files = Path(f"/proc/{pid or os.getpid()}/task").glob("*/children")
    found = [int(pid) for file in files for pid in file.read_text().split()]
    return [pid for pid in found if b"resource_tracker" not in command_line(pid)]


def command_line(pid):
    """Return the command line of a process, empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def live(word):
    """List the live processes that have *word* as an argument."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in arguments:
            found.append(int(folder.name))
    return found


def with_folder(folder):
    """List the live processes that have *folder* in their environment."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if bytes(folder) in (each / "environ").read_bytes():
                found.append(int(each.name))
        except OSError:
            continue
    return found


def is_alive(pid):
    """Return whether a process runs and is not a zombie."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(is_so, *, within_seconds=15.0):
    """Wait until *is_so* returns true; return whether it did in time."""
    deadline = time.monotonic() + within_seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)
    return is_so()


def kill_worker():
    """Kill the worker of this process, as the kernel does when memory runs out."""
    [supervisor] = children()
    worker = min(children(supervisor))  # others are orphans
    os.kill(worker, signal.SIGKILL)


def leave_litter(word, mark):
    """Start a process that ignores SIGTERM, and leave a folder."""
    subprocess.Popen([sys.executable, "-S", "-c", STUBBORN, str(mark), word])
    Path(tempfile.mkdtemp(), "file").touch()
    until(Path(mark).exists)


def sleep_with_litter(word, mark):
    """Leave litter, and sleep; note in *mark* if there was time to clean up."""
    try:
        leave_litter(word, mark)
        time.sleep(300)
    finally:
        time.sleep(0.2)
        Path(mark).write_text("cleaned up")


def swallow_everything(word, mark):
    """Leave litter, and continue after any exception."""
    while True:
        try:
            if not Path(mark).exists():
                leave_litter(word, mark)
            while True:
                time.sleep(0.01)
        except BaseException:  # noqa: BLE001, S112 - as a bad strategy does
            continue


def count_natively(word, mark):
    """Leave litter, and compute something that no signal interrupts."""
    leave_litter(word, mark)
    sum(range(10**12))


def answer_and_linger(mark):
    """Return at once, and leave a running thread."""
    threading.Thread(target=time.sleep, args=(300,)).start()
    Path(mark).write_text(str(os.getpid()))
    return "an answer"


class Traveller:
    """Notes which thread pickles and unpickles it."""

    threads: tuple[int, ...] = ()

    def __getstate__(self):
        return (*self.threads, threading.get_native_id())

    def __setstate__(self, state):
        self.threads = (*state, threading.get_native_id())


def bounce(traveller):
    """Return the argument."""
    return traveller


class OddError(Exception):
    """Cannot be rebuilt from its arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


class UnsendableError(Exception):
    """Cannot be pickled."""

    def __init__(self, word):
        super().__init__(word)
        self.lock = threading.Lock()


class Unpicklable:
    """Raises something when it is pickled, from the method named *way*."""

    def __init__(self, raised, way="__reduce__"):
        self.raised = raised
        self.way = way

    def __reduce_ex__(self, _):
        if self.way == "__reduce__":
            raise self.raised
        return super().__reduce_ex__(4)

    def __getstate__(self):
        raise self.raised


class Unbuildable:
    """Raises something when it is rebuilt."""

    def __init__(self, raised):
        self.raised = raised

    def __reduce__(self):
        return throw, (type(self.raised), *self.raised.args)


class UnspeakableError(BaseException):
    """Has a `repr` that raises."""

    def __repr__(self):
        raise ValueError


def throw(kind, *args):
    """Raise something."""
    raise kind(*args)


def pair_that_sleeps(word, mark, command=()):
    """Make a pair whose first test run leaves a stubborn process, and sleeps."""
    base = ce.Snapshot.from_files({"a.txt": b"1\n\n\n\n2\n", "sleep.py": STUBBORN.encode()})
    suite = ce.TestSuite(
        command=command or ("python", "-S", "sleep.py", str(mark), word), timeout_seconds=60
    )
    patches = (
        ce.Changes({"a.txt": ce.Entry(text)}).diff(base)
        for text in (b"one\n\n\n\n2\n", b"1\n\n\n\ntwo\n")
    )
    one, two = (
        ce.Feature(number=number, patch=patch, tests=suite)
        for number, patch in enumerate(patches, 1)
    )
    return ce.FeaturePair(repo_name="sleeper", task_id=1, base=base, feature1=one, feature2=two)
