"""Calls in daemon threads, which never keep the program from ending."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def in_daemon_thread(
    function: Callable[_Parameters, _Result],
    *args: _Parameters.args,
    **kwargs: _Parameters.kwargs,
) -> Future[_Result]:
    """Start a call in a daemon thread; the future has its result or exception."""
    future: Future[_Result] = Future()

    def work() -> None:
        try:
            future.set_result(function(*args, **kwargs))
        # The thread that waits for the future raises it.
        except BaseException as exc:  # noqa: BLE001
            future.set_exception(exc)

    threading.Thread(target=work, name="cooperbench-eval-llm", daemon=True).start()
    return future


def in_threads(
    function: Callable[[_Item], _Result],
    items: Sequence[_Item],
    *,
    threads: int,
    stopped: threading.Event,
) -> list[_Result]:
    """Call *function* with each item, in several threads; return the results in order.

    *stopped* is set when this function ends. If the caller is interrupted or a call fails,
    *function* can see from *stopped* that its result is no longer needed.
    """
    todo = iter(range(len(items)))  # next() on a range iterator is atomic
    results: dict[int, _Result] = {}
    failures: dict[int, BaseException] = {}

    def work() -> None:
        for i in todo:
            try:
                results[i] = function(items[i])
            # Raised below, in the thread that waits.
            except BaseException as exc:  # noqa: BLE001
                failures[i] = exc
                stopped.set()

    try:
        for worker in [in_daemon_thread(work) for _ in range(min(threads, len(items)))]:
            worker.result()
    finally:
        stopped.set()
    if failures:
        raise failures[min(failures)]
    return [results[i] for i in range(len(items))]
