"""The built-in pool: worker processes that each do one job at a time.

The standard library's pool breaks as a whole when one of its processes dies, and
does not say which job the process was doing. This pool fails only that job, replaces
the process, and goes on.

Many jobs share parts, such as the base of a task. A worker gets each of them once. The caller
decides what a worker keeps and tells it with each job, so the two always agree.
"""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from attrs import define, field, frozen

from cooperbench_eval.errors import BatchError
from cooperbench_eval.running.processes.supervision import describe_exit
from cooperbench_eval.running.processes.worker import Stopped, ignore_signal, stop_on_sigterm

_MOST: Final = 64
_MOST_BYTES: Final = 1 << 26
"""The limits for the number of parts that a worker keeps and for the bytes of their pickles.
The parts of the current job are kept in any case."""


@frozen
class Delivery:
    """A job on its way to a worker: the call, its new parts, and the parts to drop before it."""

    call: bytes
    new: Mapping[str, bytes]
    dropped: tuple[str, ...]


class SentParts:
    """The caller's list of the parts that one worker has."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._bytes = 0

    def deliver(self, call: bytes, parts: Mapping[str, bytes]) -> Delivery:
        """Return a job with those of its *parts* that the worker does not have."""
        new = {digest: data for digest, data in parts.items() if digest not in self._sizes}
        self._bytes += sum(map(len, new.values()))
        for digest, data in parts.items():
            self._sizes.pop(digest, None)
            self._sizes[digest] = len(data)  # the last used parts come last
        dropped = []
        while len(self._sizes) > _MOST or self._bytes > _MOST_BYTES:
            oldest = next(iter(self._sizes))
            if oldest in parts:
                break
            self._bytes -= self._sizes.pop(oldest)
            dropped.append(oldest)
        return Delivery(call, new, tuple(dropped))


class ReceivedParts:
    """The parts that this worker has; each is unpickled when it is first used, and then kept."""

    def __init__(self) -> None:
        self._pickled: dict[str, bytes] = {}
        self._values: dict[str, Any] = {}

    def accept(self, delivery: Delivery) -> None:
        """Drop parts, and take new ones."""
        for digest in delivery.dropped:
            self._pickled.pop(digest, None)
            self._values.pop(digest, None)
        self._pickled |= delivery.new

    def value(self, digest: str) -> Any:
        """Return a part. If it cannot be unpickled, each call raises the error."""
        if digest not in self._values:
            self._values[digest] = pickle.loads(self._pickled[digest])  # noqa: S301 - our caller's
            del self._pickled[digest]
        return self._values[digest]


received_parts: Final = ReceivedParts()
"""The parts of this process, if it is a worker. It does one job at a time."""


_PATIENCE_SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.05
_HELD: Final = 2
"""How many jobs a worker has: one in progress, and the next in its pipe."""
_MOST_PASSES: Final = 64
"""How often the oldest job may be passed over for a later one that suits a worker better."""
_INTERRUPT: Final = frozenset({signal.SIGINT})
# Not fork: neither libgit2 nor the threads of a host survive it.
_SPAWN: Final = multiprocessing.get_context("spawn")
_STARTING: Final = threading.Lock()


class WorkerDiedError(BrokenExecutor):
    """The process that was doing this job died or was killed."""


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def has_importable_main() -> bool:
    """Whether a new process can import the main module, which may have come from stdin."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    return file is not None and Path(file).exists()


def is_importing_main() -> bool:
    """Whether this is a new process that imports its caller's main module."""
    return bool(getattr(multiprocessing.current_process(), "_inheriting", False))


@define(eq=False)
class _Task:
    call: bytes
    parts: Mapping[str, bytes] = field(factory=dict)
    group: str = ""
    future: Future[Any] = field(factory=Future)
    passes: int = 0


