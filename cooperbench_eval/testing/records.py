"""What a check finds: a record for each law."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from attrs import evolve, field, frozen

__all__ = [
    "BrokenError",
    "Counterexample",
    "Law",
    "LawResult",
    "LawStatus",
    "UncheckedError",
    "check_opt_out",
    "check_positive",
    "excused",
    "failed",
]

_MOST_SAID = 400
_NEEDLESS = "; it was not broken in any case tried"


class LawStatus(StrEnum):
    """What became of a law."""

    HELD = "held"
    """It was kept in every case that was tried. That proves nothing of the others."""
    BROKEN = "broken"
    """It was broken; the counterexample says how."""
    OPTED_OUT = "opted_out"
    """It need not be kept, for the reason given."""
    NOT_CHECKED = "not_checked"
    """It could not be checked; the reason says why."""


@frozen(kw_only=True)
class Law:
    """A promise that every plug-in of a kind keeps.

    Attributes:
        name: What it is called in results and where somebody opts out.
        asks: What it asks, as a sentence.
    """

    name: str
    asks: str


@frozen(kw_only=True)
class Counterexample:
    """One case in which a law was broken.

    Attributes:
        given: What the plug-in was asked.
        came: What it did.
        wanted: What it should have done.
    """

    given: str
    came: str
    wanted: str

    def __str__(self) -> str:
        parts = (("given", self.given), ("came", self.came), ("wanted", self.wanted))
        return "\n".join(f"  {name:<8}{_indented(text)}" for name, text in parts)


def _indented(text: str) -> str:
    return text.replace("\n", "\n" + 10 * " ")


@frozen(kw_only=True)
class LawResult:
    """What became of one law in a check.

    Attributes:
        law: The law.
        status: Whether it held.
        reason: Why it need not be kept, or could not be checked; what is worth knowing
            of a law that held; empty otherwise.
        counterexample: How it was broken, as small as could be found; also of a law
            that somebody opted out of and that was broken.
        cases: How many cases were tried.
        answered: In how many of them a strategy resolved a conflict. Where that is 0
            the law was kept by doing nothing.
    """

    law: Law
    status: LawStatus = field(converter=LawStatus)
    reason: str = ""
    counterexample: Counterexample | None = None
    cases: int = 0
    answered: int | None = None

    @property
    def is_ok(self) -> bool:
        """Whether it held, or need not."""
        return self.status in {LawStatus.HELD, LawStatus.OPTED_OUT}

    def __str__(self) -> str:
        head = f"{self.law.name}: {self.status.value.replace('_', ' ')}"
        if self.status is LawStatus.HELD:
            head += f" in {self.cases:,} case{'s' * (self.cases != 1)}"
            if self.answered is not None:
                head += f", {self.answered:,} with a conflict resolved"
        if self.status is LawStatus.BROKEN:
            head += f"\n  {self.law.asks}"
        if self.reason:
            head += f" ({self.reason})"
        if self.counterexample is not None and self.status is LawStatus.BROKEN:
            head += f"\n{self.counterexample}"
        return head


def check_opt_out(opt_out: Mapping[str, str], laws: Iterable[Law]) -> None:
    """Refuse reasons for laws that are none, and laws without a reason.

    Raises:
        ValueError: No law has that name, or its reason is empty.
    """
    known = [law.name for law in laws]
    for name, reason in opt_out.items():
        if name not in known:
            raise ValueError(f"no law is called {name!r}; laws: {', '.join(known)}")
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(f"say why {name!r} need not be kept")


def check_positive(**arguments: float) -> None:
    """Refuse arguments that are 0 or less.

    Raises:
        ValueError: One is.
    """
    for name, value in arguments.items():
        if not value > 0:
            raise ValueError(f"{name} must be more than 0, not {value!r}")


def excused(result: LawResult, reason: str | None) -> LawResult:
    """Return *result* as that of a law that somebody opted out of with *reason*, if any."""
    if reason is None:
        return result
    if result.status is LawStatus.HELD:
        reason += _NEEDLESS
    return evolve(result, status=LawStatus.OPTED_OUT, reason=reason)


def failed(law: Law, problem: str) -> LawResult:
    """Return the result of a law whose check failed with *problem*, not the plug-in."""
    reason = f"the check failed: {problem:.{_MOST_SAID}}"
    return LawResult(law=law, status=LawStatus.NOT_CHECKED, reason=reason)


class BrokenError(Exception):
    """A law is broken in the case that is being tried; never leaves a check."""

    def __init__(self, counterexample: Counterexample) -> None:
        super().__init__(counterexample)
        self.counterexample = counterexample


class UncheckedError(Exception):
    """A law cannot be checked, through no fault of the plug-in; never leaves a check."""
