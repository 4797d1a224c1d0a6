"""Calls a function in a supervised process of its own, and waits for its value or awaits it."""

import asyncio
import math
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from cooperbench_eval.errors import SandboxError, WorkerError
from cooperbench_eval.running.processes.supervision import (
    CLEANER,
    CommandEnd,
    EndReason,
    SupervisedCommand,
    Supervision,
    describe_exit,
)
from cooperbench_eval.running.processes.temporary import temporary_folder
from cooperbench_eval.running.processes.worker import REPLY, read_reply, worker_command, write_call

_GRACE_SECONDS: Final = 5.0
"""How long a process may take to clean up after a stop, or to end after its reply."""
_SIGKILL: Final = 9
_NOTHING: Final[Mapping[str, str]] = {}


def call_in_process(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] = _NOTHING,
    *,
    supervision: Supervision | None = None,
    env: Mapping[str, str] = _NOTHING,
    timeout_seconds: float = math.inf,
    output_limit: int | None = None,
) -> Any:
    """Call *fn* in a process of its own, and return its value once all its processes are gone.

    The function is pickled by name, or by value if the main module defines it. With *supervision*,
    another thread can stop the call. *env* is set in addition to the variables of this process. The
    deadline counts from the start of the process, and *output_limit* is as in `SupervisedCommand`.

    Raises:
        WorkerError: The process could not be started, died or was stopped, or a value
            cannot be pickled.
        Exception: The exception that *fn* raised.
    """
    supervision = supervision or Supervision()
    try:
        with temporary_folder() as folder:
            write_call(folder, fn, args, kwargs)
            if supervision.is_stopped:
                raise WorkerError("it was stopped")
            temporary = folder / "tmp"
            temporary.mkdir()
            end = supervision.run(
                SupervisedCommand(
                    command=worker_command(folder),
                    folder=Path(),
                    env={**os.environ, **env, "TMPDIR": str(temporary)},
                    timeout_seconds=timeout_seconds,
                    grace_seconds=_GRACE_SECONDS,
                    output_limit=output_limit,
                    marks=(folder,),
                    spared=CLEANER,
                    temporary=folder,
                    result=folder / REPLY,
                )
            )
            reply = read_reply(folder)
    except (OSError, SandboxError) as exc:
        problem = exc.problem if isinstance(exc, SandboxError) else exc
        raise WorkerError(f"its process cannot be started ({problem})") from exc
    if reply is None:
        raise _lost(end, supervision, timeout_seconds)
    return reply.value()


def _lost(end: CommandEnd, supervision: Supervision, timeout_seconds: float) -> WorkerError:
    code = end.exit_code if end.reason is EndReason.EXITED else -_SIGKILL
    if supervision.is_stopped:
        return WorkerError("it was stopped", code)
    if end.seconds >= timeout_seconds:
        return WorkerError(f"it did not answer within {timeout_seconds:g} seconds", code)
    match end.reason:
        case EndReason.REFUSED:
            return WorkerError(f"its process cannot be started ({end.problem})")
        case EndReason.LOST:
            ended = describe_exit(supervision.exit_code)
            return WorkerError(f"the process that supervises it {ended}", supervision.exit_code)
        case _:
            return WorkerError(f"its process {describe_exit(code)}", code)


_Given = ParamSpec("_Given")
_Value = TypeVar("_Value")


async def await_in_process(
    fn: Callable[_Given, _Value], /, *args: _Given.args, **kwargs: _Given.kwargs
) -> _Value:
    """Call *fn* in a process of its own, and await its value.

    A thread pickles the call, starts the process, waits for it and unpickles the value, so
    the event loop is never blocked. No signal handler is installed, and other children of
    the host are not waited for.

    A cancelled task first asks the process to stop, so that the process can clean up, and
    kills it after five seconds. `CancelledError` is raised once the process, all its
    descendants and its temporary files are gone, even if the task is cancelled again in
    the meantime. The process also dies with the host, and soon after the loop is closed. On systems
    other than Linux, only the process and its group are ended (on Windows, only the
    process), and the process survives if the host is killed.

    Args:
        fn: The function. It is pickled by name, or by value if the main module defines
            it. The process does not import the main module, so scripts need no guard.
        args: Its arguments; they are pickled, and so is the value.
        kwargs: Its arguments by name.

    Raises:
        WorkerError: The process could not be started or died, a value cannot be pickled,
            no asyncio loop is running, or *fn* raised something that is not an
            `Exception`, such as `SystemExit`.
        Exception: The exception that *fn* raised, with the process's traceback as a note.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError as exc:
        raise WorkerError("no asyncio event loop is running; await this call inside one") from exc
    supervision = Supervision(is_abandoned=loop.is_closed)
    outcome: Future[_Value] = Future()
    done = loop.create_future()

    def work() -> None:
        try:
            outcome.set_result(call_in_process(fn, args, kwargs, supervision=supervision))
        # Any exception is raised where the call is awaited.
        except BaseException as exc:  # noqa: BLE001
            outcome.set_exception(exc)
        with suppress(RuntimeError):  # the loop is closed, so nothing waits
            loop.call_soon_threadsafe(_finish, done)

    try:
        # The interpreter does not join this thread when it exits, so the supervisor ends the call.
        threading.Thread(target=work, name="cooperbench-eval", daemon=True).start()
    except RuntimeError as exc:
        raise WorkerError(f"its process cannot be started ({exc})") from exc
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        supervision.stop()
        await _finished(done)
        raise
    except BaseException:  # the coroutine is closed, so nothing waits
        supervision.stop()
        raise
    return outcome.result()


def _finish(done: "asyncio.Future[None]") -> None:
    if not done.done():
        done.set_result(None)


async def _finished(done: "asyncio.Future[None]") -> None:
    """Wait for *done*, even if the task is cancelled again in the meantime."""
    with _shielded():
        while not done.done():
            with suppress(asyncio.CancelledError):
                await asyncio.shield(done)


def _shielded() -> AbstractContextManager[Any]:
    """Keep a cancelled scope of anyio from cancelling again in each turn of the loop.

    A program that has not imported anyio does not use it.
    """
    anyio: Any = sys.modules.get("anyio")
    return anyio.CancelScope(shield=True) if anyio else nullcontext()
