"""`TeamFacts`: the report of a team without its texts and test cases, for statistics over many."""

import datetime as dt
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import asdict, field, frozen

from cooperbench_eval.analysis.facts import FeatureFacts, PairFacts, feature_facts, one_line
from cooperbench_eval.analysis.languages import find_language
from cooperbench_eval.git.merging.conflicts import MergeStatus, UsageTotals, total_usage
from cooperbench_eval.reporting.agentcosts import AgentUsage
from cooperbench_eval.reporting.blame import BlameKind, cannot_run
from cooperbench_eval.reporting.failure import FailureKind
from cooperbench_eval.reporting.identity import PairOrigin, inherited_after
from cooperbench_eval.reporting.landings import LeftOut
from cooperbench_eval.reporting.report import PairStatus
from cooperbench_eval.reporting.rows import Verdict, has_time_zone, have_own_names
from cooperbench_eval.reporting.teams import TeamAttempt, TeamReport
from cooperbench_eval.support.arguments import checked

if TYPE_CHECKING:
    from cooperbench_eval.support.json_records import Compact

__all__ = ["GroupFacts", "TeamAttemptFacts", "TeamFacts", "team_facts"]


@frozen(kw_only=True, field_transformer=inherited_after("duration_seconds"))
class TeamAttemptFacts(UsageTotals):
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
        tests_cannot_run: Whether the only reason against the merge is that a feature's tests
            give no result, with or without its patch.
        absolute_verdict: The verdict if only the features' tests count, and every case of them
            must pass; not run in facts of earlier versions.
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
    tests_cannot_run: bool = False
    absolute_verdict: Verdict = field(default=Verdict.NOT_RUN, converter=Verdict)

    @property
    def score(self) -> float:
        """The share of the features that landed, from 0 to 1."""
        count = len(self.landed) + len(self.left_out)
        return len(self.landed) / count if count else 0.0

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
class TeamFacts(PairOrigin):
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

    repo_name: str
    task_id: int
    timestamp: dt.datetime = field(validator=has_time_zone)
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

    @property
    def task(self) -> str:
        """The task's name over all repositories, such as `click/2068`."""
        return f"{self.repo_name}/{self.task_id}"

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain JSON values, without values that are at their defaults."""
        return _compact().dump(self)

    @classmethod
    @checked(data=None)
    def from_dict(cls, data: object) -> "TeamFacts":
        """Read what `to_dict` returned; keys that this version does not know are ignored.

        Raises:
            ReportError: The values are not the facts of a team.
        """
        return _compact().load(data)


GroupFacts = PairFacts | TeamFacts
"""The facts of a pair or of a team."""


@cache
def _compact() -> "Compact[TeamFacts]":
    from cooperbench_eval.support.json_records import Compact  # noqa: PLC0415

    return Compact(TeamFacts)


def team_facts(report: TeamReport) -> TeamFacts:
    """Return the facts of *report*."""
    hunks = [hunk.path for each in report.features for hunk in each.patch.hunks if hunk.path]
    conflicts = [conflict.path for step in report.merges for conflict in step.conflicts]
    return TeamFacts(
        repo_name=report.repo_name,
        task_id=report.task_id,
        timestamp=report.timestamp,
        features=map(feature_facts, report.features),
        merge_status=report.merge_status,
        conflict_score=report.conflict_score,
        failure=None if report.failure is None else report.failure.kind,
        problem=one_line(report.problem),
        attempts=[_attempt(report, each) for each in report.attempts],
        base_tree_id=report.base_tree_id,
        base_commit=report.base_commit,
        model=report.model,
        setting=report.setting,
        k=report.k,
        language=find_language(hunks or conflicts),
        agent_usage=report.agent_usage,
    )


def _attempt(report: TeamReport, attempt: TeamAttempt) -> TeamAttemptFacts:
    steps = attempt.steps
    usage = total_usage([each for step in steps for each in step.usage])
    blame = report.blame(attempt.strategy).kind
    return TeamAttemptFacts(
        strategy=attempt.strategy,
        status=attempt.status,
        verdict=attempt.verdict,
        blame=blame,
        landed=attempt.landed,
        left_out=[
            LeftOut(number=each.number, reason=each.reason, features=each.features)
            for each in attempt.left_out
        ],
        conflicts_met=sum(step.conflicts_met for step in steps),
        duration_seconds=sum(step.duration_seconds for step in steps),
        **asdict(usage, recurse=False),
        service_failed=attempt.service_failed,
        tests_cannot_run=blame is BlameKind.UNKNOWN and any(map(cannot_run, report.features)),
        absolute_verdict=attempt.absolute_verdict,
    )
