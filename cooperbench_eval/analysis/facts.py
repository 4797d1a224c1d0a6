"""`PairFacts`: a report without its texts and test cases, for statistics over many.

The report of a real pair takes hundreds of kilobytes, its facts one or two. Summaries and
frames are built from facts. A store keeps them with each report, so that reports can be
summed up without being read again.
"""

import datetime as dt
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import asdict, field, frozen

from cooperbench_eval.analysis.languages import find_language
from cooperbench_eval.git.merging.conflicts import MergeStatus, Severity, UsageTotals, total_usage
from cooperbench_eval.git.patching.placements import PatchStatus
from cooperbench_eval.reporting.agentcosts import AgentUsage
from cooperbench_eval.reporting.blame import BlameKind, cannot_run
from cooperbench_eval.reporting.failure import FailureKind
from cooperbench_eval.reporting.identity import PairOrigin, inherited_after
from cooperbench_eval.reporting.report import MergeReport, PairStatus
from cooperbench_eval.reporting.rows import (
    Attempt,
    FeatureReport,
    Verdict,
    find_verdict,
    has_time_zone,
    have_own_names,
)
from cooperbench_eval.running.judgements import Judgement
from cooperbench_eval.running.results import CaseCounts, Ended, TestResult, TestStatus, name_counts
from cooperbench_eval.support.arguments import checked, named_fields

if TYPE_CHECKING:
    from cooperbench_eval.support.json_records import Compact

__all__ = [
    "AttemptFacts",
    "FeatureFacts",
    "PairFacts",
    "RunFacts",
    "feature_facts",
    "one_line",
    "pair_facts",
]

_SHOWN_FAILURE = 200


@frozen(kw_only=True, field_transformer=inherited_after("status"))
class RunFacts(CaseCounts, Ended):
    """One test run: how it ended, and how many cases ended in each way.

    The counts have the names and meanings that they have in a `TestResult`.

    Attributes:
        status: The verdict.
        duration_seconds: Wall time of the command.
        accepted: Whether the run counts as a pass under the rule `delta`; `None` if every
            case of it must pass.
        is_undecided: Whether the run decides nothing under that rule.
    """

    status: TestStatus = field(converter=TestStatus)
    duration_seconds: float = 0.0
    accepted: bool | None = None
    is_undecided: bool = False

    @property
    def outcome(self) -> bool | None:
        """Whether the run counts as a pass; `None` if that is not known."""
        if not self.was_run or self.is_undecided:
            return None
        return self.passed if self.accepted is None else self.accepted


@frozen(kw_only=True, field_transformer=named_fields)
class FeatureFacts:
    """One feature without the other.

    Attributes:
        number: The feature's number in its task.
        patch_status: The result of applying its patch.
        tests: The run of its tests with only its own patch; `None` if there was none.
        base_tests: The run of its tests on the base; `None` if there was none.
        other_tests: The run of the other feature's tests with only this feature's
            patch; `None` if there was none.
    """

    number: int
    patch_status: PatchStatus = field(converter=PatchStatus)
    tests: RunFacts | None = None
    base_tests: RunFacts | None = None
    other_tests: RunFacts | None = None


