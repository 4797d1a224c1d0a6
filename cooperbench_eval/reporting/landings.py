"""Which features or patches land together: the suites, what is left out and why, and the plan."""

import operator
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting.blame import failing_cases
from cooperbench_eval.reporting.jsonrecord import JsonRecord
from cooperbench_eval.reporting.remarks import (
    about_dropped,
    about_flaky,
    about_reset,
    without_answer,
)
from cooperbench_eval.reporting.rows import (
    UsedOptions,
)
from cooperbench_eval.running.results import Judgement, TestResult, outcome_of
from cooperbench_eval.support.arguments import checked, named_fields
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
        reason: How such a run ended, as a clause; else empty.
    """

    suite: TeamSuite = field(converter=TeamSuite)
    feature: int | None = None
    tests: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    reason: str = ""


@frozen(kw_only=True, field_transformer=named_fields)
class LeftOut(Shown):
    """A feature that did not land, and why.

    Attributes:
        number: The feature's number.
        reason: Why it did not land.
        features: For a conflict, the landed features with which it conflicts; if it breaks
            tests, the other features whose tests these are; for a duplicate, the feature that
            takes its place.
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
        """The tests that fail; `None` if the run is not a failure."""
        if self.tests is None or self.outcome is not False:
            return None
        ids = failing_cases(self.tests, self.judgement)
        reason = ""
        if not ids and self.tests.reason:
            reason = f"{self.tests.status.value.replace('_', ' ')}: {self.tests.reason}"
        return BrokenTests(suite=self.suite, feature=self.feature, tests=ids, reason=reason)

    @property
    def problem(self) -> str:
        """Why it has no answer, as a clause; empty if it has one."""
        return why_unanswered(self, f"feature {self.feature}")


def why_unanswered(run: SuiteRun, owner: str) -> str:
    """Return why a suite has no answer, as a clause that names its *owner*; empty if it has one."""
    if run.outcome is not None:
        return ""
    if run.tests is None:
        return f"{owner} has no suite"
    is_own = run.suite is TeamSuite.FEATURE
    whose = f"{owner}'s tests" if is_own else f"the {run.suite.value} tests"
    return f"{whose} have no answer: {without_answer(run.tests, run.judgement)}"


# --- landing plans ---


def _suites(given: Iterable[str]) -> tuple[TeamSuite, ...]:
    return tuple(map(TeamSuite, given))


_Numbers = tuple[int, ...]


class PairOutcome(StrEnum):
    """What merging one patch into another gives."""

    CLEAN = "clean"
    """The merge has no conflict."""
    RESOLVED = "resolved"
    """The strategy resolves all its conflicts."""
    CONFLICT = "conflict"
    """Conflicts are left open, or the strategy fails."""
    BREAKS_TESTS = "breaks_tests"
    """The merge is complete, but tests fail on its tree, and not because one patch fails alone."""
    NOT_EXAMINED = "not_examined"
    """It was not tried."""


@frozen(kw_only=True, field_transformer=named_fields)
class PairMerge:
    """The merge of one patch into another.

    Attributes:
        into: The number of the patch into which the other one is merged.
        number: The number of the patch that is merged.
        outcome: What it gives.
    """

    into: int
    number: int
    outcome: PairOutcome = field(converter=PairOutcome)


@frozen(kw_only=True, field_transformer=named_fields)
class OrderDependence:
    """A set of patches whose order matters.

    Attributes:
        patches: The numbers of the patches.
        lands: An order in which they merge.
        fails: An order in which they do not; empty if they merge in every order.
        trees: How many different trees their orders give.
    """

    patches: _Numbers = field(converter=tuple[int, ...])
    lands: _Numbers = field(converter=tuple[int, ...])
    fails: _Numbers = field(default=(), converter=tuple[int, ...])
    trees: int


def _sets(sets: Any) -> tuple[_Numbers, ...]:
    return tuple(map(tuple, sets))


