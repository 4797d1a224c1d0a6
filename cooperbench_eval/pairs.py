"""The input of an evaluation: two features on one base, and their tests."""

import operator

from attrs import field, frozen, validators

from cooperbench_eval.errors import PatchError
from cooperbench_eval.patching.patch import Patch
from cooperbench_eval.running import TestSuite
from cooperbench_eval.snapshot import Snapshot

__all__ = ["Feature", "FeaturePair"]

_TEXT = validators.optional(validators.instance_of(str))


def _as_patch(data: bytes | str | Patch) -> Patch:
    try:
        return Patch.parse(data)
    except PatchError as exc:
        return Patch.unreadable(exc)


@frozen(kw_only=True)
class Feature:
    """One feature of a pair: its agent's patch and its tests.

    Attributes:
        number: The feature's number in its task.
        patch: The agent's patch; bytes and `str` are parsed. Input that cannot be
            parsed becomes a patch that fails to apply.
        tests: The benchmark's suite for it; `None` if it has none.
        description: The issue text from which its agent worked.
    """

    number: int = field(converter=operator.index)
    patch: Patch = field(converter=_as_patch, repr=False)
    tests: TestSuite | None = field(default=None, repr=False)
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
    base: Snapshot = field(repr=False)
    feature1: Feature
    feature2: Feature = field()
    joint: TestSuite | None = field(default=None, repr=False)
    regression: TestSuite | None = field(default=None, repr=False)
    model: str | None = field(default=None, validator=_TEXT)
    setting: str | None = field(default=None, validator=_TEXT)
    k: int = field(default=1, converter=operator.index)

    @feature2.validator
    def _check_numbers(self, _: object, feature2: Feature) -> None:
        if feature2.number == self.feature1.number:
            raise ValueError(f"both features have the number {feature2.number}")
