"""Views of summaries, rates, comparisons and rankings."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from cooperbench_eval.analysis.comparing import CooperBenchAgreement, Tries
from cooperbench_eval.analysis.grouping import key_text
from cooperbench_eval.analysis.measures import AgentSummary, Mean
from cooperbench_eval.analysis.ranking import RankedTeam, Ranking
from cooperbench_eval.analysis.rates import Comparison, Rate
from cooperbench_eval.analysis.summary import Summary, TeamSummary
from cooperbench_eval.analysis.verdicts import (
    GoldSummary,
    JudgedSummary,
    PolicySummary,
    StrategySummary,
    TeamStrategySummary,
)
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.reporting.landings import LeftOutReason
from cooperbench_eval.support.rendering.view import Section, Table, View, rows_table
from cooperbench_eval.support.rendering.visible import visible

_CORRECT, *_FAILURES, _UNANSWERED = wording.ANSWERS.values()
_HEADER = ("", _CORRECT, "rate", "interval", _UNANSWERED, *_FAILURES, "of all")
_COSTS_HEADER = ("agents' work", "USD a correct pair", "interval", "of pairs", "not known")
_TEAMS_HEADER = (*_HEADER[:-1], "landed", "interval")
_SHOWN_DISAGREEMENTS = 20
_PROBLEM = 200
_Row = tuple[str, ...]


# --- summaries ---------------------------------------------------------------


def summary_view(summary: Summary) -> View:
    """Describe a summary: the pairs, then a row for each strategy and policy, by group.

    A rate and its interval count only answered pairs. They are left out if pairs are
    unanswered and nothing was tested. Beside them are the number and the share of unanswered
    pairs. Rows with unanswered pairs also have the least and the greatest share of all pairs
    that can be correct. The last lines name the policies that are left out. Teams follow in
    tables of their own, by size.
    """
    hidden = summary.unanswerable
    is_empty = not (summary.strategies or summary.policies.keys() - set(hidden))
    sections = [
        Section(title=title, rows=[_row(one, name) for name, one in named_rows(group, hidden)])
        for title, group in groups_of(summary)
    ]
    notes = [*unanswerable_texts(summary), *_cluster_texts(summary)]
    pairs = [] if is_empty else [_verdicts_table(sections), *_costs_table(summary, hidden)]
    lines = [*problem_texts(summary, "pair"), *_agents_texts(summary.agents, summary.pairs)]
    if not summary.teams:
        return View(title=_pairs_text(summary), lines=lines, tables=pairs, notes=notes)
    teams, tables = _teams_text([*summary.teams.values()]), _teams_tables(summary)
    if not summary.pairs:
        return View(title=teams, tables=tables, notes=_cluster_texts(summary))
    lines.append(teams)
    return View(title=_pairs_text(summary), lines=lines, tables=[*pairs, *tables], notes=notes)


def _agents_texts(agents: AgentSummary, pairs: int) -> list[str]:
    """Return a line about what the agents' work cost; none if nothing is known of it."""
    cost, parts = agents.cost_usd, []
    if cost.count:
        unknown = f", not known for {pairs - cost.count:,}" if cost.count < pairs else ""
        parts.append(f"{cost.total:,.2f} USD, {cost.mean:,.2f} a pair{unknown}")
    counts = {"steps": agents.steps, "messages": agents.messages_sent}
    tokens = {
        "tokens read": agents.input_tokens,
        "tokens read from a cache": agents.cache_read_tokens,
        "tokens written": agents.output_tokens,
    }
    parts += [
        f"{name} {each.mean:,.1f} a pair" for name, each in (counts | tokens).items() if each.count
    ]
    return [f"the agents' work: {'; '.join(parts)}"] if parts else []


def _costs_table(summary: Summary, hidden: Collection[str]) -> list[Table]:
    sections = [
        Section(
            title=title,
            rows=[
                (name, *wording.cost_texts(one.cost_per_correct))
                for name, one in named_rows(group, hidden)
                if one.cost_per_correct.pairs
            ],
        )
        for title, group in groups_of(summary)
    ]
    sections = [each for each in sections if each.rows]
    return [Table(header=_COSTS_HEADER, sections=sections, numbers=4)] if sections else []


def judged_view(one: StrategySummary | PolicySummary) -> View:
    """Describe how pairs end under a strategy or policy, and what gold reaches."""
    return View(
        title=f"{one.name}: {wording.counted(one.verdicts.pairs, 'pair')}",
        tables=[_verdicts_table([Section(rows=[_row(one, one.name)])])],
        notes=[] if one.gold is None else _gold_texts(one.gold),
    )