@frozen(kw_only=True, field_transformer=inherited_after("duration_seconds"))
class AttemptFacts(UsageTotals):
    """One strategy's attempt at the pair, and its requests to models.

    The counts of model requests are those of `UsageTotals`. *cost_usd* covers only the
    requests with a known price; it is `None` if there were requests and no price is known.

    Attributes:
        strategy: The strategy's name.
        status: How its merge ended.
        blame: Why the pair fails under the strategy.
        conflicts_met: Conflicts of the three-way merge.
        conflict_sections: Conflict sections that the strategy left open; `None` if they
            were not measured.
        conflict_score: The score of the conflicts that it left open; `None` if they were
            not measured.
        feature1_tests: Feature 1's tests on the merged tree; `None` if not run.
        feature2_tests: Feature 2's tests on the merged tree; `None` if not run.
        duration_seconds: Time the strategy took, tests not counted.
        failure: Why the strategy failed, cut to one line; else empty.
        service_failed: Whether a service that it needs, such as a model's provider, failed.
        joint_tests: The pair's joint tests on the merged tree; `None` if not run.
        regression_tests: The repository's own tests on the merged tree; `None` if not run.
        tests_cannot_run: Whether the only reason against the merge is that a feature's tests
            give no result, with or without its patch.
    """

    strategy: str
    status: MergeStatus = field(converter=MergeStatus)
    blame: BlameKind = field(converter=BlameKind)
    conflicts_met: int = 0
    conflict_sections: int | None = None
    conflict_score: int | None = None
    feature1_tests: RunFacts | None = None
    feature2_tests: RunFacts | None = None
    duration_seconds: float = 0.0
    failure: str = ""
    service_failed: bool = False
    joint_tests: RunFacts | None = None
    regression_tests: RunFacts | None = None
    tests_cannot_run: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict on the strategy, as in its report row."""
        others = (self.joint_tests, self.regression_tests)
        return find_verdict(
            self.status,
            *(
                each.outcome if each else None
                for each in (self.feature1_tests, self.feature2_tests)
            ),
            *(each.outcome for each in others if each is not None),
        )

    @property
    def absolute_verdict(self) -> Verdict:
        """The verdict if only the two features' tests count, and every case of them must pass."""
        runs = (self.feature1_tests, self.feature2_tests)
        return find_verdict(
            self.status, *(run.passed if run and run.was_run else None for run in runs)
        )

    @property
    def counted_verdict(self) -> Verdict:
        """The verdict as statistics count it.

        Conflicts that are left because a service failed say nothing about the strategy, and
        neither do tests that cannot run, so both count as not run.
        """
        return self._counted(self.verdict)

    @property
    def counted_absolute_verdict(self) -> Verdict:
        """The same for `absolute_verdict`."""
        return self._counted(self.absolute_verdict)

    def _counted(self, verdict: Verdict) -> Verdict:
        if self.service_failed and verdict is Verdict.UNHANDLED:
            return Verdict.NOT_RUN
        if self.tests_cannot_run and verdict is Verdict.INCORRECT:
            return Verdict.NOT_RUN
        return verdict


