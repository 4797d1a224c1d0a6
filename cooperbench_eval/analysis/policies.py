"""Policies: each decides which strategy's result counts as the result of the pair or team.

An evaluation reports what each strategy achieves. How to judge the pair as a whole is
another question, and versions of CooperBench have answered it differently. A policy
answers it from a finished report, so several policies can judge the same evaluation.
The answers of strategies and policies are counted pair by pair and by task.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from sys import intern
from types import MappingProxyType
from typing import NamedTuple, Self, TypeVar

from attrs import field, frozen, validators

from cooperbench_eval.analysis.facts import (
    AttemptFacts,
    FeatureFacts,
    GroupFacts,
    PairFacts,
    TeamAttemptFacts,
    TeamFacts,
)
from cooperbench_eval.analysis.intervals import Cluster, cluster_of
from cooperbench_eval.analysis.sources import facts_of
from cooperbench_eval.analysis.verdicts import Verdicts
from cooperbench_eval.errors import AnalysisError, ArgumentError
from cooperbench_eval.git.merging.conflicts import MergeStatus
from cooperbench_eval.git.patching.patch_parts import PatchStatus
from cooperbench_eval.reporting.identity import PairId, PairKey
from cooperbench_eval.reporting.report import PairStatus
from cooperbench_eval.reporting.rows import Verdict, find_verdict
from cooperbench_eval.reporting.teams import GroupReport
from cooperbench_eval.support.arguments import checked, checked_fields, named_fields

LEAD = "lead"
_NAIVE = "naive"
_COOPERBENCH = "cooperbench-0.0.29"


class PolicyRule(StrEnum):
    """Which of several strategies decides."""

    ANY_PASSES = "any_passes"
    """The first strategy that passes both features' tests."""
    FIRST_MERGES = "first_merges"
    """The first strategy that leaves no conflict, even if tests then fail."""


@frozen(kw_only=True, field_transformer=named_fields)
class PolicyVerdict:
    """What a pair or team achieved under a policy.

    Attributes:
        verdict: The verdict. It is `NOT_RUN` if the report lacks a row or a run
            that the policy needs.
        by: The strategy that decided; `"lead"` if only feature 1's patch was judged,
            `"alone"` if the other patch was empty, and otherwise empty.
        is_missing_input: Whether the verdict is `NOT_RUN` because a side's patch is empty
            or does not apply. That counts as an answer, and not as a pass.
    """

    verdict: Verdict = field(converter=Verdict)
    by: str = ""
    is_missing_input: bool = False


_UNDECIDED = PolicyVerdict(verdict=Verdict.NOT_RUN)
_UNHANDLED = PolicyVerdict(verdict=Verdict.UNHANDLED)
_MISSING = PolicyVerdict(verdict=Verdict.NOT_RUN, is_missing_input=True)


