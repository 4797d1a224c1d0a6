"""The host's part: starts the guardian of a worker, waits for it, and takes the answer."""

import marshal
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from cooperbench_eval.apart.answers import Answer, read_answer
from cooperbench_eval.apart.pickling import PICKLING_FAILS, dumps
from cooperbench_eval.errors import WorkerError
from cooperbench_eval.running.sandboxes.processes import above_standard, kill_strays
from cooperbench_eval.running.worktrees import remove

__all__ = ["Child"]

_GUARDIAN: Final = Path(__file__).with_name("guardian.py")
# A guardian that is gone is no reason for a signal, nor is one that is busy to wait.
_FLAGS: Final = getattr(socket, "MSG_NOSIGNAL", 0) | socket.MSG_DONTWAIT
_GRACE_SECONDS: Final = 5.0
"""How long a process may clean up that is stopped, or go on that has answered."""
_MOST_SAID: Final = 16
_WAKE_MILLISECONDS: Final = 1000


class Child:
    """A call that is made in a process of its own.

    `run` belongs in a thread, which it keeps until nothing of the process is left.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        is_dropped: Callable[[], bool],
    ) -> None:
        """Prepare to call *fn*; it is stopped as well when *is_dropped* says so."""
        self._call = (fn, args, kwargs)
        self._is_dropped = is_dropped
        self._lock = threading.Lock()
        self._link: socket.socket | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """Have the process end; may be called at any time, and waits for nothing."""
        with self._lock:
            self._is_stopped = True
            if self._link:
                with suppress(OSError):
                    self._link.send(b"x", _FLAGS)

    def run(self) -> Any:
        """Make the call; return its value when its process has ended with all it started.

        Raises:
            WorkerError: There is no value: the process could not be started, died, or
                was stopped, or what travels cannot be pickled.
            Exception: What the call raised.
        """
        packed = self._packed()
        try:
            with _folder() as folder, _file(packed) as call, _file() as file:
                answer = self._answer(folder, call, file)
        except OSError as exc:
            raise WorkerError(f"its process cannot be started ({exc})") from exc
        return answer.value()

    def _packed(self) -> bytes:
        path = marshal.dumps([each for each in sys.path if isinstance(each, str)])
        try:
            return path + dumps(self._call)
        except PICKLING_FAILS as exc:
            raise WorkerError(f"cannot be sent to a process of its own ({exc})") from exc

    def _answer(self, folder: Path, call: int, answer: int) -> Answer:
        with self._linked() as (here, there):
            with there:
                if self._is_stopped:
                    raise WorkerError("it was stopped")
                process = _start(there, folder, call, answer)
            self._await(process, here)
            try:
                ending = int(here.recv(_MOST_SAID, _FLAGS) or b"")
            except (OSError, ValueError) as exc:
                # It alone knew what the worker had started.
                kill_strays(folder)
                problem = f"the process that watches over it {_how(process.returncode)}"
                raise WorkerError(problem, process.returncode) from exc
        if found := read_answer(answer):
            return found
        if self._is_stopped:
            raise WorkerError("it was stopped", ending)
        raise WorkerError(f"its process {_how(ending)}", ending)

    def _await(self, process: subprocess.Popen[bytes], here: socket.socket) -> None:
        """Wait for the guardian to end, which says how the worker did just before."""
        poller = select.poll()
        poller.register(here, select.POLLIN)
        # Another process forked by the host may hold its end, hence `process.poll`.
        while not poller.poll(_WAKE_MILLISECONDS) and process.poll() is None:
            if self._is_dropped():
                self.stop()
        process.wait()

    @contextmanager
    def _linked(self) -> Iterator[tuple[socket.socket, socket.socket]]:
        """Make the two ends of what `stop` speaks through."""
        here, there = socket.socketpair()
        with closing(here):
            with self._lock:
                self._link = here
            try:
                yield here, there
            finally:
                with self._lock:
                    self._link = None


def _start(link: socket.socket, folder: Path, call: int, answer: int) -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise WorkerError("its process cannot be started (there is no Python for it)")
    arguments = map(str, (os.getpid(), call, answer, _GRACE_SECONDS))
    return subprocess.Popen(  # noqa: S603 - our own script
        [sys.executable, "-P", str(_GUARDIAN), *arguments],
        stdin=link.fileno(),
        pass_fds=(call, answer),
        # An interrupt of the terminal is for the host, who ends this in turn.
        start_new_session=True,
        env=os.environ | {"TMPDIR": str(folder)},
    )


@contextmanager
def _folder() -> Iterator[Path]:
    """Make the folder that all temporary files go to, whoever leaves them there."""
    folder = Path(tempfile.mkdtemp(prefix="cooperbench-")).resolve()
    try:
        yield folder
    finally:
        remove(folder)


@contextmanager
def _file(data: bytes = b"") -> Iterator[int]:
    """Make a file without a name that holds *data*."""
    file = above_standard(os.memfd_create("cooperbench"))
    try:
        with open(file, "wb", closefd=False) as stream:
            stream.write(data)
        os.lseek(file, 0, os.SEEK_SET)
        yield file
    finally:
        os.close(file)


def _how(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
