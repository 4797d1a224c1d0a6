"""The input of an evaluation: two or more features, the trees they start from, and their tests."""

import operator
from collections.abc import Collection, Iterable, Iterator
from typing import ClassVar

from attrs import Attribute, evolve, field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.merging.merge_base import common_base
from cooperbench_eval.git.patching.patch import Patch, as_patch
from cooperbench_eval.git.trees.snapshot import Snapshot, is_same
from cooperbench_eval.reporting.agent_costs import AgentRun
from cooperbench_eval.reporting.landings import TeamSuite
from cooperbench_eval.running import TestSuite
from cooperbench_eval.support.arguments import checked_fields, follows, rule_of

_MAY_FOLLOW = follows(rule_of(Snapshot | None))  # from the bases of the features


@frozen(kw_only=True, field_transformer=checked_fields)
class Feature:
    """One feature of a pair or team: its agent's patch and its tests.

    Attributes:
        number: The feature's number in its task.
        patch: The agent's patch: a `Patch`, its text, a `Path` of its file, or the `Changes`
            that it makes. Text that cannot be parsed becomes a patch that fails to apply,
            except a single line of text, which is most likely the name of a file.
        tests: The benchmark's suite for it; `None` if it has none.
        description: The issue text from which its agent worked.
        base: The tree from which its agent started, if it is not that of the pair or team: a
            `Snapshot`, or the name of a commit in the repository of the other bases.
        agent: What its agent's work cost; `None` if that is not known.

    Raises:
        ArgumentError: An argument has the wrong type, or the patch is a single line of text.
        PatchError: The patch is the `Path` of a file that cannot be read.
    """

    number: int = field(converter=operator.index)
    patch: Patch = field(converter=as_patch, repr=False)
    tests: TestSuite | None = field(default=None, repr=False)
    description: str = field(default="", repr=False)
    base: Snapshot | str | None = field(default=None, repr=False)
    agent: AgentRun | None = None


def start_of(feature: Feature, base: Snapshot) -> Snapshot:
    """Return the tree from which a feature starts, which is *base* unless it has its own."""
    if not isinstance(feature.base, str):
        return feature.base or base
    if base.location is None or base.commit_id is None:
        problem = f"is the name {feature.base!r:.80}, but no other base is a commit of a repository"
        raise ArgumentError("base", problem)
    return Snapshot.from_repo(base.location, feature.base)


def own_base(feature: Feature) -> Snapshot | None:
    """Return the tree from which a feature starts if it has its own; its name must be resolved."""
    return feature.base if isinstance(feature.base, Snapshot) else None


def on_base(feature: Feature, base: Snapshot) -> Feature:
    """Return a feature whose patch has its files; one made from changes gets them from its base.

    If it starts from *base*, it has no base of its own afterwards.
    """
    start = start_of(feature, base)
    own = None if start is base or is_same(start, base) else start
    patch = feature.patch.on(start)
    if patch is feature.patch and own is feature.base:
        return feature
    return evolve(feature, patch=patch, base=own)


def _on_common_base(
    base: Snapshot | None, features: Iterable[Feature]
) -> tuple[Snapshot, tuple[Feature, ...]]:
    """Return the merge base of all features, and the features on their bases."""
    features = tuple(features)
    if base is not None and all(each.base is None for each in features):
        return base, tuple(on_base(each, base) for each in features)
    found = (each.base for each in features if isinstance(each.base, Snapshot))
    known = next(found, None) if base is None else base
    without = [each.number for each in features if each.base is None]
    if known is None or (base is None and without):
        whose = f"feature {without[0]}" if without else "the feature whose base is a name"
        raise ArgumentError("base", f"is needed, because {whose} has no tree to start from")
    starts = {each.number: start_of(each, known) for each in features}
    together = common_base(starts.values())
    placed = (evolve(each, base=starts[each.number]) for each in features)
    return together, tuple(on_base(each, together) for each in placed)


def _check_try(_: object, __: object, k: int) -> None:
    if k < 1:
        raise ArgumentError("k", f"must be 1 or more, not {k}")


