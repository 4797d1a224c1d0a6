"""The statistics of pairs or teams under one strategy or one policy.

Every share is a `Rate` with its counts, and its denominator is defined in one place,
`Verdicts.answered`. The pairs that it leaves out can matter more than its interval;
`Verdicts.at_least` and `Verdicts.at_most` show how much.
"""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from cooperbench_eval.analysis.intervals import Cluster, Counts, cluster_of
from cooperbench_eval.analysis.measures import CostPerCorrect, Distribution, Mean
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.reporting.agent_costs import USAGE, UsageTotals
from cooperbench_eval.reporting.blame import BlameKind
from cooperbench_eval.reporting.identity import inherited_after
from cooperbench_eval.reporting.landings import LeftOutReason
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.plain import Plain
from cooperbench_eval.support.rendering.shown import Shown


@frozen(kw_only=True)
class Verdicts(Plain):
    """The number of pairs with each verdict under a strategy or a policy.

    In the summary of teams, it is the number of teams, and the same rules hold.

    Attributes:
        correct: Merged, and both features' tests pass.
        incorrect: Merged, and the tests of a feature do not pass.
        unhandled: Conflicts are left, or the strategy failed.
        not_run: No verdict: the strategy was not asked for, tests were not run, a
            sandbox or a model's provider failed, the pair could not be evaluated, or a
            side is missing.
        missing_input: The part of `not_run` in which a side is missing: its patch is
            empty or does not apply.
    """

    _written = (
        *("correct", "incorrect", "unhandled", "not_run", "missing_input"),
        *("answered", "unanswered", "at_least", "at_most"),
    )

    correct: int = 0
    incorrect: int = 0
    unhandled: int = 0
    not_run: int = 0
    missing_input: int = 0

    @property
    def pairs(self) -> int:
        """All pairs."""
        return self.correct + self.incorrect + self.unhandled + self.not_run

    @property
    def answered(self) -> int:
        """The pairs that have an answer: the denominator of every share of correct pairs.

        These are the correct, incorrect and unhandled pairs and those with a missing
        side, because an agent that hands in nothing usable has failed. Pairs that were
        not run or failed in the infrastructure say nothing about the agents; those are
        `unanswered`.
        """
        return self.correct + self.incorrect + self.unhandled + self.missing_input

    @property
    def unanswered(self) -> int:
        """The pairs without an answer: the part of `not_run` in which no side is missing."""
        return self.not_run - self.missing_input

    @property
    def is_mostly_unanswered(self) -> bool:
        """Whether more than half of the pairs have no answer, so that a rate says little."""
        return 2 * self.unanswered > self.pairs

    @property
    def is_untested(self) -> bool:
        """Whether pairs are unanswered and no merge was tested.

        Then every answer is a failure, because conflicts are known without tests and
        passes are not. In that case a rate of zero carries no information.
        """
        return not self.correct + self.incorrect and self.unanswered > 0

    @property
    def at_least(self) -> float | None:
        """The share of correct pairs if no unanswered one is correct; `None` without pairs."""
        return self.correct / self.pairs if self.pairs else None

    @property
    def at_most(self) -> float | None:
        """The share of correct pairs if all unanswered ones are correct; `None` without pairs.

        The two bounds need no assumption about why answers are missing. A rate of the
        answered pairs assumes that answers are missing by chance, which is seldom true: a
        policy lacks the strategies that only hard pairs need, and without tests only
        failures can be answered. The bounds do not cover sampling error.
        """
        return (self.correct + self.unanswered) / self.pairs if self.pairs else None

    @checked
    def effort_reduction(self, k: float) -> float | None:
        """Return the share of the work of merging by hand that is saved.

        A merge by hand costs 1, so a conflict that is left costs 1. An incorrect merge
        has to be found and undone, which costs *k*. The share is
        `1 - (unhandled + k * incorrect) / (correct + incorrect + unhandled)`, after
        Schesch et al. (Evaluation of Version Control Merge Tools, ASE 2024,
        10.1145/3691620.3695075). It is negative if merging by hand is cheaper.
        Pairs with a missing side have nothing to merge and are left out.

        Args:
            k: The cost of an incorrect merge, at least 0.

        Returns:
            At most 1.0; `None` if nothing was merged and tested.
        """
        merges = self.correct + self.incorrect + self.unhandled
        return 1 - (self.unhandled + k * self.incorrect) / merges if merges else None


@frozen(kw_only=True)
class GoldSummary(Plain):
    """What gold, the tasks' own patches, achieves on the same pairs.

    Gold is a yardstick and not an upper limit: the tasks' patches were written
    independently of each other, while agents may coordinate, so a team can pass pairs
    that gold does not (`beyond`).

    Attributes:
        ceiling: Of the pairs with an answer from both, the share that gold gets right.
        reached: Of the pairs that gold gets right, the share that the team gets right.
        beyond: Of the pairs that gold gets wrong, the share that the team gets right.
        unmatched: The team's pairs for which gold has no answer.
    """

    _written = ("ceiling", "reached", "beyond", "unmatched")

    ceiling: Rate
    reached: Rate
    beyond: Rate
    unmatched: int = 0


