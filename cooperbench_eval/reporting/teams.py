"""The record `TeamReport`: which features of a team land, and why the others do not."""

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, field, frozen

from cooperbench_eval.git.merging.conflicts import Conflict, MergeStatus
from cooperbench_eval.languages.hazards.kinds import Hazard
from cooperbench_eval.reporting.agent_costs import AgentRun
from cooperbench_eval.reporting.blame import BlameKind, failing_cases, find_cause, lost_tests
from cooperbench_eval.reporting.identity import inherited_after
from cooperbench_eval.reporting.landings import BrokenTests, LeftOut, SuiteRun, TeamSuite
from cooperbench_eval.reporting.report import (
    MergeReport,
    PairStatus,
    Report,
    row_of,
)
from cooperbench_eval.reporting.rows import (
    FeatureReport,
    Judged,
    MergeRow,
    Tried,
    have_own_names,
)
from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.rendering.shown import Shown


@frozen(kw_only=True, field_transformer=inherited_after("into"))
class TeamStep(MergeRow, Shown):
    """One merge: a feature into those that were merged before.

    Attributes:
        feature: The number of the feature that is merged.
        into: The numbers of the features into which it is merged, in their order.
        status: How the merge ended.
        conflicts_met: The number of conflicts of the three-way merge.
        conflict_details: Measures of the conflicts that the strategy left open.
        tree_id: The git tree id of the merged tree; `None` if it failed.
        diff: The merged tree as a git diff against the base, open conflicts as markers; `None`
            if it failed.
        failure: Why it failed; empty otherwise.
        duration_seconds: The time that the strategy took.
        ledger: What happened to each conflict or block of conflicts, if the strategy records it.
        usage: The use of language models, one record for each model.
        service_failed: Whether a service that the strategy needs failed.
        replacements: What replaced the conflicts of the three-way merge in the merged tree.
        conflicts: The conflicts that the strategy left open.
    """

    feature: int
    into: tuple[int, ...] = field(converter=tuple[int, ...])
    conflicts: tuple[Conflict, ...] = field(default=(), converter=tuple[Conflict, ...], repr=False)

    @property
    def is_complete(self) -> bool:
        """Whether no conflict is left open."""
        return self.status in {MergeStatus.CLEAN, MergeStatus.RESOLVED}


