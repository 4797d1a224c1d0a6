"""`summarize` makes one summary of many reports, and reads each of them once."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import asdict, frozen

from cooperbench_eval.analysis.comparing import Comparisons, comparison_of
from cooperbench_eval.analysis.facts import TeamFacts
from cooperbench_eval.analysis.grouping import By, group_names, make_key, sorted_keys
from cooperbench_eval.analysis.intervals import Cluster, cluster_of
from cooperbench_eval.analysis.measures import (
    CostPerCorrect,
    Distribution,
    KnownCost,
    Mean,
    added_up,
    measure_agents,
    measure_cost,
)
from cooperbench_eval.analysis.policies import (
    LEAD,
    POLICIES,
    ByTask,
    Ends,
    PairAnswers,
    Policy,
    answers_of,
    by_pair,
    find_policies,
    has_answer,
    verdicts_of,
)
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.analysis.sources import FactsSource, iterate_all_facts, iterate_facts
from cooperbench_eval.analysis.summary import Summary, TeamSummary
from cooperbench_eval.analysis.tally import AttemptTally, Tally
from cooperbench_eval.analysis.verdicts import (
    GoldSummary,
    PolicySummary,
    StrategySummary,
    TeamStrategySummary,
    Verdicts,
)
from cooperbench_eval.reporting.blame import BlameKind
from cooperbench_eval.reporting.identity import PairId, PairKey
from cooperbench_eval.reporting.landings import LeftOutReason
from cooperbench_eval.reporting.report import FailureKind, PairStatus
from cooperbench_eval.support.arguments import checked, rule_of


@checked(by=rule_of(str | Sequence[str] | Callable[..., Any] | None))
def summarize(
    reports: FactsSource,
    *,
    by: By | None = None,
    policies: str | Policy | Iterable[str | Policy] | None = None,
    gold: FactsSource | None = None,
    confidence: float = 0.95,
    cluster: Cluster | None = None,
) -> Summary:
    """Summarize many reports.

    They are read once and not kept, so an iterator over a folder is enough. Their order
    does not matter. Teams are counted by their size, separately from pairs.

    Args:
        reports: Reports or their facts, or an object with a method `facts`, such as a
            store.
        by: Also group by this: `"repo_name"`, `"task"`, `"model"`, `"setting"`,
            `"language"`, `"k"`, `"merge_status"`, `"severity"`, several of these, or
            a function of the facts of a pair or team.
        policies: The policies to judge by; a preset by its name in `POLICIES`. By default
            all presets, but those that cannot be answered (`Summary.unanswerable`) are
            neither printed nor drawn. Name the policies to see all of them.
        gold: Reports of the tasks' own patches; the same pairs are compared with them. Its
            teams are ignored.
        confidence: The confidence of all intervals, between 0 and 1.
        cluster: `"task"` if pairs of one task are not independent, or `"repo"` if those of
            one repository are not. All intervals then take this into account: see `Rate`. By
            default all pairs are independent. Rates and counts are the same in any case.

    Returns:
        The summary; without reports it has zero pairs.

    Raises:
        AnalysisError: A policy or a name to group by is unknown or given twice, or gold
            has a pair twice.
        ArgumentError: *reports* is not a collection of reports, for example a path.
    """
    names = group_names(by)
    judges = find_policies(tuple(POLICIES) if policies is None else policies)
    reached: Mapping[PairKey, PairAnswers] | None = None
    if gold is not None:
        reached = by_pair(iterate_facts(gold, "gold"), "gold", partial(answers_of, policies=judges))
    key_of = None if by is None else make_key(by)
    whole = Tally()
    tallies: defaultdict[Hashable, Tally] = defaultdict(Tally)
    for facts in iterate_all_facts(reports):
        found: tuple[Tally, ...] = (whole,)
        if key_of is not None:
            found = (whole, tallies[key_of(facts)])
        name = cluster_of(facts.task, cluster) if cluster else ""
        of_gold = None
        if isinstance(facts, TeamFacts):
            found = tuple(tally.teams[facts.size] for tally in found)
        elif reached is not None:
            of_gold = reached.get(PairId.of(facts).key)
        answers = answers_of(facts, () if isinstance(facts, TeamFacts) else judges)
        for tally in found:
            tally.add(facts, answers, of_gold, name)
    build = _Builder(
        policies=judges,
        hides=policies is None,
        has_gold=gold is not None,
        confidence=confidence,
        cluster=cluster,
    )
    groups = {key: build.summary(tallies[key]) for key in sorted_keys(tallies)}
    return build.summary(whole, by=names, groups=groups)


_PROBLEMS = 10
_FIRST_STRATEGIES = POLICIES["paper"].strategies


def _in_order(strategies: Iterable[str]) -> list[str]:
    """Sort strategies: those of the benchmark's pipeline, then the others by name."""
    ranks = {name: rank for rank, name in enumerate(_FIRST_STRATEGIES)}
    return sorted(strategies, key=lambda name: (ranks.get(name, len(ranks)), name))


