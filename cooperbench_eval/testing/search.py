"""Uses Hypothesis to find the smallest case in which a law is broken."""

from collections.abc import Callable
from random import Random
from typing import Any, TypeVar
from unittest import SkipTest

from attrs import frozen
from hypothesis import Phase, Verbosity, find, settings
from hypothesis.errors import NoSuchExample
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
    """How many cases to try, and how they are drawn.

    Attributes:
        examples: The number of cases, at least 1; `None` leaves it to Hypothesis's profile.
        seed: The seed of the cases; `None` leaves it to the profile.
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
        """Return Hypothesis's settings."""
        # The phase `explain` would explain the kit's own code.
        phases = tuple(set(settings().phases) - {Phase.explain})
        options: dict[str, Any] = {"deadline": None, "phases": phases}
        if self.examples is not None:
            options["max_examples"] = self.examples
        if not self.uses_profile:
            options["database"] = None
            options["phases"] = (Phase.generate, Phase.shrink)
            options["verbosity"] = Verbosity.quiet
        return settings(**options)


def find_broken(
    check: Callable[[CaseT], None], cases: SearchStrategy[CaseT], effort: Effort, *, name: str
) -> Counterexample | None:
    """Return how *check* breaks in the smallest case found, or `None` if it never does.

    Args:
        check: Raises `BrokenError` if a case breaks the law. The first `UncheckedError`
            that it raises ends the search.
        cases: The cases to try.
        effort: How many, and how they are drawn.
        name: The name under which Hypothesis remembers failures.

    Raises:
        UncheckedError: *check* raised it before it found anything.
    """
    found: list[Counterexample] = []

    def is_broken(case: CaseT) -> bool:
        try:
            check(case)
        except BrokenError as exc:
            found.append(exc.counterexample)
            return True
        except UncheckedError as exc:
            raise SkipTest(str(exc)) from exc  # Hypothesis looks for no smaller case of these
        return False

    random = None if effort.seed is None else Random(effort.seed)  # noqa: S311 - not a secret
    try:
        find(
            cases, is_broken, settings=effort.settings(), random=random, database_key=name.encode()
        )
    except NoSuchExample:
        return None
    # Hypothesis minds a strategy that breaks a law in one try and not in the next; the
    # caller's own generators may raise anything.
    except (Exception, BaseExceptionGroup) as exc:
        if found:
            return min(found, key=lambda each: len(each.given))
        if isinstance(exc.__cause__, UncheckedError):
            raise exc.__cause__ from None
        raise
    return found[-1]  # Hypothesis ends with the smallest