def groups_of(summary: Summary) -> Iterator[tuple[str, Summary]]:
    """Yield each group of pairs and its title, then all; one without groups has no title."""
    if not summary.by:
        yield "", summary
        return
    for key, group in summary.groups.items():
        if group.pairs or not group.teams:
            yield f"{key_text(key)} ({group.pairs:,})", group
    yield f"all ({summary.pairs:,})", summary


def named_rows(
    summary: Summary, hidden: Collection[str]
) -> list[tuple[str, StrategySummary | PolicySummary]]:
    """Return each strategy and policy that is not *hidden*, with the name that is shown."""
    policies = [(f"[{name}]", one) for name, one in summary.policies.items() if name not in hidden]
    return [*summary.strategies.items(), *policies]


def unanswerable_texts(summary: Summary) -> list[str]:
    """Return a line for each policy that is left out, with the reason."""
    texts = []
    for name in summary.unanswerable:
        one = summary.policies[name]
        share = f"{one.verdicts.unanswered:,} of {wording.counted(one.verdicts.pairs, 'pair')}"
        untried = f"; not tried: {', '.join(one.untried)}" if one.untried else ""
        texts.append(f"policy [{name}] is left out: no answer for {share}{untried}")
    return texts


def _cluster_texts(summary: Summary) -> list[str]:
    """Return a line that says what the intervals are clustered by, if they are."""
    if summary.cluster is None:
        return []
    plural = {"task": "tasks", "repo": "repositories"}[summary.cluster]
    return [f"intervals assume that {plural} are independent, not that pairs or teams are"]


def _verdicts_table(sections: Sequence[Section]) -> Table:
    """Return the table; its last column is left out if it is empty."""
    width = len(_HEADER)
    if not any(row[-1].text for section in sections for row in section.rows):
        width -= 1
        sections = [
            Section(title=each.title, rows=[row[:width] for row in each.rows]) for each in sections
        ]
    return Table(header=_HEADER[:width], sections=sections, numbers=width - 1)


def _pairs_text(summary: Summary) -> str:
    pairs = wording.counted(summary.pairs, "pair")
    if not summary.pairs:
        return pairs
    counts = [
        f"clean {summary.clean.count:,}",
        f"conflicts {summary.conflicts.count:,}",
        f"missing input {summary.missing_input.count:,}",
    ]
    if summary.not_evaluated:
        reasons = ", ".join(f"{kind.value} {n:,}" for kind, n in summary.failures.items())
        beside = f" ({reasons})" if reasons else ""
        counts.append(f"not evaluated {summary.not_evaluated:,}{beside}")
    if summary.repeated:
        counts.append(f"repeated {summary.repeated:,}")
    return f"{pairs}: {', '.join(counts)}"


def problem_texts(summary: Summary | TeamSummary, noun: str) -> list[str]:
    """Return the most frequent problem in a list, which is empty if there is none."""
    for problem, count in summary.problems.items():
        return [f"{wording.counted(count, noun)} without a result: {visible(problem, _PROBLEM)}"]
    return []


# --- teams -------------------------------------------------------------------


def teams_view(teams: TeamSummary) -> View:
    """Describe the teams of one size: their verdicts, what landed, and what was left out."""
    rows = map(_team_row, teams.strategies.values())
    verdicts = rows_table(_TEAMS_HEADER, rows, numbers=_TEAM_NUMBERS)
    return View(
        title=_teams_text([teams]),
        lines=problem_texts(teams, "team"),
        tables=[verdicts, _left_out_table([*teams.strategies.items()])],
    )


def team_strategy_view(one: TeamStrategySummary) -> View:
    """Describe how teams of one size end under a strategy."""
    return View(
        title=f"{one.name}: {wording.counted(one.verdicts.pairs, 'team')}",
        tables=[
            rows_table(_TEAMS_HEADER, [_team_row(one)], numbers=_TEAM_NUMBERS),
            _left_out_table([(one.name, one)]),
        ],
    )


