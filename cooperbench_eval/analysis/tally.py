"""Counts over the facts of pairs and teams, from which a summary is made.

A tally holds counts and a few numbers for each pair and strategy, so that a hundred
thousand pairs need some tens of megabytes. The order of the pairs does not matter.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import NamedTuple, Self, TypeVar

from attrs import define, field, fields, frozen

from cooperbench_eval.analysis.facts import AttemptFacts, PairFacts, RunFacts
from cooperbench_eval.analysis.policies import POLICIES, Policy, PolicyVerdict
from cooperbench_eval.analysis.team_facts import TeamAttemptFacts, TeamFacts
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.models import (
    AGENT_USAGE,
    AgentUsage,
    MergeStatus,
    PairId,
    PairKey,
    UsageTotals,
)
from cooperbench_eval.reporting.blame import BlameKind
from cooperbench_eval.reporting.failure import FailureKind
from cooperbench_eval.reporting.landings import LeftOutReason
from cooperbench_eval.reporting.report import PairStatus
from cooperbench_eval.reporting.rows import Verdict

__all__ = [
    "CORRECT",
    "MISSING",
    "Answer",
    "AttemptTally",
    "Decider",
    "Ends",
    "PairAnswers",
    "RunTally",
    "Tally",
    "TeamAttemptTally",
    "TeamTally",
    "answer_of",
    "answer_of_policy",
    "answers_of",
    "by_pair",
    "gold_answers",
    "has_answer",
]

_Found = TypeVar("_Found")
_Key = TypeVar("_Key")

CORRECT = Verdict.CORRECT.value
MISSING = "missing_input"

Answer = str | None
"""A verdict's value, or `MISSING`; `None` if there is no row."""
Answers = tuple[tuple[str, str], ...]
"""Names of strategies or policies, each with its answer."""
Ends = Counter[tuple[Answer, Answer]]
"""The number of pairs for each combination of two answers, such as a team's and gold's."""


class PairAnswers(NamedTuple):
    """The answer of each strategy and each policy to a pair."""

    strategies: Answers
    policies: Answers


def has_answer(answer: Answer) -> bool:
    """Whether *answer* says something about the pair, as a missing side does too."""
    return answer is not None and answer != Verdict.NOT_RUN.value


def answer_of(attempt: AttemptFacts | TeamAttemptFacts) -> str:
    """Return a strategy's answer to a pair or team."""
    return MISSING if attempt.status is MergeStatus.NOT_TRIED else attempt.counted_verdict.value


def answer_of_policy(found: PolicyVerdict) -> str:
    """Return a policy's answer to a pair."""
    return MISSING if found.is_missing_input else found.verdict.value


def answers_of(facts: PairFacts, policies: Iterable[Policy]) -> PairAnswers:
    """Return the answer of every strategy and policy to a pair."""
    rows = {each.strategy: answer_of(each) for each in facts.attempts}
    if facts.merge_status is PairStatus.NOT_EVALUATED:
        rows = dict.fromkeys(rows, Verdict.NOT_RUN.value)
    return PairAnswers(
        strategies=tuple(rows.items()),
        policies=tuple((each.name, answer_of_policy(each.judge(facts))) for each in policies),
    )


@frozen
class Decider:
    """Decides which pairs are right: a policy, or a strategy, for which *policy* is `None`."""

    name: str
    policy: Policy | None

    @classmethod
    def of(cls, decider: str | Policy) -> Self:
        """Take a policy, the name of one of `POLICIES`, or else the name of a strategy."""
        policy = POLICIES.get(decider) if isinstance(decider, str) else decider
        return cls(str(decider) if policy is None else policy.name, policy)

    def answer(self, facts: PairFacts) -> Answer:
        """Return the answer to a pair."""
        if self.policy is None:
            return dict(answers_of(facts, ()).strategies).get(self.name)
        return answer_of_policy(self.policy.judge(facts))

    def check(self, answers: Iterable[Answer]) -> None:
        """Refuse a name that no report knows.

        Raises:
            AnalysisError: There are *answers*, and all of them are `None`.
        """
        if {None} == set(answers):
            raise AnalysisError(
                f"no report has a row of {self.name!r}, and no policy has this name"
            )


def gold_answers(
    gold: Iterable[PairFacts], policies: Iterable[Policy]
) -> Mapping[PairKey, PairAnswers]:
    """Return the answers to the tasks' own patches, by pair.

    Raises:
        AnalysisError: *gold* has a pair twice.
    """
    return by_pair(gold, "gold", lambda facts: answers_of(facts, policies))


def by_pair(
    facts: Iterable[PairFacts], whose: str, answer: Callable[[PairFacts], _Found]
) -> dict[PairKey, _Found]:
    """Return the answer to each pair.

    Raises:
        AnalysisError: There is a pair twice.
    """
    found: dict[PairKey, _Found] = {}
    for each in facts:
        pair = PairId.of(each)
        if pair.key in found:
            raise AnalysisError(f"{whose} has {pair} twice")
        found[pair.key] = answer(each)
    return found


