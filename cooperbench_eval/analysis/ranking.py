"""`rank` ranks several teams on the same tasks."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from cooperbench_eval.analysis.answers import (
    CORRECT,
    Answer,
    ByTask,
    Decider,
    has_answer,
    task_of_key,
)
from cooperbench_eval.analysis.clusters import Counts
from cooperbench_eval.analysis.grouping import key_text
from cooperbench_eval.analysis.letters import groups_of, letter
from cooperbench_eval.analysis.policies import Policy
from cooperbench_eval.analysis.ranks import RankedTeam, Ranking, TeamDifference
from cooperbench_eval.analysis.rates import Rate
from cooperbench_eval.analysis.signflips import Teams, adjusted_p_values, is_exact
from cooperbench_eval.analysis.sources import FactsSource
from cooperbench_eval.analysis.summarizing import summarize
from cooperbench_eval.analysis.summary import Summary
from cooperbench_eval.analysis.verdicts import JudgedSummary
from cooperbench_eval.errors import AnalysisError, ArgumentError
from cooperbench_eval.reporting.identity import PairKey
from cooperbench_eval.support.arguments import checked, rule_of

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
        raise AnalysisError(f"the teams share no {_noun(size)} to which all of them have an answer")
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
    """Return the answers of each team, by its name and by pair.

    Raises:
        AnalysisError: A team has a pair twice.
    """
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
                problem = f"has features {_listed(pair)} of {task_of_key(pair)} twice"
                raise AnalysisError(f"team {name!r} {problem}: keep one of several tries")
            pairs[pair] = answer
        found[name] = pairs
    return found


def _noun(size: int | None) -> str:
    return "pair" if size is None else f"team of {size} features"


def _listed(pair: PairKey) -> str:
    return ", ".join(map(str, sorted(pair[2])))


def _judged(name: str, given: Any, judge: Decider, size: int | None) -> JudgedSummary:
    """Return the verdicts of a team under the policy or strategy.

    Raises:
        AnalysisError: There is no report, or none with such a verdict.
    """
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
    """Count the pairs of *tasks* that have no answer."""
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
    """Return the teams in the order of *rates*.

    *apart* has every two teams that are told apart, the better one first.
    """
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