class WorkerPool(Executor):
    """Processes that do jobs, each one job at a time.

    They are started when they are first needed. Like those of the standard library,
    they import the caller's main module, so a script must do its work under
    `if __name__ == "__main__":`.
    """

    def __init__(self, workers: int | None = None) -> None:
        """Prepare a number of workers, by default one for each usable core."""
        self.workers = workers or usable_cores()
        self._tasks: deque[_Task] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._is_killed = False
        self._idle = 0
        self._groups: dict[int, str] = {}  # of each worker's last job, by thread id
        self._threads: list[threading.Thread] = []
        self._owner = os.getpid()
        self._processes: set[SpawnProcess] = set()
        self._was_ready = threading.Event()
        # When the interpreter exits, this runs before multiprocessing waits for the processes.
        self._at_exit = weakref.finalize(self, _kill_all, self._owner, self._processes)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a worker call *fn*, a function of a module."""
        return self._add(_Task(pickle.dumps((fn, args, kwargs))))

    def submit_sharing(
        self, fn: Callable[..., Any], /, *args: Any, parts: Mapping[str, bytes], group: str
    ) -> Future[Any]:
        """Have a worker call *fn*, which finds the values of *parts* in `received_parts`.

        The *parts* are pickled values by digest. Other jobs may share them, and a worker that still
        has one is not sent it again. The jobs of a *group* are done by one worker, as long as there
        are other jobs for the other workers.
        """
        return self._add(_Task(pickle.dumps((fn, args, {})), parts, group))

    def _add(self, task: _Task) -> Future[Any]:
        with self._changed:
            if self._is_closed:
                raise RuntimeError("the pool is shut down")
            self._tasks.append(task)
            if len(self._tasks) > self._idle and len(self._threads) < self.workers:
                thread = threading.Thread(target=self._manage, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more jobs, and let the workers end after their jobs."""
        if os.getpid() != self._owner:  # a copy in a forked child
            return
        with self._changed:
            self._is_closed = True
            while cancel_futures and self._tasks:
                self._tasks.popleft().future.cancel()
            self._changed.notify_all()
        if wait:
            for thread in self._threads:
                thread.join()

    def kill(self) -> None:
        """End at once: drop the jobs, and kill the workers with everything that they run."""
        if os.getpid() != self._owner:
            return
        self._is_killed = True
        self.shutdown(wait=False, cancel_futures=True)
        asked = time.monotonic()
        for thread in self._threads:
            while thread.is_alive():  # it may be starting another process
                if time.monotonic() - asked > _PATIENCE_SECONDS:
                    _kill_all(self._owner, self._processes)
                else:
                    for process in list(self._processes):
                        process.terminate()
                thread.join(_PAUSE_SECONDS)

    def _manage(self) -> None:
        """Send jobs to one worker and receive answers, and replace the worker if it dies."""
        worker: _Worker | None = None
        held: deque[_Task] = deque()
        try:
            while self._fetch(held):
                if worker is None:
                    worker = _Worker(self._processes)
                try:
                    succeeded, answer = worker.do(held)
                except (EOFError, OSError):
                    held.popleft().future.set_exception(self._death(worker))
                    worker = None
                    continue
                self._was_ready.set()
                future = held.popleft().future
                (future.set_result if succeeded else future.set_exception)(answer)
        except Exception as exc:  # noqa: BLE001 - anything can keep a process from starting
            for task in held:
                task.future.set_exception(BatchError(f"cannot go on ({exc!r})", "executor"))
        finally:
            if worker:
                worker.close()

    def _fetch(self, held: deque[_Task]) -> bool:
        """Take jobs until enough are held; return `False` if the pool has ended."""
        with self._changed:
            while True:
                while self._tasks and len(held) < _HELD:
                    task = self._take()
                    if task.future.set_running_or_notify_cancel():
                        held.append(task)
                if held or self._is_closed:
                    break
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
        if self._is_killed:
            while held:
                held.popleft().future.set_exception(WorkerDiedError("the pool was stopped"))
        return bool(held)

    def _take(self) -> _Task:
        """Take the job that suits this thread's worker best: the oldest one of the worker's group.

        Next best are jobs of a group that no other worker has. The oldest job is passed over
        a limited number of times.
        """
        me, oldest = threading.get_ident(), self._tasks[0]
        last = self._groups.get(me)
        others = {group for thread, group in self._groups.items() if thread != me}

        def misfit(task: _Task) -> int:
            if task.group in {"", last}:
                return 0
            return 2 if task.group in others else 1

        task = oldest
        if misfit(oldest) and oldest.passes < _MOST_PASSES:
            task = min(self._tasks, key=misfit)  # of equals, the oldest
        if task is not oldest:
            oldest.passes += 1
        self._tasks.remove(task)
        self._groups[me] = task.group
        return task

    def _death(self, worker: "_Worker") -> Exception:
        code = worker.close()
        if self._was_ready.is_set() or worker.is_ready or code < 0:
            return WorkerDiedError(f"the worker process {describe_exit(code)}")
        problem = (
            f"worker processes do not start: the first {describe_exit(code)}. They import the "
            "caller's main module, so a script must do its work under "
            '`if __name__ == "__main__":`'
        )
        return BatchError(problem, "executor")