class JudgedSummary(Shown, Plain):
    """The base of the summaries of a policy and a strategy."""

    __slots__ = ()

    name: str
    verdicts: Verdicts
    confidence: float
    tasks: Mapping[str, Verdicts]
    cluster: Cluster | None

    @property
    def correct(self) -> Rate:
        """The share of correct pairs among those with an answer (`Verdicts.answered`).

        It says little if many pairs have no answer, and nothing if `Verdicts.is_untested`.
        """
        count, total = self.verdicts.correct, self.verdicts.answered
        if self.cluster is None:
            return Rate(count, total, confidence=self.confidence)
        counts: dict[str, Counts] = {}
        for task, verdicts in self.tasks.items():
            name = cluster_of(task, self.cluster)
            correct, answered = counts.get(name, (0, 0))
            counts[name] = correct + verdicts.correct, answered + verdicts.answered
        return Rate(count, total, confidence=self.confidence, clusters=counts.values())

    @checked
    def effort_reduction(self, k: float) -> float | None:
        """Return the share of the work that is saved; see `Verdicts.effort_reduction`."""
        return self.verdicts.effort_reduction(k)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain JSON values."""
        plain = {name: each for name, each in super().to_dict().items() if name != "gold" or each}
        head = {"name": self.name, **self.verdicts.to_dict(), "rate": self.correct.to_dict()}
        return head | plain


@frozen(kw_only=True)
class PolicySummary(JudgedSummary):
    """The statistics of pairs under a policy.

    Attributes:
        name: The policy.
        verdicts: The number of pairs with each verdict.
        gold: What the tasks' own patches achieve; `None` if no gold was given.
        confidence: The confidence of the intervals.
        tasks: The number of pairs with each verdict, by task, in the order of the names.
        cluster: What the intervals are clustered by, if by anything.
        untried: What the policy needs and no report has, so that pairs which need it have no
            answer: strategies, and `"lead"` for feature 1's patch judged alone.
        cost_per_correct: What the agents' work cost for each correct pair.
    """

    _written = ("cost_per_correct", "gold")

    name: str
    verdicts: Verdicts
    gold: GoldSummary | None = None
    confidence: float = 0.95
    tasks: Mapping[str, Verdicts] = field(factory=dict, hash=False, repr=False)
    cluster: Cluster | None = None
    untried: tuple[str, ...] = ()
    cost_per_correct: CostPerCorrect = field(factory=CostPerCorrect)


@frozen(kw_only=True, field_transformer=inherited_after("test_seconds"))
class StrategySummary(UsageTotals, JudgedSummary):
    """The statistics of pairs under a strategy, and what the strategy costs.

    Features and cases are counted once for each pair they are run in, so those of a
    task with many pairs weigh more. Their intervals are too narrow, because the cases of
    one suite pass and fail together. If a result was reused from an earlier run, that
    run's seconds count again.

    The counts of model requests are those of `UsageTotals`. *cost_usd* covers only the
    requests with a known price; it is `None` if there were requests and no price is known.

    Attributes:
        name: The strategy.
        verdicts: The number of pairs with each verdict.
        blame: The number of the strategy's rows with each kind of blame.
        features: Features whose tests pass in the merged tree, of those that were run.
        cases: Test cases that pass in the merged tree, of all that passed, failed or
            errored.
        seconds: Time the strategy took for a pair, tests not counted.
        test_seconds: Time of each test run on a merged tree.
        gold: What the tasks' own patches achieve; `None` if no gold was given.
        confidence: The confidence of the intervals.
        cost_per_correct: What the agents' work cost for each correct pair, without the
            requests of the strategy itself.
        tasks: The number of pairs with each verdict, by task, in the order of the names.
        cluster: What the intervals are clustered by, if by anything.
    """

    _written = (
        *("cost_per_correct", "gold", "blame", "features", "cases", "seconds", "test_seconds"),
        *USAGE,
    )

    name: str
    verdicts: Verdicts
    blame: Mapping[BlameKind, int] = field(hash=False)
    features: Rate
    cases: Rate
    seconds: Distribution
    test_seconds: Distribution
    cost_usd: float = 0.0
    gold: GoldSummary | None = None
    confidence: float = 0.95
    cost_per_correct: CostPerCorrect = field(factory=CostPerCorrect)
    tasks: Mapping[str, Verdicts] = field(factory=dict, hash=False, repr=False)
    cluster: Cluster | None = None


@frozen(kw_only=True, field_transformer=inherited_after("seconds"))
class TeamStrategySummary(UsageTotals, JudgedSummary):
    """The statistics of the teams of one size under a strategy.

    The counts of model requests are those of `UsageTotals`. *cost_usd* covers only the
    requests with a known price; it is `None` if there were requests and no price is known.

    Attributes:
        name: The strategy.
        verdicts: The number of teams with each verdict. A team is correct only if all its
            features landed and every suite passes.
        landed: The share of a team's features that landed, `TeamAttempt.score`, over all teams
            that were evaluated, in which no service failed and whose suites have an answer.
            Without a runner, only the merges decide what lands.
        left_out: How many features were left out for each reason, in these teams.
        blame: The number of the strategy's rows with each kind of blame.
        seconds: Time of all merges of a team with usable patches, tests not counted.
        confidence: The confidence of the intervals.
        tasks: The number of teams with each verdict, by task, in the order of the names.
        cluster: What the intervals are clustered by, if by anything.
    """

    _written = ("landed", "left_out", "blame", "seconds", *USAGE)

    name: str
    verdicts: Verdicts
    landed: Mean
    left_out: Mapping[LeftOutReason, int] = field(hash=False)
    blame: Mapping[BlameKind, int] = field(hash=False)
    seconds: Distribution
    cost_usd: float = 0.0
    confidence: float = 0.95
    tasks: Mapping[str, Verdicts] = field(factory=dict, hash=False, repr=False)
    cluster: Cluster | None = None
