"""Checks laws one by one, each in a child process that can be killed."""

import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from attrs import evolve

from cooperbench_eval.running.processes.supervision import describe_exit
from cooperbench_eval.testing.records import (
    Counterexample,
    Law,
    LawResult,
    LawStatus,
    LawT,
    check_opt_out,
)

__all__ = ["Check", "check_failed", "check_in_fork", "check_laws"]

_MOST_SHOWN = 400
_SECONDS_TO_EXIT = 5.0
_NEEDLESS = "; it was not broken in any case tried"

# A check reports each input as text before it uses it, and each counterexample it finds.
Check = Callable[[Callable[[str | Counterexample], None]], LawResult]


def check_laws(
    laws: Sequence[LawT],
    check: Callable[[LawT], LawResult],
    *,
    opt_out: Mapping[str, str] | None,
    inapplicable: Mapping[str, str],
) -> tuple[LawResult, ...]:
    """Check each law. Those of *opt_out* need not be kept; *inapplicable* are not checked.

    Both map the names of laws to reasons.
    """
    check_opt_out(opt_out or {}, laws)
    results = []
    for law in laws:
        reason = (opt_out or {}).get(law.name)
        if law.name in inapplicable:
            reason = reason or inapplicable[law.name]
            results.append(LawResult(law=law, status=LawStatus.OPTED_OUT, reason=reason))
            continue
        result = check(law)
        if reason is not None:
            if result.status is LawStatus.HELD:
                reason += _NEEDLESS
            result = evolve(result, status=LawStatus.OPTED_OUT, reason=reason)
        results.append(result)
    return tuple(results)


def check_failed(law: Law, exc: Exception) -> LawResult:
    """Return the result of a law whose check itself failed; the plug-in is not at fault."""
    reason = f"the check failed: {exc!r:.{_MOST_SHOWN}}"
    return LawResult(law=law, status=LawStatus.NOT_CHECKED, reason=reason)


def check_in_fork(law: Law, check: Check, *, patience_seconds: float, wanted: str) -> LawResult:
    """Run *check* in a fork of this process, and return its result.

    It is a fork because plug-ins need not pickle. The fork and its session are killed if it
    reports nothing for *patience_seconds*. *wanted* is what a plug-in that hangs or ends its
    process should have done.
    """
    asked, broken = "", None
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=_work, args=(law, check, sender, receiver), daemon=False
    )
    with receiver, _running(child):
        sender.close()
        came = f"no answer within {patience_seconds:g} seconds"
        try:
            while receiver.poll(patience_seconds):
                report = receiver.recv()
                if isinstance(report, LawResult):
                    return report
                if isinstance(report, Counterexample):
                    broken = report
                else:
                    asked = report
        except EOFError:
            child.join(_SECONDS_TO_EXIT)
            came = f"its process {describe_exit(child.exitcode)}"
    if broken is None:
        broken = Counterexample(given=asked, came=came, wanted=wanted)
    return LawResult(law=law, status=LawStatus.BROKEN, counterexample=broken)


def _work(law: Law, check: Check, sender: Connection, receiver: Connection) -> None:
    receiver.close()  # so that the child notices when its parent is gone
    with suppress(OSError):
        os.setsid()
    try:
        result = check(sender.send)
    # Only its text is sent, because an exception need not pickle.
    except Exception as exc:  # noqa: BLE001
        result = check_failed(law, exc)
    sender.send(result)


@contextmanager
def _running(child: BaseProcess) -> Iterator[None]:
    with warnings.catch_warnings():
        # Python warns about forks of a process with threads, because the child may wait
        # forever for a lock that a thread held. The time limit ends such a child.
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