def _kill_all(owner: int, processes: set[SpawnProcess]) -> None:
    if os.getpid() == owner:  # not in a forked child of the owner
        for process in list(processes):
            process.kill()


class _Worker:
    def __init__(self, processes: set[SpawnProcess]) -> None:
        self._here, there = _SPAWN.Pipe()
        self._processes = processes
        self._process = _SPAWN.Process(target=_serve, args=(there,))
        with _STARTING, _importable_main():
            # The worker inherits the block, so that nothing interrupts it while it starts.
            _block_interrupts()
            self._process.start()
        processes.add(self._process)
        self._ended = _end_of(self._process)
        there.close()
        self.is_ready = False
        self._sent = 0
        self._parts = SentParts()

    def do(self, tasks: deque[_Task]) -> tuple[bool, Any]:
        """Send the tasks that were not sent yet; return the answer to the first.

        The answer is whether the call returned, and its value or its exception. An `EOFError` or
        `OSError` means that the worker has died.
        """
        while self._sent < len(tasks):
            task = tasks[self._sent]
            self._here.send(self._parts.deliver(task.call, task.parts))
            self._sent += 1
        if not self.is_ready:
            self._receive()
            self.is_ready = True
        succeeded, answer = self._receive()
        self._sent -= 1
        return succeeded, answer

    def _receive(self) -> Any:
        wait([self._here, self._ended])
        if not self._here.poll():
            raise EOFError
        return self._here.recv()

    def close(self) -> int:
        """Let the process end; return its exit status."""
        self._here.close()
        if not wait([self._ended], _PATIENCE_SECONDS):
            self._process.kill()
        self._process.join()
        if self._ended != self._process.sentinel:
            os.close(self._ended)
        self._processes.discard(self._process)
        return self._process.exitcode or 0


def _block_interrupts() -> None:
    if hasattr(signal, "pthread_sigmask"):  # on Windows, no signal can be blocked
        # Starting the tracker would lift the block, so that comes first.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)


def _end_of(process: SpawnProcess) -> int:
    """Return a descriptor or handle that is ready when *process* has ended.

    On Linux, it is not the sentinel, because that is a pipe, which a child of the process may
    hold open and outlive it.
    """
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(process.pid or 0)
    return process.sentinel


@contextmanager
def _importable_main() -> Iterator[None]:
    """Hide a main module that came from standard input; no other process could import it."""
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
    if sys.platform == "linux":
        from cooperbench_eval.running.processes.supervisor import (  # noqa: PLC0415 - for Linux
            die_with_parent,
        )

        die_with_parent()
    # An interrupt from the terminal is for the caller, which then stops this process and its
    # tests. Tests would inherit SIG_IGN and a block, so there is a handler instead.
    signal.signal(signal.SIGINT, ignore_signal)
    stop_on_sigterm()
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPT)
    jobs: SimpleQueue[Delivery | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, jobs), daemon=True).start()
    own_id = os.getpid()
    with suppress(OSError, Stopped):
        pipe.send(None)
        while job := jobs.get():
            received_parts.accept(job)
            answer = _answer(job.call)
            if os.getpid() != own_id:  # the job forked, and its child returned as well
                os._exit(0)
            pipe.send(answer)


def _listen(pipe: Connection, jobs: "SimpleQueue[Delivery | None]") -> None:
    """Read jobs at any time, so that this process and its host do not wait for each other."""
    with suppress(EOFError, OSError):
        while True:
            jobs.put(pipe.recv())
    jobs.put(None)
    if parent := multiprocessing.parent_process():
        parent.join()  # it has closed the pipe, or died
        os._exit(1)


def _answer(call: bytes) -> tuple[bool, Any]:
    try:
        fn, args, kwargs = pickle.loads(call)  # noqa: S301 - packed by `submit`
        return True, fn(*args, **kwargs)
    except Stopped:
        raise
    # Any exception is for the caller.
    except BaseException as exc:  # noqa: BLE001
        return False, exc
