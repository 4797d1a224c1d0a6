"""Looks for a case in which a law is broken, and for the smallest such: by Hypothesis."""

from collections.abc import Callable
from typing import Any, TypeVar
from unittest import SkipTest

from attrs import frozen
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.strategies import SearchStrategy

from cooperbench_eval.testing.records import (
    BrokenError,
    Counterexample,
    UncheckedError,
    check_positive,
)

__all__ = ["Effort", "find_broken"]

CaseT = TypeVar("CaseT")


@frozen(kw_only=True)
class Effort:
    """How hard to look.

    Attributes:
        examples: How many cases to try, 1 at least; `None` leaves it to Hypothesis's profile.
        seed: What the cases are drawn from; `None` leaves it to the profile.
        uses_profile: Whether Hypothesis's current profile, its database of failures and
            its verbosity apply. Its deadline never does: a merge may take its time.
    """

    examples: int | None = 100
    seed: int | None = 0
    uses_profile: bool = False

    def __attrs_post_init__(self) -> None:
        """Refuse to try nothing."""
        if self.examples is not None:
            check_positive(examples=self.examples)

    def settings(self) -> settings:
        """Say so to Hypothesis."""
        options: dict[str, Any] = {
            "deadline": None,
            "suppress_health_check": list(HealthCheck),
            "report_multiple_bugs": False,
            # What Hypothesis would explain is the kit's own code.
            "phases": tuple(set(settings().phases) - {Phase.explain}),
        }
        if self.examples is not None:
            options["max_examples"] = self.examples
        if not self.uses_profile:
            options |= {
                "database": None,
                "phases": (Phase.generate, Phase.shrink),
                "print_blob": False,
                "verbosity": Verbosity.quiet,
            }
        return settings(**options)


class _FoundError(Exception):
    """The law is broken in the case that is being tried."""


def find_broken(
    check: Callable[[CaseT], None],
    cases: SearchStrategy[CaseT],
    effort: Effort,
    *,
    name: str,
) -> Counterexample | None:
    """Return how *check* breaks, in the smallest case found; `None` if it never does.

    Args:
        check: Raises `BrokenError` where the law is broken, and `UncheckedError` where it
            cannot be checked, which nothing is tried after.
        cases: What is tried.
        effort: How hard to look.
        name: An identifier under which Hypothesis remembers cases.

    Raises:
        UncheckedError: *check* raised it before it found anything.
    """
    found: list[Counterexample] = []
    unchecked: list[UncheckedError] = []

    def hold(case: CaseT) -> None:
        try:
            check(case)
        except BrokenError as exc:
            found.append(exc.counterexample)
        except UncheckedError as exc:
            unchecked.append(exc)
        else:
            return
        # Raised anew, for Hypothesis renders the whole chain of an exception, each time.
        # The smallest case that cannot be checked is nobody's question: that ends the search.
        raise SkipTest if unchecked else _FoundError

    hold.__name__ = hold.__qualname__ = name
    test = effort.settings()(given(case=cases)(hold))
    if effort.seed is not None:
        test = seed(effort.seed)(test)
    try:
        test()
    except _FoundError:
        return found[-1]  # Hypothesis ends with the smallest
    # A strategy that answers as it likes breaks a law in one try and not in the next, which
    # Hypothesis minds; what *cases* are made with may raise anything.
    except (Exception, BaseExceptionGroup):
        if unchecked and not found:
            raise unchecked[0] from None
        if not found:
            raise
        return min(found, key=lambda each: len(each.given))
    return None
