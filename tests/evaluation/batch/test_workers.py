"""The built-in pool: which jobs it loses when a process dies, and how it ends."""

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

from cooperbench_eval.errors import BatchError
from cooperbench_eval.evaluation.batch import workers
from cooperbench_eval.evaluation.batch.workers import WorkerDiedError, WorkerPool, usable_cores


@pytest.fixture
def pool():
    """Return a pool of two workers, which is stopped at the end."""
    pool = WorkerPool(2)
    yield pool
    pool.kill()
    assert not multiprocessing.active_children()


def test_jobs_are_done_in_processes_of_their_own(pool):
    """There are at most two processes, and they are reused."""
    futures = [pool.submit(os.getpid) for _ in range(50)]
    pids = {future.result() for future in futures}

    assert len(pids) <= 2
    assert os.getpid() not in pids


def test_an_exception_of_a_job_is_its_answer(pool):
    """The worker goes on."""
    first = pool.submit(os.getpid).result()

    assert isinstance(pool.submit(int, "x").exception(), ValueError)
    assert first in {pool.submit(os.getpid).result() for _ in range(10)}


@pytest.mark.parametrize(("how", "words"), [((os._exit, 3), "status 3"), ((os.abort,), "signal 6")])
def test_a_death_costs_only_the_job_in_progress(pool, how, words):
    """The jobs before and after it are done."""
    before = [pool.submit(os.getpid) for _ in range(10)]
    deadly = pool.submit(*how)
    after = [pool.submit(os.getpid) for _ in range(30)]

    error = deadly.exception(timeout=30)

    assert isinstance(error, WorkerDiedError)
    assert words in str(error)
    assert all(future.result(timeout=30) for future in before + after)


def test_every_worker_may_die(pool):
    """Each is replaced, again and again."""
    futures = [
        pool.submit(os._exit if n % 3 == 0 else os.getpid, *[1] * (n % 3 == 0)) for n in range(12)
    ]

    errors = [future.exception(timeout=60) for future in futures]

    assert [error is not None for error in errors] == [n % 3 == 0 for n in range(12)]


def test_shutdown_waits_for_the_jobs_that_were_given(tmp_path):
    """It accepts no more jobs."""
    with WorkerPool(1) as pool:
        for name in "abc":
            pool.submit(touch, tmp_path / name, 0.05)

    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "b", "c"]
    with pytest.raises(RuntimeError, match="shut down"):
        pool.submit(os.getpid)


def test_kill_ends_the_jobs_in_progress(tmp_path):
    """They end at once, and waiting jobs never begin."""
    pool = WorkerPool(1)
    futures = [pool.submit(touch, tmp_path / name, 30) for name in "abcd"]
    time.sleep(0.5)
    began = time.monotonic()

    pool.kill()

    assert time.monotonic() - began < 5
    assert not multiprocessing.active_children()
    assert all(future.done() for future in futures)
    assert not list(tmp_path.iterdir())


def test_a_job_that_is_killed_cleans_up(tmp_path):
    """An evaluation removes its working trees in this way."""
    pool = WorkerPool(1)
    pool.submit(stay, tmp_path)
    while not list(tmp_path.glob("*/here")):
        time.sleep(0.01)

    pool.kill()

    assert not list(tmp_path.iterdir())


def test_a_cancelled_job_is_not_done(pool, tmp_path):
    """This holds for every executor."""
    blockers = [pool.submit(time.sleep, 0.3) for _ in range(4)]
    future = pool.submit(touch, tmp_path / "a")

    assert future.cancel()
    assert all(each.exception() is None for each in blockers)
    assert pool.submit(os.getpid).result()
    assert not list(tmp_path.iterdir())


def test_a_call_that_does_not_pickle_is_refused_at_once(pool):
    """It is never queued."""
    with pytest.raises((AttributeError, TypeError, Exception), match="pickle"):
        pool.submit(lambda: None)


