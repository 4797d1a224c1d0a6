"""The record `MergeReport`, and the base class `Report` that it shares with a team's report.

The module that writes JSON is imported when a report is first written or read, because
cattrs would add much to the import time of the library.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from attrs import field, frozen

from cooperbench_eval.errors import UnknownAttemptError
from cooperbench_eval.git.merging.conflicts import Conflict, ConflictDetails
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting.agent_costs import AgentUsage, total_agents
from cooperbench_eval.reporting.blame import Blame, BlameKind, find_blame
from cooperbench_eval.reporting.identity import PairOrigin, inherited_after
from cooperbench_eval.reporting.jsonrecord import JsonRecord
from cooperbench_eval.reporting.remarks import (
    about_reset,
    judgements_of,
    warnings_of,
    without_answer,
)
from cooperbench_eval.reporting.resolutions import ConflictResolution, read_resolutions
from cooperbench_eval.reporting.rows import (
    Attempt,
    FeatureReport,
    Tried,
    UsedOptions,
    have_own_names,
    runs_in,
)
from cooperbench_eval.running.results import (
    JudgeRule,
    TestResult,
    TestStatus,
    outcome_of,
)
from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.rendering.shown import Shown
from cooperbench_eval.support.upcalls import upcall

_Row = TypeVar("_Row", bound=Tried)


class PairStatus(StrEnum):
    """The result of `git merge` for the two sides of a pair."""

    CLEAN = "clean"
    """They merge without conflicts."""
    CONFLICTS = "conflicts"
    """They conflict."""
    MISSING_INPUT = "missing_input"
    """A side's patch is empty or does not apply, so there was nothing to merge."""
    NOT_EVALUATED = "not_evaluated"
    """The pair could not be evaluated, so nothing is known about it."""


class FailureKind(StrEnum):
    """Why a pair was not evaluated. No kind says anything about the patches."""

    REPOSITORY = "repository"
    """Its base cannot be read."""
    DATASET = "dataset"
    """The dataset or the run logs lack a part of the pair."""
    TEST_RUN = "test_run"
    """Its tests cannot be started."""
    WORKER_LOST = "worker_lost"
    """The worker that evaluated it died or disappeared, and so did the next one."""
    NOT_DELIVERED = "not_delivered"
    """The pair, the evaluator or the report could not be sent between processes."""
    DUPLICATE = "duplicate"
    """The same pair was given before, and has its own report."""
    NOT_STORED = "not_stored"
    """Its report is in the store and cannot be read."""
    ERROR = "error"
    """A plug-in or this library raised an unexpected exception."""


@frozen(kw_only=True, field_transformer=named_fields)
class Failure:
    """Why a pair could not be evaluated.

    Attributes:
        kind: The reason in one word.
        problem: What went wrong, as a clause.
        error: The class of the exception, as `module:name`; empty if there was none.
        tries: How often the pair was tried.
    """

    kind: FailureKind = field(converter=FailureKind)
    problem: str
    error: str = ""
    tries: int = 1


def _own(versions: Mapping[str, str]) -> dict[str, str]:
    return dict(versions)


