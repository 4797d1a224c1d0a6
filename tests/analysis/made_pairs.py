"""Facts of pairs, written in a few words."""

import datetime as dt

from cooperbench_eval.analysis.facts import AttemptFacts, FeatureFacts, PairFacts, RunFacts
from cooperbench_eval.models import MergeStatus, TestStatus
from cooperbench_eval.reporting import BlameKind

NOON = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
RUNS = {
    "+": TestStatus.PASSED,
    "-": TestStatus.FAILED,
    "!": TestStatus.INFRASTRUCTURE_ERROR,
}


def run(sign):
    """A run by its sign: `+` passes, `-` fails, `!` says nothing, `.` was never made."""
    if sign == ".":
        return None
    return RunFacts(
        status=RUNS[sign],
        passed_tests=2 if sign == "+" else 1,
        failed_tests=int(sign == "-"),
        duration_seconds=2.0,
    )


def attempt(strategy, word, **facts):
    """A row by a word: `clean ++`, `resolved +-`, `conflicts`, `failed`, `not_tried`."""
    status, _, runs = word.partition(" ")
    first, second = runs or ".."
    facts = {"blame": BlameKind.UNKNOWN, "duration_seconds": 0.5} | facts
    return AttemptFacts(
        strategy=strategy,
        status=MergeStatus(status),
        feature1_tests=run(first),
        feature2_tests=run(second),
        **facts,
    )


def feature(number, word="applied ..."):
    """A feature by a word: its patch, then its tests, the base's and the other's run."""
    status, _, (own, base, other) = word.partition(" ")
    return FeatureFacts(
        number=number,
        patch_status=status,
        tests=run(own),
        base_tests=run(base),
        other_tests=run(other),
    )


def pair(*, lead="applied ...", member="applied ...", features=(1, 2), facts=None, **rows):
    """A pair with a row a strategy; its merge status is naive's."""
    attempts = [attempt(name, word) for name, word in rows.items()]
    naive = rows.get("naive", "clean").partition(" ")[0]
    status = {"not_tried": "missing_input", "failed": "not_evaluated"}.get(naive, naive)
    sections = {"clean": 0, "conflicts": 1}.get(status)
    plain = {
        "repo_name": "click",
        "task_id": 1,
        "timestamp": NOON,
        "feature1": feature(features[0], lead),
        "feature2": feature(features[1], member),
        "merge_status": status,
        "conflict_sections": sections,
        "conflict_score": None if sections is None else 20 * sections,
        "attempts": attempts,
    }
    return PairFacts(**plain | (facts or {}))