def _numbers() -> "array[float]":
    return array("d")


@define
class _Counts:
    """Counts that are added field by field."""

    def __iadd__(self, other: Self) -> Self:
        for each in fields(type(self)):
            total = getattr(self, each.name)
            total += getattr(other, each.name)
            setattr(self, each.name, total)
        return self


_Counted = TypeVar("_Counted", "AttemptTally", "TeamAttemptTally", "TeamTally", "array[float]")


@define
class RunTally(_Counts):
    """Test runs: how many count, how many pass, and their cases."""

    run: int = 0
    passed: int = 0
    cases: int = 0
    passed_cases: int = 0
    seconds: "array[float]" = field(factory=_numbers)

    def add(self, tests: RunFacts | None) -> None:
        """Count a run, if there was one."""
        if tests is None:
            return
        self.seconds.append(tests.duration_seconds)
        if tests.was_run:
            self.run += 1
            self.passed += tests.passed
            self.cases += tests.total_tests
            self.passed_cases += tests.passed_tests


@define
class AttemptTally(_Counts):
    """One strategy's rows without their verdicts.

    *costs* are kept one by one, because a sum that is rounded at each step would depend on
    the order of the pairs.
    """

    blame: Counter[BlameKind] = field(factory=Counter)
    tests: RunTally = field(factory=RunTally)
    seconds: "array[float]" = field(factory=_numbers)
    costs: "array[float]" = field(factory=_numbers)
    usage: UsageTotals = field(factory=UsageTotals)

    def add(self, attempt: AttemptFacts) -> None:
        """Count a row."""
        self.blame[attempt.blame] += 1
        self.tests.add(attempt.feature1_tests)
        self.tests.add(attempt.feature2_tests)
        if attempt.status is not MergeStatus.NOT_TRIED:
            self.seconds.append(attempt.duration_seconds)
        self.usage += attempt
        if attempt.cost_usd:
            self.costs.append(attempt.cost_usd)


class _Tallies(defaultdict[_Key, _Counted]):
    """A tally for each key."""

    def __iadd__(self, other: Mapping[_Key, _Counted]) -> Self:
        for key, tally in other.items():
            self[key] += tally
        return self


@define
class TeamAttemptTally(_Counts):
    """One strategy's rows for teams of one size.

    Attributes:
        ends: The number of teams with each answer; there is no gold.
        blame: The number of rows with each kind of blame.
        scores: The share of its features that landed, for each team for which it is known.
        left_out: The features of these teams that were left out, by reason.
        seconds: The time of all merges of a team.
        costs: The cost of each team.
        usage: The requests to models.
    """

    ends: Ends = field(factory=Counter)
    blame: Counter[BlameKind] = field(factory=Counter)
    scores: "array[float]" = field(factory=_numbers)
    left_out: Counter[LeftOutReason] = field(factory=Counter)
    seconds: "array[float]" = field(factory=_numbers)
    costs: "array[float]" = field(factory=_numbers)
    usage: UsageTotals = field(factory=UsageTotals)

    def add(self, attempt: TeamAttemptFacts) -> None:
        """Count a row of a team that was evaluated."""
        self.ends[answer_of(attempt), None] += 1
        self.blame[attempt.blame] += 1
        if not attempt.service_failed:
            self.scores.append(attempt.score)
            self.left_out.update(each.reason for each in attempt.left_out)
        if attempt.status is not MergeStatus.NOT_TRIED:
            self.seconds.append(attempt.duration_seconds)
        self.usage += attempt
        if attempt.cost_usd:
            self.costs.append(attempt.cost_usd)


def _add_usage(agents: Mapping[str, "array[float]"], usage: AgentUsage) -> None:
    """Add the numbers of a pair or team that are known."""
    for name in AGENT_USAGE:
        amount = getattr(usage, name)
        if amount is not None:
            agents[name].append(amount)


@define
class TeamTally(_Counts):
    """Everything that is counted over teams of one size; see `Tally`."""

    teams: int = 0
    statuses: Counter[PairStatus] = field(factory=Counter)
    failures: Counter[FailureKind] = field(factory=Counter)
    problems: Counter[str] = field(factory=Counter)
    attempts: defaultdict[str, TeamAttemptTally] = field(factory=lambda: _Tallies(TeamAttemptTally))
    tries: Counter[int] = field(factory=Counter)
    agents: defaultdict[str, "array[float]"] = field(factory=lambda: _Tallies(_numbers))

    @property
    def repeated(self) -> int:
        """How many evaluated reports are beyond the first for the same team and try."""
        return self.tries.total() - len(self.tries)

    def add(self, facts: TeamFacts) -> None:
        """Count a team."""
        self.teams += 1
        _add_usage(self.agents, facts.agent_usage)
        self.statuses[facts.merge_status] += 1
        if facts.problem:
            self.problems[facts.problem] += 1
        for attempt in facts.attempts:
            rows = self.attempts[attempt.strategy]
            if facts.failure is None:
                rows.add(attempt)
        if facts.failure is None:
            self.tries[hash(PairId.of(facts))] += 1
        else:
            self.failures[facts.failure] += 1


