"""Records of features that are to land: their suites' runs, failing tests, features left out."""

from enum import StrEnum

from attrs import field, frozen

from cooperbench_eval.reporting.blame import failing_cases
from cooperbench_eval.running.results import Judgement, TestResult, TestStatus, outcome_of
from cooperbench_eval.support.arguments import named_fields
from cooperbench_eval.support.rendering.shown import Shown


class TeamSuite(StrEnum):
    """Which suite of a team it is."""

    FEATURE = "feature"
    """The tests of one feature."""
    JOINT = "joint"
    """The tests of all features together."""
    REGRESSION = "regression"
    """The repository's own tests."""


class LeftOutReason(StrEnum):
    """Why a feature did not land."""

    MISSING_INPUT = "missing_input"
    """Its patch is empty or does not apply, or what its merge needs cannot be read."""
    DUPLICATE = "duplicate"
    """It makes the same changes as another patch, which takes its place."""
    FAILS_OWN_TESTS = "fails_own_tests"
    """It fails its own tests without the others."""
    CONFLICT = "conflict"
    """Merging it left conflicts open."""
    STRATEGY_FAILED = "strategy_failed"
    """The strategy failed while merging it."""
    BREAKS = "breaks"
    """It breaks tests that pass without it, or its own tests fail on the merged tree."""
    NOT_EXAMINED = "not_examined"
    """The budget or a bound ended the search before it was certain whether it can land."""


@frozen(kw_only=True, field_transformer=named_fields)
class BrokenTests:
    """Tests of one suite that fail on a merged tree.

    Attributes:
        suite: Which suite it is.
        feature: The number of the feature whose tests they are; `None` for the other suites.
        tests: The ids of the cases; empty if the run shows none, such as a timeout.
    """

    suite: TeamSuite = field(converter=TeamSuite)
    feature: int | None = None
    tests: tuple[str, ...] = field(default=(), converter=tuple[str, ...])


@frozen(kw_only=True, field_transformer=named_fields)
class LeftOut(Shown):
    """A feature that did not land, and why.

    Attributes:
        number: The feature's number.
        reason: Why it did not land.
        features: For a conflict, the landed features with which it conflicts; if it breaks
            tests, the features whose tests these are; for a duplicate, the feature that takes
            its place.
        files: The files with conflicts, sorted, by their names in the patches.
        tests: The tests that fail.
        problem: Details for people, such as why the patch does not apply; may be empty.
    """

    number: int
    reason: LeftOutReason = field(converter=LeftOutReason)
    features: tuple[int, ...] = field(default=(), converter=tuple[int, ...])
    files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    tests: tuple[BrokenTests, ...] = field(default=(), converter=tuple[BrokenTests, ...])
    problem: str = ""


@frozen(kw_only=True, field_transformer=named_fields)
class SuiteRun:
    """A suite's run on the tree of several features.

    Attributes:
        suite: Which suite it is.
        feature: The number of the feature whose tests they are; `None` for the other suites.
        tests: The run; `None` if it was not run.
        judgement: How its cases count; `None` if all of them must pass.
    """

    suite: TeamSuite = field(converter=TeamSuite)
    feature: int | None = None
    tests: TestResult | None = None
    judgement: Judgement | None = None

    @property
    def outcome(self) -> bool | None:
        """Whether it counts as a pass; `None` if it has no result for its tree."""
        return outcome_of(self.tests, self.judgement)

    @property
    def broken(self) -> BrokenTests | None:
        """The tests that fail; `None` if the run is not a failure.

        A tests patch that does not apply to the tree is one, because another patch may have
        changed the tests.
        """
        is_rejected = self.tests is not None and self.tests.status is TestStatus.PATCH_REJECTED
        if self.outcome is not False and not is_rejected:
            return None
        ids = failing_cases(self.tests, self.judgement)
        return BrokenTests(suite=self.suite, feature=self.feature, tests=ids)
