"""The standard git merge, which leaves all of its conflicts open."""

from typing import ClassVar

from attrs import frozen

from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome


@frozen
class NaiveStrategy:
    """Leaves every conflict open, as `git merge` does."""

    name: str = "naive"
    is_symmetric: ClassVar[bool] = True

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Return the three-way merge unchanged."""
        merge = merge_input.merge
        return MergeOutcome(
            changes=merge.changes, conflicts=merge.conflicts, conflicts_met=len(merge.conflicts)
        )
