"""The awaiting side: a coroutine that outlives what it started."""

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, ParamSpec, TypeVar

from cooperbench_eval.apart.child import Child
from cooperbench_eval.errors import WorkerError

__all__ = ["run_apart"]

_Given = ParamSpec("_Given")
_Value = TypeVar("_Value")


async def run_apart(
    fn: Callable[_Given, _Value], /, *args: _Given.args, **kwargs: _Given.kwargs
) -> _Value:
    """Call *fn* in a process of its own, and await its value.

    The event loop does none of it: a thread packs, starts, waits and unpacks. No signal
    handler is installed, and no child of the host is waited for but this one.

    A cancelled task first has the process stop, in a way that lets it clean up; after
    five seconds it is killed. `CancelledError` comes out of the await when nothing is
    left of the process, of what it started and of its temporary files, however often
    the task is cancelled meanwhile. All of that also dies with the host, and soon after
    the loop is closed.

    Args:
        fn: What to call. It travels by name, or whole if the main module defines it,
            which the process does not import: scripts need no guard.
        args: Travel pickled, as does the value.
        kwargs: As *args*.

    Raises:
        WorkerError: There is no value: the process could not be started or died, what
            travels cannot be pickled, no asyncio loop runs, or *fn* raised what is no
            `Exception`, as `SystemExit`.
        Exception: What *fn* raised, with its traceback there as a note.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError as exc:
        raise WorkerError("this is awaited in an asyncio event loop, and none runs here") from exc
    child = Child(fn, args, kwargs, loop.is_closed)
    outcome: Future[_Value] = Future()
    done = loop.create_future()

    def work() -> None:
        try:
            outcome.set_result(child.run())
        # Whatever it is, it is raised where it is awaited.
        except BaseException as exc:  # noqa: BLE001
            outcome.set_exception(exc)
        with suppress(RuntimeError):  # the loop is closed, and nobody waits
            loop.call_soon_threadsafe(_tell, done)

    try:
        # Not joined as the interpreter exits, so that the guardian hears of its end.
        threading.Thread(target=work, name="cooperbench-eval", daemon=True).start()
    except RuntimeError as exc:
        raise WorkerError(f"its process cannot be started ({exc})") from exc
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        child.stop()
        await _outlast(done)
        raise
    except BaseException:  # the coroutine is dropped: nobody waits
        child.stop()
        raise
    return outcome.result()


def _tell(done: "asyncio.Future[None]") -> None:
    if not done.done():
        done.set_result(None)


async def _outlast(done: "asyncio.Future[None]") -> None:
    """Wait for *done*, whoever cancels meanwhile; the first cancellation is raised after it."""
    with _shielded():
        while not done.done():
            with suppress(asyncio.CancelledError):
                await asyncio.shield(done)


def _shielded() -> AbstractContextManager[Any]:
    """Keep a cancelled scope of anyio from cancelling again in each turn of the loop.

    Nobody uses anyio who has not imported it.
    """
    anyio: Any = sys.modules.get("anyio")
    return anyio.CancelScope(shield=True) if anyio else nullcontext()
