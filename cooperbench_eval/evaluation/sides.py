"""The sides of a merge: what features change in a base, and the merge of two sides.

All sides of a pair or team are written as changes of one base. If features start from different
commits, each merge has its own merge base, and the sides are rewritten as changes of it.

Feature 1 of a pair is merged into feature 2, as in the benchmark. In the terms of the merge
core, *ours* is feature 2 and *theirs* is feature 1. No other module chooses the sides of a pair.
"""

from collections.abc import Iterable
from typing import Self

from attrs import field, frozen

from cooperbench_eval.evaluation.pairs import Feature, FeatureGroup, FeaturePair
from cooperbench_eval.git.merging.merge_base import different, step_base
from cooperbench_eval.git.merging.three_way_merge import Labels
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, rewritten
from cooperbench_eval.strategies.protocol import FeatureContext, MergeInput

__all__ = [
    "Side",
    "context_of",
    "merge_input",
    "pair_merge_input",
    "patch_without_tests",
]


@frozen
class Side:
    """One side of a merge: a feature, or several that were merged before.

    Attributes:
        features: What is known about the features, in the order in which they were merged.
        changes: The changes that turn the base into their tree.
        starts: The trees from which they start; empty if that is the base.
    """

    features: tuple[FeatureContext, ...] = field(converter=tuple[FeatureContext, ...])
    changes: Changes = field(repr=False)
    starts: tuple[Snapshot, ...] = field(default=(), converter=tuple[Snapshot, ...], repr=False)

    @classmethod
    def of(cls, feature: Feature, changes: Changes) -> Self:
        """Return the side of a single feature of a pair or team."""
        starts = (feature.base,) if isinstance(feature.base, Snapshot) else ()
        return cls((context_of(feature),), changes, starts)

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


def patch_without_tests(
    group: FeatureGroup, feature: Feature, test_filter: TestFileFilter
) -> tuple[Patch, tuple[str, ...]]:
    """Return a feature's patch without test files, and the paths that were dropped."""
    suites = (*(each.tests for each in group.features), group.joint, group.regression)
    return test_filter.split(feature.patch, [suite.patch for suite in suites if suite])


def merge_input(base: Snapshot, ours: Side, theirs: Side) -> MergeInput:
    """Merge two sides, written as changes of *base*; a strategy can continue from the result.

    The base of the result is that of this merge.

    Raises:
        RepositoryError: The sides start from commits without a common ancestor.
    """
    labels = Labels(ours=ours.label, theirs=theirs.label)
    here = base
    if ours.starts or theirs.starts:
        here = step_base(ours.starts or (base,), theirs.starts or (base,))
    mine, yours = (rewritten(side.changes, base, here) for side in (ours, theirs))
    return MergeInput(
        base=here,
        ours=mine,
        theirs=yours,
        merge=merge_changes(here, mine, yours, labels=labels),
        ours_feature=ours.context,
        theirs_feature=theirs.context,
        ours_features=ours.features,
    )


def pair_merge_input(pair: FeaturePair, side1: Changes, side2: Changes) -> MergeInput:
    """Merge the sides of feature 1 and feature 2 of a pair."""
    # The base of a pair is the merge base of its features.
    ours, theirs = (
        Side((context_of(feature),), changes)
        for feature, changes in ((pair.feature2, side2), (pair.feature1, side1))
    )
    return merge_input(pair.base, ours, theirs)
