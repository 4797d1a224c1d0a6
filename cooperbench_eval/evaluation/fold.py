"""Merges features one after another, each into the result so far.

All merges have the same base, as successive runs of `git merge` have for branches that start
from one commit. For features that start from different commits, each merge has the base that
git finds for it.
"""

import re
import time
from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve, field, frozen

from cooperbench_eval.errors import StrategyFailedError
from cooperbench_eval.evaluation.scoring import ConflictScorer
from cooperbench_eval.evaluation.sides import Side, merge_input
from cooperbench_eval.git.merging.conflicts import Conflict, ConflictKind, MergeStatus
from cooperbench_eval.git.merging.three_way_merge import Stage
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, rewritten
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome, MergeStrategy
from cooperbench_eval.strategies.run import run_strategy

__all__ = ["Fold", "Merged", "merge_sides"]

_COMPLETE = frozenset({MergeStatus.CLEAN, MergeStatus.RESOLVED})


@frozen(kw_only=True)
class Merged:
    """One merge by a strategy.

    Attributes:
        given: What the strategy was given.
        outcome: What it returned; a failure if it raised.
        seconds: The time that it took.
    """

    given: MergeInput
    outcome: MergeOutcome
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether no conflict is left open."""
        return self.outcome.status in _COMPLETE

    @property
    def open_files(self) -> frozenset[str]:
        """The files in which conflicts are left open, by the names that the sides give them.

        If one side has a file and the other one a folder of the same name, the merge calls the
        file `path~label`. The label differs from merge to merge, so it is not part of the name.
        If both sides rename a file, its new names are listed too.
        """
        found = self._names(self.outcome.conflicts)
        if any(each.kind is ConflictKind.RENAME_RENAME for each in self.outcome.conflicts):
            # Such a conflict is at the old name; no other kind leaves further paths unmerged.
            merge = self.given.merge
            found |= self._names(merge.stages) - self._names(merge.conflicts)
        return found

    def _names(self, places: Iterable[Conflict | Stage]) -> frozenset[str]:
        return frozenset(self.name_on_a_side(each.path) for each in places)

    def name_on_a_side(self, path: str) -> str:
        """Return the name of a file without what the merge added to it."""
        given, labels = self.given, self.given.merge.labels
        if path in given.ours or path in given.theirs or given.base.get(path) is not None:
            return path
        label = "|".join(map(re.escape, (labels.ours, labels.theirs)))
        renamed = re.fullmatch(rf"(.+)~(?:{label})(?:_\d+)?", path, re.DOTALL)
        return renamed[1] if renamed else path

    def changes_of(self, base: Snapshot) -> Changes:
        """Return the changes that turn *base* into the merged tree."""
        return rewritten(self.outcome.changes, self.given.base, base)

    def row(
        self,
        base: Snapshot,
        scorer: ConflictScorer,
        diff_of: Callable[[Changes], bytes],
        features_at: Callable[[str], Iterable[int]],
    ) -> dict[str, Any]:
        """Return the fields of a `MergeRow`.

        Args:
            base: The base of the report.
            scorer: Measures the conflicts that are left open.
            diff_of: Returns changes as a diff against that base.
            features_at: Returns the features that a conflict in a file is between.
        """
        given, outcome = self.given, self.outcome
        row = {
            "status": outcome.status,
            "conflicts_met": len(given.conflicts),
            "failure": outcome.failure,
            "duration_seconds": self.seconds,
            "ledger": [evolve(row, features=features_at(row.path)) for row in outcome.ledger],
            "usage": outcome.usage,
            "service_failed": outcome.service_failed,
        }
        if outcome.failure:
            return row
        tree = given.base.overlay(outcome.changes)
        return row | {
            "conflict_details": scorer.score(outcome.conflicts),
            "tree_id": tree.tree_id,
            "diff": diff_of(self.changes_of(base)),
            "replacements": given.merge.replacements(tree, outcome.conflicts),
        }


def merge_sides(strategy: MergeStrategy, given: MergeInput) -> Merged:
    """Run a strategy on two sides; if it raises, its outcome is a failure."""
    began = time.perf_counter()
    try:
        outcome = run_strategy(strategy, given)
    except StrategyFailedError as exc:
        outcome = MergeOutcome(changes=Changes(), failure=exc.problem)
    return Merged(given=given, outcome=outcome, seconds=time.perf_counter() - began)


@frozen(kw_only=True)
class Fold:
    """Merges sides with one strategy; a merge that was done before is remembered.

    Attributes:
        base: The tree of which all sides are changes.
        strategy: The strategy.
    """

    base: Snapshot
    strategy: MergeStrategy
    _done: dict[tuple[tuple[int, ...], tuple[int, ...]], Merged] = field(
        factory=dict, init=False, eq=False, repr=False
    )

    def merge(self, so_far: Side, side: Side) -> Merged:
        """Merge *side* into the result so far.

        Sides are recognised by the numbers of their features.
        """
        key = so_far.numbers, side.numbers
        if key not in self._done:
            given = merge_input(self.base, so_far, side)
            self._done[key] = merge_sides(self.strategy, given)
        return self._done[key]

    def joined(self, so_far: Side, side: Side) -> Side | None:
        """Return both sides together; `None` if conflicts are left open or the strategy failed."""
        merged = self.merge(so_far, side)
        if not merged.is_complete:
            return None
        return so_far.joined(side, merged.changes_of(self.base), self.base)
