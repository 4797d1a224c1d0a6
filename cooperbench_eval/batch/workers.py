"""The built-in pool: worker processes of which each holds one job at a time.

The standard library's pool breaks as a whole when one of its processes dies, and
does not say at what it was. Here a death costs the job that was being done, its
process is replaced, and no other job is touched.
"""

import itertools
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from attrs import field, frozen

from cooperbench_eval.errors import BatchError
from cooperbench_eval.processes.stopping import (
    Stopped,
    describe_exit,
    die_with_parent,
    ignore_signal,
    stop_on_sigterm,
)

__all__ = ["WorkerDiedError", "WorkerPool", "has_importable_main", "usable_cores"]

_PATIENCE_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.05
_HELD: Final = 2
"""Jobs at a worker: one is done while the next is on its way."""
_INTERRUPT: Final = frozenset({signal.SIGINT})
# Not fork: libgit2 and the threads of a host do not survive it.
_SPAWN: Final = multiprocessing.get_context("spawn")
_STARTING: Final = threading.Lock()


class WorkerDiedError(BrokenExecutor):
    """The process that did this job died of it, or was killed."""


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def has_importable_main() -> bool:
    """Whether a new process can import this one's main module; not that of standard input."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    return file is not None and Path(file).exists()


@frozen
class _Task:
    call: bytes
    future: Future[Any] = field(factory=Future)
    number: int = field(factory=itertools.count().__next__)


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
        self._crew = _Crew()
        # Before multiprocessing waits for them as the interpreter exits.
        self._at_exit = weakref.finalize(self, self._crew.kill)

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
        if self._crew.is_foreign:
            return
        with self._changed:
            self._closed = True
            while cancel_futures and self._tasks:
                self._tasks.popleft().future.cancel()
            self._changed.notify_all()
        if wait:
            for thread in self._threads:
                thread.join()

    def kill(self) -> None:
        """End at once: drop the jobs, and stop the workers with what they run."""
        self._killed = True
        self.shutdown(wait=False, cancel_futures=True)
        if self._crew.is_foreign:
            return
        asked = time.monotonic()
        for thread in self._threads:
            while thread.is_alive():  # it may just be starting a process
                late = time.monotonic() - asked > _PATIENCE_SECONDS
                self._crew.kill() if late else self._crew.terminate()
                thread.join(_PAUSE_SECONDS)

    def _manage(self) -> None:
        """Pass jobs to a worker and answers back, and replace it if it dies."""
        worker: _Worker | None = None
        held: deque[_Task] = deque()
        try:
            while self._fetch(held):
                worker = worker or _Worker(self._crew)
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


class _Crew:
    """The processes of a pool, and whether one was ever ready to work."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self.processes: set[SpawnProcess] = set()
        self.was_ready = False

    @property
    def is_foreign(self) -> bool:
        """Whether this is the copy in a forked child, whose processes these are not."""
        return os.getpid() != self._owner

    def terminate(self) -> None:
        """Ask every process to end and to clean up."""
        if not self.is_foreign:
            for process in list(self.processes):
                process.terminate()

    def kill(self) -> None:
        """End every process."""
        if not self.is_foreign:
            for process in list(self.processes):
                process.kill()


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, crew: _Crew) -> None:
        self._here, there = _SPAWN.Pipe()
        self._crew = crew
        self._process = _SPAWN.Process(target=_serve, args=(there,))
        with _STARTING, _importable_main():
            # The worker inherits the block: it is not to be interrupted while it starts.
            # The tracker is started before, since doing that lifts the block.
            resource_tracker.ensure_running()
            signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
            self._process.start()
        crew.processes.add(self._process)
        # Whatever the worker forks holds its end of the pipe, and may outlive it.
        self._ended = os.pidfd_open(self._process.pid or 0)
        there.close()
        self._is_ready = False
        self._sent = 0

    def do(self, tasks: Sequence[_Task]) -> tuple[bool, Any]:
        """Send what is not sent yet; return whether the first one went well, and its answer.

        Raises:
            EOFError, OSError: The process is dead, or what it says makes no sense.
        """
        for task in itertools.islice(tasks, self._sent, None):
            self._here.send((task.number, task.call))
            self._sent += 1
        if not self._is_ready:
            self._receive()
            self._is_ready = self._crew.was_ready = True
        number, succeeded, answer = self._receive()
        if number != tasks[0].number:
            raise EOFError(number)
        self._sent -= 1
        return succeeded, answer

    def _receive(self) -> Any:
        wait([self._here, self._ended])
        if not self._here.poll():
            raise EOFError
        return self._here.recv()

    def bury(self) -> Exception:
        """Return the error of the job at which it died."""
        ending = self.close()
        if self._crew.was_ready or (self._process.exitcode or 0) < 0:
            return WorkerDiedError(f"the worker process {ending}")
        problem = (
            f"worker processes do not start: the first {ending}. They import the caller's "
            'main module, so a script does what it does under `if __name__ == "__main__":`'
        )
        return BatchError(problem, "executor")

    def close(self) -> str:
        """Let the process end; say how it did."""
        self._here.close()
        if not wait([self._ended], _PATIENCE_SECONDS):
            self._process.kill()
        self._process.join()
        os.close(self._ended)
        self._crew.processes.discard(self._process)
        return describe_exit(self._process.exitcode)


@contextmanager
def _importable_main() -> Iterator[None]:
    """Hide a main module that came through standard input: no process could import it."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if file is None or has_importable_main():
        yield
        return
    del main.__file__
    try:
        yield
    finally:
        main.__file__ = file


# --- in the worker ---------------------------------------------------------------


def _serve(pipe: Connection) -> None:
    """Do jobs until the pipe is closed."""
    die_with_parent()
    # An interrupt is for the caller, who ends this process in turn, with its tests. It
    # is not ignored: that would be inherited by the tests, as would be the block.
    signal.signal(signal.SIGINT, ignore_signal)
    stop_on_sigterm()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
    jobs: SimpleQueue[tuple[int, bytes] | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, jobs), daemon=True).start()
    here = os.getpid()
    with suppress(OSError, Stopped):
        pipe.send(None)
        while job := jobs.get():
            number, call = job
            answer = _answer(call)
            if os.getpid() != here:  # forked by the job, which then came back twice
                os._exit(0)
            pipe.send((number, *answer))


def _listen(pipe: Connection, jobs: "SimpleQueue[tuple[int, bytes] | None]") -> None:
    """Take jobs from the pipe at any time, lest both sides wait for the other to read."""
    with suppress(EOFError, OSError):
        while True:
            jobs.put(pipe.recv())
    jobs.put(None)
    if parent := multiprocessing.parent_process():
        parent.join()  # which has closed the pipe, or died
        os._exit(1)


def _answer(call: bytes) -> tuple[bool, Any]:
    try:
        fn, args, kwargs = pickle.loads(call)  # noqa: S301 - packed by `submit`
        return True, fn(*args, **kwargs)
    except Stopped:
        raise
    # It is the caller's, whatever it is.
    except BaseException as exc:  # noqa: BLE001
        return False, exc
