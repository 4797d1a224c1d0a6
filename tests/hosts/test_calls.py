"""Calls in a supervised process, without an event loop."""

import os
import resource
import signal
import sys
import time
from functools import partial

import pytest
from processparts import leave_litter, live, sleep_with_litter, swallow_everything

from cooperbench_eval.errors import WorkerError
from cooperbench_eval.running.processes import calls, supervision
from cooperbench_eval.running.processes.calls import call_in_process
from cooperbench_eval.running.processes.supervision import Supervision, describe_exit
from cooperbench_eval.running.processes.worker import read_reply, write_call

pytestmark = pytest.mark.usefixtures("temporary")


@pytest.fixture
def mark(tmp_path):
    """Return the file in which a call notes its progress."""
    return tmp_path / "mark"


def test_a_call_may_have_extra_variables():
    """They are added to those of this process."""
    seed = call_in_process(os.getenv, ("PYTHONHASHSEED",), env={"PYTHONHASHSEED": "7"})
    path = call_in_process(os.getenv, ("PATH",))

    assert (seed, path) == ("7", os.environ["PATH"])


def test_output_is_shown_unless_it_is_captured(capfd):
    """A call writes to the standard streams of its host."""
    call_in_process(print, ("shown",))
    call_in_process(print, ("captured",), output_limit=0)

    assert capfd.readouterr().out == "shown\n"


@pytest.mark.parametrize("call", [sleep_with_litter, swallow_everything])
def test_a_call_may_have_a_deadline(word, mark, monkeypatch, call):
    """It is asked to stop, and killed if it continues."""
    monkeypatch.setattr(calls, "_GRACE_SECONDS", 0.5)

    with pytest.raises(WorkerError, match="it did not answer within 2 seconds"):
        call_in_process(call, (word, mark), timeout_seconds=2)

    assert (mark.read_text() == "cleaned up") == (call is sleep_with_litter)
    assert not live(word)


def fill_the_disk():
    """Leave room for short files only, and return a value that is too long for them."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
    return bytes(100_000)


def test_an_answer_that_cannot_be_written_has_its_reason():
    """A short reply takes its place, for example on a full disk."""
    with pytest.raises(WorkerError, match=r"its answer cannot be written \(OSError"):
        call_in_process(fill_the_disk)


def test_a_call_that_was_stopped_before_it_began_starts_no_process(mark):
    """The request may come from another thread while the call is being pickled."""
    stopped = Supervision()
    stopped.stop()

    with pytest.raises(WorkerError, match="it was stopped"):
        call_in_process(mark.touch, supervision=stopped)

    assert not mark.exists()


def test_a_host_that_forks_does_not_wait_for_its_child(word, mark, monkeypatch):
    """The child holds the supervisor's pipes open after the supervisor has ended."""
    start = supervision._start_supervisor

    def fork_first(*args):
        child = os.fork()
        if not child:
            time.sleep(30)
            os._exit(0)
        children.append(child)
        return start(*args)

    children = []
    monkeypatch.setattr(supervision, "_start_supervisor", fork_first)
    began = time.monotonic()

    call_in_process(leave_litter, (word, mark))

    assert time.monotonic() - began < 20
    os.kill(children[0], signal.SIGKILL)
    os.waitpid(children[0], 0)
    assert not live(word)


def test_an_incomplete_reply_is_an_error(tmp_path):
    """The worker died while writing."""
    write_call(tmp_path, partial(int), (), {})
    (tmp_path / "reply-17").write_bytes(b"\x80")

    assert read_reply(tmp_path) is None


def test_without_a_python_there_is_a_clear_error(monkeypatch):
    """An embedded interpreter may not know its program."""
    monkeypatch.setattr(sys, "executable", "")

    with pytest.raises(WorkerError, match=r"process cannot be started \(the supervisor .*Python"):
        call_in_process(os.getpid)


@pytest.mark.parametrize(
    ("code", "words"),
    [(3, "ended with exit status 3"), (-9, "was killed by signal 9"), (None, "did not end")],
)
def test_an_exit_status_is_described_in_words(code, words):
    """All code that waits for a process uses these words."""
    assert describe_exit(code) == words