@frozen(kw_only=True, field_transformer=named_fields)
class TeamAttempt(Tried):
    """One strategy's try at a team.

    Attributes:
        strategy: The strategy's name.
        implementation: Where its class is defined, as `module:name`.
        status: How the merge of all features in their order ended: clean, resolved,
            conflicts, failed, or not tried because a patch is missing.
        landed: The numbers of the features that landed, in the order in which they did.
        left_out: The other features in their order, each with the reason.
        steps: Every merge, once. First come the merges of all features without regard to
            their tests; if tests fail there, those of the queue follow.
        tree_id: The git tree id of the tree of the landed features.
        diff: That tree as a git diff against the base.
        tests: The runs on the tree of all features, from which the verdict follows; empty if
            there is no such tree or no runner.
        landed_tests: The runs on the tree of the landed features, if that is another tree.
        hazards: What looks wrong in the tree of all features that merge. They do not affect the
            verdict.
    """

    strategy: str
    implementation: str
    status: MergeStatus = field(converter=MergeStatus)
    landed: tuple[int, ...] = field(default=(), converter=tuple[int, ...])
    left_out: tuple[LeftOut, ...] = field(default=(), converter=tuple[LeftOut, ...])
    steps: tuple[TeamStep, ...] = field(default=(), converter=tuple[TeamStep, ...], repr=False)
    tree_id: str | None = None
    diff: bytes | None = field(default=None, repr=False)
    tests: tuple[SuiteRun, ...] = field(default=(), converter=tuple[SuiteRun, ...], repr=False)
    landed_tests: tuple[SuiteRun, ...] = field(
        default=(), converter=tuple[SuiteRun, ...], repr=False
    )
    hazards: tuple[Hazard, ...] = field(default=(), converter=tuple[Hazard, ...], repr=False)

    @property
    def score(self) -> float:
        """The share of the features that landed, from 0 to 1."""
        count = len(self.landed) + len(self.left_out)
        return len(self.landed) / count if count else 0.0

    @property
    def service_failed(self) -> bool:
        """Whether a service that the strategy needs failed, so that a retry may end otherwise."""
        return any(step.service_failed for step in self.steps)

    @property
    def own_runs(self) -> tuple[Judged, ...]:
        """The runs of the features' tests on the tree of all features, each judged."""
        own = (each for each in self.tests if each.suite is TeamSuite.FEATURE)
        return tuple(Judged(each.tests, each.judgement) for each in own)

    @property
    def joint_run(self) -> Judged:
        """The run of the joint tests on the tree of all features, and its judgement."""
        return self.run_of(TeamSuite.JOINT)

    @property
    def regression_run(self) -> Judged:
        """The run of the repository's own tests on that tree, and its judgement."""
        return self.run_of(TeamSuite.REGRESSION)

    @checked
    def run_of(self, suite: TeamSuite, feature: int | None = None) -> Judged:
        """Return a suite's run on the tree of all features, and its judgement."""
        for each in self.tests:
            if (each.suite, each.feature) == (suite, feature):
                return Judged(each.tests, each.judgement)
        return Judged()

    @property
    def _deciding(self) -> Sequence[Judged]:
        return [Judged(each.tests, each.judgement) for each in self.tests]


@frozen(kw_only=True, field_transformer=named_fields)
class TeamBlame(Shown):
    """Why a strategy's attempt at a team ended as it did.

    Attributes:
        kind: The reason.
        features: The numbers of the features that it concerns: those whose patch is
            missing, which fail or regress without the others, or which the merge broke.
        lost: For each suite that the merged tree fails: the tests that it lost. Those of a
            feature are the ones that pass without the other features.
    """

    kind: BlameKind = field(converter=BlameKind)
    features: tuple[int, ...] = field(default=(), converter=tuple[int, ...])
    lost: tuple[BrokenTests, ...] = field(default=(), converter=tuple[BrokenTests, ...])


def _are_of_a_team(_: object, __: object, features: Sequence[FeatureReport]) -> None:
    numbers = [each.number for each in features]
    if len(numbers) < _PAIR:
        raise ValueError(f"a team has two or more features, not {len(numbers)}")
    if len(set(numbers)) < len(numbers):
        raise ValueError("several features have the same number")


def _name_each_feature(report: "TeamReport", _: object, attempts: Sequence[TeamAttempt]) -> None:
    for each in attempts:
        named = sorted((*each.landed, *(left.number for left in each.left_out)))
        is_unknown = report.failure is not None and not named
        if not is_unknown and named != sorted(report.numbers):
            raise ValueError(
                f"the row of strategy {each.strategy!r:.80} does not name each feature of the team "
                "once, as landed or as left out"
            )


