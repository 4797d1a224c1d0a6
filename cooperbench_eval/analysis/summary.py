"""`Summary`: the statistics of many reports."""

from collections.abc import Hashable, Mapping
from typing import Any

from attrs import field, frozen

from cooperbench_eval.analysis.grouping import OF_A_FUNCTION, plain_json
from cooperbench_eval.analysis.intervals import Cluster, Counts
from cooperbench_eval.analysis.measures import AgentSummary, Distribution
from cooperbench_eval.analysis.rates import Comparison, Rate
from cooperbench_eval.analysis.verdicts import PolicySummary, StrategySummary, TeamStrategySummary
from cooperbench_eval.reporting.agent_costs import USAGE
from cooperbench_eval.reporting.report import FailureKind, PairStatus
from cooperbench_eval.support.plain import Plain
from cooperbench_eval.support.rendering.shown import Shown


@frozen(kw_only=True)
class TeamSummary(Shown, Plain):
    """The statistics of teams of one size.

    Attributes:
        size: The number of features of each team.
        teams: The number of reports.
        statuses: The number of reports with each status under successive `git merge`s.
        failures: The number of teams that could not be evaluated, by kind.
        problems: The ten most frequent reasons why teams could not be evaluated or their
            features' tests cannot run, with the number of teams, the most frequent first.
        repeated: How many evaluated reports are beyond the first for the same team, in the
            same order, and the same try.
        strategies: Each strategy by name, in the order of `Summary.strategies`.
        agents: What the agents' work cost.
    """

    _written = (
        *("size", "teams", "statuses", "failures", "problems", "repeated", "strategies"),
        "agents",
    )

    size: int
    teams: int
    statuses: Mapping[PairStatus, int] = field(hash=False)
    failures: Mapping[FailureKind, int] = field(hash=False)
    problems: Mapping[str, int] = field(factory=dict, hash=False)
    repeated: int = 0
    strategies: Mapping[str, TeamStrategySummary] = field(hash=False)
    agents: AgentSummary = field(factory=AgentSummary)

    @property
    def not_evaluated(self) -> int:
        """Teams that could not be evaluated."""
        return self.statuses.get(PairStatus.NOT_EVALUATED, 0)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain JSON values."""
        plain = super().to_dict()
        return plain | {"strategies": [*plain["strategies"].values()]}


@frozen(kw_only=True)
class Summary(Shown, Plain):
    """The statistics of many pairs, and of teams by their size.

    Teams count only in *teams*; everything else is about pairs.

    Attributes:
        pairs: The number of reports.
        statuses: The number of reports with each status under `git merge`.
        failures: The number of pairs that could not be evaluated, by kind.
        problems: The ten most frequent reasons why pairs could not be evaluated or their
            features' tests cannot run, with the number of pairs, the most frequent first.
        repeated: How many evaluated reports are beyond the first for the same pair and
            try: the same features, model, setting and `k`. If a store holds the reports
            of several evaluators, each pair counts more than once.
        conflict_score: The naive merge's score over all pairs that have one, clean
            ones included.
        features_alone: Features whose tests pass with only their own patch, of those
            that were run. A feature counts once for each pair that it is in.
        cases_alone: Test cases that pass in the runs of *features_alone*, of all that passed,
            failed or errored. Cases of one suite pass and fail together, so the interval, which
            assumes independent cases, is too narrow.
        test_seconds_alone: Time of each of these runs; if a result was reused from an
            earlier run, that run's time counts again.
        strategies: Each strategy by name: naive, union, llm, then alphabetically.
        policies: Each policy by name, in the order asked for.
        unanswerable: The policies that are not printed or drawn: some pairs have no answer
            because no report has what the policy needs (`PolicySummary.untried`), or more
            than half of the pairs have no answer. Empty if the caller of `summarize`
            named the policies.
        comparisons: Every two strategies, on the pairs for which both have an answer.
        by: The names that pairs are grouped by; empty for a group itself.
        groups: The summary of each group, by key, in the keys' order.
        teams: The summary of the teams of each size, in the order of the sizes.
        confidence: The confidence of the intervals.
        agents: What the agents' work cost.
        cluster: What the intervals are clustered by, if by anything.
        clusters: The `statuses` of each cluster, if the intervals are clustered.
    """

    _written = (
        *("pairs", "not_evaluated", "failures", "problems", "repeated", "clean", "conflicts"),
        *("missing_input", "conflict_score", "features_alone", "cases_alone"),
        *("test_seconds_alone", "strategies", "policies", "comparisons", "agents"),
    )

    pairs: int
    statuses: Mapping[PairStatus, int] = field(hash=False)
    failures: Mapping[FailureKind, int] = field(hash=False)
    problems: Mapping[str, int] = field(factory=dict, hash=False)
    repeated: int = 0
    conflict_score: Distribution
    features_alone: Rate
    cases_alone: Rate
    test_seconds_alone: Distribution
    strategies: Mapping[str, StrategySummary] = field(hash=False)
    policies: Mapping[str, PolicySummary] = field(hash=False)
    unanswerable: tuple[str, ...] = ()
    comparisons: Mapping[tuple[str, str], Comparison] = field(hash=False)
    by: tuple[str, ...] = ()
    groups: Mapping[Hashable, "Summary"] = field(factory=dict, hash=False)
    teams: Mapping[int, TeamSummary] = field(factory=dict, hash=False)
    confidence: float = 0.95
    agents: AgentSummary = field(factory=AgentSummary)
    cluster: Cluster | None = None
    clusters: Mapping[str, Mapping[PairStatus, int]] = field(factory=dict, hash=False, repr=False)

    @property
    def not_evaluated(self) -> int:
        """Pairs that could not be evaluated."""
        return self.statuses.get(PairStatus.NOT_EVALUATED, 0)

    @property
    def clean(self) -> Rate:
        """Pairs that git merges, of those that were evaluated."""
        return self._share(PairStatus.CLEAN)

    @property
    def conflicts(self) -> Rate:
        """Pairs that conflict, of those that were evaluated."""
        return self._share(PairStatus.CONFLICTS)

    @property
    def missing_input(self) -> Rate:
        """Pairs with a patch that is empty or does not apply, of those that were evaluated."""
        return self._share(PairStatus.MISSING_INPUT)

    def _share(self, status: PairStatus) -> Rate:
        count, total = _share(self.statuses, status)
        clusters = [_share(statuses, status) for statuses in self.clusters.values()]
        return Rate(
            count, total, confidence=self.confidence, clusters=clusters if self.cluster else None
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain JSON values, with groups and teams if there are any.

        Parts of a group's key that JSON cannot hold, such as a date, become text.
        """
        plain = super().to_dict()
        for name in ("strategies", "policies", "comparisons"):
            plain[name] = [*plain[name].values()]
        if self.teams:
            plain["teams"] = [each.to_dict() for each in self.teams.values()]
        if self.cluster:
            plain["cluster"] = self.cluster
        if self.by:
            plain["groups"] = [
                {name: plain_json(part) for name, part in self._key_fields(key).items()}
                | each.to_dict()
                for key, each in self.groups.items()
            ]
        return plain

    def to_records(self) -> list[dict[str, Any]]:
        """Return one flat row for each strategy and policy, within each group if there are any.

        The columns are the same for every row: the group's key, `kind` (`"strategy"`
        or `"policy"`), `name`, the verdict counts, the bounds of the share of all pairs
        (`at_least`, `at_most`), the rate with its interval, what gold reaches, what
        models cost, and what the agents' work cost for each correct pair; `None` if a column
        does not apply.
        """
        if not self.by:
            return [*map(_record, self.strategies.values()), *map(_record, self.policies.values())]
        return [
            self._key_fields(key) | row
            for key, group in self.groups.items()
            for row in group.to_records()
        ]

    def _key_fields(self, key: Hashable) -> dict[str, Any]:
        parts = key if isinstance(key, tuple) and self.by != OF_A_FUNCTION else (key,)
        return dict(zip(self.by, parts, strict=True))


def _share(statuses: Mapping[PairStatus, int], status: PairStatus) -> Counts:
    """Return the number of reports with a status, and of all that were evaluated."""
    not_evaluated = statuses.get(PairStatus.NOT_EVALUATED, 0)
    return statuses.get(status, 0), sum(statuses.values()) - not_evaluated


def _record(one: StrategySummary | PolicySummary) -> dict[str, Any]:
    gold = one.gold
    return {
        "kind": "strategy" if isinstance(one, StrategySummary) else "policy",
        "name": one.name,
        "pairs": one.verdicts.pairs,
        **one.verdicts.to_dict(),
        "rate": one.correct.rate,
        "low": one.correct.low,
        "high": one.correct.high,
        "gold_correct": None if gold is None else gold.ceiling.count,
        "gold_answered": None if gold is None else gold.ceiling.total,
        "gold_reached": None if gold is None else gold.reached.count,
        "gold_beyond": None if gold is None else gold.beyond.count,
        **{name: getattr(one, name, None) for name in USAGE},
        "agent_cost_per_correct": one.cost_per_correct.value,
        "agent_cost_low": one.cost_per_correct.low,
        "agent_cost_high": one.cost_per_correct.high,
    }
