"""Facts of pairs, written in a few words, and a report."""

import datetime as dt

from cooperbench_eval.analysis.facts import AttemptFacts, FeatureFacts, PairFacts, RunFacts
from cooperbench_eval.git.merging.conflicts import Conflict, MergeStatus
from cooperbench_eval.reporting import Attempt, BlameKind, FeatureReport, MergeReport, PatchReport
from cooperbench_eval.running.results import TestCase, TestResult, TestStatus

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


def a_report():
    """A report with a run and a conflict of each sort."""
    case = TestCase(id="test_a", status="passed", duration_seconds=0.5)
    run = TestResult(status="passed", cases=[case])
    naive = Attempt(strategy="naive", implementation="", status="clean", feature2_tests=run)
    patch = PatchReport(status="applied")
    return MergeReport(
        repo_name="click",
        task_id=0,
        timestamp=dt.datetime(2026, 1, 31, 12, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        feature1=FeatureReport(number=4, patch=patch, tests=run, other_tests=run),
        feature2=FeatureReport(number=7, patch=patch, base_tests=run),
        conflict_details=None,
        conflicts=[
            Conflict(path="a.py", base=b"", ours=b"x\ny", theirs=b"z\n", line=3),
            Conflict(path="b\udcff", kind="binary", base=b"\0", ours=None, theirs=b"\1\n"),
        ],
        attempts=[naive],
    )