@frozen(kw_only=True, field_transformer=named_fields)
class LandingPlan(Shown, JsonRecord):
    r"""Which of several patches can land together, and in what order.

    Attributes:
        strategy: The strategy's name.
        order: The numbers of the patches that land, in the order in which they do.
        left_out: The other patches in the given order, each with the reason.
        merges: The merges of every two patches that apply and differ, in both orders.
        minimal_conflicts: The sets that cannot land, and of which no proper subset is known not
            to land, as far as they were examined: see *examined_size* and *is_exact*.
        order_dependent: The sets whose order matters, whatever their tests say: they merge
            only in some orders, or give different trees. Listed are sets of up to
            *examined_size* patches, small ones first.
        examined_size: All sets of up to so many patches were merged in all orders.
        has_tests: Whether there are tests that decide.
        suites: The kinds of suites that decide about the tree of the plan.
        is_tested: Whether these suites pass on that tree. If there are tests and this is false, no
            set has passed; the plan is then a largest set that is not known to fail. If no
            feature has a suite, it says nothing about what the features do.
        is_exact: Whether it is certain that no larger set can land.
        runs_used: How many test runs were asked for, whether or not a cache answered them.
        budget: How many were allowed.
        problem: Why the plan is not complete; empty if it is. The search ended early, for example
            because the base can no longer be read, or tests have no answer.
        base_tree_id: The git tree id of the base.
        base_commit: The id of the base's commit, if the base is a commit.
        tree_id: The git tree id of the base with the landed patches.
        changes: What the landed patches together change in the base.
        options: The options that were used; `None` if they are not known.
        dropped_files: The test files of the agents that were dropped, sorted.
        reset_files: Their files that control test runs and were as in the base when suites ran,
            sorted.
        flaky: The ids of the cases that both failed and passed on the same tree, sorted.
        hazards: Hints at what is wrong in the tree of the plan. They do not affect the plan.

    Example:
        >>> from cooperbench_eval import Entry, land
        >>> base = Snapshot.from_files({"a": b"1\n", "b": b"1\n"})
        >>> edits = [("a", b"2\n"), ("a", b"3\n"), ("b", b"2\n")]
        >>> patches = [Changes({path: Entry(text)}) for path, text in edits]
        >>> plan = land(base, patches, strategy="naive")
        >>> plan.landed, plan.minimal_conflicts, plan.left_out[0].features
        ((1, 3), ((1, 2),), (1,))
    """

    _kind = "landing plan"

    strategy: str
    order: _Numbers = field(converter=tuple[int, ...])
    left_out: tuple[LeftOut, ...] = field(default=(), converter=tuple[LeftOut, ...])
    merges: tuple[PairMerge, ...] = field(default=(), converter=tuple[PairMerge, ...], repr=False)
    minimal_conflicts: tuple[_Numbers, ...] = field(default=(), converter=_sets)
    order_dependent: tuple[OrderDependence, ...] = field(
        default=(), converter=tuple[OrderDependence, ...]
    )
    examined_size: int = 0
    has_tests: bool = False
    suites: tuple[TeamSuite, ...] = field(default=(), converter=_suites)
    is_tested: bool = False
    is_exact: bool = False
    runs_used: int = 0
    budget: int = field(default=0, converter=operator.index)
    problem: str = ""
    base_tree_id: str
    base_commit: str | None = None
    tree_id: str
    changes: Changes = field(factory=Changes, repr=False)
    options: UsedOptions | None = field(default=None, repr=False)
    dropped_files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    reset_files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    flaky: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    hazards: tuple[Hazard, ...] = field(default=(), converter=tuple[Hazard, ...], repr=False)

    @left_out.validator
    def _check_numbers(self, _: object, left_out: tuple[LeftOut, ...]) -> None:
        numbers = [*self.order, *(each.number for each in left_out)]
        if twice := sorted({each for each in numbers if numbers.count(each) > 1}):
            raise ValueError(f"the plan has {', '.join(map(str, twice))} more than once")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know about the plan, as sentences."""
        return (
            *about_dropped(self.dropped_files),
            *about_reset(self.reset_files),
            *about_flaky(self.flaky),
        )

    @property
    def landed(self) -> _Numbers:
        """The numbers of the patches that land, sorted."""
        return tuple(sorted(self.order))

    @property
    def numbers(self) -> _Numbers:
        """The numbers of all patches, sorted."""
        return tuple(sorted((*self.order, *(each.number for each in self.left_out))))

    @property
    def pairs(self) -> Mapping[tuple[int, int], PairOutcome]:
        """What merging the second patch into the first gives, by their numbers."""
        return {(each.into, each.number): each.outcome for each in self.merges}

    @checked
    def diff(self, base: Snapshot) -> bytes:
        """Return the landed patches together as a git diff against *base*."""
        return self.changes.diff(base)
