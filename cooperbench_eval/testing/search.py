"""Uses Hypothesis to find the smallest case in which a law is broken."""

from collections.abc import Callable
from random import Random
from typing import Any, TypeVar
from unittest import SkipTest

from hypothesis import Phase, Verbosity, find, settings
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy

from cooperbench_eval.testing.records import BrokenError, Counterexample, UncheckedError

__all__ = ["find_broken"]

CaseT = TypeVar("CaseT")


def find_broken(
    check: Callable[[CaseT], None],
    cases: SearchStrategy[CaseT],
    *,
    examples: int | None,
    seed: int | None,
    profile_key: str = "",
) -> Counterexample | None:
    """Return how *check* breaks in the smallest case found, or `None` if it never does.

    The first `UncheckedError` ends the search, and is raised if nothing was found before.
    With *examples* or *seed* `None`, Hypothesis's current profile decides. With a
    *profile_key*, its verbosity and its database apply too, and failures are stored under
    this key. Its deadline never applies, because a merge may take its time.
    """
    found: list[Counterexample] = []

    def is_broken(case: CaseT) -> bool:
        try:
            check(case)
        except BrokenError as exc:
            found.append(exc.counterexample)
            return True
        except UncheckedError as exc:
            raise SkipTest(str(exc)) from exc  # Hypothesis does not look for a smaller case
        return False

    random = None if seed is None else Random(seed)  # noqa: S311 - not a secret
    try:
        find(
            cases,
            is_broken,
            settings=_settings(examples, uses_profile=bool(profile_key)),
            random=random,
            database_key=profile_key.encode(),
        )
    except NoSuchExample:
        return None
    # Hypothesis raises if a strategy breaks a law in one try and not in the next; the
    # caller's own generators may raise anything.
    except (Exception, BaseExceptionGroup) as exc:
        if found:
            return min(found, key=lambda each: len(each.given))
        if isinstance(exc.__cause__, UncheckedError):
            raise exc.__cause__ from None
        raise
    return found[-1]  # Hypothesis ends with the smallest


def _settings(examples: int | None, *, uses_profile: bool) -> settings:
    # The phase `explain` would explain the kit's own code.
    phases = tuple(set(settings().phases) - {Phase.explain})
    options: dict[str, Any] = {"deadline": None, "phases": phases}
    if examples is not None:
        options["max_examples"] = examples
    if not uses_profile:
        options["database"] = None
        options["phases"] = (Phase.generate, Phase.shrink)
        options["verbosity"] = Verbosity.quiet
    return settings(**options)
