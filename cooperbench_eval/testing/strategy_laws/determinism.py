"""The law of the same answer to the same question."""

from typing import Final

from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.outcomes import answer_of, broken
from cooperbench_eval.testing.strategy_laws.law import StrategyLaw
from cooperbench_eval.testing.strategy_trial import StrategyTrial

__all__ = ["LAWS"]

_LATE_CASES = 12


def _answers_the_same_again(trial: StrategyTrial, case: MergeCase) -> None:
    first = trial.merge(case)
    told = answer_of(first, case.base)
    trial.merge(case.swapped)
    again = answer_of(trial.merge(case), case.base)
    if told != again:
        came = f"first\n{told.beside(again)}\nand then\n{again.beside(told)}"
        raise broken(case, came=came, wanted="the same outcome")
    if first.conflicts_met and len(trial.remembered) < _LATE_CASES:
        trial.remembered.append((case, told))


LAWS: Final[tuple[StrategyLaw, ...]] = (
    StrategyLaw(
        name="determinism",
        asks="The same input gives the same outcome: later, and in another process.",
        check=_answers_the_same_again,
    ),
)