@frozen(kw_only=True, field_transformer=inherited_after("attempts"))
class PairFacts(PairOrigin):
    """The parts of a pair's report that statistics need.

    The base, model, setting and try have the names that they have in a `MergeReport`.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number.
        timestamp: When the evaluation began, with its time zone.
        feature1: Feature 1 without feature 2.
        feature2: Feature 2 without feature 1.
        merge_status: How the two sides merge under `git merge`.
        conflict_sections: Conflict regions that `git merge` leaves. This and the next
            three are `None` if there was nothing to merge.
        conflict_lines: The lines of both sides in these regions.
        conflict_score: The weighted sum of regions and lines.
        severity: The score in one word.
        failure: Why the pair could not be evaluated; `None` if it was.
        problem: Why it was not, or why a feature's tests cannot run, cut to one line; else
            empty.
        attempts: One row for each strategy, in the requested order; names are unique.
        language: The programming language of most of the files that the two patches
            change, as Pygments names it; empty if it is not known.
        agent_usage: What the agents' work cost; an agent that made both features counts once.

    Example:
        >>> facts = PairFacts.from_dict(
        ...     {
        ...         "repo_name": "click",
        ...         "task_id": 1,
        ...         "timestamp": "2026-01-31T12:00:00+00:00",
        ...         "feature1": {"number": 1, "patch_status": "applied"},
        ...         "feature2": {"number": 2, "patch_status": "empty"},
        ...         "merge_status": "missing_input",
        ...     }
        ... )
        >>> facts.features, facts.merge_status.value
        ((1, 2), 'missing_input')
    """

    repo_name: str
    task_id: int
    timestamp: dt.datetime = field(validator=has_time_zone)
    feature1: FeatureFacts
    feature2: FeatureFacts
    merge_status: PairStatus = field(converter=PairStatus)
    conflict_sections: int | None = None
    conflict_lines: int | None = None
    conflict_score: int | None = None
    severity: Severity | None = None
    failure: FailureKind | None = None
    problem: str = ""
    attempts: tuple[AttemptFacts, ...] = field(
        default=(), converter=tuple[AttemptFacts, ...], validator=have_own_names
    )
    language: str = ""
    agent_usage: AgentUsage = field(factory=AgentUsage)

    @property
    def features(self) -> tuple[int, int]:
        """The features' numbers, in the order of the report."""
        return self.numbers

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of feature 1 and feature 2."""
        return self.feature1.number, self.feature2.number

    @property
    def task(self) -> str:
        """The task's name over all repositories, such as `click/2068`."""
        return f"{self.repo_name}/{self.task_id}"

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain JSON values, without values that are at their defaults."""
        return _compact().dump(self)

    @classmethod
    @checked(data=None)
    def from_dict(cls, data: object) -> "PairFacts":
        """Read what `to_dict` returned; keys that this version does not know are ignored.

        Raises:
            ReportError: The values are not the facts of a pair.
        """
        return _compact().load(data)


@cache
def _compact() -> "Compact[PairFacts]":
    from cooperbench_eval.support.json_records import Compact  # noqa: PLC0415

    return Compact(PairFacts)


# --- from a report -----------------------------------------------------------


def pair_facts(report: MergeReport) -> PairFacts:
    """Return the facts of *report*."""
    details = report.conflict_details
    return PairFacts(
        repo_name=report.repo_name,
        task_id=report.task_id,
        timestamp=report.timestamp,
        feature1=feature_facts(report.feature1),
        feature2=feature_facts(report.feature2),
        merge_status=report.merge_status,
        conflict_sections=None if details is None else details.conflict_sections,
        conflict_lines=None if details is None else details.conflict_lines,
        conflict_score=None if details is None else details.conflict_score,
        severity=None if details is None else details.severity,
        failure=None if report.failure is None else report.failure.kind,
        problem=one_line(report.problem),
        attempts=tuple(_attempt(report, attempt) for attempt in report.attempts),
        base_tree_id=report.base_tree_id,
        base_commit=report.base_commit,
        model=report.model,
        setting=report.setting,
        k=report.k,
        language=find_language(_paths(report)),
        agent_usage=report.agent_usage,
    )


def _paths(report: MergeReport) -> Iterable[str]:
    features = (report.feature1, report.feature2)
    hunks = [hunk.path for feature in features for hunk in feature.patch.hunks if hunk.path]
    return hunks or [conflict.path for conflict in report.conflicts]


def feature_facts(feature: FeatureReport) -> FeatureFacts:
    """Return the facts of one feature."""
    return FeatureFacts(
        number=feature.number,
        patch_status=feature.patch.status,
        tests=_run(feature.tests, feature.judgement),
        base_tests=_run(feature.base_tests),
        other_tests=_run(feature.other_tests),
    )


def _attempt(report: MergeReport, attempt: Attempt) -> AttemptFacts:
    left = attempt.conflict_details
    blame = report.blame(attempt.strategy).kind
    return AttemptFacts(
        strategy=attempt.strategy,
        status=attempt.status,
        blame=blame,
        conflicts_met=attempt.conflicts_met,
        conflict_sections=None if left is None else left.conflict_sections,
        conflict_score=None if left is None else left.conflict_score,
        feature1_tests=_run(attempt.feature1_tests, attempt.feature1_judgement),
        feature2_tests=_run(attempt.feature2_tests, attempt.feature2_judgement),
        duration_seconds=attempt.duration_seconds,
        **asdict(total_usage(attempt.usage), recurse=False),
        failure=one_line(attempt.failure),
        service_failed=attempt.service_failed,
        joint_tests=_run(attempt.joint_tests, attempt.joint_judgement),
        regression_tests=_run(attempt.regression_tests, attempt.regression_judgement),
        tests_cannot_run=blame is BlameKind.UNKNOWN and any(map(cannot_run, report.features)),
    )


def one_line(failure: str) -> str:
    """Return the first line of a reason, cut if it is long."""
    line = failure.partition("\n")[0]
    return line if len(line) <= _SHOWN_FAILURE else f"{line[: _SHOWN_FAILURE - 1]}…"


def _run(tests: TestResult | None, judgement: Judgement | None = None) -> RunFacts | None:
    if tests is None:
        return None
    decided = None if judgement is None else judgement.decide(tests)
    return RunFacts(
        status=tests.status,
        duration_seconds=tests.duration_seconds,
        accepted=decided,
        is_undecided=judgement is not None and decided is None,
        **name_counts(tests.cases),
    )
