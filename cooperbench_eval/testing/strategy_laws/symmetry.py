"""The law of sides in each other's place."""

from typing import Final

from cooperbench_eval.snapshot import Changes
from cooperbench_eval.testing.cases import MergeCase
from cooperbench_eval.testing.outcomes import broken, shown_outcome
from cooperbench_eval.testing.strategy_laws.law import StrategyLaw
from cooperbench_eval.testing.strategy_trial import StrategyTrial

__all__ = ["LAWS"]


def _does_not_mind_sides(trial: StrategyTrial, case: MergeCase) -> None:
    one, other = trial.merge(case), trial.merge(case.swapped)
    left, left_there = ({c.path for c in outcome.conflicts} for outcome in (one, other))
    trees = (case.base.overlay(outcome.changes) for outcome in (one, other))
    if left != left_there or Changes.between(*trees).keys() - left:
        told = shown_outcome(other, case.base)
        raise broken(case, came=one, wanted=f"what comes with the sides swapped:\n{told}")


LAWS: Final[tuple[StrategyLaw, ...]] = (
    StrategyLaw(
        name="symmetry",
        asks="If it says `is_symmetric`, swapped sides leave the same files open, others alike.",
        cases="edited_cases",
        check=_does_not_mind_sides,
    ),
)
