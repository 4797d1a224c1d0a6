"""How a pair becomes the two sides of a merge, and their merge.

Feature 1 is merged into feature 2, as in the benchmark. In the terms of the merge core,
*ours* is feature 2 and *theirs* is feature 1. No other module depends on that choice.
"""

from cooperbench_eval.merging.linediff import DiffCache
from cooperbench_eval.merging.result import Labels
from cooperbench_eval.merging.tree import merge_changes
from cooperbench_eval.pairs import Feature, FeaturePair
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.patching.paths import TestFileFilter
from cooperbench_eval.snapshot import Changes
from cooperbench_eval.strategies.protocol import FeatureContext, MergeInput

__all__ = ["merge_input", "patch_without_tests"]


def patch_without_tests(
    pair: FeaturePair, feature: Feature, test_filter: TestFileFilter
) -> tuple[Patch, tuple[str, ...]]:
    """Return a feature's patch without test files, and the paths that were dropped."""
    suites = (pair.feature1.tests, pair.feature2.tests, pair.joint, pair.regression)
    return test_filter.split(feature.patch, [suite.patch for suite in suites if suite])


def merge_input(
    pair: FeaturePair, side1: Changes, side2: Changes, cache: DiffCache | None = None
) -> MergeInput:
    """Merge the sides of feature 1 and feature 2; a strategy can continue from the result."""
    labels = Labels(ours=f"feature{pair.feature2.number}", theirs=f"feature{pair.feature1.number}")
    return MergeInput(
        base=pair.base,
        ours=side2,
        theirs=side1,
        merge=merge_changes(pair.base, ours=side2, theirs=side1, labels=labels, cache=cache),
        ours_feature=_context(pair.feature2),
        theirs_feature=_context(pair.feature1),
    )


def _context(feature: Feature) -> FeatureContext:
    return FeatureContext(number=feature.number, description=feature.description)
