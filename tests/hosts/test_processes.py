"""Calls in a separate process: their results, and cleaning up after cancellation."""

import asyncio
import contextlib
import multiprocessing
import operator
import os
import random
import signal
import subprocess
import sys
import threading
import time
import types
from functools import partial
from pathlib import Path

import pytest
from needs import need_package
from processparts import (
    OddError,
    Traveller,
    Unbuildable,
    Unpicklable,
    UnsendableError,
    UnspeakableError,
    answer_and_linger,
    bounce,
    children,
    count_natively,
    is_alive,
    leave_litter,
    live,
    sleep_with_litter,
    swallow_everything,
    throw,
    until,
)

from cooperbench_eval.errors import DatasetError, WorkerError
from cooperbench_eval.running.processes import calls, supervision
from cooperbench_eval.running.processes.calls import await_in_process

pytestmark = pytest.mark.usefixtures("temporary")


@pytest.fixture
def mark(tmp_path):
    """Return the file in which a call notes its progress."""
    return tmp_path / "mark"


async def begun(mark):
    """Wait until a call has begun."""
    while not mark.exists():  # noqa: ASYNC110 - another process creates it
        await asyncio.sleep(0.01)


# --- results ---------------------------------------------------------


def test_a_value_comes_back_from_another_process():
    """Arguments travel by position and by name."""

    async def main():
        own, text = await asyncio.gather(
            await_in_process(os.getpid), await_in_process(str, b"\xff", encoding="latin-1")
        )
        return own, text

    pid, text = asyncio.run(main())

    assert pid != os.getpid()
    assert text == "ÿ"
    assert not is_alive(pid)


@pytest.mark.long
def test_large_values_travel_both_ways():
    """They are larger than the buffer of any pipe."""
    data = b"x" * 50_000_000

    assert asyncio.run(await_in_process(bounce, data)) == data


def test_the_event_loop_neither_pickles_nor_unpickles():
    """Both may take long, so a thread does them."""
    traveller = asyncio.run(await_in_process(bounce, Traveller()))

    packed, _, _, unpacked = traveller.threads
    assert packed == unpacked != threading.get_native_id()


def test_a_lambda_is_pickled_by_value():
    """A notebook may define one, for example."""
    number = 40

    assert asyncio.run(await_in_process(lambda more: number + more, 2)) == 42


