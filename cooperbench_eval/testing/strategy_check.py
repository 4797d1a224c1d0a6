"""Checks a merge strategy against the laws of all strategies."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from cooperbench_eval.errors import StrategyLoadError
from cooperbench_eval.running.processes.calls import call_in_process
from cooperbench_eval.strategies.protocol import MergeStrategy, may_invent
from cooperbench_eval.strategies.registry import as_strategy, get_strategy
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.testing import generators
from cooperbench_eval.testing.cases import (
    WANTED,
    Fingerprint,
    MergeCase,
    StrategyTrial,
    broken,
    difference,
    fingerprints,
)
from cooperbench_eval.testing.laws import (
    Counterexample,
    LawResult,
    LawStatus,
    UncheckedError,
    check_failed,
    check_in_fork,
    check_laws,
    check_positive,
)
from cooperbench_eval.testing.strategy_laws import STRATEGY_LAWS, StrategyLaw

_ELSEWHERE_SECONDS = 60.0
_MOST_REMEMBERED = 12
_WARM_EXAMPLES = 5


@checked
def check_strategy(
    strategy: str | MergeStrategy,
    /,
    *,
    opt_out: Mapping[str, str] | None = None,
    files: generators.Files | None = None,
    examples: int = 100,
    seed: int | None = 0,
    deadline_seconds: float | None = 30.0,
) -> tuple[LawResult, ...]:
    r"""Check a strategy against each law, and return the results.

    Every misbehaviour of the strategy becomes a result, even if it raises, loops, ends the
    process or changes its input.

    Args:
        strategy: An object, or a registered name.
        opt_out: The laws that it does not have to keep, by name, each with its reason.
        files: Further files to merge, by path, in addition to the built-in Python and text
            files. Each value is a sequence of lines from which contents are built, or a
            Hypothesis strategy for tuples (base, ours, theirs).
        examples: The number of cases for each law, at least 1. Cases to which a law does
            not apply are not counted, so a law may have fewer.
        seed: The seed of the cases; `None` for different cases each time. The same seed
            gives the same cases in every program, except for Hypothesis strategies in
            *files*: these may also draw constants of the loaded modules.
        deadline_seconds: How long one merge of a few lines may take. Each law is checked in
            a fork of this process, which is killed at this deadline. With `None`, laws are
            checked in this process, without a deadline. This helps in a debugger, and if
            the strategy needs threads that it started earlier, which a fork lacks. Windows
            cannot fork, so the deadline has no effect there.

    Raises:
        StrategyError: The strategy cannot be loaded, or the object is not a strategy.
        ValueError: An opt-out has an unknown law or no reason; *files* is invalid;
            *examples* or *deadline_seconds* is not positive.
        ImportError: Hypothesis is not installed.

    Example:
        >>> results = check_strategy("union", examples=5)
        >>> all(result.is_ok for result in results)
        True
        >>> print(results[0])
        identity: held in 5 cases, 0 with a conflict resolved
    """
    found = accept_strategy(strategy)
    check_positive(examples=examples)
    if deadline_seconds is not None:
        check_positive(deadline_seconds=deadline_seconds)
        _warm_up()
    known = generators.checked_files(files or {})

    def check(law: StrategyLaw) -> LawResult:
        def check_here(report: Callable[[Any], None] = lambda _: None) -> LawResult:
            return check_law(found, law, files=known, examples=examples, seed=seed, report=report)

        if deadline_seconds is None or not hasattr(os, "fork") or _exempt(law, found):
            return check_here()
        return check_in_fork(law, check_here, patience_seconds=deadline_seconds, wanted=WANTED)

    return check_laws(STRATEGY_LAWS, check, opt_out=opt_out)


def accept_strategy(strategy: str | MergeStrategy) -> MergeStrategy:
    """Return *strategy*, or the one of that name; raise `StrategyError` if it is not usable."""
    found = get_strategy(strategy) if isinstance(strategy, str) else as_strategy(strategy)
    if inspect.iscoroutinefunction(found.merge):
        problem = "its merge is asynchronous: it must return a MergeOutcome, not a coroutine"
        raise StrategyLoadError(found.name, type(found).__qualname__, problem)
    return found


@cache
def _warm_up() -> None:
    """Import modules and let Hypothesis make its tables, so that forks need not repeat it."""
    triples = generators.file_triples({})  # without the caller's files, which may do anything
    cases = generators.merge_cases(triples).map(MergeCase.fresh_input)
    generators.find_broken(lambda _: None, cases, examples=_WARM_EXAMPLES, seed=0)


def _exempt(law: StrategyLaw, strategy: MergeStrategy) -> str:
    """Return which declaration exempts a strategy from a law; empty if it must keep it."""
    if law.name == "symmetry" and getattr(strategy, "is_symmetric", False) is not True:
        return "the strategy does not declare `is_symmetric`"
    if law.name == "no_invention" and may_invent(strategy):
        return "the strategy declares `may_invent`"
    return ""


def check_law(
    strategy: MergeStrategy,
    law: StrategyLaw,
    *,
    files: generators.Files,
    examples: int | None = 100,
    seed: int | None = 0,
    profile_key: str = "",
    report: Callable[[Any], None] = lambda _: None,
) -> LawResult:
    """Check one law in this process, and report each case and each counterexample."""
    if reason := _exempt(law, strategy):
        return LawResult(law=law, status=LawStatus.OPTED_OUT, reason=reason)
    trials: list[StrategyTrial] = []

    def check(case: MergeCase) -> None:
        trials.append(StrategyTrial(strategy, report))
        trials[-1].check(law.check, case)

    reason = ""
    try:
        made = getattr(generators, law.cases)(generators.file_triples(files))
        found = generators.find_broken(
            check, made, examples=examples, seed=seed, profile_key=profile_key
        )
        remembered = [trial.remembered for trial in trials if trial.remembered]
        if found is None and remembered:
            report("the same cases in another process")
            found, reason = _differs_elsewhere(strategy, remembered[:_MOST_REMEMBERED])
    except UncheckedError as exc:
        return LawResult(law=law, status=LawStatus.NOT_CHECKED, reason=str(exc))
    # The caller's files may raise anything, which is not the strategy's fault.
    except Exception as exc:  # noqa: BLE001
        return check_failed(law, exc)
    cases = sum(trial.has_merged for trial in trials)
    answered = sum(trial.has_answered for trial in trials)
    if not cases:
        reason = "no case was found to which it applies"
        return LawResult(law=law, status=LawStatus.NOT_CHECKED, reason=reason)
    if files and found is None and law.has_conflicts and not answered:
        reason = "; ".join(filter(None, (reason, _untried(files))))
    return LawResult(
        law=law,
        status=LawStatus.BROKEN if found else LawStatus.HELD,
        reason=reason,
        counterexample=found,
        cases=cases,
        answered=answered,
    )


def _untried(files: generators.Files) -> str:
    """Return the caveat for a law that held only because no conflict was resolved."""
    if all(not isinstance(source, Sequence) for source in files.values()):
        return "nothing was tried: the files have no conflict that the strategy resolves"
    return (
        "nothing was tried, because the strategy resolved no conflict: "
        "give files as a Hypothesis strategy of (base, ours, theirs)"
    )


def _differs_elsewhere(
    strategy: MergeStrategy, remembered: Sequence[tuple[MergeCase, Fingerprint]]
) -> tuple[Counterexample | None, str]:
    """Return the first outcome that differs in another process, if any.

    If the outcomes could not be compared, also return the reason; it is otherwise empty.
    """
    cases = [case for case, _ in remembered]
    # Another seed for the hashes of strings shows a dependence on the order of a set.
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    try:
        outcomes = call_in_process(
            fingerprints,
            (strategy, cases),
            env={"PYTHONHASHSEED": seed},
            timeout_seconds=_ELSEWHERE_SECONDS,
            output_limit=0,
        )
    # Pickling a plug-in, or loading it, may raise anything.
    except Exception as exc:  # noqa: BLE001
        return None, f"only in this process: {exc}"
    for (case, here), there in zip(remembered, outcomes, strict=True):
        if differs := difference(here, there):
            came = "in this process\n{}\nand in another\n{}".format(*differs)
            return broken(case, came=came, wanted="the same outcome").counterexample, ""
    return None, ""
