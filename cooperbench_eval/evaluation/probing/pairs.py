"""Merges two branches, and says how that ends."""

from collections.abc import (
    Hashable,
)

from attrs import (
    field,
    frozen,
)

from cooperbench_eval.errors import (
    RepositoryError,
)
from cooperbench_eval.evaluation.probing.branches import (
    Bases,
    Branch,
)
from cooperbench_eval.evaluation.probing.definitions import (
    conflicted_files,
)
from cooperbench_eval.evaluation.probing.memory import (
    Memory,
)
from cooperbench_eval.evaluation.sides import (
    Merged,
    Side,
    merge_input,
    merge_sides,
)
from cooperbench_eval.git.merging.conflicts import (
    MergeStatus,
)
from cooperbench_eval.git.trees.snapshot import (
    Changes,
    Snapshot,
)
from cooperbench_eval.reporting.probes import (
    ConflictedFile,
    ProbeState,
)
from cooperbench_eval.strategies.protocol import (
    FeatureContext,
    MergeStrategy,
)

__all__ = ["Met", "PairMerger", "side_of"]

_MERGES = Memory["Met"](8 << 20)
_STATES = {
    MergeStatus.CLEAN: ProbeState.CLEAN,
    MergeStatus.RESOLVED: ProbeState.RESOLVED,
    MergeStatus.CONFLICTED: ProbeState.CONFLICTS,
    MergeStatus.FAILED: ProbeState.FAILED,
}


@frozen(kw_only=True)
class Met:
    """How two branches merge.

    Attributes:
        state: How they do.
        files: The files with conflicts.
        problem: Details of the state, as a clause; may be empty.
    """

    state: ProbeState
    files: tuple[ConflictedFile, ...] = field(default=(), converter=tuple[ConflictedFile, ...])
    problem: str = ""


@frozen(kw_only=True)
class PairMerger:
    """Merges every two branches once.

    Attributes:
        bases: Finds their merge bases.
        strategy: The strategy.
        key: Identifies the strategy among the remembered merges.
    """

    bases: Bases
    strategy: MergeStrategy
    key: Hashable

    def onto(self, onto: Branch, branch: Branch) -> Met:
        """Merge a branch into the one on which it is to land."""
        try:
            base = self.bases.of(onto, branch)
            if base is not None and base.tree_id == branch.tree.tree_id:
                return Met(state=ProbeState.CONTAINED)
            if base is not None and base.tree_id == onto.tree.tree_id:
                return Met(state=ProbeState.FAST_FORWARD)
        except RepositoryError as exc:
            return Met(state=ProbeState.UNREADABLE, problem=exc.problem)
        return self.pair(onto, branch)

    def pair(self, ours: Branch, theirs: Branch) -> Met:
        """Merge two branches."""
        try:
            base = self.bases.of(ours, theirs)
            if base is None:
                return Met(state=ProbeState.UNRELATED, problem=self._unrelated(ours, theirs))
            return self._met(base, ours, theirs)
        except RepositoryError as exc:
            return Met(state=ProbeState.UNREADABLE, problem=exc.problem)

    def merged(self, base: Snapshot, ours: Side, theirs: Side) -> Merged:
        """Merge two sides of a base."""
        return merge_sides(self.strategy, merge_input(base, ours, theirs))

    def _met(self, base: Snapshot, ours: Branch, theirs: Branch) -> Met:
        trees = base.tree_id, ours.tree.tree_id, theirs.tree.tree_id
        key = self.bases.names.location, self.key, *trees

        def compute() -> Met:
            sides = (side_of(each, self.bases.changes(base, each.tree)) for each in (ours, theirs))
            merged = self.merged(base, *sides)
            return Met(
                state=_STATES[merged.outcome.status],
                files=conflicted_files(merged),
                problem=merged.outcome.failure,
            )

        return _MERGES.recall(key, compute, lambda met: met.state is not ProbeState.FAILED)

    def _unrelated(self, ours: Branch, theirs: Branch) -> str:
        problem = f"{theirs.name} has no commit in common with {ours.name}"
        if self.bases.names.is_shallow:
            return (
                f"{problem} in this clone, which is shallow: `git fetch --unshallow` gets the rest"
            )
        return problem


def side_of(branch: Branch, changes: Changes) -> Side:
    """Return a branch as a side of a merge."""
    return Side((FeatureContext(number=branch.number),), changes)
