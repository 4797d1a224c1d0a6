"""Checks a merge strategy against the laws of all strategies."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from cooperbench_eval.errors import CooperBenchEvalError, StrategyLoadError
from cooperbench_eval.processes.calls import call_in_process
from cooperbench_eval.strategies.protocol import MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.strategies.run import run_strategy
from cooperbench_eval.testing import generators
from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.forks import check_in_fork
from cooperbench_eval.testing.outcomes import Answer, answer_of
from cooperbench_eval.testing.records import (
    BrokenError,
    Counterexample,
    LawResult,
    LawStatus,
    UncheckedError,
    check_opt_out,
    check_positive,
    excused,
    failed,
)
from cooperbench_eval.testing.search import Effort, find_broken
from cooperbench_eval.testing.strategy_laws import STRATEGY_LAWS, StrategyLaw
from cooperbench_eval.testing.strategy_trial import StrategyTrial

__all__ = ["accept_strategy", "check_law", "check_strategy", "is_symmetric"]

_OTHER_PROCESS_SECONDS = 60.0
_WARM_EXAMPLES = 5
_UNDECLARED = "it does not say `is_symmetric`"


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
    r"""Check a strategy against each law, and say what became of it.

    Whatever the strategy does is a result: raising, looping, leaving the process,
    changing what it was given.

    Args:
        strategy: An object, or a registered name.
        opt_out: The laws that it need not keep, by name, each with its reason.
        files: What it looks at beside Python and plain text: for a path, lines to make
            files of, or a Hypothesis strategy of base, ours and theirs.
        examples: How many cases to try for each law, 1 at least. A law may have fewer:
            those of which it does not speak do not count.
        seed: What the cases are drawn from; `None` for others each time. Hypothesis
            draws constants of the modules that are loaded as well: another program
            may be given other cases.
        deadline_seconds: How long one merge of a few lines may take. Each law is
            checked in a fork of this process, which is killed then. `None` checks in
            this process, without a deadline: for debuggers, and where a fork would lack
            threads that the strategy started before.

    Raises:
        StrategyError: It is not to be had, or no strategy at all.
        ValueError: An opt-out names no law or no reason; *files* are none; *examples* or
            *deadline_seconds* is not positive.
        ImportError: Hypothesis is not installed.

    Example:
        >>> results = check_strategy("union", examples=5)
        >>> all(result.is_ok for result in results)
        True
        >>> print(results[0])
        identity: held in 5 cases, 0 with a conflict resolved
    """
    found, reasons = accept_strategy(strategy), dict(opt_out or {})
    check_opt_out(reasons, STRATEGY_LAWS)
    effort = Effort(examples=examples, seed=seed)
    if deadline_seconds is not None:
        check_positive(deadline_seconds=deadline_seconds)
        _warm_up()
    known = generators.checked_files(files or {})
    results = []
    for law in STRATEGY_LAWS:
        if law.name == "symmetry" and not is_symmetric(found):
            reason = reasons.get(law.name, _UNDECLARED)
            results.append(LawResult(law=law, status=LawStatus.OPTED_OUT, reason=reason))
            continue
        result = _checked(found, law, known, effort, deadline_seconds)
        results.append(excused(result, reasons.get(law.name)))
    return tuple(results)


def accept_strategy(strategy: str | MergeStrategy) -> MergeStrategy:
    """Return *strategy* itself, or the one registered under that name.

    Raises:
        StrategyError: It is not to be had, is no strategy, or is asynchronous.
    """
    found = as_strategy(strategy)
    if inspect.iscoroutinefunction(found.merge):
        problem = "its merge is asynchronous: it must return a MergeOutcome, not a coroutine"
        raise StrategyLoadError(found.name, type(found).__qualname__, problem)
    return found


@cache
def _warm_up() -> None:
    """Do once what each fork would do anew: imports, and tables that Hypothesis makes."""

    def make(case: MergeCase) -> None:
        case.fresh_input()

    cases = generators.merge_cases({})  # of none of the caller's files, which may do anything
    find_broken(make, cases, Effort(examples=_WARM_EXAMPLES), name="warm_up")


def is_symmetric(strategy: MergeStrategy) -> bool:
    """Whether *strategy* says that swapping the sides does not matter to it."""
    return getattr(strategy, "is_symmetric", False) is True


def check_law(
    strategy: MergeStrategy,
    law: StrategyLaw,
    *,
    files: generators.Files,
    effort: Effort,
    name: str = "",
    tell: Callable[[Any], None] = lambda _: None,
) -> LawResult:
    """Check one law in this process; *tell* hears of each case and of what breaks it."""
    trial = StrategyTrial(strategy, tell=lambda case: tell(str(case)))

    def check(case: MergeCase) -> None:
        trial.begin()
        try:
            law.check(trial, case)
        except BrokenError as exc:
            tell(exc.counterexample)
            raise
        except UncheckedError:
            raise
        # An outcome may be such that looking at it raises, whatever that is.
        except Exception as exc:
            came = f"looking at its outcome raised {exc!r}"
            broken = Counterexample(given=str(case), came=came, wanted="an outcome")
            raise BrokenError(broken) from exc

    reason = ""
    try:
        cases = getattr(generators, law.cases)(files)
        broken = find_broken(check, cases, effort, name=name or law.name)
        if broken is None and law.name == "determinism":
            broken, reason = _differs_in_other_process(trial, tell)
    except UncheckedError as exc:
        reason = str(exc)
        return LawResult(law=law, status=LawStatus.NOT_CHECKED, reason=reason)
    # Files of the caller's may raise anything, and are no fault of the strategy.
    except Exception as exc:  # noqa: BLE001
        return failed(law, repr(exc))
    if not trial.cases:
        reason = "no case that it speaks of was found"
        return LawResult(law=law, status=LawStatus.NOT_CHECKED, reason=reason)
    if files and broken is None and law.has_conflicts and not trial.answered:
        reason = "; ".join(filter(None, (reason, _untried(files))))
    return LawResult(
        law=law,
        status=LawStatus.BROKEN if broken else LawStatus.HELD,
        reason=reason,
        counterexample=broken,
        cases=trial.cases,
        answered=trial.answered,
    )


def _untried(files: generators.Files) -> str:
    """Say of a law that held by doing nothing what would help."""
    if all(not isinstance(what, Sequence) for what in files.values()):
        return "nothing was tried: files have no conflict that it resolves"
    return (
        "nothing was tried, for it resolved no conflict: "
        "give files as a Hypothesis strategy of (base, ours, theirs)"
    )


def _checked(
    strategy: MergeStrategy,
    law: StrategyLaw,
    files: generators.Files,
    effort: Effort,
    deadline_seconds: float | None,
) -> LawResult:
    """Check one law, in a fork of this process if there is a deadline."""
    if deadline_seconds is None:
        return check_law(strategy, law, files=files, effort=effort)

    def check(tell: Callable[[Any], None]) -> LawResult:
        return check_law(strategy, law, files=files, effort=effort, tell=tell)

    return check_in_fork(law, check, patience_seconds=deadline_seconds, wanted="an outcome")


def _differs_in_other_process(
    trial: StrategyTrial, tell: Callable[[Any], None]
) -> tuple[Counterexample | None, str]:
    """Return how it answers differently in another process, or why that was not asked."""
    if not trial.remembered:
        return None, ""
    cases = [case for case, _ in trial.remembered]
    tell("the same cases in another process")
    # Its hashes of strings have another seed, so a result that depends on the order of a
    # set shows.
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    try:
        answers = call_in_process(
            _answers,
            (trial.strategy, cases),
            env={"PYTHONHASHSEED": seed},
            timeout_seconds=_OTHER_PROCESS_SECONDS,
            output_limit=0,
        )
    # A plug-in may raise anything where it is pickled or rebuilt.
    except Exception as exc:  # noqa: BLE001
        return None, f"in this process only: {exc}"
    for (case, here), there in zip(trial.remembered, answers, strict=True):
        if here != there:
            came = f"in this process\n{here.beside(there)}\nand in another\n{there.beside(here)}"
            return Counterexample(given=str(case), came=came, wanted="the same outcome"), ""
    return None, ""


def _answers(strategy: MergeStrategy, cases: list[MergeCase]) -> list[Answer]:
    """Ask *strategy* about each case, in the other process."""
    answers = []
    for case in cases:
        try:
            outcome = run_strategy(strategy, case.fresh_input())
            answers.append(answer_of(outcome, case.base))
        except CooperBenchEvalError as exc:
            answers.append(Answer(str(exc), ""))
    return answers
