"""The built-in pool: worker processes of which each holds one pair at a time.

The standard library's pool breaks as a whole when one of its processes dies, and
does not say at what it was. Here a death costs the job that was being done, its
process is replaced, and no other job is touched.
"""

import itertools
import multiprocessing
import os
import pickle
import signal
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any, Final, NoReturn

from attrs import field, frozen

from cooperbench_eval.errors import BatchError

__all__ = ["WorkerDiedError", "WorkerPool", "usable_cores"]

_PATIENCE_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 0.1
_HELD: Final = 2
"""Jobs at a worker: one is done while the next is on its way."""
_INTERRUPT: Final = frozenset({signal.SIGINT})
# Not fork: libgit2 and the threads of a host do not survive it.
_SPAWN: Final = multiprocessing.get_context("spawn")


class WorkerDiedError(BrokenExecutor):
    """The process that did this job died of it, or was killed."""


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


@frozen
class _Task:
    call: bytes
    future: Future[Any] = field(factory=Future)


class WorkerPool(Executor):
    """Processes that do jobs, each one job at a time.

    They are started when they are first needed. Like those of the standard library
    they import the caller's main module, so a script guards what it does with
    `if __name__ == "__main__":`.
    """

    def __init__(self, workers: int | None = None) -> None:
        """Prepare a number of workers: one for each usable core if absent."""
        self.workers = workers or usable_cores()
        self._tasks: deque[_Task] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._killed = False
        self._idle = 0
        self._threads: list[threading.Thread] = []
        self._processes: set[SpawnProcess] = set()
        # Before multiprocessing waits for them as the interpreter exits.
        self._at_exit = weakref.finalize(self, _end, self._processes)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a worker call *fn*, a module's function.

        Raises:
            RuntimeError: The pool is shut down.
        """
        task = _Task(pickle.dumps((fn, args, kwargs)))
        with self._changed:
            if self._closed:
                raise RuntimeError("the pool is shut down")
            self._tasks.append(task)
            if len(self._tasks) > self._idle and len(self._threads) < self.workers:
                thread = threading.Thread(target=self._manage, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more jobs, and let the workers end when they have done theirs."""
        with self._changed:
            self._closed = True
            if cancel_futures:
                self._cancel()
            self._changed.notify_all()
        if wait:
            for thread in self._threads:
                thread.join()

    def kill(self) -> None:
        """End at once: drop the jobs, and stop the workers with what they run."""
        self._killed = True
        self.shutdown(wait=False, cancel_futures=True)
        for thread in self._threads:
            while thread.is_alive():  # it may just be starting a process
                _end(self._processes)
                thread.join(_PAUSE_SECONDS)

    def _cancel(self) -> None:
        while self._tasks:
            self._tasks.popleft().future.cancel()

    def _manage(self) -> None:
        """Pass jobs to a worker and answers back, and replace it if it dies."""
        worker: _Worker | None = None
        held: deque[_Task] = deque()
        try:
            while self._fetch(held):
                worker = worker or _Worker(self._processes)
                try:
                    succeeded, answer = worker.do(held)
                except (EOFError, OSError):
                    held.popleft().future.set_exception(worker.bury())
                    worker = None
                    continue
                future = held.popleft().future
                (future.set_result if succeeded else future.set_exception)(answer)
        except Exception as exc:  # noqa: BLE001 - whatever keeps a process from starting
            for task in held:
                task.future.set_exception(BatchError(f"cannot go on ({exc!r})", "executor"))
        finally:
            if worker:
                worker.close()

    def _fetch(self, held: deque[_Task]) -> bool:
        """Take jobs until enough are held; `False` when the pool is at its end."""
        with self._changed:
            while True:
                while self._tasks and len(held) < _HELD:
                    task = self._tasks.popleft()
                    if task.future.set_running_or_notify_cancel():
                        held.append(task)
                if held or self._closed:
                    break
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
        if self._killed:
            while held:
                held.popleft().future.set_exception(WorkerDiedError("the pool was stopped"))
        return bool(held)


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, processes: set[SpawnProcess]) -> None:
        self._here, there = _SPAWN.Pipe()
        self._processes = processes
        self._process = _SPAWN.Process(target=_serve, args=(there,))
        # The worker inherits the block: it is not to be interrupted while it starts. The
        # tracker is started before, since doing that lifts the block.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
        self._process.start()
        processes.add(self._process)
        there.close()
        self._is_ready = False
        self._sent = 0

    def do(self, tasks: Sequence[_Task]) -> tuple[bool, Any]:
        """Send what is not sent yet; return whether the first one went well, and its answer.

        Raises:
            EOFError, OSError: The process is dead.
        """
        for task in itertools.islice(tasks, self._sent, None):
            self._here.send_bytes(task.call)
            self._sent += 1
        if not self._is_ready:
            self._here.recv()
            self._is_ready = True
        succeeded, answer = self._here.recv()
        self._sent -= 1
        return succeeded, answer

    def bury(self) -> Exception:
        """Return the error of the job at which it died."""
        ending = self.close()
        if self._is_ready:
            return WorkerDiedError(f"the worker process {ending}")
        problem = (
            f"worker processes do not start: the first {ending}. They import the caller's "
            "main module, so it has to be a file, not standard input, and does what it "
            'does under `if __name__ == "__main__":`'
        )
        return BatchError(problem, "executor")

    def close(self) -> str:
        """Let the process end; say how it did."""
        self._here.close()
        self._process.join(_PATIENCE_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._processes.discard(self._process)
        code = self._process.exitcode or 0
        return f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"


def _end(processes: set[SpawnProcess]) -> None:
    for process in list(processes):
        process.terminate()


# --- in the worker ---------------------------------------------------------------


class _Stopped(BaseException):
    """The pool wants an end; not an `Exception`, lest an evaluation record it."""


def _pass_over(_: int, __: FrameType | None) -> None:
    """Do nothing."""


def _stop(_: int, __: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, _pass_over)  # once: what is raised now cleans up
    raise _Stopped


def _serve(pipe: Connection) -> None:
    """Do jobs until the pipe is closed."""
    # An interrupt is for the caller, who ends this process in turn, with its tests. It
    # is not ignored: that would be inherited by the tests, as would be the block.
    signal.signal(signal.SIGINT, _pass_over)
    signal.signal(signal.SIGTERM, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    with suppress(EOFError, OSError, _Stopped):
        pipe.send(None)
        while True:
            pipe.send(_answer(*pipe.recv()))


def _answer(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[bool, Any]:
    try:
        return True, fn(*args, **kwargs)
    except Exception as exc:  # noqa: BLE001 - it is the caller's
        return False, exc


def _leave_with_parent() -> None:
    """End this process when its parent has died, which cannot tell it any more."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
