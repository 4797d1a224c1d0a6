"""The built-in pool: what it loses when a process dies, and how it ends."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from workerparts import (
    count_natively,
    echo,
    fork_a_holder,
    fork_and_return,
    signals_of_a_child,
    stay,
    touch,
)

from cooperbench_eval.batch import workers
from cooperbench_eval.batch.workers import WorkerDiedError, WorkerPool, usable_cores
from cooperbench_eval.errors import BatchError


@pytest.fixture
def pool():
    """Two workers, stopped in the end."""
    pool = WorkerPool(2)
    yield pool
    pool.kill()
    assert not multiprocessing.active_children()


def test_jobs_are_done_in_processes_of_their_own(pool):
    """Two of them at a time, for as long as there is work."""
    futures = [pool.submit(os.getpid) for _ in range(50)]
    pids = {future.result() for future in futures}

    assert len(pids) <= 2
    assert os.getpid() not in pids


def test_what_a_job_raises_is_its_answer(pool):
    """The worker lives on."""
    first = pool.submit(os.getpid).result()

    assert isinstance(pool.submit(int, "x").exception(), ValueError)
    assert first in {pool.submit(os.getpid).result() for _ in range(10)}


@pytest.mark.parametrize(("how", "words"), [((os._exit, 3), "status 3"), ((os.abort,), "signal 6")])
def test_a_death_costs_the_job_it_was_at(pool, how, words):
    """Those before it and behind it are done."""
    before = [pool.submit(os.getpid) for _ in range(10)]
    deadly = pool.submit(*how)
    behind = [pool.submit(os.getpid) for _ in range(30)]

    error = deadly.exception(timeout=30)

    assert isinstance(error, WorkerDiedError)
    assert words in str(error)
    assert all(future.result(timeout=30) for future in before + behind)


def test_every_worker_may_die(pool):
    """Again and again; each is replaced."""
    futures = [
        pool.submit(os._exit if n % 3 == 0 else os.getpid, *[1] * (n % 3 == 0)) for n in range(12)
    ]

    errors = [future.exception(timeout=60) for future in futures]

    assert [error is not None for error in errors] == [n % 3 == 0 for n in range(12)]


def test_shutdown_waits_for_the_jobs_that_were_given(tmp_path):
    """And takes no more."""
    with WorkerPool(1) as pool:
        for name in "abc":
            pool.submit(touch, tmp_path / name, 0.05)

    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "b", "c"]
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(os.getpid)


def test_kill_ends_what_is_under_way(tmp_path):
    """At once, and what waits is never begun."""
    pool = WorkerPool(1)
    futures = [pool.submit(touch, tmp_path / name, 30) for name in "abcd"]
    time.sleep(0.5)
    began = time.monotonic()

    pool.kill()

    assert time.monotonic() - began < 5
    assert not multiprocessing.active_children()
    assert all(future.done() for future in futures)
    assert not list(tmp_path.iterdir())


def test_what_is_ended_cleans_up(tmp_path):
    """As an evaluation does with its work trees."""
    pool = WorkerPool(1)
    pool.submit(stay, tmp_path)
    while not list(tmp_path.glob("*/here")):
        time.sleep(0.01)

    pool.kill()

    assert not list(tmp_path.iterdir())


def test_a_cancelled_job_is_not_done(pool, tmp_path):
    """As with any executor."""
    blockers = [pool.submit(time.sleep, 0.3) for _ in range(4)]
    future = pool.submit(touch, tmp_path / "a")

    assert future.cancel()
    assert all(each.exception() is None for each in blockers)
    assert pool.submit(os.getpid).result()
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_pickled_is_refused_at_once(pool):
    """Before it is anybody's job."""
    with pytest.raises((AttributeError, TypeError, Exception), match="pickle"):
        pool.submit(lambda: None)


SCRIPT = """
import os, sys, time
from cooperbench_eval.batch.workers import WorkerPool

def main():
    pool = WorkerPool(2)
    print(*[pool.submit(os.getpid).result() for _ in range(8)], flush=True)
    pool.submit(time.sleep, 60)
    time.sleep(0.3)
    {then}

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    "then", ["pass", "raise SystemExit(0)", "os.kill(os.getpid(), 9)", "os._exit(0)"]
)
def test_workers_do_not_outlive_whoever_made_them(tmp_path, then):
    """However that ends, and whatever they are at."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(then=then))

    done = subprocess.run([sys.executable, script], capture_output=True, timeout=30, check=False)

    pids = set(map(int, done.stdout.split()))
    assert pids, done.stderr
    deadline = time.monotonic() + 10
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_alive, pids))


def is_alive(pid):
    """Whether a process runs, and is no zombie."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_script_without_a_guard_is_told_so(tmp_path):
    """Its workers would begin it again from the top; they end instead, and so does it."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os\nfrom cooperbench_eval.batch.workers import WorkerPool\n"
        "WorkerPool(1).submit(os.getpid).result()\n"
    )

    done = subprocess.run(
        [sys.executable, script], capture_output=True, timeout=30, check=False, text=True
    )

    assert done.returncode == 1
    assert 'if __name__ == "__main__":' in done.stderr.splitlines()[-1]


