"""The laws of plug-ins, and the check of each in a child process that can be killed."""

import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from attrs import evolve, field, frozen

from cooperbench_eval.running.processes.supervision import describe_exit
from cooperbench_eval.support.arguments import named_fields
from cooperbench_eval.support.error_texts import place_of


class LawStatus(StrEnum):
    """Whether a plug-in keeps a law."""

    HELD = "held"
    """The plug-in kept the law in every case tried. Other cases may still break it."""
    BROKEN = "broken"
    """The plug-in broke the law; the counterexample shows how."""
    OPTED_OUT = "opted_out"
    """The plug-in does not have to keep the law, for the given reason."""
    NOT_CHECKED = "not_checked"
    """The law could not be checked; the reason says why."""


@frozen(kw_only=True)
class Law:
    """A promise that every plug-in of a kind keeps.

    Attributes:
        name: The law's name in results and in opt-outs.
        asks: The law's statement, as a sentence.
    """

    name: str
    asks: str


LawT = TypeVar("LawT", bound=Law)


@frozen(kw_only=True)
class Counterexample:
    """A case in which a plug-in broke a law.

    Attributes:
        given: The input of the plug-in.
        came: What the plug-in did.
        wanted: What the plug-in should have done.
        mistake: Why the plug-in gave no result, with the line of its code if it raised. The text
            does not depend on the input. Empty if the plug-in gave a result.
    """

    given: str
    came: str
    wanted: str
    mistake: str = ""

    def __str__(self) -> str:
        parts = (("given", self.given), ("came", self.came), ("wanted", self.wanted))
        rows = (f"{name:<8}{text}".replace("\n", "\n" + 10 * " ") for name, text in parts)
        return "\n".join(f"  {row}" for row in rows)


@frozen(kw_only=True, field_transformer=named_fields)
class LawResult:
    """The result of checking one law.

    Attributes:
        law: The law.
        status: Whether the plug-in keeps it.
        reason: Why the plug-in does not have to keep the law, or why the law could not be checked.
            For a law that held, a caveat. For a broken law, an earlier law that the same mistake
            broke. Otherwise empty.
        counterexample: The smallest case found that breaks the law. A law that was opted
            out of and broken has one too.
        cases: The number of cases tried.
        answered: The number of cases in which a strategy resolved a conflict. If it is 0,
            the strategy kept the law by doing nothing.
    """

    law: Law
    status: LawStatus = field(converter=LawStatus)
    reason: str = ""
    counterexample: Counterexample | None = None
    cases: int = 0
    answered: int | None = None

    @property
    def is_ok(self) -> bool:
        """Whether the law held, or was opted out of."""
        return self.status in {LawStatus.HELD, LawStatus.OPTED_OUT}

    def __str__(self) -> str:
        head = f"{self.law.name}: {self.status.value.replace('_', ' ')}"
        if self.status is LawStatus.HELD:
            head += f" in {self.cases:,} " + ("case" if self.cases == 1 else "cases")
            if self.answered is not None:
                head += f", {self.answered:,} with a conflict resolved"
        if self.reason:
            return f"{head} ({self.reason})"
        if self.status is LawStatus.BROKEN:
            head += f"\n  {self.law.asks}"
        if self.counterexample is not None and self.status is LawStatus.BROKEN:
            head += f"\n{self.counterexample}"
        return head


def law_maker(
    kind: Callable[..., LawT], laws: list[LawT]
) -> Callable[..., Callable[[Callable[..., None]], LawT]]:
    """Return a decorator that makes a law from the decorated check, with the check's name."""

    def law(asks: str, **options: Any) -> Callable[[Callable[..., None]], LawT]:
        def make(check: Callable[..., None]) -> LawT:
            name = check.__name__.removeprefix("_")
            laws.append(kind(name=name, asks=asks, check=check, **options))
            return laws[-1]

        return make

    return law


def check_opt_out(opt_out: Mapping[str, str], laws: Iterable[Law]) -> None:
    """Raise `ValueError` if an opt-out is of an unknown law, or has no reason."""
    known = [law.name for law in laws]
    for name, reason in opt_out.items():
        if name not in known:
            raise ValueError(f"no law is called {name!r}; laws: {', '.join(known)}")
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(f"say why {name!r} need not be kept")


def check_positive(**arguments: float) -> None:
    """Raise `ValueError` if an argument is 0 or less."""
    for name, value in arguments.items():
        if not value > 0:
            raise ValueError(f"{name} must be more than 0, not {value!r}")


class BrokenError(Exception):
    """The current case breaks the law; never leaves a check."""

    def __init__(self, counterexample: Counterexample) -> None:
        super().__init__(counterexample)
        self.counterexample = counterexample


class UncheckedError(Exception):
    """The law cannot be checked, but the plug-in is not at fault; never leaves a check."""


def mistake_of(exc: BaseException) -> str:
    """Return the type of an error and the line of the plug-in that raised it."""
    return f"{type(exc).__qualname__}{place_of(exc)}"


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
) -> tuple[LawResult, ...]:
    """Check each law; *opt_out* has those that need not be kept, by name, with the reasons."""
    check_opt_out(opt_out or {}, laws)
    results: list[LawResult] = []
    told: dict[str, str] = {}
    for law in laws:
        reason = (opt_out or {}).get(law.name)
        result = check(law)
        if reason is not None:
            if result.status is LawStatus.HELD:
                reason += _NEEDLESS
            result = evolve(result, status=LawStatus.OPTED_OUT, reason=reason)
        results.append(told_once(result, told))
    return tuple(results)


def told_once(result: LawResult, told: dict[str, str]) -> LawResult:
    """Return *result*, with a reason if the same mistake broke an earlier law.

    *told* has the first law that each mistake broke; a new mistake is added to it.
    """
    mistake = result.counterexample.mistake if result.counterexample else ""
    if not mistake or result.status is not LawStatus.BROKEN:
        return result
    first = told.setdefault(mistake, result.law.name)
    if first == result.law.name:
        return result
    return evolve(result, reason=f"the same mistake as in the law {first}: {mistake}")


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
        broken = Counterexample(given=asked, came=came, wanted=wanted, mistake=came)
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