@frozen(kw_only=True, field_transformer=inherited_after("attempts", "timestamp"))
class TeamReport(Report):
    """Everything that is known about a team: its features merged in their order.

    Attributes:
        repo_name: The repository's name in the benchmark.
        task_id: The task's number.
        timestamp: When the evaluation began, with a time zone.
        features: The results of each feature without the others, in the team's order.
        merges: The naive merges of the features in their order. A feature that conflicts is
            left out of the next ones.
        attempts: One row for each strategy, in the requested order, with distinct names.
        base_tree_id: The git tree id of the base.
        base_commit: The id of the base's commit, if the base is a commit.
        model: The model that wrote the patches, if it is named.
        setting: The benchmark's setting, if named.
        k: Which of the model's tries this is, counted from 1.
        versions: The versions of the programs that were used.
        failure: Why the team could not be evaluated; `None` if it was. If it is given, the
            rest of the report was known before the evaluation.
        judge: The rule by which test runs were judged.
        options: The options that were used, defaults included; `None` if they are not known.
        base_joint_tests: The run of the joint tests on the base; `None` if they were not run.
        base_regression_tests: The run of the repository's own tests on the base; `None` if
            they were not run.
    """

    _kind = "team"

    features: tuple[FeatureReport, ...] = field(
        converter=tuple[FeatureReport, ...], validator=_are_of_a_team
    )
    merges: tuple[TeamStep, ...] = field(default=(), converter=tuple[TeamStep, ...], repr=False)
    attempts: tuple[TeamAttempt, ...] = field(
        default=(),
        converter=tuple[TeamAttempt, ...],
        validator=[have_own_names, _name_each_feature],
    )

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the features in the team's order."""
        return tuple(each.number for each in self.features)

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.features)

    @property
    def merge_status(self) -> PairStatus:
        """The result of successive `git merge`s of the features in their order."""
        if self.failure is not None:
            return PairStatus.NOT_EVALUATED
        if not all(each.patch.is_usable for each in self.features):
            return PairStatus.MISSING_INPUT
        is_clean = all(step.is_complete for step in self.merges)
        return PairStatus.CLEAN if is_clean else PairStatus.CONFLICTS

    @property
    def conflict_score(self) -> int | None:
        """The sum of the naive merges' scores; `None` if a patch is missing."""
        if self.merge_status not in {PairStatus.CLEAN, PairStatus.CONFLICTS}:
            return None
        details = (step.conflict_details for step in self.merges)
        return sum(each.conflict_score for each in details if each is not None)

    @property
    def _tested(self) -> Iterator[SuiteRun]:
        return (run for each in self.attempts for run in (*each.tests, *each.landed_tests))

    @checked
    def attempt(self, strategy: str) -> TeamAttempt:
        """Return the row of *strategy*.

        Raises:
            UnknownAttemptError: The report has no such row; the error is a `KeyError` too.
        """
        return row_of(strategy, self.attempts)

    @checked
    def blame(self, strategy: str) -> TeamBlame:
        """Return why the team fails under *strategy*, and which tests the merge lost.

        Raises:
            UnknownAttemptError: The report has no row for the strategy.
        """
        attempt = self.attempt(strategy)
        if self.failure is not None:
            return TeamBlame(kind=BlameKind.UNKNOWN)
        # A pair's feature 1 is merged into feature 2, so it comes second.
        features = self.features[::-1] if self.size == _PAIR else self.features
        own = [attempt.run_of(TeamSuite.FEATURE, each.number) for each in features]
        kind, numbers, lost_regression = find_cause(
            features, attempt, own, self.base_regression_tests
        )
        lost = [
            BrokenTests(
                suite=TeamSuite.FEATURE, feature=each.number, tests=lost_tests(each.tests, *run)
            )
            for each, run in zip(features, own, strict=True)
        ]
        lost += [
            BrokenTests(suite=TeamSuite.JOINT, tests=failing_cases(*attempt.joint_run)),
            BrokenTests(suite=TeamSuite.REGRESSION, tests=lost_regression),
        ]
        return TeamBlame(kind=kind, features=numbers, lost=[each for each in lost if each.tests])


GroupReport = MergeReport | TeamReport
"""The result of an evaluation: the report of a pair or of a team."""
_PAIR = 2


def with_agents(report: GroupReport, agents: Mapping[int, AgentRun | None]) -> GroupReport:
    """Return *report* with the known runs of *agents*, by the numbers of their features."""
    features = [
        evolve(each, agent=agents.get(each.number) or each.agent) for each in report.features
    ]
    if isinstance(report, TeamReport):
        return evolve(report, features=features)
    return evolve(report, feature1=features[0], feature2=features[1])
