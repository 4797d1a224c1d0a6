"""The view of a ranking."""

from cooperbench_eval.analysis.ranks import RankedTeam, Ranking
from cooperbench_eval.presentation.views import wording
from cooperbench_eval.support.rendering.view import View, rows_table

_HEADER = ("team", "groups", "rank", "from", "to", "correct", "rate", "interval", "unanswered")
_NUMBERS = len(_HEADER) - 2
_SHOWN_TEAMS = 5


def ranking_view(ranking: Ranking) -> View:
    """Describe a ranking: a row for each team, what the letters mean, and what is left out.

    The columns `from` and `to` are the interval of the rank.
    """
    tasks = wording.counted(len(ranking.tasks), "task")
    size = f", with {ranking.size} features each" if ranking.size is not None else ""
    error = f"{100 * (1 - ranking.confidence):.6g}%"
    return View(
        title=f"{len(ranking.teams)} teams by {ranking.decider} in {tasks}{size}",
        tables=[rows_table(_HEADER, map(_row, ranking.teams), numbers=_NUMBERS)],
        notes=[
            "teams with a letter in common cannot be told apart",
            f"the probability that any teams told apart are in the wrong order is at most {error}",
            *_few_texts(ranking),
            *_left_out_texts(ranking),
        ],
    )


def _row(team: RankedTeam) -> tuple[str, ...]:
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
