"""`rank` ranks several teams on the same tasks; a `Ranking` says how certain their order is."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from string import ascii_lowercase
from typing import Any, Final

from attrs import field, frozen

from cooperbench_eval.analysis.grouping import key_text
from cooperbench_eval.analysis.intervals import Counts
from cooperbench_eval.analysis.policies import (
    CORRECT,
    Answer,
    ByTask,
    Decider,
    Policy,
    has_answer,
    task_of_key,
)
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.analysis.signflips import Teams, adjusted_p_values, is_exact
from cooperbench_eval.analysis.sources import FactsSource
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.analysis.summary import Summary
from cooperbench_eval.analysis.verdicts import JudgedSummary
from cooperbench_eval.errors import AnalysisError, ArgumentError
from cooperbench_eval.reporting.identity import PairKey
from cooperbench_eval.support.arguments import checked, named_fields, rule_of
from cooperbench_eval.support.plain import Plain
from cooperbench_eval.support.rendering.shown import Shown

RANKING_COLUMNS: Final[Mapping[str, type[int | float | str]]] = {
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


# --- ranking teams ---


_ByPair = Mapping[PairKey, Answer]


@checked(summaries=rule_of(Mapping[Hashable, object]))
def rank(
    summaries: Mapping[Hashable, Summary | FactsSource],
    decider: str | Policy = "strict",
    *,
    size: int | None = None,
    confidence: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Ranking:
    """Rank teams that were evaluated on the same tasks, and group those that cannot be told apart.

    Only pairs to which every team has an answer are counted, so that all teams have the same ones.
    If two teams are equally good, their results in any task could as well be exchanged, so
    their difference is compared with those after such exchanges. All pairs of a task are
    exchanged together, because they are not independent. Each exchange covers the same tasks
    for all teams. The p-values of all pairs of teams are adjusted together, so that the
    probability of any false statement about order is at most 1 - *confidence*:
    Romano and Wolf (Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing, JASA
    100, 2005) with the sign flips of Canay, Romano and Shaikh (Randomization Tests under an
    Approximate Symmetry Assumption, Econometrica 85, 2017). The intervals of ranks count the
    teams that are surely better and worse (Mogstad, Romano, Shaikh and Wilhelm, Inference for
    Ranks with Applications to Mobility across Neighbourhoods and Academic Achievement across
    Countries, Review of Economic Studies 91, 2024). With at most five tasks, no teams can be
    told apart at 95%.

    Args:
        summaries: The summary of each team by its name, or its reports or anything else that
            `summarize` takes. The groups of a summary are such a mapping:
            `rank(summarize(reports, by="model").groups)`.
        decider: What counts as correct, as in `compare`. A summary must have been made with
            the policy.
        size: Rank the reports of teams with this many features, by a strategy, instead of the
            reports of pairs.
        confidence: The confidence of all intervals, and of all statements about order together.
        draws: The number of random flips; if so many or fewer are possible, all are used.
        seed: The seed of the random flips. The same seed gives the same ranking.

    Raises:
        AnalysisError: A team has no report, no verdict by the *decider*, or a pair twice, or
            the teams share no pair to which all of them have an answer.
        ArgumentError: There are fewer than two teams, two have the same name, or an option is
            out of range.
    """
    if not 0 < confidence < 1:
        raise ArgumentError("confidence", "must be greater than 0 and less than 1")
    if draws < 1:
        raise ArgumentError("draws", f"must be at least 1, not {draws!r:.20}")
    judge = Decider.of(decider)
    if size is not None and judge.policy is not None:
        problem = f"{judge.name!r} is a policy, and teams are ranked by a strategy"
        raise AnalysisError(f"{problem}: for teams of {size} features, name one")
    found = _by_team(summaries, judge, size)
    answered = [{key for key, one in pairs.items() if has_answer(one)} for pairs in found.values()]
    common = set.intersection(*answered)
    tasks = sorted({task_of_key(key) for key in common})
    if not tasks:
        noun = "pair" if size is None else f"team of {size} features"
        raise AnalysisError(f"the teams share no {noun} to which all of them have an answer")
    rates = {name: _rate(pairs, common, tasks, confidence) for name, pairs in found.items()}
    names = sorted(rates, key=lambda name: (-(rates[name].rate or 0.0), name))
    counts = [rates[name].clusters or () for name in names]
    differences = _differences(names, counts, draws=draws, seed=seed)
    exact = is_exact(len(tasks), draws)
    return Ranking(
        decider=judge.name,
        size=size,
        teams=_ranked(
            {name: rates[name] for name in names},
            {name: _unanswered(found[name], tasks) for name in names},
            {(each.first, each.second) for each in differences if each.p_value <= 1 - confidence},
        ),
        tasks=tasks,
        left_out=_left_out(found, tasks),
        unmatched={
            name: len(keys - common)
            for name, keys in zip(found, answered, strict=True)
            if keys - common
        },
        differences=differences,
        confidence=confidence,
        flips=2 ** len(tasks) if exact else draws + 1,
        is_exact=exact,
        seed=seed,
    )


def _by_team(
    summaries: Mapping[Hashable, object], judge: Decider, size: int | None
) -> dict[str, _ByPair]:
    """Return the answers of each team, by its name and by pair; refuse a repeated pair."""
    if len(summaries) < 2:  # noqa: PLR2004 - one team has no rank
        raise ArgumentError("summaries", f"must have at least two teams, not {len(summaries)}")
    found: dict[str, _ByPair] = {}
    for key, given in summaries.items():
        name = key_text(key)
        if name in found:
            raise ArgumentError("summaries", f"has two teams called {name!r}")
        pairs: dict[PairKey, Answer] = {}
        tasks = _judged(name, given, judge, size).tasks
        if not isinstance(tasks, ByTask):
            raise AnalysisError(f"the summary of team {name!r} is not one that `summarize` made")
        for pair, answer, count in tasks.pairs():
            if pair in pairs or count > 1:
                features = ", ".join(map(str, sorted(pair[2])))
                problem = f"has features {features} of {task_of_key(pair)} twice"
                raise AnalysisError(f"team {name!r} {problem}: keep one of several tries")
            pairs[pair] = answer
        found[name] = pairs
    return found


def _judged(name: str, given: Any, judge: Decider, size: int | None) -> JudgedSummary:
    """Return the verdicts of a team under the policy or strategy."""
    summary = given
    if not isinstance(given, Summary):
        try:
            summary = summarize(given, policies=[] if judge.policy is None else [judge.policy])
        except ArgumentError as exc:
            raise ArgumentError("summaries", f"of {name!r} {exc.problem}") from exc
    of_size = None if size is None else summary.teams.get(size)
    if not (summary.pairs if size is None else of_size):
        about = "" if size is None else f" of a team of {size} features"
        raise AnalysisError(f"team {name!r} has no report{about}")
    strategies: Mapping[str, JudgedSummary] = (of_size or summary).strategies
    policies: Mapping[str, JudgedSummary] = {} if of_size else summary.policies
    known = {**strategies, **policies} if judge.policy is None else policies
    if judge.name not in known:
        kind = "strategy" if judge.policy is None else "policy"
        problem = f"the reports of team {name!r} are not judged by the {kind} {judge.name!r}"
        raise AnalysisError(problem, tuple(known))
    return known[judge.name]


def _rate(
    found: _ByPair, counted: Collection[PairKey], tasks: Iterable[str], confidence: float
) -> Rate:
    totals = Counter(task_of_key(key) for key in counted)
    correct = Counter(task_of_key(key) for key in counted if found[key] == CORRECT)
    counts = [(correct[task], totals[task]) for task in tasks]
    return Rate(correct.total(), totals.total(), confidence=confidence, clusters=counts)


def _unanswered(found: _ByPair, tasks: Collection[str]) -> int:
    return sum(not has_answer(one) and task_of_key(key) in tasks for key, one in found.items())


def _differences(
    names: Sequence[str], counts: Sequence[Sequence[Counts]], *, draws: int, seed: int
) -> list[TeamDifference]:
    teams = Teams(
        tuple(tuple(count for count, _ in each) for each in counts),
        tuple(tuple(total for _, total in each) for each in counts),
    )
    found = teams.differences()
    p_values = adjusted_p_values(teams, found, draws=draws, seed=seed)
    return [
        TeamDifference(
            first=names[each.first],
            second=names[each.second],
            difference=each.difference,
            p_value=p_value,
        )
        for each, p_value in zip(found, p_values, strict=True)
    ]


def _ranked(
    rates: Mapping[str, Rate], unanswered: Mapping[str, int], apart: Collection[tuple[str, str]]
) -> list[RankedTeam]:
    """Return the teams in the order of *rates*; *apart* has those told apart, better first."""
    names = list(rates)
    groups = groups_of(len(names), lambda one, other: (names[one], names[other]) not in apart)
    shares = [rate.rate or 0.0 for rate in rates.values()]
    return [
        RankedTeam(
            name=name,
            correct=rates[name],
            unanswered=unanswered[name],
            rank=1 + sum(share > shares[place] for share in shares),
            best_rank=1 + sum(second == name for _, second in apart),
            worst_rank=len(names) - sum(first == name for first, _ in apart),
            groups=[letter(number) for number, group in enumerate(groups) if place in group],
        )
        for place, name in enumerate(names)
    ]


def _left_out(found: Mapping[str, _ByPair], tasks: Collection[str]) -> dict[str, tuple[str, ...]]:
    left_out = {
        name: tuple(sorted({task_of_key(key) for key in pairs}.difference(tasks)))
        for name, pairs in found.items()
    }
    return {name: every for name, every in left_out.items() if every}


# --- letters of groups ---


_Group = tuple[int, ...]


def groups_of(size: int, is_alike: Callable[[int, int], bool]) -> list[_Group]:
    """Return groups, so that two teams are in one group if and only if they are alike.

    This is a compact letter display (Piepho, An Algorithm for a Letter-Based Representation of
    All-Pairwise Comparisons, Journal of Computational and Graphical Statistics 13, 2004). The
    fewest groups are hard to find, so groups are made greedily, as Gramm et al. do (Algorithms
    for Compact Letter Displays, Computational Statistics & Data Analysis 52, 2007). There are at
    most as many as pairs of teams. If the teams that are alike follow each other in the order,
    as they mostly do, there are as few as possible. Teams are named by their places in the order of
    their rates, and groups are sorted by their first and then by their last team.
    """
    alike = {pair for pair in combinations(range(size), 2) if is_alike(*pair)}
    covered: set[tuple[int, int]] = set()
    groups: list[_Group] = []
    for first in range(size):
        others = [other for other in range(first + 1, size) if (first, other) in alike]
        for last in others:
            if (first, last) not in covered:
                groups.append(_grown(first, last, size, alike))
                covered.update(combinations(groups[-1], 2))
    alone = set(range(size)).difference(*groups)
    return sorted([*_needed(groups), *((each,) for each in alone)], key=lambda g: (g[0], g[-1], g))


def _grown(first: int, last: int, size: int, alike: set[tuple[int, int]]) -> _Group:
    """Return a group of two teams and of all others that can be added, tried in their order."""
    group = {first, last}
    for each in range(size):
        if all((min(each, one), max(each, one)) in alike for one in group - {each}):
            group.add(each)
    return tuple(sorted(group))


def _needed(groups: list[_Group]) -> Iterator[_Group]:
    """Yield the groups that have two teams which no other group has."""
    kept = list(groups)
    for group in groups:
        others = [set(each) for each in kept if each is not group]
        if all(any(set(pair) <= other for other in others) for pair in combinations(group, 2)):
            kept = [each for each in kept if each is not group]
    yield from kept


def letter(place: int) -> str:
    """Return the letters of a place that is counted from 0: a to z, then aa, ab and so on."""
    text = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, len(ascii_lowercase))
        text = ascii_lowercase[rest] + text
    return text
