"""The rows of a report: one for each feature, one for each strategy, and what they hold."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

from attrs import field, frozen

from cooperbench_eval.git.merging.conflicts import (
    ConflictDetails,
    ConflictScorer,
    LedgerRow,
    MergeStatus,
    ModelUsage,
    Replacement,
)
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, HunkPlacement, PatchStatus
from cooperbench_eval.git.patching.path_kinds import TestFileFilter
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting.agent_costs import AgentRun
from cooperbench_eval.reporting.identity import beginning_with
from cooperbench_eval.running.results import Judgement, JudgeRule, TestResult, outcome_of
from cooperbench_eval.support.arguments import named_fields
from cooperbench_eval.support.rendering.shown import Shown


class TraceKind(StrEnum):
    """How a failure leads to a function."""

    FRAME = "frame"
    """The traceback goes through it."""
    NAMED = "named"
    """The message names it, for example in the line that failed."""
    USED = "used"
    """One of these functions uses its name, directly or through others."""
    BOTH = "both"
    """No failure leads to it, but both features changed it."""


@frozen(kw_only=True, field_transformer=named_fields)
class TracedFunction:
    """A function that a feature changed and that may be why tests were lost.

    It may also be a variable, or the head of a class up to its first method.

    Attributes:
        path: Its file in the merged tree, or in the base if the merge removes the file.
        name: Its name, after those of the classes around it, with dots.
        line: Its first line in the merged file, counted from 1; `None` if it is not there.
        kind: How the failures lead to it.
        tests: Lost tests whose failures lead to it, at most ten.
        base: Its text in the base, as whole lines; `None` if it is not there.
        feature1: Its text with feature 1 only, in the same way.
        feature2: Its text with feature 2 only, in the same way.
        merged: Its text in the merged tree, in the same way.
    """

    path: str
    name: str
    line: int | None = None
    kind: TraceKind = field(converter=TraceKind)
    tests: tuple[str, ...] = field(converter=tuple[str, ...])
    base: bytes | None = field(default=None, repr=False)
    feature1: bytes | None = field(default=None, repr=False)
    feature2: bytes | None = field(default=None, repr=False)
    merged: bytes | None = field(default=None, repr=False)


@frozen(kw_only=True, field_transformer=named_fields)
class FailureTrace:
    """Where the failures of lost tests lead in the files that the features changed.

    Attributes:
        functions: The functions that a feature changed, the surest first.
        left_out: How many more were found than are recorded. A file that was too much to read
            counts as one.
    """

    functions: tuple[TracedFunction, ...] = field(converter=tuple[TracedFunction, ...])
    left_out: int = 0


# --- rows ---


class Verdict(StrEnum):
    """The verdict on a strategy's merge of a pair."""

    CORRECT = "correct"
    """The merge is complete, and every suite of the pair passes."""
    INCORRECT = "incorrect"
    """The merge is complete, and a suite does not pass."""
    UNHANDLED = "unhandled"
    """Conflicts are still open, or the strategy failed."""
    NOT_RUN = "not_run"
    """A suite was not run or could not be, or there was nothing to merge."""


class Judged(NamedTuple):
    """A run, or `None` if there was none, and its judgement, or `None` if every case counts."""

    tests: TestResult | None = None
    judgement: Judgement | None = None

    @property
    def outcome(self) -> bool | None:
        """Whether the run counts as a pass; `None` if it has no result for its tree."""
        return outcome_of(self.tests, self.judgement)


@frozen(kw_only=True, field_transformer=named_fields)
class PatchReport:
    """How a feature's patch was applied.

    Attributes:
        status: Whether it applied to the base.
        reason: Why it did not apply; empty otherwise.
        dropped_files: The test files that were removed from it first, by path.
        touched_runner_control: Other files that control how tests are found and run
            (conftest.py, pytest.ini, pyproject.toml, Makefile …), by path. A patch that
            changes them could change the verdict, so by default tests run with the
            base's version of them.
        names_test_framework: Files other than tests in which the patch adds a line that
            names a test framework: a hint that the code interferes with its tests.
        hunks: How each change was placed.
        diff: What the patch changes, as a git diff against the tree from which it starts; `None`
            if it changes nothing, or if an earlier version of this library made the record.
        base_tree_id: The git tree id of the tree from which it starts, if that is not the base
            of the report.
        base_commit: The commit of this tree.
    """

    status: PatchStatus = field(converter=PatchStatus)
    reason: str = ""
    dropped_files: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    touched_runner_control: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    names_test_framework: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    hunks: tuple[HunkPlacement, ...] = field(
        default=(), converter=tuple[HunkPlacement, ...], repr=False
    )
    diff: bytes | None = field(default=None, repr=False)
    base_tree_id: str | None = None
    base_commit: str | None = None

    @property
    def is_usable(self) -> bool:
        """Whether the patch gives a side that can be merged."""
        return self.status.is_usable