@frozen(kw_only=True, field_transformer=checked_fields)
class FeaturePair:
    """Two features that are merged.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number.
        base: The tree from which features without a base of their own start. The pair's `base`
            is this tree unless the features start from different commits. Then it is their
            merge base, found in the repository as git finds it. If there are several, they are
            merged into a virtual one.
        feature1: The feature that is merged into feature 2.
        feature2: The feature into which feature 1 is merged.
        joint: Tests of both features together. They run on each merged tree, which must
            pass them, and on the base and both sides for comparison.
        regression: The repository's own tests. They run on the base, both sides and each
            merged tree, which may not break a case that passes on the base.
        model: The model that wrote the patches, if known.
        setting: The benchmark's setting, if known.
        k: Which of the model's tries this is, counted from 1.
    """

    repo_name: str
    task_id: int = field(converter=operator.index)
    base: Snapshot = field(default=None, metadata=_MAY_FOLLOW, repr=False)
    feature1: Feature
    feature2: Feature = field()
    joint: TestSuite | None = field(default=None, repr=False)
    regression: TestSuite | None = field(default=None, repr=False)
    model: str | None = None
    setting: str | None = None
    k: int = field(default=1, converter=operator.index, validator=_check_try)

    @feature2.validator
    def _check_numbers(self, _: object, feature2: Feature) -> None:
        if feature2.number == self.feature1.number:
            raise ArgumentError("feature2", f"has the same number as feature1, {feature2.number}")

    def __attrs_post_init__(self) -> None:
        base, features = _on_common_base(self.base, self.features)
        for name, value in zip(("base", "feature1", "feature2"), (base, *features), strict=True):
            object.__setattr__(self, name, value)

    @property
    def features(self) -> tuple[Feature, Feature]:
        """Feature 1, then feature 2."""
        return self.feature1, self.feature2

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of feature 1 and feature 2."""
        return self.feature1.number, self.feature2.number


@frozen(kw_only=True, field_transformer=checked_fields)
class FeatureTeam:
    r"""Two or more features, in the order in which they are to land.

    The first one is taken as it is, and each next one is merged into the result so far. So a
    team with the features 2 and 1, in this order, is merged like the pair of these features.
    If features start from different commits, each merge has the merge base that git finds for it.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number.
        base: The tree from which features without a base of their own start. If features start
            from different commits, the team's `base` is the best common ancestor of all, as for
            a pair.
        features: The features in their order; their numbers differ.
        joint: Tests of all features together. They run only on trees that hold all of them,
            which must pass them, and on the base and each side for comparison.
        regression: The repository's own tests. They run on the base, each side and each
            merged tree, which may not break a case that passes on the base.
        model: The model that wrote the patches, if known.
        setting: The benchmark's setting, if known.
        k: Which of the model's tries this is, counted from 1.

    Example:
        >>> base = Snapshot.from_files({"a": b"1\n", "b": b"1\n"})
        >>> diff = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-1\n+2\n"
        >>> two, one = (Feature(number=n, patch=diff.format(f)) for n, f in ((2, "a"), (1, "b")))
        >>> FeatureTeam(repo_name="r", task_id=0, base=base, features=[two, one]).numbers
        (2, 1)
    """

    repo_name: str
    task_id: int = field(converter=operator.index)
    base: Snapshot = field(default=None, metadata=_MAY_FOLLOW, repr=False)
    features: tuple[Feature, ...] = field(converter=tuple[Feature, ...])
    joint: TestSuite | None = field(default=None, repr=False)
    regression: TestSuite | None = field(default=None, repr=False)
    model: str | None = None
    setting: str | None = None
    k: int = field(default=1, converter=operator.index, validator=_check_try)

    @features.validator
    def _check_features(self, _: "Attribute[object]", features: tuple[Feature, ...]) -> None:
        if len(features) < _FEWEST:
            raise ArgumentError("features", f"must be two or more for a team, not {len(features)}")
        numbers = [each.number for each in features]
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        if twice:
            raise ArgumentError("features", f"have the number {', '.join(map(str, twice))} twice")

    def __attrs_post_init__(self) -> None:
        base, features = _on_common_base(self.base, self.features)
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "features", features)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the features in their order."""
        return tuple(each.number for each in self.features)


FeatureGroup = FeaturePair | FeatureTeam
"""What is evaluated: a pair or a team."""
_FEWEST = 2


# --- suites ------------------------------------------------------------------


@frozen(kw_only=True)
class TestedGroup:
    """Features with their tests that are neither a pair nor a team."""

    __test__: ClassVar[bool] = False

    base: Snapshot
    features: tuple[Feature, ...]
    joint: TestSuite | None = None
    regression: TestSuite | None = None


Suites = FeatureGroup | TestedGroup
"""Features with their tests: a pair, a team, or a part of a team."""


def suites_on(
    group: Suites, numbers: Collection[int]
) -> Iterator[tuple[TeamSuite, int | None, TestSuite | None]]:
    """Yield the suites of a tree with their features' numbers; the joint one if it holds all."""
    for feature in group.features:
        if feature.number in numbers:
            yield TeamSuite.FEATURE, feature.number, feature.tests
    if group.joint is not None and all(each.number in numbers for each in group.features):
        yield TeamSuite.JOINT, None, group.joint
    if group.regression is not None:
        yield TeamSuite.REGRESSION, None, group.regression


def suites_of(group: Suites) -> tuple[TestSuite, ...]:
    """Return all suites: those of the features, the joint and the regression tests."""
    found = (*(each.tests for each in group.features), group.joint, group.regression)
    return tuple(suite for suite in found if suite is not None)
