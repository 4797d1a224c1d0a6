"""Calls in a process of their own work without a supervisor, as on macOS and Windows."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from cooperbench_eval.errors import WorkerError
from cooperbench_eval.running.processes import supervision
from cooperbench_eval.running.processes.calls import call_in_process
from cooperbench_eval.running.processes.unsupervised import run_plainly

PARENT = """
import subprocess, sys, time
child = subprocess.Popen((sys.executable, "-S", "-c", "import time; time.sleep(60)"))
print(child.pid, flush=True)
time.sleep(60)
"""


def is_alive(process):
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch):
    """Run without the supervisor, which needs Linux."""
    monkeypatch.setattr(supervision, "IS_LINUX", False)


def test_values_and_exceptions_come_back():
    """From another process."""
    assert call_in_process(os.getpid) != os.getpid()
    with pytest.raises(ValueError, match="invalid literal"):
        call_in_process(int, ("x",))


def test_a_deadline_and_a_stop_end_the_process():
    """The error says which of them it was."""
    with pytest.raises(WorkerError, match="did not answer within"):
        call_in_process(time.sleep, (60,), timeout_seconds=0.5)
    stopped = supervision.Supervision()
    threading.Timer(0.3, stopped.stop).start()
    with pytest.raises(WorkerError, match="it was stopped"):
        call_in_process(time.sleep, (60,), supervision=stopped)


def test_a_process_that_dies_is_an_error():
    """And so is a program that cannot be started."""
    with pytest.raises(WorkerError, match="exit status 3"):
        call_in_process(os._exit, (3,))
    with pytest.raises(OSError, match="no-such-program"):
        run_plainly(
            ("/no-such-program",),
            folder=os.curdir,
            env={},
            is_over=lambda: False,
            grace_seconds=1,
            take=None,
        )


def test_the_children_of_a_stopped_command_are_killed(tmp_path):
    """Those of its process group; the output until then is kept."""
    output = []
    started = time.monotonic()

    exit_code = run_plainly(
        (sys.executable, "-S", "-c", PARENT),
        folder=tmp_path,
        env=dict(os.environ),
        is_over=lambda: time.monotonic() > started + 0.5,
        grace_seconds=5,
        take=output.append,
    )

    assert exit_code < 0
    assert 0.5 < time.monotonic() - started < 5
    child = int(b"".join(output))
    deadline = time.monotonic() + 5
    while is_alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)