def test_an_exception_of_the_call_is_raised_here():
    """It keeps its attributes, and its traceback becomes a note."""
    with pytest.raises(DatasetError) as ours:
        asyncio.run(await_in_process(throw, DatasetError, "is no directory", "/dataset"))
    with pytest.raises(KeyError, match="nothing"):
        asyncio.run(await_in_process(operator.getitem, {}, "nothing"))

    assert ours.value.location == "/dataset"
    [note] = ours.value.__notes__
    assert "processparts.py" in note


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        ((OddError, 1, 2), "it raised OddError('1 and 2')"),
        ((UnsendableError, "no"), "it raised UnsendableError('no')"),
        ((SystemExit, 3), "it raised SystemExit(3)"),
        ((asyncio.CancelledError,), "it raised CancelledError()"),
        ((KeyboardInterrupt,), "it raised KeyboardInterrupt()"),
        ((UnspeakableError,), "it raised UnspeakableError"),
    ],
    ids=lambda value: value[0].__name__ if isinstance(value, tuple) else "",
)
def test_an_exception_that_cannot_be_raised_here_is_described(raised, words):
    """It does not pickle, or it would end the host or look like a cancellation."""
    with pytest.raises(WorkerError) as caught:
        asyncio.run(await_in_process(throw, *raised))

    assert str(caught.value) == words
    assert caught.value.exit_code is None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ((bounce, threading.Lock()), "cannot be sent to a process of its own (cannot pickle"),
        ((threading.Lock,), "its value cannot be sent back (TypeError("),
        ((throw, ModuleNotFoundError), None),
    ],
)
def test_values_that_do_not_pickle_are_errors(call, words):
    """The error is a `WorkerError`, and is not lost in a thread."""
    with pytest.raises(WorkerError if words else ModuleNotFoundError) as caught:
        asyncio.run(await_in_process(*call))

    assert not words or str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (multiprocessing.get_context("spawn").Lock(), "it raised RuntimeError('Lock objects"),
        (Unpicklable(KeyError("x")), "it raised KeyError('x')"),
        (Unpicklable(FileNotFoundError(2, "gone"), "__getstate__"), "it raised FileNotFoundError("),
        (Unpicklable(SystemExit(3)), "it raised SystemExit(3)"),
        (Unpicklable(asyncio.CancelledError()), "it raised CancelledError()"),
        (Unpicklable(UnspeakableError()), "it raised UnspeakableError"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_an_exception_raised_by_pickling_is_described(thing, words):
    """Pickling runs foreign code; the cause is kept, and the host goes on."""
    with pytest.raises(WorkerError) as caught:
        asyncio.run(await_in_process(bounce, thing))

    assert str(caught.value).startswith(f"cannot be sent to a process of its own ({words}")
    cause = caught.value.__cause__.__cause__
    assert words.startswith(f"it raised {type(cause).__name__}")


def test_a_value_that_cannot_be_rebuilt_here_is_described():
    """Even if rebuilding it would end the host."""
    with pytest.raises(WorkerError) as caught:
        asyncio.run(await_in_process(Unbuildable, SystemExit(3)))

    assert str(caught.value) == "the answer cannot be rebuilt here (SystemExit(3))"


def test_a_function_that_cannot_be_imported_there_is_an_error(monkeypatch):
    """Its module exists only in this process."""
    module = types.ModuleType("fleeting")
    exec("def fleet(): return 1", vars(module))  # noqa: S102 - a module without a file
    monkeypatch.setitem(sys.modules, "fleeting", module)

    with pytest.raises(WorkerError, match=r"cannot be rebuilt in a process .*fleeting"):
        asyncio.run(await_in_process(module.fleet))


@pytest.mark.parametrize(
    ("how", "words", "code"),
    [
        ((os._exit, 3), "its process ended with exit status 3", 3),
        ((os.abort,), "its process was killed by signal 6", -6),
        ((signal.raise_signal, signal.SIGKILL), "its process was killed by signal 9", -9),
    ],
)
def test_a_process_that_dies_is_an_error(how, words, code):
    """The error says how it died."""
    with pytest.raises(WorkerError) as caught:
        asyncio.run(await_in_process(*how))

    assert (str(caught.value), caught.value.exit_code) == (words, code)


def test_a_call_leaves_neither_processes_nor_files(word, mark):
    """This holds even after success."""
    asyncio.run(await_in_process(leave_litter, word, mark))

    assert mark.exists()
    assert not live(word)


def test_a_reply_does_not_wait_for_threads(mark, monkeypatch):
    """A thread that never ends is killed with its process."""
    monkeypatch.setattr(calls, "_GRACE_SECONDS", 0.3)
    began = time.monotonic()

    assert asyncio.run(await_in_process(answer_and_linger, mark)) == "an answer"
    assert time.monotonic() - began < 20
    assert not is_alive(int(mark.read_text()))


# --- cancellation ------------------------------------------------------------


def cancelled(call, mark, *, again=0):
    """Run *call*, cancel it when it has begun, and cancel it *again* that many times."""

    async def main():
        task = asyncio.create_task(call())
        await begun(mark)
        for _ in range(1 + again):
            task.cancel()
            await asyncio.sleep(0.02)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_a_cancelled_call_cleans_up_and_leaves_nothing(word, mark):
    """Cleaning up is complete when the await raises `CancelledError`."""
    cancelled(partial(await_in_process, sleep_with_litter, word, mark), mark)

    assert mark.read_text() == "cleaned up"
    assert not live(word)


@pytest.mark.parametrize("call", [swallow_everything, count_natively])
def test_a_call_that_ignores_the_request_to_stop_is_killed(
    word, mark, temporary, monkeypatch, call
):
    """This happens after its grace period, and its files are removed."""
    monkeypatch.setattr(calls, "_GRACE_SECONDS", 0.3)

    cancelled(partial(await_in_process, call, word, mark), mark)

    assert not live(word)
    assert not list(temporary.iterdir())


def test_a_second_cancellation_does_not_cut_the_first_short(word, mark):
    """Neither does a third. The await raises once, at the end."""
    cancelled(partial(await_in_process, sleep_with_litter, word, mark), mark, again=3)

    assert mark.read_text() == "cleaned up"
    assert not live(word)


def test_a_call_may_be_cancelled_at_any_time(word, mark):
    """It may not have begun, or be starting, running or ending."""
    moments = random.Random(9)  # noqa: S311 - the same moments every time

    async def once(seconds):
        task = asyncio.create_task(await_in_process(leave_litter, word, mark))
        await asyncio.sleep(seconds)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert task.cancelled() or seconds > 0.1

    async def main():
        await asyncio.gather(*(once(seconds) for seconds in (0, 0, 0.001)))
        for _ in range(8):
            await once(moments.uniform(0.0, 0.5))

    asyncio.run(main())

    assert not live(word)


def test_a_deadline_of_asyncio_is_a_timeout(word, mark):
    """This holds for `asyncio.timeout` and for `asyncio.wait_for`."""

    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await await_in_process(sleep_with_litter, word, mark)
        assert not live(word)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(await_in_process(time.sleep, 60), 0.3)
        return asyncio.current_task().cancelling()

    assert asyncio.run(main()) == 0


def test_the_tasks_of_a_group_are_cancelled_when_one_fails(word, mark):
    """The group raises when none of their processes is left."""

    async def fail():
        await begun(mark)
        raise ZeroDivisionError

    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(await_in_process(sleep_with_litter, word, mark))
            group.create_task(await_in_process(time.sleep, 60))
            group.create_task(fail())

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(main())

    assert [type(each) for each in caught.value.exceptions] == [ZeroDivisionError]
    assert not live(word)


def test_a_cancelled_scope_of_anyio_does_not_wake_the_task_repeatedly(word, mark, monkeypatch):
    """Otherwise it cancels again in each turn of the loop, thousands of times."""
    anyio = need_package("anyio")
    waits = []
    shield = asyncio.shield
    monkeypatch.setattr(calls.asyncio, "shield", lambda each: waits.append(each) or shield(each))

    async def main():
        async with anyio.create_task_group() as group:
            group.start_soon(await_in_process, sleep_with_litter, word, mark)
            await begun(mark)
            group.cancel_scope.cancel()
        with anyio.move_on_after(0.2) as scope:
            await await_in_process(time.sleep, 60)
        return scope.cancelled_caught

    assert anyio.run(main, backend="asyncio")
    assert mark.read_text() == "cleaned up"
    assert len(waits) < 10


# --- the host ----------------------------------------------------------------


def test_the_loop_may_run_in_any_thread(word, mark):
    """Nothing relies on signals, which only the main thread receives."""
    thread = threading.Thread(
        target=cancelled, args=(partial(await_in_process, sleep_with_litter, word, mark), mark)
    )
    thread.start()
    thread.join()

    assert mark.read_text() == "cleaned up"


def test_a_coroutine_that_is_closed_ends_its_process(word, mark):
    """The loop may have been closed while tasks were waiting."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(await_in_process(sleep_with_litter, word, mark))
    loop.run_until_complete(begun(mark))
    loop.close()
    task._log_destroy_pending = False
    task.get_coro().close()

    assert until(lambda: not live(word))


def test_a_loop_that_is_closed_ends_its_processes(word, mark, temporary, monkeypatch):
    """Even if the waiting tasks are neither cancelled nor deleted."""
    monkeypatch.setattr(supervision, "_WAKE_SECONDS", 0.05)
    loop = asyncio.new_event_loop()
    task = loop.create_task(await_in_process(sleep_with_litter, word, mark))
    loop.run_until_complete(begun(mark))
    task._log_destroy_pending = False

    loop.close()

    assert until(lambda: not live(word))
    assert until(lambda: not list(temporary.iterdir()))
    assert mark.read_text() == "cleaned up"


def test_without_an_asyncio_loop_there_is_a_clear_error():
    """This is the case under trio, which runs coroutines in its own way."""
    with pytest.raises(WorkerError, match="no asyncio event loop is running"):
        await_in_process(os.getpid).send(None)


def test_the_host_is_left_as_it_was():
    """Handlers, threads, descriptors, children and variables are as before."""

    def state():
        return (
            {number: signal.getsignal(number) for number in signal.valid_signals()},
            signal.pthread_sigmask(signal.SIG_BLOCK, []),
            threading.active_count(),
            len(list(Path("/proc/self/fd").iterdir())),
            children(),
            dict(os.environ),
            Path.cwd(),
        )

    async def main():
        await await_in_process(os.getpid)  # its imports may open a file
        assert until(lambda: threading.active_count() == threads)
        before = state()
        await await_in_process(os.getpid)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await await_in_process(time.sleep, 60)
        assert until(lambda: threading.active_count() == threads)
        return before, state()

    threads = threading.active_count()
    before, after = asyncio.run(main())

    assert before == after


def test_a_killed_supervisor_ends_the_call(word, mark):
    """The error says so, and processes that can be recognized are killed."""

    async def main():
        task = asyncio.create_task(await_in_process(sleep_with_litter, word, mark))
        await begun(mark)
        [supervisor] = children()
        os.kill(supervisor, signal.SIGKILL)
        await task

    with pytest.raises(WorkerError, match="supervises it was killed by signal 9") as caught:
        asyncio.run(main())

    assert caught.value.exit_code == -9
    assert not live(word)


def test_a_supervisor_that_receives_sigterm_lets_the_call_clean_up(word, mark):
    """Stopping a whole service sends it to all its processes."""

    async def main():
        task = asyncio.create_task(await_in_process(sleep_with_litter, word, mark))
        await begun(mark)
        [supervisor] = children()
        os.kill(supervisor, signal.SIGTERM)
        await task

    with pytest.raises(WorkerError, match="ended with exit status 143"):
        asyncio.run(main())

    assert mark.read_text() == "cleaned up"
    assert not live(word)


HOST = """
import asyncio, signal, sys, threading
sys.path[:0] = [{folder!r}]
from processparts import sleep_with_litter
from cooperbench_eval.running.processes.calls import await_in_process

{before}
asyncio.run(await_in_process(sleep_with_litter, {word!r}, {mark!r}))
"""


@pytest.fixture
def start_host(tmp_path, temporary, word, mark):
    """Return a function that starts a script, without a main guard, that awaits a long call."""
    hosts = []

    def start(before=""):
        folder = str(Path(__file__).parent)
        script = tmp_path / "script.py"
        script.write_text(HOST.format(folder=folder, before=before, word=word, mark=str(mark)))
        hosts.append(
            subprocess.Popen(
                [sys.executable, script],
                env=os.environ | {"TMPDIR": str(temporary)},
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        )
        assert until(mark.exists)
        return hosts[0]

    yield start
    for host in hosts:
        host.kill()
        host.communicate()


def test_everything_dies_with_the_host(start_host, word, temporary):
    """Even if the host is killed: neither a process nor a file is left."""
    host = start_host()

    host.kill()

    assert host.wait() == -signal.SIGKILL
    assert until(lambda: not live(word))
    assert until(lambda: not list(temporary.iterdir()))


def test_an_interrupt_cancels_and_leaves_nothing(start_host, word, mark):
    """A terminal sends it to the whole group, and people press the keys twice."""
    host = start_host()

    os.killpg(host.pid, signal.SIGINT)
    time.sleep(0.05)
    os.killpg(host.pid, signal.SIGINT)
    _, said = host.communicate(timeout=20)

    assert b"KeyboardInterrupt" in said.splitlines()[-1]
    assert mark.read_text() == "cleaned up"
    assert not live(word)


def test_signals_that_the_host_blocks_or_ignores_reach_the_call(start_host, word, mark):
    """Otherwise both would be inherited, and the call could not clean up."""
    host = start_host(
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
    )
    began = time.monotonic()

    os.kill(host.pid, signal.SIGINT)
    host.communicate(timeout=20)

    assert time.monotonic() - began < 9, "nothing waited for a process that was gone"
    assert mark.read_text() == "cleaned up"
    assert not live(word)


SCRIPT = """
import asyncio
from cooperbench_eval.running.processes.calls import await_in_process

class Own(Exception):
    pass

def work():
    raise Own("of the script")

try:
    asyncio.run(await_in_process(work))
except Own as exc:
    print(exc)
"""


@pytest.mark.parametrize("is_file", [True, False])
def test_definitions_of_a_script_travel_both_ways(tmp_path, is_file):
    """The script has no main guard, and is a file or comes from standard input."""
    (tmp_path / "script.py").write_text(SCRIPT)
    name, given = ("script.py", None) if is_file else ("-", SCRIPT)

    done = subprocess.run(
        [sys.executable, name],
        input=given,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("of the script\n", "")


IGNORED = """
import os, signal, time, weakref
from cooperbench_eval.running.processes.worker import Stopped, stop_on_sigterm

class Mark: pass

stop_on_sigterm()
mark = Mark()
watch = weakref.ref(mark, lambda _: os.kill(os.getpid(), signal.SIGTERM))
try:
    del mark  # in its callback, Python ignores every exception
    time.sleep(5)
    print("went on")
except Stopped:
    print("stopped")
"""


def test_a_stop_in_a_callback_is_not_lost():
    """An import has such callbacks, and a worker imports much."""
    done = subprocess.run(
        [sys.executable, "-c", IGNORED], capture_output=True, text=True, check=True
    )

    assert (done.stdout, done.stderr) == ("stopped\n", "")