def _teams_tables(summary: Summary) -> list[Table]:
    groups = [(f"{key_text(key)}, ", group) for key, group in summary.groups.items()]
    sections = [
        Section(
            title=f"{prefix}teams of {size} ({teams.teams:,})",
            rows=[_team_row(one) for one in teams.strategies.values()],
        )
        for prefix, group in [*groups, ("all " if summary.by else "", summary)]
        for size, teams in group.teams.items()
    ]
    left_out = [
        (f"{name}, teams of {size}", one)
        for size, teams in summary.teams.items()
        for name, one in teams.strategies.items()
    ]
    verdicts = Table(header=_TEAMS_HEADER, sections=sections, numbers=_TEAM_NUMBERS)
    return [verdicts, _left_out_table(left_out)]


_TEAM_NUMBERS = len(_TEAMS_HEADER) - 1


def _team_row(one: TeamStrategySummary) -> _Row:
    return (*_row(one, one.name)[:-1], *_mean_texts(one.landed))


def _mean_texts(mean: Mean) -> tuple[str, str]:
    """Return a mean and its interval in percent; dashes if they are not known."""
    if mean.mean is None:
        return "-", "-"
    interval = "-" if mean.low is None else f"{mean.low:.1%}-{mean.high:.1%}"
    return f"{mean.mean:.1%}", interval


def _left_out_table(named: Sequence[tuple[str, TeamStrategySummary]]) -> Table:
    reasons = [
        reason for reason in LeftOutReason if any(reason in one.left_out for _, one in named)
    ]
    rows = [
        (name, *(f"{one.left_out.get(reason, 0):,}" for reason in reasons))
        for name, one in named
        if one.left_out
    ]
    header = ("features left out", *map(wording.spoken, reasons))
    return rows_table(header, rows, numbers=len(reasons))


def _teams_text(sizes: Sequence[TeamSummary]) -> str:
    counts = [f"{each.teams:,} of {each.size} features" for each in sizes]
    not_evaluated = sum(each.not_evaluated for each in sizes)
    if not_evaluated:
        counts.append(f"not evaluated {not_evaluated:,}")
    if repeated := sum(each.repeated for each in sizes):
        counts.append(f"repeated {repeated:,}")
    total = sum(each.teams for each in sizes)
    return f"{wording.counted(total, 'team')}: {', '.join(counts)}"


def _row(one: JudgedSummary, name: str) -> _Row:
    verdicts = one.verdicts
    _, *failures, unanswered = wording.answer_counts(verdicts).values()
    share = f" ({unanswered / verdicts.pairs:.0%})" if unanswered else ""
    bounds = wording.bounds_text(verdicts)
    correct = f"{one.correct.count:,}/{one.correct.total:,}"
    counts = (f"{unanswered:,}{share}", *(f"{n:,}" for n in failures))
    return (name, correct, *wording.correct_texts(one), *counts, bounds)


def _gold_texts(gold: GoldSummary) -> list[str]:
    return [
        f"gold gets right {gold.ceiling}",
        f"reached of those {gold.reached}",
        f"beyond those {gold.beyond}",
        f"pairs that gold has no answer for: {gold.unmatched}",
    ]


# --- rates and comparisons ---------------------------------------------------


def rate_view(rate: Rate) -> View:
    """Describe a rate: one line."""
    return View(title=str(rate))


def comparison_view(comparison: Comparison) -> View:
    """Describe two ways to get pairs right: their rates, and how often they agree."""
    return _comparison_view(comparison)


def _comparison_view(
    comparison: Comparison,
    lines: Iterable[str] = (),
    tables: Iterable[Table] = (),
    notes: Iterable[str] = (),
) -> View:
    first, second = comparison.first, comparison.second
    rates = [_rate_row(first, comparison.first_rate), _rate_row(second, comparison.second_rate)]
    counts = (
        f"both right {comparison.both}, only {first} {comparison.only_first}, "
        f"only {second} {comparison.only_second}, neither {comparison.neither}"
    )
    return View(
        title=f"{first} and {second} on the same {wording.counted(comparison.pairs, 'pair')}",
        lines=lines,
        tables=[rows_table(("", "right", "rate", "interval"), rates, numbers=3), *tables],
        notes=[counts, _test_text(comparison), _left_out_text(comparison), *notes],
    )


def _rate_row(name: str, rate: Rate) -> _Row:
    return (name, f"{rate.count:,}/{rate.total:,}", *wording.rate_texts(rate))


def _test_text(comparison: Comparison) -> str:
    if comparison.p_value is None:
        return "no pair is compared, so there is no p-value"
    difference = f"{100 * (comparison.difference or 0):+.1f} percentage points"
    return f"difference {difference}, p = {comparison.p_value:.3g} (McNemar, exact, two-sided)"


