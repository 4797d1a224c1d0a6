"""Checks a law in a fork of this process, which can be killed whatever the plug-in does."""

import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from cooperbench_eval.processes.stopping import describe_exit
from cooperbench_eval.testing.records import Counterexample, Law, LawResult, LawStatus, failed

__all__ = ["Check", "check_in_fork"]

_EXIT_SECONDS = 5.0

Check = Callable[[Callable[[Any], None]], LawResult]
"""Checks a law. It calls its argument with each question that it asks, as text, and with
what broke the law, as a `Counterexample`."""


def check_in_fork(law: Law, check: Check, *, patience_seconds: float, wanted: str) -> LawResult:
    """Return the result of *check*, made in a fork: a plug-in need not pickle.

    Args:
        law: The law that is checked.
        check: The check.
        patience_seconds: How long the fork may be silent before it is killed.
        wanted: What should have come instead of silence or death.
    """
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=_work, args=(law, check, sender, receiver), daemon=False
    )
    question, broken, came = "", None, ""
    with receiver, _running(child):
        sender.close()
        while not came:
            try:
                message = receiver.recv() if receiver.poll(patience_seconds) else None
            except EOFError:
                child.join(_EXIT_SECONDS)
                came = f"its process {describe_exit(child.exitcode)}"
                continue
            match message:
                case LawResult():
                    return message
                case Counterexample():
                    broken = message
                case None:
                    came = f"no answer within {patience_seconds:g} seconds"
                case _:
                    question = message
    broken = broken or Counterexample(given=question, came=came, wanted=wanted)
    return LawResult(law=law, status=LawStatus.BROKEN, counterexample=broken)


def _work(law: Law, check: Check, sender: Connection, receiver: Connection) -> None:
    receiver.close()  # so that sending fails once the parent has died
    with suppress(OSError):
        os.setsid()
    try:
        result = check(sender.send)
    # In words, because the exception need not pickle.
    except Exception as exc:  # noqa: BLE001
        result = failed(law, repr(exc))
    sender.send(result)


@contextmanager
def _running(child: BaseProcess) -> Iterator[None]:
    """Start *child*, and kill its session at the end."""
    with warnings.catch_warnings():
        # Python warns of forks in a process with threads. A thread may hold a lock that the
        # child then waits for in vain; the child is killed for its silence.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    try:
        yield
    finally:
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):
                kill(child.pid or 0, signal.SIGKILL)
        child.join()
        child.close()
