"""The input of an evaluation: two or more features on one base, and their tests."""

import operator

from attrs import Attribute, field, frozen, validators

from cooperbench_eval.errors import PatchError
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.running import TestSuite
from cooperbench_eval.snapshot import Snapshot

__all__ = ["Feature", "FeatureGroup", "FeaturePair", "FeatureTeam"]

_TEXT = validators.optional(validators.instance_of(str))
_SNAPSHOT = validators.instance_of(Snapshot)
_SUITE = validators.optional(validators.instance_of(TestSuite))


def _as_patch(data: bytes | str | Patch) -> Patch:
    try:
        return Patch.parse(data)
    except PatchError as exc:
        return Patch.unreadable(exc)


@frozen(kw_only=True)
class Feature:
    """One feature of a pair or team: its agent's patch and its tests.

    Attributes:
        number: The feature's number in its task.
        patch: The agent's patch; bytes and `str` are parsed. Input that cannot be
            parsed becomes a patch that fails to apply.
        tests: The benchmark's suite for it; `None` if it has none.
        description: The issue text from which its agent worked.
    """

    number: int = field(converter=operator.index)
    patch: Patch = field(converter=_as_patch, repr=False)
    tests: TestSuite | None = field(default=None, repr=False, validator=_SUITE)
    description: str = field(default="", repr=False)


@frozen(kw_only=True)
class FeaturePair:
    """Two features on one base.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number.
        base: The tree from which both patches start.
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

    repo_name: str = field(validator=validators.instance_of(str))
    task_id: int = field(converter=operator.index)
    base: Snapshot = field(repr=False, validator=_SNAPSHOT)
    feature1: Feature = field(validator=validators.instance_of(Feature))
    feature2: Feature = field(validator=validators.instance_of(Feature))
    joint: TestSuite | None = field(default=None, repr=False, validator=_SUITE)
    regression: TestSuite | None = field(default=None, repr=False, validator=_SUITE)
    model: str | None = field(default=None, validator=_TEXT)
    setting: str | None = field(default=None, validator=_TEXT)
    k: int = field(default=1, converter=operator.index)

    @feature2.validator
    def _check_numbers(self, _: object, feature2: Feature) -> None:
        if feature2.number == self.feature1.number:
            raise ValueError(f"both features have the number {feature2.number}")

    @property
    def features(self) -> tuple[Feature, Feature]:
        """Feature 1, then feature 2."""
        return self.feature1, self.feature2

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of feature 1 and feature 2."""
        return self.feature1.number, self.feature2.number


@frozen(kw_only=True)
class FeatureTeam:
    r"""Two or more features on one base, in the order in which they are to land.

    The first one is taken as it is, and each next one is merged into the result so far. So a
    team with the features 2 and 1, in this order, is merged like the pair of these features.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number.
        base: The tree from which all patches start.
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

    repo_name: str = field(validator=validators.instance_of(str))
    task_id: int = field(converter=operator.index)
    base: Snapshot = field(repr=False, validator=_SNAPSHOT)
    features: tuple[Feature, ...] = field(converter=tuple[Feature, ...])
    joint: TestSuite | None = field(default=None, repr=False, validator=_SUITE)
    regression: TestSuite | None = field(default=None, repr=False, validator=_SUITE)
    model: str | None = field(default=None, validator=_TEXT)
    setting: str | None = field(default=None, validator=_TEXT)
    k: int = field(default=1, converter=operator.index)

    @features.validator
    def _check_features(self, _: "Attribute[object]", features: tuple[Feature, ...]) -> None:
        for each in features:
            if not isinstance(each, Feature):
                raise TypeError(f"features must be Feature objects, not {type(each).__qualname__}")
        if len(features) < _FEWEST:
            raise ValueError(f"a team needs two or more features, not {len(features)}")
        numbers = [each.number for each in features]
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        if twice:
            raise ValueError(f"several features have the number {', '.join(map(str, twice))}")

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the features in their order."""
        return tuple(each.number for each in self.features)


FeatureGroup = FeaturePair | FeatureTeam
"""What is evaluated: a pair or a team."""
_FEWEST = 2
