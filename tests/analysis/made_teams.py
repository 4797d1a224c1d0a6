"""Facts of teams, written in a few words."""

from made_pairs import NOON, feature

from cooperbench_eval.analysis.facts import TeamAttemptFacts, TeamFacts
from cooperbench_eval.reporting import BlameKind
from cooperbench_eval.reporting.landings import LeftOut


def row(strategy, word, **facts):
    """A row by a word: `status verdict`, then each left-out feature, such as `2:conflict`."""
    status, verdict, *left_out = word.split()
    reasons = dict(each.split(":") for each in left_out)
    return strategy, status, verdict, {int(n): reason for n, reason in reasons.items()}, facts


def team(size, *rows, facts=None, **words):
    """A team of the features 1 to *size*, with a row a strategy; its merge status is naive's."""
    made = [*rows, *(row(name, word) for name, word in words.items())]
    naive = next((status for name, status, *_ in made if name == "naive"), "clean")
    plain = {
        "repo_name": "click",
        "task_id": 1,
        "timestamp": NOON,
        "features": [feature(number) for number in range(1, size + 1)],
        "merge_status": {"not_tried": "missing_input"}.get(naive, naive),
        "attempts": [_attempt(size, each) for each in made],
    }
    return TeamFacts(**plain | (facts or {}))


def _attempt(size, made):
    strategy, status, verdict, reasons, facts = made
    return TeamAttemptFacts(
        strategy=strategy,
        status=status,
        verdict=verdict,
        blame=BlameKind.UNKNOWN,
        landed=[number for number in range(1, size + 1) if number not in reasons],
        left_out=[LeftOut(number=number, reason=reason) for number, reason in reasons.items()],
        duration_seconds=0.5,
        **facts,
    )
