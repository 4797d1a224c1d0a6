"""Awaits a call that runs in a process of its own."""

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, ParamSpec, TypeVar

from cooperbench_eval.errors import WorkerError
from cooperbench_eval.running.processes.calls import call_in_process
from cooperbench_eval.running.processes.supervision import Supervision

__all__ = ["await_in_process"]

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