@define
class Tally(_Counts):
    """Everything that is counted over pairs.

    Attributes:
        answers: The number of pairs for each combination of the answers of all strategies
            and policies, the team's and gold's. Few combinations occur, and every verdict
            count and comparison follows from them.
        statuses: Pairs by merge status.
        failures: Pairs that could not be evaluated, by reason.
        problems: Pairs that were not evaluated, or with tests that cannot run, by the reason
            in words.
        alone: The runs of each feature's own tests on its own patch.
        leads: Pairs for which feature 1's patch alone was run with feature 2's tests.
        attempts: The rows of each strategy.
        scores: The naive merge's conflict score of each pair that has one.
        tries: The number of evaluated pairs with each identity, by the identity's hash.
        teams: The teams of each size.
        agents: What agents' work cost: the known amounts of each number.
        priced: The known costs of the pairs with each combination of answers.
    """

    answers: Counter[tuple[PairAnswers, PairAnswers | None]] = field(factory=Counter)
    statuses: Counter[PairStatus] = field(factory=Counter)
    failures: Counter[FailureKind] = field(factory=Counter)
    problems: Counter[str] = field(factory=Counter)
    alone: RunTally = field(factory=RunTally)
    leads: int = 0
    attempts: defaultdict[str, AttemptTally] = field(factory=lambda: _Tallies(AttemptTally))
    scores: "array[float]" = field(factory=_numbers)
    tries: Counter[int] = field(factory=Counter)
    teams: defaultdict[int, TeamTally] = field(factory=lambda: _Tallies(TeamTally))
    agents: defaultdict[str, "array[float]"] = field(factory=lambda: _Tallies(_numbers))
    priced: defaultdict[PairAnswers, "array[float]"] = field(factory=lambda: _Tallies(_numbers))

    @property
    def repeated(self) -> int:
        """How many evaluated reports are beyond the first for the same pair and try."""
        return self.tries.total() - len(self.tries)

    def add(self, facts: PairFacts, answers: PairAnswers, gold: PairAnswers | None = None) -> None:
        """Count a pair."""
        self.answers[answers, gold] += 1
        _add_usage(self.agents, facts.agent_usage)
        if facts.agent_usage.cost_usd is not None:
            self.priced[answers].append(facts.agent_usage.cost_usd)
        self.statuses[facts.merge_status] += 1
        if facts.problem:
            self.problems[facts.problem] += 1
        if facts.failure is not None:
            self.failures[facts.failure] += 1
        if facts.conflict_score is not None:
            self.scores.append(facts.conflict_score)
        if facts.merge_status is not PairStatus.NOT_EVALUATED:
            self.tries[hash(PairId.of(facts))] += 1
        self.alone.add(facts.feature1.tests)
        self.alone.add(facts.feature2.tests)
        self.leads += facts.feature1.other_tests is not None
        for attempt in facts.attempts:
            self.attempts[attempt.strategy].add(attempt)

    def ends(self, names: Iterable[str], *, policies: bool = False) -> Mapping[str, Ends]:
        """Count, for each strategy or policy, the pairs by its answer and by gold's answer."""
        found: dict[str, Ends] = {name: Counter() for name in names}
        judges = attrgetter("policies" if policies else "strategies")
        for (answers, gold), pairs in self.answers.items():
            own = dict(judges(answers))
            best = dict(judges(gold)) if gold is not None else {}
            for name, ends in found.items():
                ends[own.get(name), best.get(name)] += pairs
        return found

    def costs(self, name: str, *, policies: bool = False) -> tuple[list[float], list[float]]:
        """Return the known costs of a strategy's or policy's correct and other answered pairs."""
        judges = attrgetter("policies" if policies else "strategies")
        correct: list[float] = []
        others: list[float] = []
        for answers, costs in self.priced.items():
            answer = dict(judges(answers)).get(name)
            if has_answer(answer):
                (correct if answer == CORRECT else others).extend(costs)
        return correct, others

    def columns(self, names: Iterable[str]) -> Mapping[str, tuple[Answer, ...]]:
        """Return each strategy's answers, in the order of `answers`."""
        rows = [dict(answers.strategies) for answers, _ in self.answers]
        return {name: tuple(row.get(name) for row in rows) for name in names}
