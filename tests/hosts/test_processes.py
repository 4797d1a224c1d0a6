"""Work in a process of its own, awaited: what comes back, and what is left when it is not."""

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

import anyio
import pytest
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

from cooperbench_eval import DatasetError, WorkerError
from cooperbench_eval.processes import awaiting, calls, supervision
from cooperbench_eval.processes.awaiting import await_in_process

pytestmark = pytest.mark.usefixtures("temporary")


@pytest.fixture
def mark(tmp_path):
    """Return where work notes how far it came."""
    return tmp_path / "mark"


async def begun(mark):
    """Wait for work to have begun."""
    while not mark.exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.01)


# --- what comes back ---------------------------------------------------------


def test_a_value_comes_back_from_another_process():
    """With what was given, by position and by name."""

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
def test_much_travels_both_ways():
    """More than any pipe holds."""
    data = b"x" * 50_000_000

    assert asyncio.run(await_in_process(bounce, data)) == data


def test_the_event_loop_packs_and_unpacks_nothing():
    """That may take long; a thread does it."""
    traveller = asyncio.run(await_in_process(bounce, Traveller()))

    packed, _, _, unpacked = traveller.threads
    assert packed == unpacked != threading.get_native_id()


def test_what_has_no_name_travels_whole():
    """A lambda, as one of a notebook."""
    number = 40

    assert asyncio.run(await_in_process(lambda more: number + more, 2)) == 42


def test_what_is_raised_there_is_raised_here():
    """Ours and others', with their facts, and with the place as a note."""
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
def test_what_cannot_be_raised_here_is_told_in_words(raised, words):
    """What does not travel, and what would end the host or pass for a cancellation."""
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
def test_what_cannot_be_pickled_is_an_error(call, words):
    """Of ours, and not one of a thread that nobody hears."""
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
def test_whatever_pickling_raises_is_told_in_words(thing, words):
    """It is code of others; the cause is kept, and the host goes on."""
    with pytest.raises(WorkerError) as caught:
        asyncio.run(await_in_process(bounce, thing))

    assert str(caught.value).startswith(f"cannot be sent to a process of its own ({words}")
    cause = caught.value.__cause__.__cause__
    assert words.startswith(f"it raised {type(cause).__name__}")


def test_what_cannot_be_rebuilt_here_is_told_in_words():
    """Also where it would end the host."""
    with pytest.raises(WorkerError) as caught:
        asyncio.run(await_in_process(Unbuildable, SystemExit(3)))

    assert str(caught.value) == "the answer cannot be rebuilt here (SystemExit(3))"


def test_what_cannot_be_imported_there_is_an_error(monkeypatch):
    """As a function of a module that only this process has."""
    module = types.ModuleType("fleeting")
    exec("def fleet(): return 1", vars(module))  # noqa: S102 - a module without a file
    monkeypatch.setitem(sys.modules, "fleeting", module)

    with pytest.raises(WorkerError, match=r"cannot be rebuilt in a process .*fleeting"):
        asyncio.run(await_in_process(module.fleet))


@pytest.mark.parametrize(
    ("how", "words", "code"),
    [
        ((os._exit, 3), "its process ended with status 3", 3),
        ((os.abort,), "its process was killed by signal 6", -6),
        ((signal.raise_signal, signal.SIGKILL), "its process was killed by signal 9", -9),
    ],
)
def test_a_process_that_dies_is_an_error(how, words, code):
    """It says how it died."""
    with pytest.raises(WorkerError) as caught:
        asyncio.run(await_in_process(*how))

    assert (str(caught.value), caught.value.exit_code) == (words, code)


def test_a_call_takes_what_it_left_behind_along(word, mark):
    """Also when it ended well: no process of it goes on, no file is left."""
    asyncio.run(await_in_process(leave_litter, word, mark))

    assert mark.exists()
    assert not live(word)


def test_an_answer_does_not_wait_for_what_lingers(mark, monkeypatch):
    """A thread that nobody ends."""
    monkeypatch.setattr(calls, "_GRACE_SECONDS", 0.3)
    began = time.monotonic()

    assert asyncio.run(await_in_process(answer_and_linger, mark)) == "an answer"
    assert time.monotonic() - began < 20
    assert not is_alive(int(mark.read_text()))


# --- cancellation ------------------------------------------------------------


def cancelled(call, mark, *, again=0):
    """Run *call*, cancel it when it has begun, and more often if wanted."""

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
    """Before the cancellation comes out of the await."""
    cancelled(partial(await_in_process, sleep_with_litter, word, mark), mark)

    assert mark.read_text() == "cleaned up"
    assert not live(word)


@pytest.mark.parametrize("call", [swallow_everything, count_natively])
def test_what_hears_nothing_is_killed(word, mark, temporary, monkeypatch, call):
    """After its time to clean up; what it left is removed for it."""
    monkeypatch.setattr(calls, "_GRACE_SECONDS", 0.3)

    cancelled(partial(await_in_process, call, word, mark), mark)

    assert not live(word)
    assert not list(temporary.iterdir())


def test_a_second_cancellation_does_not_cut_the_first_short(word, mark):
    """Nor a third; one comes out, when all is over."""
    cancelled(partial(await_in_process, sleep_with_litter, word, mark), mark, again=3)

    assert mark.read_text() == "cleaned up"
    assert not live(word)


def test_a_call_may_be_cancelled_at_any_time(word, mark):
    """Before it has begun, while it starts, while it works, while it ends."""
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


