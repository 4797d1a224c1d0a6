"""Facts hold what a report says, survive JSON, and refuse anything else."""

import json

import attrs
import pytest
from generators import json_values, reports
from hypothesis import given, settings

from cooperbench_eval.analysis.facts import PairFacts
from cooperbench_eval.analysis.sources import facts_of
from cooperbench_eval.errors import ReportError
from cooperbench_eval.git.merging.conflicts import Conflict, ModelUsage
from cooperbench_eval.git.patching.patch_parts import HunkPlacement
from cooperbench_eval.reporting import Attempt, FeatureReport, PatchReport
from cooperbench_eval.reporting.report import MergeReport

RUN_COUNTS = (
    "status",
    "passed",
    "was_run",
    "passed_tests",
    "failed_tests",
    "error_tests",
    "skipped_tests",
    "xfailed_tests",
    "total_tests",
    "duration_seconds",
)
# Each report is of two features and up to two rows, with up to ten runs.
fewer = settings(max_examples=settings().max_examples // 2)


def agree(run, facts):
    """Whether *facts* says of *run* what the run says of itself."""
    if run is None or facts is None:
        return run is facts
    return all(getattr(run, name) == getattr(facts, name) for name in RUN_COUNTS)


@fewer
@given(reports())
def test_facts_say_of_a_pair_what_its_report_says(report):
    """Identity, status and measure of the conflicts are the report's own."""
    facts = facts_of(report)

    same = ("repo_name", "task_id", "timestamp", "merge_status", "conflict_score", "model", "k")
    assert [getattr(facts, name) for name in same] == [getattr(report, name) for name in same]
    assert facts.features == (report.feature1.number, report.feature2.number)
    assert facts.failure is (report.failure and report.failure.kind)


@fewer
@given(reports())
def test_facts_say_of_every_run_what_the_run_says(report):
    """Counts, status and time of each run are there, and no run is made up."""
    facts = facts_of(report)

    for feature, of_feature in (
        (report.feature1, facts.feature1),
        (report.feature2, facts.feature2),
    ):
        for name in ("tests", "base_tests", "other_tests"):
            assert agree(getattr(feature, name), getattr(of_feature, name))
    for attempt, of_attempt in zip(report.attempts, facts.attempts, strict=True):
        assert agree(attempt.feature1_tests, of_attempt.feature1_tests)
        assert agree(attempt.feature2_tests, of_attempt.feature2_tests)


@fewer
@given(reports())
def test_facts_say_of_a_strategy_what_its_row_says(report):
    """Verdict and blame are the report's."""
    facts = facts_of(report)

    for attempt, of_attempt in zip(report.attempts, facts.attempts, strict=True):
        assert (of_attempt.strategy, of_attempt.status) == (attempt.strategy, attempt.status)
        assert of_attempt.verdict is attempt.verdict
        assert of_attempt.blame is report.blame(attempt.strategy).kind


@given(reports())
def test_facts_survive_json(report):
    """What was written as JSON is read back equal."""
    facts = facts_of(report)

    read = PairFacts.from_dict(json.loads(json.dumps(facts.to_dict())))

    assert read == facts
    # An enum equals its text and does not look like it.
    assert repr(attrs.evolve(read, timestamp=facts.timestamp)) == repr(facts)


@given(json_values())
def test_anything_else_is_a_report_error(data):
    """Values that are not facts raise a `ReportError`."""
    with pytest.raises(ReportError):
        PairFacts.from_dict(data)


PLAIN = {
    "repo_name": "click",
    "task_id": 1,
    "timestamp": "2026-01-31T12:00:00+00:00",
    "feature1": {"number": 1, "patch_status": "applied"},
    "feature2": {"number": 2, "patch_status": "empty"},
    "merge_status": "missing_input",
}


ATTEMPT = {"strategy": "llm", "status": "failed", "blame": "conflict"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("task_id", "1"),
        ("task_id", True),
        ("task_id", 1.5),
        ("repo_name", 3),
        ("timestamp", "2026-01-31T12:00:00"),
        ("timestamp", 17),
        ("merge_status", "merged"),
        ("feature1", {"number": 1}),
        ("attempts", [{"strategy": "naive"}]),
        ("attempts", 4),
        ("attempts", [ATTEMPT | {"service_failed": 1}]),
    ],
)
def test_a_wrong_value_is_named(key, value):
    """The error says at which key the values are wrong; nothing is coerced."""
    with pytest.raises(ReportError, match=key):
        PairFacts.from_dict(PLAIN | {key: value})


def test_two_rows_of_one_strategy_are_refused():
    """A count would take one of them and a table both."""
    (row,) = facts_of(usage_report()).attempts
    data = facts_of(usage_report()).to_dict()
    data["attempts"] *= 2

    with pytest.raises(ValueError, match="two rows of strategy 'llm'"):
        attrs.evolve(facts_of(usage_report()), attempts=[row, row])
    with pytest.raises(ReportError, match="two rows of strategy 'llm'"):
        PairFacts.from_dict(data)


def test_unknown_keys_are_ignored():
    """Facts of a later version are read as far as they are known."""
    assert PairFacts.from_dict(PLAIN | {"mood": "good"}) == PairFacts.from_dict(PLAIN)


def usage_report(*usage):
    """A report of one attempt that asked models as *usage* says."""
    features = [FeatureReport(number=n, patch=PatchReport(status="applied")) for n in (1, 2)]
    return MergeReport(
        repo_name="click",
        task_id=1,
        timestamp=PairFacts.from_dict(PLAIN).timestamp,
        feature1=features[0],
        feature2=features[1],
        conflict_details=None,
        attempts=[Attempt(strategy="llm", implementation="", status="failed", usage=usage)],
    )


@pytest.mark.parametrize(
    ("usage", "cost", "unpriced"),
    [
        ([], 0.0, 0),
        ([ModelUsage(requests=2, cost_usd=0.5)], 0.5, 0),
        ([ModelUsage(requests=2, cost_usd=0.5), ModelUsage(requests=3)], 0.5, 3),
        ([ModelUsage(requests=3)], None, 3),
    ],
)
def test_requests_without_a_price_are_counted_beside_the_cost(usage, cost, unpriced):
    """The cost is of the priced requests; where none has a price it is unknown, not zero."""
    (attempt,) = facts_of(usage_report(*usage)).attempts

    assert (attempt.cost_usd, attempt.unpriced_requests) == (cost, unpriced)


def test_the_language_is_that_of_the_patched_files():
    """Of what the hunks touch; of what conflicts where no hunk is known."""
    hunks = [HunkPlacement(path="a.py", hunk=1), HunkPlacement(path="b.py", hunk=1)]
    patched = PatchReport(status="applied", hunks=hunks)
    conflict = Conflict(path="a.go", base=b"", ours=b"", theirs=b"")
    report = attrs.evolve(usage_report(), conflicts=[conflict])

    with_hunks = attrs.evolve(report, feature2=FeatureReport(number=2, patch=patched))

    assert facts_of(with_hunks).language == "Python"
    assert facts_of(report).language == "Go"
    assert facts_of(usage_report()).language == ""


def test_a_long_failure_is_one_line():
    """A traceback of a plug-in does not make the facts long."""
    failed = Attempt(strategy="x", implementation="", status="failed", failure="a" * 300 + "\nmore")

    (attempt,) = facts_of(attrs.evolve(usage_report(), attempts=[failed])).attempts

    assert attempt.failure == "a" * 199 + "…"
