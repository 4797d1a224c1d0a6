"""Compares a merged tree with what strategies make of the same sides."""

from collections.abc import Sequence

from cooperbench_eval.errors import StrategyFailedError
from cooperbench_eval.evaluation.pairs import Feature
from cooperbench_eval.evaluation.sides import Side, merge_input
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, rewritten
from cooperbench_eval.reporting.audits import StrategyComparison
from cooperbench_eval.strategies.protocol import MergeOutcome, MergeStrategy
from cooperbench_eval.strategies.run import run_strategy

__all__ = ["compare_strategy"]


def compare_strategy(
    base: Snapshot,
    sides: Sequence[tuple[Feature, Changes]],
    merged: Snapshot,
    strategy: MergeStrategy,
) -> StrategyComparison:
    """Merge the sides one after another with a strategy, and compare the tree with *merged*.

    If a merge leaves conflicts open, the later sides are merged into the tree with its markers,
    as a person could do.

    Raises:
        RepositoryError: A touched file cannot be read.
    """
    (feature, changes), *rest = sides
    so_far = Side.of(feature, changes)
    status = MergeStatus.CLEAN
    for other, theirs in rest:
        side = Side.of(other, theirs)
        given = merge_input(base, so_far, side)
        try:
            outcome = run_strategy(strategy, given)
        except StrategyFailedError as exc:
            return _failed(strategy, str(exc))
        if outcome.status is MergeStatus.FAILED:
            return _failed(strategy, outcome.failure)
        status = _worse(status, outcome)
        changes = rewritten(outcome.changes, given.base, base)
        so_far = so_far.joined(side, changes, base)
    tree = base.overlay(so_far.changes)
    return StrategyComparison(
        strategy=strategy.name,
        status=status,
        tree_id=tree.tree_id,
        files=tuple(Changes.between(tree, merged)),
    )


def _failed(strategy: MergeStrategy, problem: str) -> StrategyComparison:
    return StrategyComparison(strategy=strategy.name, status=MergeStatus.FAILED, failure=problem)


_ORDER = (MergeStatus.CLEAN, MergeStatus.RESOLVED, MergeStatus.CONFLICTED)


def _worse(status: MergeStatus, outcome: MergeOutcome) -> MergeStatus:
    return max(status, outcome.status, key=_ORDER.index)
