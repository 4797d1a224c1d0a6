"""The laws of merges in which nothing conflicts."""

from typing import Final

from attrs import evolve

from cooperbench_eval.models import MergeStatus
from cooperbench_eval.snapshot import Changes
from cooperbench_eval.testing.cases import MergeCase, shown_changes
from cooperbench_eval.testing.outcomes import broken
from cooperbench_eval.testing.strategy_laws.law import StrategyLaw
from cooperbench_eval.testing.strategy_trial import StrategyTrial

__all__ = ["LAWS"]


def _keeps_a_single_side(trial: StrategyTrial, case: MergeCase) -> None:
    nothing = Changes()
    for ours, theirs in ((case.ours, nothing), (nothing, case.theirs), (nothing, nothing)):
        _expect_clean(trial, evolve(case, ours=ours, theirs=theirs), ours or theirs)


def _takes_the_same_change_once(trial: StrategyTrial, case: MergeCase) -> None:
    for side in (case.ours, case.theirs):
        _expect_clean(trial, evolve(case, ours=side, theirs=side), side)


def _joins_disjoint_files(trial: StrategyTrial, case: MergeCase) -> None:
    if not case.ours or not case.theirs:
        return  # for the law of identity
    for asked in (case, case.swapped):
        _expect_clean(trial, asked, Changes({**case.ours, **case.theirs}))


def _expect_clean(trial: StrategyTrial, case: MergeCase, wanted: Changes) -> None:
    outcome = trial.merge(case)
    is_right = outcome.tree_id(case.base) == wanted.tree_id(case.base)
    if not is_right or outcome.status is not MergeStatus.CLEAN:
        told = f"no open conflict, and\n{shown_changes(wanted, case.base)}"
        raise broken(case, came=outcome, wanted=told)


LAWS: Final[tuple[StrategyLaw, ...]] = (
    StrategyLaw(
        name="identity",
        asks="If one side changed nothing, the merged tree is the other side's, without conflict.",
        has_conflicts=False,
        check=_keeps_a_single_side,
    ),
    StrategyLaw(
        name="same_change",
        asks="If both sides made the same change, the merged tree has it once, without conflict.",
        has_conflicts=False,
        check=_takes_the_same_change_once,
    ),
    StrategyLaw(
        name="disjoint_files",
        asks="If the sides changed different files, the merged tree has both, in either order.",
        cases="disjoint_cases",
        has_conflicts=False,
        check=_joins_disjoint_files,
    ),
)
