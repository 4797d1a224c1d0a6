"""`PairFacts` and `TeamFacts`: a report without its texts and test cases, for statistics.

The report of a real pair takes hundreds of kilobytes, its facts one or two. Summaries and
frames are built from facts. A store keeps them with each report, so that reports can be
summed up without being read again.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, Self

from attrs import field, frozen

from cooperbench_eval.git.merging.conflicts import MergeStatus, Severity
from cooperbench_eval.git.patching.patch_parts import PatchStatus
from cooperbench_eval.reporting.agent_costs import AgentUsage, UsageTotals
from cooperbench_eval.reporting.blame import BlameKind
from cooperbench_eval.reporting.identity import PairOrigin, inherited_after
from cooperbench_eval.reporting.landings import LeftOut
from cooperbench_eval.reporting.report import FailureKind, PairStatus
from cooperbench_eval.reporting.rows import Verdict, find_verdict, have_own_names
from cooperbench_eval.running.results import CaseCounts, Ended, TestStatus
from cooperbench_eval.support.arguments import checked, named_fields

if TYPE_CHECKING:
    from cooperbench_eval.support.json_records import Compact


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


class _Counted:
    """What a strategy's attempt at a pair or team counts as."""

    __slots__ = ()

    if TYPE_CHECKING:
        service_failed: bool

        @property
        def verdict(self) -> Verdict: ...
        @property
        def absolute_verdict(self) -> Verdict: ...

    @property
    def counted_verdict(self) -> Verdict:
        """The verdict as statistics count it.

        Conflicts that are left because a service failed say nothing about the strategy, so they
        count as not run.
        """
        return self._counted(self.verdict)

    @property
    def counted_absolute_verdict(self) -> Verdict:
        """The same for `absolute_verdict`."""
        return self._counted(self.absolute_verdict)

    def _counted(self, verdict: Verdict) -> Verdict:
        if self.service_failed and verdict is Verdict.UNHANDLED:
            return Verdict.NOT_RUN
        return verdict


@frozen(kw_only=True, field_transformer=inherited_after("duration_seconds"))
class AttemptFacts(UsageTotals, _Counted):
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


@frozen(kw_only=True, field_transformer=inherited_after("duration_seconds"))
class TeamAttemptFacts(UsageTotals, _Counted):
    """One strategy's attempt at a team, and its requests to models.

    The counts of model requests are those of `UsageTotals`. *cost_usd* covers only the
    requests with a known price; it is `None` if there were requests and no price is known.

    Attributes:
        strategy: The strategy's name.
        status: How the merge of all features in their order ended.
        verdict: The verdict on that merge.
        blame: Why the team fails under the strategy.
        landed: The numbers of the features that landed, in the order in which they did.
        left_out: The other features, each with the reason and the features that it concerns,
            without files, tests and problem.
        conflicts_met: Conflicts of all its three-way merges.
        duration_seconds: Time of all its merges, tests not counted.
        service_failed: Whether a service that it needs, such as a model's provider, failed.
        absolute_verdict: The verdict if only the features' tests count, and every case of them
            must pass; not run in facts of earlier versions.
        is_unanswered: Whether a suite that ran on the tree of the landed features has no
            answer, so that it is not known whether they land.
    """

    strategy: str
    status: MergeStatus = field(converter=MergeStatus)
    verdict: Verdict = field(converter=Verdict)
    blame: BlameKind = field(converter=BlameKind)
    landed: tuple[int, ...] = field(default=(), converter=tuple[int, ...])
    left_out: tuple[LeftOut, ...] = field(default=(), converter=tuple[LeftOut, ...])
    conflicts_met: int = 0
    duration_seconds: float = 0.0
    service_failed: bool = False
    absolute_verdict: Verdict = field(default=Verdict.NOT_RUN, converter=Verdict)
    is_unanswered: bool = False

    @property
    def score(self) -> float:
        """The share of the features that landed, from 0 to 1."""
        count = len(self.landed) + len(self.left_out)
        return len(self.landed) / count if count else 0.0


class _Stored(PairOrigin):
    """Facts that a store keeps as JSON."""

    __slots__ = ()

    @property
    def task(self) -> str:
        """The task's name over all repositories, such as `click/2068`."""
        return f"{self.repo_name}/{self.task_id}"

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain JSON values, without values that are at their defaults."""
        kind: type = type(self)
        return _compact(kind).dump(self)

    @classmethod
    @checked(data=None)
    def from_dict(cls, data: object) -> Self:
        """Read what `to_dict` returned; keys that this version does not know are ignored.

        Raises:
            ReportError: The values are not the facts of a pair or a team.
        """
        kind: type = cls
        found: Self = _compact(kind).load(data)
        return found


@cache
def _compact(kind: type) -> "Compact[Any]":
    from cooperbench_eval.support.json_records import Compact  # noqa: PLC0415

    return Compact(kind)


@frozen(kw_only=True, field_transformer=inherited_after("attempts", "timestamp"))
class PairFacts(_Stored):
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


@frozen(kw_only=True, field_transformer=inherited_after("attempts", "timestamp"))
class TeamFacts(_Stored):
    """The parts of a team's report that statistics need.

    The base, model, setting and try have the names that they have in a `TeamReport`.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number.
        timestamp: When the evaluation began, with its time zone.
        features: Each feature without the others, in the team's order.
        merge_status: The result of successive `git merge`s of the features in their order.
        conflict_score: The sum of the scores of these merges; `None` if a patch is missing.
        failure: Why the team could not be evaluated; `None` if it was.
        problem: Why it was not, or why a feature's tests cannot run, cut to one line; else
            empty.
        attempts: One row for each strategy, in the requested order; names are unique.
        language: The programming language of most of the files that the patches change, as
            Pygments names it; empty if it is not known.
        agent_usage: What the agents' work cost; an agent that made several features counts once.
    """

    features: tuple[FeatureFacts, ...] = field(converter=tuple[FeatureFacts, ...])
    merge_status: PairStatus = field(converter=PairStatus)
    conflict_score: int | None = None
    failure: FailureKind | None = None
    problem: str = ""
    attempts: tuple[TeamAttemptFacts, ...] = field(
        default=(), converter=tuple[TeamAttemptFacts, ...], validator=have_own_names
    )
    language: str = ""
    agent_usage: AgentUsage = field(factory=AgentUsage)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the features in the team's order."""
        return tuple(each.number for each in self.features)

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.features)


GroupFacts = PairFacts | TeamFacts
"""The facts of a pair or of a team."""
