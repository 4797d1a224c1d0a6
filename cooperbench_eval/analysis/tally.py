"""Counts over the facts of pairs and teams, from which a summary is made.

A tally holds counts and a few numbers for each pair and strategy, so that a hundred
thousand pairs need some tens of megabytes. The order of the pairs does not matter. Each answer
has its pairs, because pairs of one task are not independent and teams are ranked on the same ones.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter

from attrs import define, field

from cooperbench_eval.analysis.facts import (
    AttemptFacts,
    GroupFacts,
    PairFacts,
    RunFacts,
    TeamAttemptFacts,
)
from cooperbench_eval.analysis.intervals import Cluster
from cooperbench_eval.analysis.policies import (
    CORRECT,
    Answer,
    Ends,
    PairAnswers,
    count_end,
    has_answer,
    was_evaluated,
)
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.reporting.agent_costs import AGENT_USAGE, AgentUsage, UsageTotals
from cooperbench_eval.reporting.blame import BlameKind
from cooperbench_eval.reporting.identity import PairId, PairKey
from cooperbench_eval.reporting.landings import LeftOutReason
from cooperbench_eval.reporting.report import FailureKind, PairStatus


def _numbers() -> "array[float]":
    return array("d")


@define
class RunTally:
    """Test runs: how many count, how many pass, and their cases, each by cluster."""

    run: Counter[str] = field(factory=Counter)
    passed: Counter[str] = field(factory=Counter)
    cases: Counter[str] = field(factory=Counter)
    passed_cases: Counter[str] = field(factory=Counter)
    seconds: "array[float]" = field(factory=_numbers)

    def add(self, tests: RunFacts | None, cluster: str) -> None:
        """Count a run, if there was one."""
        if tests is None:
            return
        self.seconds.append(tests.duration_seconds)
        if tests.was_run:
            self.run[cluster] += 1
            self.passed[cluster] += tests.passed
            self.cases[cluster] += tests.total_tests
            self.passed_cases[cluster] += tests.passed_tests


@define
class AttemptTally:
    """One strategy's rows without their verdicts.

    Costs are kept one by one, because a sum that is rounded at each step would depend on the order
    of the pairs. *landed* has the share of features that landed of each team with an answer, and
    *clusters* its cluster.
    """

    blame: Counter[BlameKind] = field(factory=Counter)
    tests: RunTally = field(factory=RunTally)
    seconds: "array[float]" = field(factory=_numbers)
    costs: "array[float]" = field(factory=_numbers)
    usage: UsageTotals = field(factory=UsageTotals)
    landed: "array[float]" = field(factory=_numbers)
    clusters: list[str] = field(factory=list)
    left_out: Counter[LeftOutReason] = field(factory=Counter)

    def add(self, attempt: AttemptFacts | TeamAttemptFacts, cluster: str) -> None:
        """Count a row."""
        self.blame[attempt.blame] += 1
        if isinstance(attempt, AttemptFacts):
            self.tests.add(attempt.feature1_tests, cluster)
            self.tests.add(attempt.feature2_tests, cluster)
        elif not attempt.service_failed and not attempt.is_unanswered:
            self.landed.append(attempt.score)
            self.clusters.append(cluster)
            self.left_out.update(each.reason for each in attempt.left_out)
        if attempt.status is not MergeStatus.NOT_TRIED:
            self.seconds.append(attempt.duration_seconds)
        self.usage += attempt
        if attempt.cost_usd:
            self.costs.append(attempt.cost_usd)


@define
class Tally:
    """Everything that is counted over pairs, or over teams of one size.

    Attributes:
        answers: The pairs with each combination of the answers of all strategies and policies,
            the team's and gold's. Few combinations occur, and every verdict count and comparison
            follows from them.
        problems: Pairs that were not evaluated, or with tests that cannot run, by the reason
            in words.
        leads: Pairs for which feature 1's patch alone was run with feature 2's tests.
        tries: The number of evaluated pairs with each identity, by the identity's hash.
        teams: The tally of the teams of each size, if this one is about pairs.
        priced: The known costs of the pairs with each combination of answers, by cluster.
    """

    answers: defaultdict[tuple[PairAnswers, PairAnswers | None], Counter[PairKey]] = field(
        factory=lambda: defaultdict(Counter)
    )
    statuses: defaultdict[PairStatus, Counter[str]] = field(factory=lambda: defaultdict(Counter))
    failures: Counter[FailureKind] = field(factory=Counter)
    problems: Counter[str] = field(factory=Counter)
    alone: RunTally = field(factory=RunTally)
    leads: int = 0
    attempts: defaultdict[str, AttemptTally] = field(factory=lambda: defaultdict(AttemptTally))
    scores: "array[float]" = field(factory=_numbers)
    tries: Counter[int] = field(factory=Counter)
    teams: "defaultdict[int, Tally]" = field(factory=lambda: defaultdict(Tally))
    agents: defaultdict[str, "array[float]"] = field(factory=lambda: defaultdict(_numbers))
    priced: defaultdict[tuple[PairAnswers, str], "array[float]"] = field(
        factory=lambda: defaultdict(_numbers)
    )

    @property
    def repeated(self) -> int:
        """How many evaluated reports are beyond the first for the same pair and try."""
        return self.tries.total() - len(self.tries)

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return sum(pairs.total() for pairs in self.answers.values())

    def add(
        self,
        facts: GroupFacts,
        answers: PairAnswers,
        gold: PairAnswers | None = None,
        cluster: str = "",
    ) -> None:
        """Count a pair or team; *cluster* is empty if they are not clustered."""
        pair = PairId.of(facts)
        self.answers[answers, gold][pair.key] += 1
        self._add_usage(facts.agent_usage, answers, cluster)
        self.statuses[facts.merge_status][cluster] += 1
        if facts.problem:
            self.problems[facts.problem] += 1
        if facts.failure is not None:
            self.failures[facts.failure] += 1
        if facts.conflict_score is not None:
            self.scores.append(facts.conflict_score)
        if was_evaluated(facts):
            self.tries[hash(pair)] += 1
        if isinstance(facts, PairFacts):
            self.alone.add(facts.feature1.tests, cluster)
            self.alone.add(facts.feature2.tests, cluster)
            self.leads += facts.feature1.other_tests is not None
        for attempt in facts.attempts:
            rows = self.attempts[attempt.strategy]
            if isinstance(facts, PairFacts) or facts.failure is None:
                rows.add(attempt, cluster)

    def _add_usage(self, usage: AgentUsage, answers: PairAnswers, cluster: str) -> None:
        for name in AGENT_USAGE:
            amount = getattr(usage, name)
            if amount is not None:
                self.agents[name].append(amount)
        if usage.cost_usd is not None:
            self.priced[answers, cluster].append(usage.cost_usd)

    def ends(
        self, names: Iterable[str], cluster: Cluster | None, *, policies: bool = False
    ) -> Mapping[str, Ends]:
        """Count, for each strategy or policy, the pairs by its answer and by gold's answer."""
        found: dict[str, Ends] = {name: {} for name in names}
        judges = attrgetter("policies" if policies else "strategies")
        for (answers, gold), pairs in self.answers.items():
            own = dict(judges(answers))
            best = dict(judges(gold)) if gold is not None else {}
            for name, ends in found.items():
                count_end(ends, (own.get(name), best.get(name)), pairs, cluster)
        return found

    def costs(self, name: str, *, policies: bool = False) -> Iterator[tuple[str, bool, float]]:
        """Yield the known costs of answered pairs, with the cluster and if they are correct."""
        judges = attrgetter("policies" if policies else "strategies")
        for (answers, cluster), costs in self.priced.items():
            answer = dict(judges(answers)).get(name)
            if has_answer(answer):
                yield from ((cluster, answer == CORRECT, usd) for usd in costs)

    def columns(
        self, names: Iterable[str], *, policies: bool = False
    ) -> Mapping[str, tuple[Answer, ...]]:
        """Return each strategy's or policy's answers, in the order of `answers`."""
        judges = attrgetter("policies" if policies else "strategies")
        rows = [dict(judges(answers)) for answers, _ in self.answers]
        return {name: tuple(row.get(name) for row in rows) for name in names}
