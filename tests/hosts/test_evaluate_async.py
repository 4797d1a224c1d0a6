"""The asyncio example: its output, and that nothing outlives an interrupt."""

import os
import signal
import subprocess
import sys
from functools import partial

import pytest
from processparts import EXAMPLES, children, until, with_folder

from cooperbench_eval.running.sandboxes.bubblewrap import bubblewrap_problem


@pytest.fixture
def start(tmp_path):
    """Return a function that starts the example with its own temporary folder."""
    processes = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, EXAMPLES / "evaluate_async.py", *arguments],
            env=os.environ | {"TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.long
def test_a_verdict_is_printed_as_soon_as_it_is_known(start):
    """Nothing else is printed."""
    said, errors = start("1-2").communicate(timeout=120)

    assert (said, errors) == ("1-2: conflicts; naive unhandled, union correct\n", "")


def test_a_deadline_ends_a_pair(start, tmp_path):
    """The line for the pair says so."""
    said, errors = start("1-2", "--timeout", "0.3").communicate(timeout=60)

    assert (said, errors) == ("1-2: not done within 0.3 seconds\n", "")
    assert not list(tmp_path.iterdir())


def test_an_interrupt_ends_everything(start, tmp_path):
    """It comes while tests of two pairs run; no process and no file is left."""
    process = start()
    guardians = partial(children, process.pid)
    running = 8 if bubblewrap_problem() is None else 4  # bubblewrap adds processes of its own
    assert until(
        lambda: len(guardians()) == 2 and len(with_folder(tmp_path)) > running, within_seconds=120
    )

    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)

    assert (process.returncode, said, errors) == (130, "", "")
    assert not with_folder(tmp_path)
    assert not list(tmp_path.iterdir())
