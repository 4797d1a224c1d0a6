"""Does work in a child process that can be ended, whatever the work does."""

import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from cooperbench_eval.testing.records import Counterexample, Law, LawResult, LawStatus, failed

__all__ = ["check_apart"]

_SECONDS_TO_EXIT = 5.0


def check_apart(
    law: Law,
    check: Callable[[Callable[[Any], None]], LawResult],
    *,
    patience_seconds: float,
    wanted: str,
) -> LawResult:
    """Return what *check* returns, from a fork of this process that can be killed.

    Args:
        law: The law that is checked.
        check: Is given a function by which it tells what it asks, as text, and what
            broke the law, as a `Counterexample`.
        patience_seconds: How long it may tell nothing.
        wanted: What should have come instead of silence or death.
    """
    asked, broken = "", None
    try:
        for told in told_by(lambda tell: tell(check(tell)), patience_seconds=patience_seconds):
            if isinstance(told, LawResult):
                return told
            if isinstance(told, Counterexample):
                broken = told
            else:
                asked = told
        came = "it ended the process"
    except SilentError:
        came = f"no answer within {patience_seconds:g} seconds"
    except DiedError as exc:
        came = f"it ended the process (exit status {exc.exit_code})"
    except RaisedError as exc:
        return failed(law, str(exc))
    if broken is None:
        broken = Counterexample(given=asked, came=came, wanted=wanted)
    return LawResult(law=law, status=LawStatus.BROKEN, counterexample=broken)


class SilentError(Exception):
    """The child told nothing for too long."""


class DiedError(Exception):
    """The child ended before its work did.

    Attributes:
        exit_code: Its exit status, negative for a signal.
    """

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


class RaisedError(Exception):
    """The child's work raised what is said."""


def told_by(
    work: Callable[[Callable[[Any], None]], None], *, patience_seconds: float
) -> Iterator[Any]:
    """Yield what *work* tells, from a fork of this process.

    A fork, because what is worked on need not pickle. It is killed, and all of its
    session, where it tells nothing for *patience_seconds*, and when the iterator is
    closed.

    Raises:
        SilentError: It told nothing for too long.
        DiedError: It ended before its work did.
        RaisedError: Its work raised.
    """
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=_work, args=(work, sender, receiver), daemon=False
    )
    with receiver, _running(child):
        sender.close()
        while True:
            if not receiver.poll(patience_seconds):
                raise SilentError
            try:
                is_last, told = receiver.recv()
            except EOFError:
                child.join(_SECONDS_TO_EXIT)
                raise DiedError(child.exitcode) from None
            if is_last and told:
                raise RaisedError(told)
            if is_last:
                return
            yield told


def _work(
    work: Callable[[Callable[[Any], None]], None], sender: Connection, receiver: Connection
) -> None:
    receiver.close()  # so that the child notices where its parent is gone
    with suppress(OSError):
        os.setsid()
    problem = ""
    try:
        work(lambda told: sender.send((False, told)))
    # Told in words, because what was raised need not pickle.
    except Exception as exc:  # noqa: BLE001
        problem = repr(exc)
    sender.send((True, problem))


@contextmanager
def _running(child: BaseProcess) -> Iterator[None]:
    with warnings.catch_warnings():
        # Python warns of forking beside threads. They may hold locks that the child
        # then waits for in vain; its silence ends it.
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