def test_workers_that_cannot_start_fail_their_jobs(pool, monkeypatch):
    """A machine without memory or processes left is an error, and no wait without end."""

    def fail(_):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("cooperbench_eval.batch.workers._Worker", fail)

    assert isinstance(pool.submit(os.getpid).exception(timeout=10), BatchError)


def test_there_is_a_worker_for_each_usable_core():
    """Those of the process, not those of the machine."""
    assert WorkerPool().workers == usable_cores() == len(os.sched_getaffinity(0))


def test_much_may_travel_both_ways_at_once(pool):
    """More than any pipe holds, a job ahead."""
    data = b"x" * 3_000_000

    futures = [pool.submit(echo, data) for _ in range(8)]

    assert all(future.result(timeout=60) == data for future in futures)


def test_a_job_that_comes_back_twice_is_answered_once():
    """Its child ends; every answer stays with its job."""
    with WorkerPool(1) as pool:
        futures = [pool.submit(fork_and_return)]
        futures += [pool.submit(echo, number) for number in range(20)]

        assert [future.result(timeout=30) for future in futures[1:]] == list(range(20))


def test_a_death_is_noticed_whoever_holds_the_pipe(pool):
    """A child of the dead worker's, say."""
    began = time.monotonic()

    assert isinstance(pool.submit(fork_a_holder).exception(timeout=15), WorkerDiedError)
    assert pool.submit(echo, 1).result(timeout=15) == 1
    assert time.monotonic() - began < 10


def begun(path):
    """Wait for `count_natively` to begin; return its process."""
    while not (Path(path).exists() and Path(path).read_text()):
        time.sleep(0.01)
    return int(Path(path).read_text())


def test_what_hears_no_signal_is_ended_all_the_same(tmp_path, monkeypatch):
    """After a while in which it may clean up."""
    monkeypatch.setattr(workers, "_PATIENCE_SECONDS", 0.5)
    pool = WorkerPool(1)
    pool.submit(count_natively, tmp_path / "pid")
    pid = begun(tmp_path / "pid")
    began = time.monotonic()

    pool.kill()

    assert 0.4 < time.monotonic() - began < 8
    assert not is_alive(pid)


def test_what_hears_no_signal_dies_with_its_parent(tmp_path):
    """Nobody is left to end it."""
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}]\n"
        "from cooperbench_eval.batch.workers import WorkerPool\n"
        "from workerparts import count_natively\n"
        "if __name__ == '__main__':\n"
        f"    WorkerPool(1).submit(count_natively, {str(tmp_path / 'pid')!r}).result()\n"
    )
    with subprocess.Popen([sys.executable, script]) as process:
        pid = begun(tmp_path / "pid")
        process.kill()
        process.wait()

    deadline = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(pid)


def test_a_worker_that_is_killed_while_it_starts_is_replaced(pool, monkeypatch):
    """As for want of memory; that is no script without a guard."""
    started = []
    start = workers._SPAWN.Process.start

    def start_and_kill(process):
        start(process)
        started.append(process)
        if len(started) == 1:
            process.kill()

    monkeypatch.setattr(workers._SPAWN.Process, "start", start_and_kill)

    assert isinstance(pool.submit(echo, 1).exception(timeout=30), WorkerDiedError)
    assert pool.submit(echo, 2).result(timeout=30) == 2


def test_a_forked_child_of_the_caller_ends_no_worker(pool):
    """Not even if it runs the caller's clean-up."""
    pid = pool.submit(os.getpid).result()
    child = os.fork()
    if not child:
        pool.kill()
        pool._at_exit()
        os._exit(0)
    os.waitpid(child, 0)

    assert pid in {pool.submit(os.getpid).result() for _ in range(10)}


def test_a_script_may_come_through_standard_input(tmp_path):
    """No process can import that; what it gives to workers is not of it."""
    script = (
        "import os\nfrom cooperbench_eval.batch.workers import WorkerPool\n"
        "with WorkerPool(1) as pool: print(pool.submit(os.getpid).result() != os.getpid())\n"
    )

    done = subprocess.run(
        [sys.executable, "-"], input=script, capture_output=True, text=True, check=False
    )

    assert done.stdout == "True\n", done.stderr


def test_what_a_worker_runs_finds_the_signals_as_ever(pool):
    """A test suite may interrupt itself, and would tell the difference."""
    found = pool.submit(signals_of_a_child).result()

    assert b"default_int_handler" in found
    assert found.startswith(b"set()")


def test_an_interrupt_of_the_terminal_is_not_for_the_workers(pool):
    """It reaches all processes of a terminal; the caller decides what ends."""
    pid = pool.submit(os.getpid).result()
    os.kill(pid, signal.SIGINT)

    assert pid in {pool.submit(os.getpid).result() for _ in range(10)}