def test_a_deadline_is_a_timeout(word, mark):
    """Of `asyncio.timeout`, and of `asyncio.wait_for`."""

    async def main():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await await_in_process(sleep_with_litter, word, mark)
        assert not live(word)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(await_in_process(time.sleep, 60), 0.3)
        return asyncio.current_task().cancelling()

    assert asyncio.run(main()) == 0


def test_the_tasks_of_a_group_end_with_the_one_that_fails(word, mark):
    """The group's error comes when nothing of the others is left."""

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


def test_a_cancelled_scope_of_anyio_waits_in_peace(word, mark, monkeypatch):
    """It would cancel again in each turn of the loop, thousands of times."""
    waits = []
    shield = asyncio.shield
    monkeypatch.setattr(awaiting.asyncio, "shield", lambda each: waits.append(each) or shield(each))

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
    """A signal would only be heard in the main one."""
    thread = threading.Thread(
        target=cancelled, args=(partial(await_in_process, sleep_with_litter, word, mark), mark)
    )
    thread.start()
    thread.join()

    assert mark.read_text() == "cleaned up"


def test_a_coroutine_that_is_dropped_takes_its_process_along(word, mark):
    """As that of a loop which is closed while tasks wait."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(await_in_process(sleep_with_litter, word, mark))
    loop.run_until_complete(begun(mark))
    loop.close()
    task._log_destroy_pending = False
    task.get_coro().close()

    assert until(lambda: not live(word))


def test_a_loop_that_is_closed_takes_its_processes_along(word, mark, temporary, monkeypatch):
    """Though nobody cancels the tasks that wait, and they are kept alive."""
    monkeypatch.setattr(supervision, "_WAKE_SECONDS", 0.05)
    loop = asyncio.new_event_loop()
    task = loop.create_task(await_in_process(sleep_with_litter, word, mark))
    loop.run_until_complete(begun(mark))
    task._log_destroy_pending = False

    loop.close()

    assert until(lambda: not live(word))
    assert until(lambda: not list(temporary.iterdir()))
    assert mark.read_text() == "cleaned up"


def test_without_a_loop_of_asyncio_there_is_a_clear_error():
    """As under trio, which runs coroutines in its own way."""
    with pytest.raises(WorkerError, match="asyncio event loop, and none runs here"):
        await_in_process(os.getpid).send(None)


def test_the_host_is_left_as_it_was():
    """No handler, no thread, no descriptor, no child, no variable."""

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
        await await_in_process(os.getpid)  # what is imported for it may open something
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


def test_a_guardian_that_is_killed_takes_all_along(word, mark):
    """The error says so, and what can be recognised of the call is killed."""

    async def main():
        task = asyncio.create_task(await_in_process(sleep_with_litter, word, mark))
        await begun(mark)
        [guardian] = children()
        os.kill(guardian, signal.SIGKILL)
        await task

    with pytest.raises(WorkerError, match="supervises it was killed by signal 9") as caught:
        asyncio.run(main())

    assert caught.value.exit_code == -9
    assert not live(word)


def test_a_guardian_that_is_told_to_stop_stops_in_peace(word, mark):
    """As whoever ends a whole service tells every process of it."""

    async def main():
        task = asyncio.create_task(await_in_process(sleep_with_litter, word, mark))
        await begun(mark)
        [guardian] = children()
        os.kill(guardian, signal.SIGTERM)
        await task

    with pytest.raises(WorkerError, match="ended with status 143"):
        asyncio.run(main())

    assert mark.read_text() == "cleaned up"
    assert not live(word)


HOST = """
import asyncio, signal, sys, threading
sys.path[:0] = [{folder!r}]
from processparts import sleep_with_litter
from cooperbench_eval.processes.awaiting import await_in_process

{before}
asyncio.run(await_in_process(sleep_with_litter, {word!r}, {mark!r}))
"""


@pytest.fixture
def start_host(tmp_path, temporary, word, mark):
    """Return a function that starts a script without a guard, which awaits work that sleeps."""
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


def test_all_dies_with_the_host(start_host, word, temporary):
    """However suddenly: nothing is left of it, neither process nor file."""
    host = start_host()

    host.kill()

    assert host.wait() == -signal.SIGKILL
    assert until(lambda: not live(word))
    assert until(lambda: not list(temporary.iterdir()))


def test_an_interrupt_cancels_and_leaves_nothing(start_host, word, mark):
    """To the whole group, as a terminal sends it; twice, as people do."""
    host = start_host()

    os.killpg(host.pid, signal.SIGINT)
    time.sleep(0.05)
    os.killpg(host.pid, signal.SIGINT)
    _, said = host.communicate(timeout=20)

    assert b"KeyboardInterrupt" in said.splitlines()[-1]
    assert mark.read_text() == "cleaned up"
    assert not live(word)


def test_signals_that_the_host_blocks_or_ignores_reach_the_work(start_host, word, mark):
    """Both outlive a fork, and would keep it from cleaning up."""
    host = start_host(
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
    )
    began = time.monotonic()

    os.kill(host.pid, signal.SIGINT)
    host.communicate(timeout=20)

    assert time.monotonic() - began < 9, "nobody waited for a process that was gone"
    assert mark.read_text() == "cleaned up"
    assert not live(word)


SCRIPT = """
import asyncio
from cooperbench_eval.processes.awaiting import await_in_process

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
def test_what_a_script_defines_travels_both_ways(tmp_path, is_file):
    """Without a guard, from a file or through standard input."""
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