@frozen(kw_only=True)
class FeatureReport:
    """One feature without the other: its own patch on the base.

    Attributes:
        number: The feature's number in its task.
        patch: How its patch was applied.
        tests: The run of its tests; `None` if they were not run.
        base_tests: The run of its tests on the base without its patch; `None` if they
            were not run.
        other_tests: The run of the *other* feature's tests on this feature's patch
            only; `None` if they were not run.
        judgement: How the cases of *tests* count; `None` if all of them must pass.
        joint_tests: The run of the pair's joint tests on this feature's patch only; `None`
            if they were not run.
        regression_tests: The run of the repository's own tests on this feature's patch
            only; `None` if they were not run.
        regression_judgement: How the cases of *regression_tests* count; `None` if all of
            them must pass.
        agent: What its agent's work cost; `None` if that is not known.
    """

    number: int
    patch: PatchReport
    tests: TestResult | None = None
    base_tests: TestResult | None = None
    other_tests: TestResult | None = None
    judgement: Judgement | None = None
    joint_tests: TestResult | None = None
    regression_tests: TestResult | None = None
    regression_judgement: Judgement | None = None
    agent: AgentRun | None = None

    @property
    def tests_passed(self) -> bool | None:
        """Whether all its tests pass; `None` if none were run."""
        return self.tests.passed if was_run(self.tests) else None

    @property
    def is_right(self) -> bool | None:
        """Whether it passes every test that counts; `None` if none were run."""
        return outcome_of(self.tests, self.judgement)

    @property
    def passes_on_base(self) -> bool | None:
        """Whether its tests pass without its patch; then they say nothing about the patch."""
        return self.base_tests.passed if was_run(self.base_tests) else None

    @property
    def test_output(self) -> str:
        """The output of the test run; empty if there was no run."""
        return "" if self.tests is None else self.tests.output


@frozen(kw_only=True)
class MergeRow:
    """How one merge ended: what a pair's `Attempt` and a team's `TeamStep` have in common."""

    status: MergeStatus = field(converter=MergeStatus)
    conflicts_met: int = 0
    conflict_details: ConflictDetails | None = None
    tree_id: str | None = None
    diff: bytes | None = field(default=None, repr=False)
    failure: str = ""
    duration_seconds: float = 0.0
    ledger: tuple[LedgerRow, ...] = field(default=(), converter=tuple[LedgerRow, ...], repr=False)
    usage: tuple[ModelUsage, ...] = field(default=(), converter=tuple[ModelUsage, ...])
    service_failed: bool = False
    replacements: tuple[Replacement, ...] = field(
        default=(), converter=tuple[Replacement, ...], repr=False
    )


class Tried(Shown):
    """A strategy's row in the report of a pair or team."""

    __slots__ = ()

    if TYPE_CHECKING:  # each kind of row describes its own
        strategy: str
        status: MergeStatus
        hazards: tuple[Hazard, ...]

        @property
        def service_failed(self) -> bool: ...  # noqa: D102
        @property
        def own_runs(self) -> tuple[Judged, ...]: ...  # noqa: D102
        @property
        def joint_run(self) -> Judged: ...  # noqa: D102
        @property
        def regression_run(self) -> Judged: ...  # noqa: D102
        @property
        def _deciding(self) -> Sequence[Judged]: ...

    @property
    def verdict(self) -> Verdict:
        """The verdict on the strategy's merge of all features.

        Every run that is not a pass counts against it, including a timeout or an
        inconclusive run: a merge is correct only if its tests were seen to pass.
        """
        runs = self._deciding or [Judged()]
        return find_verdict(self.status, *(each.outcome for each in runs))

    @property
    def absolute_verdict(self) -> Verdict:
        """The verdict if only the features' tests count, and every case of them must pass."""
        runs = self.own_runs or [Judged()]
        return find_verdict(self.status, *(outcome_of(each.tests) for each in runs))