@frozen(kw_only=True)
class Report(PairOrigin, Shown, JsonRecord):
    """What the reports of a pair and of a team have in common."""

    versions: Mapping[str, str] = field(factory=dict, converter=_own, hash=False)
    failure: Failure | None = None
    judge: JudgeRule = field(default=JudgeRule.ABSOLUTE, converter=JudgeRule)
    options: UsedOptions | None = None
    base_joint_tests: TestResult | None = None
    base_regression_tests: TestResult | None = None

    if TYPE_CHECKING:  # each of the two has its own

        @property
        def features(self) -> tuple[FeatureReport, ...]: ...  # noqa: D102
        @property
        def attempts(self) -> tuple[Tried, ...]: ...  # noqa: D102
        @property
        def _tested(self) -> Iterable[object]:
            """The records with the runs on merged trees."""

    @property
    def agent_usage(self) -> AgentUsage:
        """What the work of all agents cost; an agent that made several features counts once."""
        return total_agents(each.agent for each in self.features)

    @property
    def is_final(self) -> bool:
        """Whether another evaluation of the pair would give the same result.

        It might not if the pair could not be evaluated, if a test run has no answer, for example
        because the sandbox failed or a dependency is missing, or if a service that a strategy
        needs failed. Those are errors of the infrastructure, not verdicts.
        """
        if self.failure is not None:
            return self.failure.kind is FailureKind.DUPLICATE
        if any(attempt.service_failed for attempt in self.attempts):
            return False
        return next(self._unanswered, None) is None

    @property
    def problem(self) -> str:
        """Why it was not evaluated, why a run has no answer, or who has no suite; else empty."""
        if self.failure is not None:
            return self.failure.problem
        unanswered = (run.reason for run in self._unanswered)
        return next(chain(unanswered, self._undecided), self._without_suite)

    @property
    def _undecided(self) -> Iterator[str]:
        """Why runs on merged trees say nothing about them."""
        for attempt in self.attempts:
            for run, judgement in (*attempt.own_runs, attempt.joint_run, attempt.regression_run):
                if run is not None and outcome_of(run, judgement) is None:
                    yield without_answer(run, judgement)

    @property
    def _without_suite(self) -> str:
        """Which feature has no suite although something was run; empty if there is none."""
        if next(self._runs, None) is None:
            return ""
        missing = (e.number for e in self.features if e.tests is None and e.patch.is_usable)
        return next((f"feature {number} has no suite" for number in missing), "")

    @property
    def _unanswered(self) -> Iterator[TestResult]:
        return (run for run in self._runs if run.status is TestStatus.INFRASTRUCTURE_ERROR)

    @property
    def _runs(self) -> Iterator[TestResult]:
        return runs_in((*self.features, *self._tested, self))

    @property
    def preexisting_failures(self) -> tuple[str, ...]:
        """The failing cases that already fail on the base, sorted; no feature is blamed."""
        return tuple(sorted({i for each in judgements_of(self) for i in each.preexisting}))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know about the verdicts, as sentences.

        They say which test files of the agents were dropped or reset, where the rules `delta` and
        `absolute` disagree, that joint tests pass without the merge, which cases are flaky,
        and which suites gave no result on the base.
        """
        reset = {path for run in self._runs for path in run.restored_files}
        return tuple(dict.fromkeys((*warnings_of(self), *about_reset(reset))))

    @property
    def hazards(self) -> tuple[Hazard, ...]:
        """What looks wrong in the merged trees of all strategies, each once.

        Hazards are hints that no test confirmed, and never affect a verdict.
        """
        return tuple(dict.fromkeys(found for each in self.attempts for found in each.hazards))

    def reward(self, policy: object = "strict") -> dict[str, float]:
        """Return what the pair or team achieved under a policy, as finite numbers only.

        `reward` is 1.0 if the policy's verdict is correct, and otherwise 0.0. Under `strict`,
        it is 1.0 only if git's own merge of all features is complete and every suite of the
        pair or team passes on it. A patch that is empty or does not apply, a conflict and a
        failing test give 0.0.

        The other numbers grade that result. A number that is not known is left out. Flags are
        0.0 or 1.0, and rates are from 0.0 to 1.0:

        - `conflict_score` of the naive merges; for a pair, also their `conflict_sections` and
          `conflict_lines`;
        - `feature1_alone` and `feature2_alone`: whether each feature of a pair passes its own
          tests without the other; `features_alone`: the share of a team's features that pass
          theirs without the others;
        - `merged`: whether the row's merge of all features is complete;
        - `landed`: the share of a team's features that landed;
        - `feature1_passed` and `feature2_passed`, `joint_passed` and `regression_passed`: whether
          each suite passes on the row's tree of all features; for a team, `features_passed`: the
          share of the features whose tests pass there;
        - `feature1_pass_rate` and `feature2_pass_rate`: the shares of passed cases there for a
          pair, and `pass_rate` for all features together;
        - `agent_cost_usd`, `agent_steps` and the other numbers of `agent_usage`.

        The row is that of the strategy that decided, or else of the first one that the policy
        names. Tests are not run while conflicts are left.

        Args:
            policy: A `Policy`, or the name of one in `POLICIES`.

        Raises:
            AnalysisError: No policy has this name.
            ReportError: The report has no answer: the pair or team was not evaluated, tests could
                not run, or a row that the policy needs is missing. That is not a failure of the
                agents, so it has no reward.
        """
        reward: dict[str, float] = upcall("reward")(self, policy)
        return reward


def row_of(strategy: str, attempts: Sequence[_Row]) -> _Row:
    """Return the row of *strategy*; raise an error if there is none."""
    for attempt in attempts:
        if attempt.strategy == strategy:
            return attempt
    raise UnknownAttemptError(strategy, tuple(each.strategy for each in attempts))


@frozen(kw_only=True, field_transformer=inherited_after("attempts", "timestamp"))
class MergeReport(Report):
    """Everything that is known about a pair: feature 1 merged into feature 2.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number; 0 is a task like any other.
        timestamp: When the evaluation began, with a time zone.
        feature1: The results of feature 1 without the other.
        feature2: The results of feature 2 without the other.
        conflict_details: The naive merge's conflicts, measured; `None` if
            there was nothing to merge.
        conflicts: The naive merge's conflicts themselves.
        diff: The naive merge as a git diff against the base, open conflicts as
            markers; `None` if there was nothing to merge.
        attempts: One row for each strategy, in the requested order, with distinct names.
        base_tree_id: The git tree id of the base.
        base_commit: The id of the base's commit, if the base is a commit.
        model: The model that wrote the patches, if it is named.
        setting: The benchmark's setting, if named.
        k: Which of the model's tries this is, counted from 1.
        versions: The versions of the programs that were used.
        failure: Why the pair could not be evaluated; `None` if it was. If it is given, the
            rest of the report was known before the evaluation.
        judge: The rule by which test runs were judged.
        options: The options that were used, defaults included; `None` if they are not known.
        base_joint_tests: The run of the pair's joint tests on the base; `None` if they were
            not run.
        base_regression_tests: The run of the repository's own tests on the base; `None` if
            they were not run.
    """

    _kind = "pair"

    feature1: FeatureReport
    feature2: FeatureReport
    conflict_details: ConflictDetails | None
    conflicts: tuple[Conflict, ...] = field(default=(), converter=tuple[Conflict, ...], repr=False)
    diff: bytes | None = field(default=None, repr=False)
    attempts: tuple[Attempt, ...] = field(
        default=(), converter=tuple[Attempt, ...], validator=have_own_names
    )

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of feature 1 and feature 2."""
        return self.feature1.number, self.feature2.number

    @property
    def features(self) -> tuple[FeatureReport, FeatureReport]:
        """The results of feature 1 and feature 2 without each other."""
        return self.feature1, self.feature2

    @property
    def merge_status(self) -> PairStatus:
        """The result of `git merge` for the two sides."""
        if self.failure is not None:
            return PairStatus.NOT_EVALUATED
        if self.conflict_details is None:
            return PairStatus.MISSING_INPUT
        if self.conflict_details.conflict_sections:
            return PairStatus.CONFLICTS
        return PairStatus.CLEAN

    @property
    def conflict_score(self) -> int | None:
        """The naive merge's score; `None` if there was nothing to merge."""
        return None if self.conflict_details is None else self.conflict_details.conflict_score

    @property
    def _tested(self) -> tuple[Attempt, ...]:
        return self.attempts

    @checked
    def attempt(self, strategy: str) -> Attempt:
        """Return the row of *strategy*.

        Raises:
            UnknownAttemptError: The report has no such row; the error is a `KeyError` too.
        """
        return row_of(strategy, self.attempts)

    @checked
    def blame(self, strategy: str) -> Blame:
        """Return why the pair fails under *strategy*, and which tests the merge lost.

        Raises:
            UnknownAttemptError: The report has no row for the strategy.
        """
        if self.failure is not None:
            return Blame(kind=BlameKind.UNKNOWN)
        return find_blame(
            self.feature1, self.feature2, self.attempt(strategy), self.base_regression_tests
        )

    @checked
    def resolutions(self, strategy: str) -> tuple[ConflictResolution, ...]:
        """Return the resolution of each of the `conflicts` by *strategy*, in order.

        The kind is `UNKNOWN` for every conflict if the strategy failed, or if an
        earlier version of this library wrote the report.

        Raises:
            UnknownAttemptError: The report has no row for the strategy.
        """
        return read_resolutions(self.conflicts, self.attempt(strategy))