def _left_out_text(comparison: Comparison) -> str:
    return (
        f"not compared: {comparison.unanswered} without an answer, "
        f"{comparison.unmatched_first} only in {comparison.first}, "
        f"{comparison.unmatched_second} only in {comparison.second}"
    )


def tries_view(tries: Tries) -> View:
    """Describe how many pairs are solved within one try, two, and so on."""
    rows = [
        _rate_row(wording.counted(number, "try", "tries"), rate)
        for number, rate in enumerate(tries.within, start=1)
    ]
    pairs = wording.counted(tries.within[0].total if rows else 0, "pair")
    beside = f", {tries.left_out} left out" if tries.left_out else ""
    return View(
        title=f"{tries.decider}: {pairs}{beside}",
        tables=[rows_table(("within", "solved", "rate", "interval"), rows, numbers=3)],
    )


def agreement_view(agreement: CooperBenchAgreement) -> View:
    """Describe how many results of CooperBench's evaluator agree with ours, and which do not."""
    comparison = agreement.comparison
    rows = [
        (
            each.ours.task,
            " and ".join(map(str, each.ours.features)),
            "passes" if each.cooperbench.both_passed else "fails",
            wording.spoken(each.judged.verdict),
        )
        for each in agreement.disagreements[:_SHOWN_DISAGREEMENTS]
    ]
    header = ("disagreement", "features", comparison.first, comparison.second)
    left_out = len(agreement.disagreements) - _SHOWN_DISAGREEMENTS
    return _comparison_view(
        comparison,
        lines=[f"{agreement.agreeing} of {comparison.pairs} agree"],
        tables=[rows_table(header, rows)],
        notes=wording.and_more(left_out, "disagreement"),
    )


# --- rankings ---


_RANKING_HEADER = (
    "team",
    "groups",
    "rank",
    "from",
    "to",
    "correct",
    "rate",
    "interval",
    "unanswered",
)
_NUMBERS = len(_RANKING_HEADER) - 2
_SHOWN_TEAMS = 5


def ranking_view(ranking: Ranking) -> View:
    """Describe each team and the interval of its rank, what letters mean, and what is left out."""
    tasks = wording.counted(len(ranking.tasks), "task")
    size = f", with {ranking.size} features each" if ranking.size is not None else ""
    error = f"{100 * (1 - ranking.confidence):.6g}%"
    return View(
        title=f"{len(ranking.teams)} teams by {ranking.decider} in {tasks}{size}",
        tables=[rows_table(_RANKING_HEADER, map(_ranked_row, ranking.teams), numbers=_NUMBERS)],
        notes=[
            "teams with a letter in common cannot be told apart",
            f"the probability that any teams told apart are in the wrong order is at most {error}",
            *_few_texts(ranking),
            *_left_out_texts(ranking),
        ],
    )


def _ranked_row(team: RankedTeam) -> tuple[str, ...]:
    counts = f"{team.correct.count:,}/{team.correct.total:,}"
    ranks = map(str, (team.rank, team.best_rank, team.worst_rank))
    rates = (counts, *wording.rate_texts(team.correct))
    return (team.name, " ".join(team.groups), *ranks, *rates, f"{team.unanswered:,}")


def _few_texts(ranking: Ranking) -> list[str]:
    """Return a line if no result in so few tasks could tell teams apart."""
    tasks = len(ranking.tasks)
    if 2.0 ** (1 - tasks) <= 1 - ranking.confidence:
        return []
    return [
        f"with {wording.counted(tasks, 'task')}, no teams can be told apart at this probability"
    ]


def _left_out_texts(ranking: Ranking) -> list[str]:
    texts = []
    if ranking.unmatched:
        named = [f"{name} {count:,}" for name, count in ranking.unmatched.items()]
        texts.append(
            f"answers left out, because another team has none: {', '.join(named[:_SHOWN_TEAMS])}"
        )
        texts += wording.and_more(len(named) - _SHOWN_TEAMS, "team")
    if ranking.left_out:
        named = [f"{name} {len(tasks):,}" for name, tasks in ranking.left_out.items()]
        shown = ", ".join(named[:_SHOWN_TEAMS])
        texts.append(f"tasks left out, because the teams share no answered pair: {shown}")
        texts += wording.and_more(len(named) - _SHOWN_TEAMS, "team")
    return texts
