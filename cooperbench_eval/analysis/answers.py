"""What each strategy and policy says about pairs and teams, one by one and counted by task."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from sys import intern
from typing import NamedTuple, Self, TypeVar

from attrs import frozen

from cooperbench_eval.analysis.clusters import Cluster, cluster_of
from cooperbench_eval.analysis.facts import (
    AttemptFacts,
    GroupFacts,
    PairFacts,
    TeamAttemptFacts,
    TeamFacts,
)
from cooperbench_eval.analysis.policies import POLICIES, Policy, PolicyVerdict
from cooperbench_eval.analysis.verdicts import Verdicts
from cooperbench_eval.errors import AnalysisError
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.reporting.identity import PairId, PairKey
from cooperbench_eval.reporting.report import PairStatus
from cooperbench_eval.reporting.rows import Verdict

_Found = TypeVar("_Found")

CORRECT = Verdict.CORRECT.value
MISSING = "missing_input"

Answer = str | None
"""A verdict's value, or `MISSING`; `None` if there is no row."""
Answers = tuple[tuple[str, str], ...]
"""Names of strategies or policies, each with its answer."""
Ends = dict[tuple[Answer, Answer], Counter[str]]
"""The number of pairs of each cluster, for each combination of two answers.

The second answer can be gold's. Without clusters, all pairs belong to one without a name.
"""


class PairAnswers(NamedTuple):
    """The answer of each strategy and each policy to a pair."""

    strategies: Answers
    policies: Answers


def has_answer(answer: Answer) -> bool:
    """Whether *answer* says something about the pair; a missing side does, too."""
    return answer is not None and answer != Verdict.NOT_RUN.value


def task_of(facts: GroupFacts | PairId) -> str:
    """Return the task's name; equal names are one object, because there are many of them."""
    return intern(f"{facts.repo_name}/{facts.task_id}")


def task_of_key(key: PairKey) -> str:
    """Return the name of the task of a pair or team."""
    return intern(f"{key[0]}/{key[1]}")


def count_end(
    ends: Ends, answers: tuple[Answer, Answer], pairs: Counter[PairKey], cluster: Cluster | None
) -> None:
    """Count *pairs* with these two *answers*."""
    found = ends.setdefault(answers, Counter())
    if cluster is None:
        found[""] += pairs.total()
        return
    for key, count in pairs.items():
        found[cluster_of(task_of_key(key), cluster)] += count


def answer_of(attempt: AttemptFacts | TeamAttemptFacts) -> str:
    """Return a strategy's answer to a pair or team."""
    return MISSING if attempt.status is MergeStatus.NOT_TRIED else attempt.counted_verdict.value


def answer_of_policy(found: PolicyVerdict) -> str:
    """Return a policy's answer to a pair."""
    return MISSING if found.is_missing_input else found.verdict.value


def was_evaluated(facts: GroupFacts) -> bool:
    """Whether there is a result; facts from elsewhere may have a failure and a merge's status."""
    if isinstance(facts, TeamFacts):
        return facts.failure is None
    return facts.merge_status is not PairStatus.NOT_EVALUATED


def answers_of(facts: GroupFacts, policies: Iterable[Policy]) -> PairAnswers:
    """Return the answer of every strategy and policy to a pair or team."""
    rows = {each.strategy: answer_of(each) for each in facts.attempts}
    if not was_evaluated(facts):
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


# --- verdicts by task --------------------------------------------------------

_MERGED = (Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNHANDLED)


def verdicts_of(counts: Counter[Answer]) -> Verdicts:
    """Return the verdicts of the number of pairs with each answer."""
    decided = {verdict.value: counts[verdict.value] for verdict in _MERGED}
    return Verdicts(
        **decided,
        not_run=counts.total() - sum(decided.values()),
        missing_input=counts[MISSING],
    )


class ByTask(Mapping[str, Verdicts]):
    """The verdicts of a strategy or policy in each task, in the order of the tasks' names.

    They are made on first access, because all strategies and policies share their numbers.
    """

    def __init__(self, answers: tuple[Answer, ...], pairs: tuple[Counter[PairKey], ...]) -> None:
        """Count the *answers*; *pairs* counts the reports of each pair that has the answer."""
        self._answers = answers
        self._pairs = pairs

    @cached_property
    def _verdicts(self) -> dict[str, Verdicts]:
        found: defaultdict[str, Counter[Answer]] = defaultdict(Counter)
        for key, answer, count in self.pairs():
            found[task_of_key(key)][answer] += count
        return {task: verdicts_of(found[task]) for task in sorted(found)}

    def pairs(self) -> Iterator[tuple[PairKey, Answer, int]]:
        """Yield each pair or team with an answer, and the number of reports that give it."""
        for answer, pairs in zip(self._answers, self._pairs, strict=True):
            for key, count in pairs.items():
                yield key, answer, count

    def __getitem__(self, task: str) -> Verdicts:
        return self._verdicts[task]

    def __iter__(self) -> Iterator[str]:
        return iter(self._verdicts)

    def __len__(self) -> int:
        return len(self._verdicts)

    def __repr__(self) -> str:
        return repr(self._verdicts)
