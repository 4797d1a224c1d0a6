"""Jobs for tests of workers, which import this module; it imports nothing that they do not."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cooperbench_eval.evaluation.batch.workers import received_parts


def touch(path, seconds=0.0):
    """Create a file after a while."""
    time.sleep(seconds)
    Path(path).touch()


def stay(folder):
    """Work in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory(dir=folder) as inner:
        Path(inner, "here").touch()
        time.sleep(30)


def echo(data):
    """Return the argument."""
    return data


def fork_and_return():
    """Return twice, as does a job that forks and forgets to end its child."""
    os.fork()
    return os.getpid()


def fork_a_holder():
    """Leave a child that holds all open files of this process, and die."""
    if not os.fork():
        time.sleep(20)
        os._exit(0)
    os.kill(os.getpid(), 9)


def count_natively(path):
    """Compute something that no signal interrupts."""
    Path(path).write_text(str(os.getpid()))
    sum(range(10**12))


def signals_of_a_child():
    """Return the signal handlers that a program finds when this process starts it."""
    program = (
        "import signal; print(signal.pthread_sigmask(0, []),"
        " [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)])"
    )
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout


def pid_and_part(digest, seconds=0.0):
    """Return this process, a part and the part's address, after a while."""
    time.sleep(seconds)
    part = received_parts.value(digest)
    return os.getpid(), part, id(part)


def wait_for(path):
    """Return when a file exists."""
    while not Path(path).exists():
        time.sleep(0.001)


def pid_and_start():
    """Return this process, and when it starts this job."""
    return os.getpid(), time.monotonic_ns()