def _as_names(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


_is_name = validators.and_(validators.instance_of(str), validators.min_len(1))


@frozen(kw_only=True, field_transformer=checked_fields)
class Policy:
    """Decides which strategy's result counts as the result of the pair or team.

    Under `ANY_PASSES`, a strategy that meets no conflict also decides, because the next
    one has nothing to resolve. If a missing row or run could change the answer, the pair
    has no answer; that is not an error. Whether naive leaves a conflict is known
    without its row, from the pair's merge status. Pairs without an answer are mostly
    harder than the others, so a rate misleads if many of them are left out; see
    `Verdicts.at_least` and `at_most`.

    Attributes:
        name: The policy's name in summaries.
        strategies: The strategies that count, in order, or a single name. It may be
            empty only with *lead_alone*, which then judges every pair.
        rule: Which of the strategies decides.
        lead_alone: Whether feature 1's patch, without the other, is judged by both
            features' tests if all strategies leave conflicts or a side does not
            apply. The verdict then depends on the features' order. A team has no answer
            then, because its report lacks such runs.
        skips_empty: Whether an empty patch is ignored, so that only the other one is
            judged. Otherwise an empty patch is a missing side. A team with an empty patch
            has no answer then.
        is_absolute: Whether every case of the features' tests must pass, whichever rule the
            reports were judged by. Joint and regression tests then do not count.

    Example:
        >>> by_tokens = Policy(name="by tokens", strategies=["tokens", "union"])
        >>> by_tokens.rule.value, POLICIES["paper"].strategies
        ('any_passes', ('naive', 'union', 'llm'))
    """

    name: str = field(validator=_is_name)
    strategies: tuple[str, ...] = field(
        converter=_as_names, validator=validators.deep_iterable(_is_name)
    )
    rule: PolicyRule = field(default=PolicyRule.ANY_PASSES, converter=PolicyRule)
    lead_alone: bool = False
    skips_empty: bool = False
    is_absolute: bool = False

    def __attrs_post_init__(self) -> None:
        if not self.strategies and not self.lead_alone:
            raise ArgumentError("strategies", "is empty, which needs lead_alone=True")

    @checked
    def judge(self, pair: GroupFacts | GroupReport) -> PolicyVerdict:
        """Judge a pair or team, from its report or its facts, by this policy."""
        facts = pair if isinstance(pair, PairFacts | TeamFacts) else facts_of(pair)
        if facts.merge_status is PairStatus.NOT_EVALUATED:
            return _UNDECIDED
        if facts.merge_status is PairStatus.MISSING_INPUT:
            return self._without_a_side(facts)
        judged = self._by_strategies(facts)
        if judged is _UNHANDLED and self.lead_alone:
            return _UNDECIDED if isinstance(facts, TeamFacts) else self._alone(facts.feature1, LEAD)
        return judged

    def _by_strategies(self, facts: GroupFacts) -> PolicyVerdict:
        rows: dict[str, AttemptFacts | TeamAttemptFacts] = {
            each.strategy: each for each in facts.attempts
        }
        failed, is_open = "", False
        for name in self.strategies:
            row = rows.get(name)
            if row is None:
                verdict = _unseen(name, facts)
            elif self.is_absolute:
                verdict = row.counted_absolute_verdict
            else:
                verdict = row.counted_verdict
            if verdict is Verdict.CORRECT:
                return PolicyVerdict(verdict=verdict, by=name)
            if verdict is Verdict.UNHANDLED:
                continue
            if verdict is Verdict.INCORRECT:
                failed = failed or name
            else:
                is_open = True
            if self.rule is PolicyRule.FIRST_MERGES or (row and row.status is MergeStatus.CLEAN):
                break
        if is_open:
            return _UNDECIDED
        return PolicyVerdict(verdict=Verdict.INCORRECT, by=failed) if failed else _UNHANDLED

    def _without_a_side(self, facts: GroupFacts) -> PolicyVerdict:
        if isinstance(facts, TeamFacts):
            return _UNDECIDED if self.skips_empty or self.lead_alone else _MISSING
        feature1, feature2 = facts.feature1, facts.feature2
        if self.skips_empty:
            for empty, other in ((feature1, feature2), (feature2, feature1)):
                if empty.patch_status is PatchStatus.EMPTY and other.patch_status.is_usable:
                    return self._alone(other, "alone")
        if self.lead_alone and feature1.patch_status.is_usable:
            return self._alone(feature1, LEAD)
        return _MISSING

    def _alone(self, feature: FeatureFacts, by: str) -> PolicyVerdict:
        """Judge one patch as if it were the merge."""
        own, other = feature.tests, feature.other_tests
        passes = [run.passed if run and run.was_run else None for run in (own, other)]
        if own is not None and not self.is_absolute:
            passes[0] = own.outcome
        verdict = find_verdict(MergeStatus.CLEAN, *passes)
        return _UNDECIDED if verdict is Verdict.NOT_RUN else PolicyVerdict(verdict=verdict, by=by)


def _unseen(strategy: str, facts: GroupFacts) -> Verdict:
    """Return the verdict on a strategy without a row: not run, unless naive met conflicts."""
    if strategy == _NAIVE and facts.merge_status is PairStatus.CONFLICTS:
        return Verdict.UNHANDLED
    return Verdict.NOT_RUN


_PRESETS = (
    # The pipeline of the paper (arXiv 2601.13295): union only on a conflict, the
    # model only where union's result does not pass.
    Policy(name="paper", strategies=("naive", "union", "llm"), is_absolute=True),
    # The published package 0.0.29: no fallback but the lead, which is feature 1's
    # agent in any setting; an empty patch is not a missing side.
    Policy(
        name=_COOPERBENCH,
        strategies=("naive",),
        rule=PolicyRule.FIRST_MERGES,
        lead_alone=True,
        skips_empty=True,
        is_absolute=True,
    ),
    # Only what git merges, if both features pass.
    Policy(name="strict", strategies=("naive",), rule=PolicyRule.FIRST_MERGES),
)


POLICIES: Mapping[str, Policy] = MappingProxyType({each.name: each for each in _PRESETS})


def find_policies(policies: str | Policy | Iterable[str | Policy]) -> tuple[Policy, ...]:
    """Return one or several policies; a name is that of a policy in `POLICIES`."""
    if isinstance(policies, str | Policy):
        policies = (policies,)
    found = tuple(each if isinstance(each, Policy) else _preset(each) for each in policies)
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise AnalysisError(f"two policies are called {name!r}")
    return found


def _preset(name: str) -> Policy:
    policy = POLICIES.get(name)
    if policy is None:
        raise AnalysisError(f"no policy is called {name!r}", tuple(POLICIES))
    return policy


# --- answers of strategies and policies ---


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


def task_of_key(key: PairKey) -> str:
    """Return the task's name; equal names are one object, because there are many of them."""
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
        """Refuse a name that no report knows: all *answers* are `None`."""
        if {None} == set(answers):
            raise AnalysisError(
                f"no report has a row of {self.name!r}, and no policy has this name"
            )


def by_pair(
    facts: Iterable[PairFacts], whose: str, answer: Callable[[PairFacts], _Found]
) -> dict[PairKey, _Found]:
    """Return the answer to each pair; refuse one that occurs twice."""
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
