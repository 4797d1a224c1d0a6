"""The sides of a merge: what features change in a base, and the merge of two by a strategy.

All sides of a pair or team are written as changes of one base. If features start from different
commits, each merge has its own merge base, and the sides are rewritten as changes of it.

Feature 1 of a pair is merged into feature 2, as in the benchmark. In the terms of the merge
core, *ours* is feature 2 and *theirs* is feature 1.
"""

import re
import time
from collections.abc import Iterable
from typing import Self

from attrs import field, frozen

from cooperbench_eval.errors import StrategyFailedError
from cooperbench_eval.evaluation.pairs import Feature, own_base
from cooperbench_eval.git.merging.conflicts import (
    Conflict,
    ConflictKind,
    MergeStatus,
)
from cooperbench_eval.git.merging.merge_base import different, step_base
from cooperbench_eval.git.merging.three_way_merge import Labels, Stage
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.trees.entries import is_stored
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, rewritten
from cooperbench_eval.strategies.protocol import (
    FeatureContext,
    MergeInput,
    MergeOutcome,
    MergeStrategy,
)
from cooperbench_eval.strategies.run import run_strategy

_ENTRY_BYTES = 400


@frozen
class Side:
    """One side of a merge: a feature, or several that were merged before, in their order.

    The *changes* turn the base into their tree. The *starts* are the trees from which they start;
    empty if that is the base.
    """

    features: tuple[FeatureContext, ...] = field(converter=tuple[FeatureContext, ...])
    changes: Changes = field(repr=False)
    starts: tuple[Snapshot, ...] = field(default=(), converter=tuple[Snapshot, ...], repr=False)

    @classmethod
    def of(cls, feature: Feature, changes: Changes) -> Self:
        """Return the side of a single feature of a pair or team."""
        return cls((context_of(feature),), changes, filter(None, (own_base(feature),)))

    def joined(self, other: "Side", changes: Changes, base: Snapshot) -> "Side":
        """Return the side of the features of both; *changes* turns *base* into their tree."""
        starts: Iterable[Snapshot] = ()
        if self.starts or other.starts:
            starts = different((*(self.starts or (base,)), *(other.starts or (base,))))
        return Side((*self.features, *other.features), changes, starts)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the features."""
        return tuple(each.number for each in self.features)

    @property
    def label(self) -> str:
        """The name of the side in conflict markers, such as `feature2+feature1`."""
        return "+".join(f"feature{number}" for number in self.numbers)

    @property
    def context(self) -> FeatureContext | None:
        """What is known about the feature, if it is a single one."""
        return self.features[0] if len(self.features) == 1 else None


def context_of(feature: Feature) -> FeatureContext:
    """Return what a strategy may know about a feature."""
    return FeatureContext(number=feature.number, description=feature.description)


def merge_input(base: Snapshot, ours: Side, theirs: Side) -> MergeInput:
    """Merge two sides, written as changes of *base*; a strategy can continue from the result.

    The base of the result is that of this merge.
    """
    labels = Labels(ours=ours.label, theirs=theirs.label)
    here, mine, yours = base, ours.changes, theirs.changes
    if ours.starts or theirs.starts:
        here = step_base(ours.starts or (base,), theirs.starts or (base,))
        mine, yours = (rewritten(each, base, here) for each in (mine, yours))
    return MergeInput(
        base=here,
        ours=mine,
        theirs=yours,
        merge=merge_changes(here, mine, yours, labels=labels),
        ours_feature=ours.context,
        theirs_feature=theirs.context,
        ours_features=ours.features,
    )


def size_of_changes(changes: Changes) -> int:
    """Return about how many bytes of memory changes need."""
    held = (each for each in changes.values() if each is not None and not is_stored(each))
    return _ENTRY_BYTES * len(changes) + sum(len(each.data) for each in held)


# --- merges by a strategy ----------------------------------------------------

_COMPLETE = frozenset({MergeStatus.CLEAN, MergeStatus.RESOLVED})


@frozen(kw_only=True)
class Merged:
    """What a strategy was given, the outcome (a failure if it raised), and the seconds it took."""

    given: MergeInput
    outcome: MergeOutcome
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether no conflict is left open."""
        return self.outcome.status in _COMPLETE

    @property
    def failure(self) -> str:
        """Why the strategy failed; empty if it did not."""
        return self.outcome.failure

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


def merge_sides(strategy: MergeStrategy, given: MergeInput) -> Merged:
    """Run a strategy on two sides; if it raises, its outcome is a failure."""
    began = time.perf_counter()
    try:
        outcome = run_strategy(strategy, given)
    except StrategyFailedError as exc:
        outcome = MergeOutcome(changes=Changes(), failure=exc.problem)
    return Merged(given=given, outcome=outcome, seconds=time.perf_counter() - began)


def merge_into(
    base: Snapshot,
    so_far: Side,
    side: Side,
    strategy: MergeStrategy,
    given: MergeInput | None = None,
) -> tuple[Merged, Side]:
    """Merge one more side into those that were merged before; return the merge and the new side.

    Open conflicts are markers in the result. *given* is what `merge_input` returns for the sides,
    if that is known.
    """
    merged = merge_sides(strategy, given or merge_input(base, so_far, side))
    changes = rewritten(merged.outcome.changes, merged.given.base, base)
    return merged, so_far.joined(side, changes, base)