SCRIPT = """
import os, sys, time
from cooperbench_eval.evaluation.batch.workers import WorkerPool

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
def test_workers_do_not_outlive_their_caller(tmp_path, then):
    """However the caller ends, and even in the middle of a job."""
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
    """Whether a process runs and is not a zombie."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_script_without_a_main_guard_gets_a_clear_error(tmp_path):
    """Its workers would run it again from the top; they fail, and so does the script."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os\nfrom cooperbench_eval.evaluation.batch.workers import WorkerPool\n"
        "WorkerPool(1).submit(os.getpid).result()\n"
    )

    done = subprocess.run(
        [sys.executable, script], capture_output=True, timeout=30, check=False, text=True
    )

    assert done.returncode == 1
    assert 'if __name__ == "__main__":' in done.stderr.splitlines()[-1]


def test_workers_that_cannot_start_fail_their_jobs(pool, monkeypatch):
    """If memory or processes run out, the jobs fail instead of waiting for ever."""

    def fail(_):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("cooperbench_eval.evaluation.batch.workers._Worker", fail)

    assert isinstance(pool.submit(os.getpid).exception(timeout=10), BatchError)


def test_there_is_a_worker_for_each_usable_core():
    """A process may be allowed fewer cores than the machine has."""
    assert WorkerPool().workers == usable_cores() == len(os.sched_getaffinity(0))


def test_large_values_may_travel_both_ways_at_once(pool):
    """They are larger than a pipe's buffer, and the next job is already on its way."""
    data = b"x" * 3_000_000

    futures = [pool.submit(echo, data) for _ in range(8)]

    assert all(future.result(timeout=60) == data for future in futures)


def test_a_job_that_returns_twice_has_one_answer():
    """It forked. Its child ends, and every answer belongs to its own job."""
    with WorkerPool(1) as pool:
        futures = [pool.submit(fork_and_return)]
        futures += [pool.submit(echo, number) for number in range(20)]

        assert [future.result(timeout=30) for future in futures[1:]] == list(range(20))


def test_a_death_is_noticed_even_if_a_child_holds_the_pipe(pool):
    """The child belongs to the dead worker, and outlives it."""
    began = time.monotonic()

    assert isinstance(pool.submit(fork_a_holder).exception(timeout=15), WorkerDiedError)
    assert pool.submit(echo, 1).result(timeout=15) == 1
    assert time.monotonic() - began < 10


def begun(path):
    """Wait for `count_natively` to begin; return its process."""
    while not (Path(path).exists() and Path(path).read_text()):
        time.sleep(0.01)
    return int(Path(path).read_text())


def test_a_job_that_ignores_signals_is_killed(tmp_path, monkeypatch):
    """This happens after the time in which it could have cleaned up."""
    monkeypatch.setattr(workers, "_PATIENCE_SECONDS", 0.5)
    pool = WorkerPool(1)
    pool.submit(count_natively, tmp_path / "pid")
    pid = begun(tmp_path / "pid")
    began = time.monotonic()

    pool.kill()

    assert 0.4 < time.monotonic() - began < 8
    assert not is_alive(pid)


def test_a_job_that_ignores_signals_dies_with_its_caller(tmp_path):
    """The kernel kills it, because nothing else is left to do so."""
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}]\n"
        "from cooperbench_eval.evaluation.batch.workers import WorkerPool\n"
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
    """The kernel may kill it when memory runs out; the script's main guard is not at fault."""
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


def test_a_forked_child_of_the_caller_does_not_end_workers(pool):
    """Not even if it runs the caller's clean-up at exit."""
    pid = pool.submit(os.getpid).result()
    child = os.fork()
    if not child:
        pool.kill()
        pool._at_exit()
        os._exit(0)
    os.waitpid(child, 0)

    assert pid in {pool.submit(os.getpid).result() for _ in range(10)}


def test_a_script_may_come_through_standard_input(tmp_path):
    """No process can import it, but its jobs come from other modules."""
    script = (
        "import os\nfrom cooperbench_eval.evaluation.batch.workers import WorkerPool\n"
        "with WorkerPool(1) as pool: print(pool.submit(os.getpid).result() != os.getpid())\n"
    )

    done = subprocess.run(
        [sys.executable, "-"], input=script, capture_output=True, text=True, check=False
    )

    assert done.stdout == "True\n", done.stderr


def test_programs_started_by_a_worker_have_default_signals(pool):
    """A test suite that interrupts itself would notice a difference."""
    found = pool.submit(signals_of_a_child).result()

    assert b"default_int_handler" in found
    assert found.startswith(b"set()")


def test_workers_ignore_an_interrupt_from_the_terminal(pool):
    """It reaches all processes of a terminal, but the caller decides which ones end."""
    pid = pool.submit(os.getpid).result()
    os.kill(pid, signal.SIGINT)

    assert pid in {pool.submit(os.getpid).result() for _ in range(10)}
