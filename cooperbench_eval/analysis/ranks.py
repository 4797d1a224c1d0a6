"""The record `Ranking`: teams in the order of their rates, and how certain that order is."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import field, frozen

from cooperbench_eval.analysis.levels import Kind
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.support.arguments import named_fields
from cooperbench_eval.support.plain import Plain
from cooperbench_eval.support.rendering.shown import Shown

RANKING_COLUMNS: Final[Mapping[str, Kind]] = {
    "team": str,
    "rank": int,
    "best_rank": int,
    "worst_rank": int,
    "groups": str,
    "correct": int,
    "answered": int,
    "unanswered": int,
    "rate": float,
    "low": float,
    "high": float,
}
"""The columns of a ranking's table, and their types."""


@frozen(kw_only=True, field_transformer=named_fields)
class RankedTeam(Plain):
    """A team's place in a ranking.

    Attributes:
        name: The team's name.
        correct: The share of correct pairs among those with an answer, in the ranking's tasks.
            Its interval is clustered by task, and is only about this team. To compare teams, use
            the groups: they take into account that all teams have the same tasks.
        unanswered: The pairs of these tasks that have no answer.
        rank: One more than the number of teams with a greater rate, so equal rates share a rank.
        best_rank: One more than the number of teams that are surely better.
        worst_rank: The number of teams that are not surely worse, including this one.
        groups: The letters of the groups that the team is in, at least one; see `Ranking`.
    """

    _written = ("name", "rank", "best_rank", "worst_rank", "unanswered", "groups", "correct")

    name: str
    correct: Rate
    unanswered: int = 0
    rank: int
    best_rank: int
    worst_rank: int
    groups: tuple[str, ...] = field(converter=tuple[str, ...])


@frozen(kw_only=True, field_transformer=named_fields)
class TeamDifference(Plain):
    """How far one team of a ranking is ahead of another.

    Attributes:
        first: The name of the team with the greater rate, or of either if the rates are equal.
        second: The name of the other one.
        difference: The first's rate minus the second's, from 0 to 1.
        p_value: Adjusted for all comparisons of the ranking. The teams are told apart if it is
            at most 1 minus the ranking's confidence.
    """

    _written = ("first", "second", "difference", "p_value")

    first: str
    second: str
    difference: float
    p_value: float


@frozen(kw_only=True, field_transformer=named_fields)
class Ranking(Shown, Plain):
    """Teams in the order of their rates, and how sure that order is.

    With a probability of at least *confidence*, every statement about order holds: the first of
    any two teams that are told apart is in fact better, and every team's true rank is from its
    `best_rank` to its `worst_rank`. So the probability that any statement is wrong, the
    family-wise error rate, is at most 1 - *confidence*.

    Two teams have a letter in common if and only if they cannot be told apart. So a group is a
    set of teams of which no two can be told apart, and a team in the middle can be in several:
    if only the first and the last of three teams can be told apart, their letters are `a`,
    `a b` and `b`. That teams cannot be told apart does not mean that they are equally good.

    Attributes:
        decider: What counts as correct: a policy's or a strategy's name.
        size: The number of features of the ranked `TeamReport`s; `None` if pairs are ranked.
        teams: The teams, the best first; equal rates in the order of the names.
        tasks: The tasks that are counted: those with a pair to which every team has an answer.
        left_out: The other tasks of each team that has any.
        unmatched: The number of pairs to which a team has an answer and another team has none,
            for each team that has any. They are not counted.
        differences: Every two teams, in the order of *teams*.
        confidence: The confidence of all intervals, and of all statements about order together.
        flips: The number of sign flips from which the p-values are computed.
        is_exact: Whether these are all possible flips. Otherwise they are random.
        seed: The seed of the random flips.
    """

    _written = (
        *("decider", "size", "confidence", "flips", "is_exact", "seed"),
        *("teams", "differences", "tasks", "left_out", "unmatched"),
    )

    decider: str
    size: int | None = None
    teams: tuple[RankedTeam, ...] = field(converter=tuple[RankedTeam, ...])
    tasks: tuple[str, ...] = field(converter=tuple[str, ...], repr=False)
    left_out: Mapping[str, tuple[str, ...]] = field(factory=dict, hash=False, repr=False)
    unmatched: Mapping[str, int] = field(factory=dict, hash=False, repr=False)
    differences: tuple[TeamDifference, ...] = field(
        converter=tuple[TeamDifference, ...], repr=False
    )
    confidence: float = 0.95
    flips: int
    is_exact: bool
    seed: int = 0

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the teams of each group, by its letter."""
        letters = dict.fromkeys(letter for team in self.teams for letter in team.groups)
        return {
            letter: tuple(team.name for team in self.teams if letter in team.groups)
            for letter in letters
        }

    def to_records(self) -> list[dict[str, Any]]:
        """Return one flat row for each team, the best first; the groups are a text."""
        return [dict(zip(RANKING_COLUMNS, row, strict=True)) for row in self.rows()]

    def rows(self) -> list[list[Any]]:
        """Return the values of `to_records` in the order of the columns."""
        return [_row(team) for team in self.teams]


def _row(team: RankedTeam) -> list[Any]:
    correct = team.correct
    ranks: Sequence[Any] = (team.name, team.rank, team.best_rank, team.worst_rank)
    counts = (correct.count, correct.total, team.unanswered)
    return [*ranks, " ".join(team.groups), *counts, correct.rate, correct.low, correct.high]