@frozen(
    kw_only=True,
    field_transformer=beginning_with(
        *("strategy", "implementation", "status", "conflicts_met", "conflict_details"),
        *("tree_id", "diff", "failure", "feature1_tests", "feature2_tests"),
    ),
)
class Attempt(MergeRow, Tried):
    """One strategy's try at the pair.

    Attributes:
        strategy: The strategy's name.
        implementation: Where its class is defined, as `module:name`.
        status: How its merge ended.
        conflicts_met: The number of conflicts of the three-way merge.
        conflict_details: Measures of the conflicts that the strategy left open.
        tree_id: The git tree id of the merged tree; `None` if it failed.
        diff: The merged tree as a git diff against the base; `None` if it failed.
        failure: Why it failed; empty otherwise.
        feature1_tests: Feature 1's tests on the merged tree; `None` if not run.
        feature2_tests: Feature 2's tests on the merged tree; `None` if not run.
        duration_seconds: The time that the strategy took, without tests.
        ledger: What happened to each conflict or block of conflicts, if the strategy
            records it.
        usage: The use of language models, one record for each model.
        service_failed: Whether a service that the strategy needs, such as a model's
            provider, failed, so that another attempt may end differently.
        replacements: What replaced the naive merge's conflicts in the merged tree; each
            conflict is in one of the replacements. Empty if the strategy failed, or if
            an earlier version of this library made the record.
        feature1_judgement: How the cases of *feature1_tests* count; `None` if all of them
            must pass.
        feature2_judgement: The same for *feature2_tests*.
        joint_tests: The pair's joint tests on the merged tree; `None` if not run.
        joint_judgement: How the cases of *joint_tests* count; `None` if all of them must
            pass.
        regression_tests: The repository's own tests on the merged tree; `None` if not run.
        regression_judgement: The same for *regression_tests*.
        hazards: What looks wrong in the merged tree; empty if conflicts are left. They do
            not affect the verdict.
        trace: The code that the failures of lost tests lead to; `None` if the merge lost no
            tests, or if an earlier version of this library made the record.
    """

    strategy: str
    implementation: str
    feature1_tests: TestResult | None = None
    feature2_tests: TestResult | None = None
    feature1_judgement: Judgement | None = None
    feature2_judgement: Judgement | None = None
    joint_tests: TestResult | None = None
    joint_judgement: Judgement | None = None
    regression_tests: TestResult | None = None
    regression_judgement: Judgement | None = None
    hazards: tuple[Hazard, ...] = field(default=(), converter=tuple[Hazard, ...], repr=False)
    trace: FailureTrace | None = field(default=None, repr=False)

    @property
    def own_runs(self) -> tuple[Judged, Judged]:
        """The runs of feature 1's and of feature 2's tests on the merged tree, each judged."""
        one = Judged(self.feature1_tests, self.feature1_judgement)
        return one, Judged(self.feature2_tests, self.feature2_judgement)

    @property
    def joint_run(self) -> Judged:
        """The run of the joint tests on the merged tree, and its judgement."""
        return Judged(self.joint_tests, self.joint_judgement)

    @property
    def regression_run(self) -> Judged:
        """The run of the repository's own tests on the merged tree, and its judgement."""
        return Judged(self.regression_tests, self.regression_judgement)

    @property
    def _deciding(self) -> Sequence[Judged]:
        others = (self.joint_run, self.regression_run)
        return (*self.own_runs, *(each for each in others if each.tests is not None))


RUNS = (
    *("tests", "base_tests", "other_tests", "feature1_tests", "feature2_tests"),
    *("joint_tests", "regression_tests", "base_joint_tests", "base_regression_tests"),
)
"""The names of all test runs in a report and its rows."""


def runs_in(rows: Iterable[object]) -> Iterator[TestResult]:
    """Yield the test runs that are attributes of *rows*."""
    found = (getattr(row, name, None) for row in rows for name in RUNS)
    return (run for run in found if run is not None)


_UNHANDLED: Final = frozenset({MergeStatus.CONFLICTED, MergeStatus.FAILED})


def find_verdict(status: MergeStatus, *outcomes: bool | None) -> Verdict:
    """Return the verdict on a merge."""
    if status in _UNHANDLED:
        return Verdict.UNHANDLED
    if False in outcomes:
        return Verdict.INCORRECT
    return Verdict.NOT_RUN if None in outcomes else Verdict.CORRECT


def have_own_names(_: object, __: object, attempts: Sequence[Any]) -> None:
    """Refuse two rows of one strategy; a validator for attrs."""
    seen: set[str] = set()
    for attempt in attempts:
        if attempt.strategy in seen:
            raise ValueError(f"two rows of strategy {attempt.strategy!r:.80}")
        seen.add(attempt.strategy)


def was_run(tests: TestResult | None) -> TypeGuard[TestResult]:
    """Whether there is a run with a result for its tree."""
    return tests is not None and tests.was_run


# --- options ---


@frozen(kw_only=True, field_transformer=named_fields)
class UsedOptions:
    """The options that were used to find a result, defaults included.

    Attributes:
        strategies: The names of the merge strategies.
        judge: Which cases must pass.
        apply_policy: How leniently patches were placed.
        test_filter: Which test files of the agents were dropped; `None` if all were kept.
        sandbox: The name of the sandbox in which the suites ran; `None` if no suite ran.
        repeats: How often the runner repeats each run of a suite.
        scorer: The scorer of conflicts; `None` if conflicts were not measured, or not by a plain
            `ConflictScorer`.
    """

    strategies: tuple[str, ...] = field(converter=tuple[str, ...])
    judge: JudgeRule = field(converter=JudgeRule)
    apply_policy: ApplyPolicy
    test_filter: TestFileFilter | None = None
    sandbox: str | None = None
    repeats: int = 1
    scorer: ConflictScorer | None = None
