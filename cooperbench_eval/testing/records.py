"""The result of a check: a record for each law."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from attrs import field, frozen

from cooperbench_eval.support.arguments import named_fields

__all__ = [
    "BrokenError",
    "Counterexample",
    "Law",
    "LawResult",
    "LawStatus",
    "UncheckedError",
    "check_opt_out",
    "check_positive",
    "law_maker",
]


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
    """

    given: str
    came: str
    wanted: str

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
        reason: Why the plug-in does not have to keep the law, or why the law could not be
            checked. For a law that held, a caveat. Otherwise empty.
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
        if self.status is LawStatus.BROKEN:
            head += f"\n  {self.law.asks}"
        if self.reason:
            head += f" ({self.reason})"
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