@frozen(kw_only=True)
class _Builder:
    policies: tuple[Policy, ...]
    hides: bool
    has_gold: bool
    confidence: float
    cluster: Cluster | None

    def summary(
        self,
        tally: Tally,
        *,
        by: tuple[str, ...] = (),
        groups: Mapping[Hashable, Summary] | None = None,
    ) -> Summary:
        strategies = _in_order(tally.attempts)
        ends = tally.ends(strategies, self.cluster)
        columns, pairs = tally.columns(strategies), tuple(tally.answers.values())
        policies = self._policies(tally)
        unanswerable = [name for name, one in policies.items() if _is_unanswerable(one)]
        return Summary(
            pairs=tally.pairs,
            statuses=_statuses(tally),
            repeated=tally.repeated,
            failures={kind: tally.failures[kind] for kind in FailureKind if tally.failures[kind]},
            problems=dict(tally.problems.most_common(_PROBLEMS)),
            conflict_score=Distribution.of(tally.scores),
            features_alone=self._rate(tally.alone.passed, tally.alone.run),
            cases_alone=self._rate(tally.alone.passed_cases, tally.alone.cases),
            test_seconds_alone=Distribution.of(tally.alone.seconds),
            strategies={
                name: self._strategy(name, tally, ends[name], ByTask(columns[name], pairs))
                for name in strategies
            },
            policies=policies,
            unanswerable=tuple(unanswerable) if self.hides else (),
            agents=measure_agents(tally.agents),
            comparisons=Comparisons(columns, pairs, self.confidence, self.cluster),
            by=by,
            groups=groups or {},
            teams={size: self._teams(size, tally.teams[size]) for size in sorted(tally.teams)},
            confidence=self.confidence,
            cluster=self.cluster,
            clusters=_statuses_by_cluster(tally) if self.cluster else {},
        )

    def _rate(self, counts: Counter[str], totals: Counter[str]) -> Rate:
        return Rate(
            counts.total(),
            totals.total(),
            confidence=self.confidence,
            clusters=[(counts[name], totals[name]) for name in totals] if self.cluster else None,
        )

    def _strategy(self, name: str, tally: Tally, ends: Ends, tasks: ByTask) -> StrategySummary:
        rows = tally.attempts[name]
        runs = rows.tests
        return StrategySummary(
            name=name,
            blame={kind: rows.blame[kind] for kind in BlameKind if rows.blame[kind]},
            features=self._rate(runs.passed, runs.run),
            cases=self._rate(runs.passed_cases, runs.cases),
            seconds=Distribution.of(rows.seconds),
            test_seconds=Distribution.of(runs.seconds),
            **asdict(rows.usage) | {"cost_usd": math.fsum(rows.costs)},
            gold=self._gold(ends),
            cost_per_correct=self._cost(tally.costs(name), ends),
            verdicts=_verdicts(ends),
            tasks=tasks,
            confidence=self.confidence,
            cluster=self.cluster,
        )

    def _cost(self, costs: Iterable[tuple[str, bool, float]], ends: Ends) -> CostPerCorrect:
        answered = sum(counts.total() for (answer, _), counts in ends.items() if has_answer(answer))
        pairs = [(each, KnownCost(1, int(correct), usd)) for each, correct, usd in costs]
        known = [each for _, each in pairs]
        if self.cluster:
            together: dict[str, list[KnownCost]] = {}
            for cluster, each in pairs:
                together.setdefault(cluster, []).append(each)
            known = [added_up(each) for each in together.values()]
        unknown = answered - len(pairs)
        return measure_cost(known, unknown=unknown, confidence=self.confidence)

    def _policies(self, tally: Tally) -> dict[str, PolicySummary]:
        names = [each.name for each in self.policies]
        ends = tally.ends(names, self.cluster, policies=True)
        columns, pairs = tally.columns(names, policies=True), tuple(tally.answers.values())
        return {
            each.name: PolicySummary(
                name=each.name,
                gold=self._gold(ends[each.name]),
                verdicts=_verdicts(ends[each.name]),
                tasks=ByTask(columns[each.name], pairs),
                confidence=self.confidence,
                cluster=self.cluster,
                untried=_untried(each, tally),
                cost_per_correct=self._cost(tally.costs(each.name, policies=True), ends[each.name]),
            )
            for each in self.policies
        }

    def _teams(self, size: int, tally: Tally) -> TeamSummary:
        strategies = _in_order(tally.attempts)
        ends = tally.ends(strategies, self.cluster)
        columns, teams = tally.columns(strategies), tuple(tally.answers.values())
        return TeamSummary(
            size=size,
            teams=tally.pairs,
            statuses=_statuses(tally),
            failures={kind: tally.failures[kind] for kind in FailureKind if tally.failures[kind]},
            problems=dict(tally.problems.most_common(_PROBLEMS)),
            repeated=tally.repeated,
            agents=measure_agents(tally.agents),
            strategies={
                name: self._team_strategy(
                    name, tally.attempts[name], ends[name], ByTask(columns[name], teams)
                )
                for name in strategies
            },
        )

    def _team_strategy(
        self, name: str, rows: AttemptTally, ends: Ends, tasks: ByTask
    ) -> TeamStrategySummary:
        return TeamStrategySummary(
            name=name,
            landed=Mean.of(
                rows.landed,
                confidence=self.confidence,
                clusters=rows.clusters if self.cluster else None,
            ),
            left_out={each: rows.left_out[each] for each in LeftOutReason if rows.left_out[each]},
            blame={kind: rows.blame[kind] for kind in BlameKind if rows.blame[kind]},
            seconds=Distribution.of(rows.seconds),
            **asdict(rows.usage) | {"cost_usd": math.fsum(rows.costs)},
            verdicts=_verdicts(ends),
            tasks=tasks,
            confidence=self.confidence,
            cluster=self.cluster,
        )

    def _gold(self, ends: Ends) -> GoldSummary | None:
        if not self.has_gold:
            return None
        found = comparison_of(
            ends, "team", "gold", confidence=self.confidence, is_clustered=bool(self.cluster)
        )
        reached, beyond = [], []
        for both, own, gold, none in found.clusters or ():
            reached.append((both, both + gold))
            beyond.append((own, own + none))
        ceiling = found.second_rate
        rate = partial(Rate, confidence=self.confidence)
        is_clustered = found.clusters is not None
        unmatched = (n.total() for (_, gold), n in ends.items() if not has_answer(gold))
        return GoldSummary(
            ceiling=ceiling,
            reached=rate(found.both, ceiling.count, clusters=reached if is_clustered else None),
            beyond=rate(
                found.only_first,
                found.pairs - ceiling.count,
                clusters=beyond if is_clustered else None,
            ),
            unmatched=sum(unmatched),
        )


def _untried(policy: Policy, tally: Tally) -> tuple[str, ...]:
    strategies = [name for name in policy.strategies if name not in tally.attempts]
    return (*strategies, *([LEAD] if policy.lead_alone and not tally.leads else []))


def _is_unanswerable(one: PolicySummary) -> bool:
    """Whether a policy's rate would mislead: its easy pairs are answered, and others are not."""
    found = one.verdicts
    return found.unanswered > 0 and (bool(one.untried) or found.is_mostly_unanswered)


def _statuses(tally: Tally) -> dict[PairStatus, int]:
    found = {kind: tally.statuses[kind].total() for kind in PairStatus if kind in tally.statuses}
    return {kind: count for kind, count in found.items() if count}


def _statuses_by_cluster(tally: Tally) -> dict[str, dict[PairStatus, int]]:
    found: defaultdict[str, dict[PairStatus, int]] = defaultdict(dict)
    for kind, clusters in tally.statuses.items():
        for name, count in clusters.items():
            found[name][kind] = count
    return {name: found[name] for name in sorted(found)}


def _verdicts(ends: Ends) -> Verdicts:
    counts = Counter[str | None]()
    for (answer, _), found in ends.items():
        counts[answer] += found.total()
    return verdicts_of(counts)
