"""Facts that a report derives from what is stored in it."""

import datetime as dt
import json
import pickle

import attrs
import pytest
from generators import reports
from hypothesis import given

import cooperbench_eval as ce

NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
PASSED = ce.TestResult(status="passed")
FAILED = ce.TestResult(status="failed", output="no\n")
BROKEN_SANDBOX = ce.TestResult(status="infrastructure_error")
REJECTED = ce.TestResult(status="patch_rejected")
NOT_PASSED = [
    each
    for each in (ce.TestResult(status=status) for status in ce.TestStatus)
    if each.was_run and not each.passed
]


def report_of(conflicts=(), *, merged=True, **facts):
    """Return a report of a merge with *conflicts*, or of none."""
    details = ce.ConflictScorer().score(conflicts) if merged else None
    features = [
        ce.reporting.FeatureReport(number=number, patch=ce.reporting.PatchReport(status="applied"))
        for number in (1, 2)
    ]
    facts = {"feature1": features[0], "feature2": features[1], "timestamp": NOW} | facts
    return ce.MergeReport(repo_name="r", task_id=0, conflict_details=details, **facts)


def attempt(status="clean", first=None, second=None, strategy="naive"):
    """Return a strategy's row."""
    return ce.Attempt(
        strategy=strategy,
        implementation="m:C",
        status=status,
        feature1_tests=first,
        feature2_tests=second,
    )


# --- the pair ---------------------------------------------------------------------


def test_merge_status_and_score_are_those_of_the_conflicts():
    """A merge without conflicts is clean; without a merge there is no score."""
    clash = ce.Conflict(path="f", base=b"", ours=b"1\n2\n", theirs=b"3\n", line=1)

    reports_ = [report_of(), report_of([clash]), report_of(merged=False)]

    assert [(each.merge_status.value, each.conflict_score) for each in reports_] == [
        ("clean", 0),
        ("conflicts", 26),
        ("missing_input", None),
    ]


def test_a_conflict_without_lines_is_a_conflict():
    """This holds even if the scorer gives it no weight."""
    gone = ce.Conflict(path="f", kind="modify/delete", base=b"1\n", ours=None, theirs=b"2\n")

    details = ce.ConflictScorer(per_section=0, per_line=0).score([gone])
    report = attrs.evolve(report_of(), conflict_details=details)

    assert (report.merge_status, report.conflict_score) == (ce.reporting.PairStatus.CONFLICTS, 0)


def test_a_feature_that_was_not_tested_neither_passed_nor_failed():
    """`None` is the third answer; a result gives the other two, with its output."""
    feature = report_of().feature1

    answers = [
        (each.tests_passed, each.test_output)
        for each in (
            feature,
            attrs.evolve(feature, tests=PASSED),
            attrs.evolve(feature, tests=FAILED),
        )
    ]

    assert answers == [(None, ""), (True, ""), (False, "no\n")]


def test_a_row_is_found_by_its_strategy():
    """A strategy without a row is a `KeyError`."""
    report = report_of(attempts=[attempt(strategy="naive"), attempt(strategy="union")])

    assert report.attempt("union") is report.attempts[1]
    with pytest.raises(KeyError, match="llm"):
        report.attempt("llm")


# --- verdicts -----------------------------------------------------------------------


@pytest.mark.parametrize("status", ["clean", "resolved"])
def test_a_merge_is_correct_if_both_features_pass(status):
    """Whether or not there was a conflict to resolve."""
    assert attempt(status, PASSED, PASSED).verdict is ce.Verdict.CORRECT


@pytest.mark.parametrize("bad", NOT_PASSED, ids=lambda each: each.status.value)
def test_every_result_but_a_pass_makes_a_merge_incorrect(bad):
    """It may be the result of either feature, even if the other one was not tested."""
    verdicts = {
        attempt("clean", *runs).verdict
        for runs in [(bad, PASSED), (PASSED, bad), (bad, bad), (bad, None), (None, bad)]
    }

    assert verdicts == {ce.Verdict.INCORRECT}


@pytest.mark.parametrize(
    "runs",
    [
        (None, None),
        (PASSED, None),
        (None, PASSED),
        (PASSED, REJECTED),
        (REJECTED, REJECTED),
        (BROKEN_SANDBOX, PASSED),
    ],
)
def test_a_merge_is_not_run_until_both_features_are_tested(runs):
    """One pass is not enough, and a rejected tests patch or a failed sandbox is not a result."""
    assert attempt("resolved", *runs).verdict is ce.Verdict.NOT_RUN


def test_what_was_not_tried_is_not_run():
    """A side was missing, which is not the strategy's fault."""
    assert attempt("not_tried").verdict is ce.Verdict.NOT_RUN


@pytest.mark.parametrize("status", ["conflicts", "failed"])
def test_open_conflicts_and_failures_are_unhandled(status):
    """The results of tests do not matter then."""
    assert attempt(status).verdict is ce.Verdict.UNHANDLED
    assert attempt(status, PASSED, PASSED).verdict is ce.Verdict.UNHANDLED


# --- the record ---------------------------------------------------------------------


def test_a_time_without_a_zone_is_refused():
    """A report with such a time could be written, but not read again."""
    with pytest.raises(ValueError, match="time zone"):
        report_of(timestamp=NOW.replace(tzinfo=None))


def test_versions_are_the_reports_own():
    """Later changes to the caller's mapping do not change the report."""
    versions = {"python": "3.11"}

    report = report_of(versions=versions)
    versions["python"] = "4"

    assert report.versions == {"python": "3.11"}


def test_a_report_is_shown_without_its_bulk():
    """Diffs, conflicts and outputs do not fill the screen."""
    clash = ce.Conflict(path="f", base=b"BULK", ours=b"BULK", theirs=b"BULK")
    loud = ce.TestResult(status="passed", output="BULK")
    row = attrs.evolve(attempt(), diff=b"BULK", feature1_tests=loud)

    assert "BULK" not in repr(report_of(conflicts=[clash], diff=b"BULK", attempts=[row]))


@given(reports())
def test_reports_are_values(report):
    """Equal ones have one hash, and both survive pickling."""
    copy = pickle.loads(pickle.dumps(report))  # noqa: S301 - our own bytes

    assert copy == report
    assert hash(copy) == hash(report)


@given(reports())
def test_the_derived_facts_fit_the_stored_ones(report):
    """A score only where something was merged; correct only where everything passed."""
    status = report.merge_status
    is_missing = report.conflict_score is None

    assert (status is ce.reporting.PairStatus.NOT_EVALUATED) == (report.failure is not None)
    assert report.failure or (status is ce.reporting.PairStatus.MISSING_INPUT) == is_missing
    for row in report.attempts:
        runs = (row.feature1_tests, row.feature2_tests)
        is_good = row.status in {"clean", "resolved"} and all(r and r.passed for r in runs)
        assert is_good == (row.verdict is ce.Verdict.CORRECT)


# --- pairs without an answer --------------------------------------------------------


def test_a_pair_that_was_not_evaluated_has_its_own_status_and_no_blame():
    """It is neither clean nor without a side, because nothing is known about it."""
    failure = ce.reporting.Failure(kind="repository", problem="gone")
    report = report_of(merged=False, failure=failure, attempts=[attempt("not_tried")])

    assert report.merge_status is ce.reporting.PairStatus.NOT_EVALUATED
    assert report.attempt("naive").verdict is ce.Verdict.NOT_RUN
    assert report.blame("naive").kind is ce.reporting.BlameKind.UNKNOWN
    assert ce.MergeReport.from_json(report.to_json()) == report


@pytest.mark.parametrize("kind", ce.reporting.FailureKind)
def test_only_a_duplicate_stays_one(kind):
    """Every other failure may be gone when the pair is tried again."""
    report = report_of(failure=ce.reporting.Failure(kind=kind, problem="x"))

    assert report.is_final is (kind is ce.reporting.FailureKind.DUPLICATE)


def test_tests_that_do_not_run_here_at_all_are_not_final():
    """A package may be missing now and installed later."""

    def report(status):
        tests = ce.TestResult(status=status)
        return report_of(feature2=attrs.evolve(report_of().feature2, tests=tests))

    assert not report("infrastructure_error").is_final
    assert report("setup_failed").is_final


def test_the_problem_of_a_report_is_its_failure_or_that_of_its_tests():
    """If a patch prevents tests from running, that is the feature's problem, not the report's."""

    def report(status, **facts):
        one, two = (
            attrs.evolve(each, tests=ce.TestResult(status=status, reason="no python"))
            for each in report_of().features
        )
        return report_of(feature1=one, feature2=two, **facts)

    failure = ce.reporting.Failure(kind="test_run", problem="no sandbox")
    assert report("infrastructure_error").problem == "no python"
    assert report("setup_failed").problem == ""
    assert report("setup_failed", failure=failure).problem == "no sandbox"


def test_an_unknown_row_is_an_error_that_lists_the_rows():
    """A reader sees what to ask for; whoever expects a `KeyError` still catches it."""
    report = report_of(attempts=[attempt(strategy="naive"), attempt(strategy="union")])

    for ask in (report.attempt, report.blame, report.resolutions):
        with pytest.raises(KeyError) as caught:
            ask("foo")
        assert str(caught.value) == ("the report has no attempt of 'foo'; available: naive, union")


@pytest.mark.parametrize("where", ["tests", "base_tests", "other_tests", "attempt"])
def test_a_report_with_a_failed_sandbox_is_not_final(where):
    """It does not matter in which run it failed. A rejected tests patch is final."""

    def report(run):
        if where == "attempt":
            return report_of(attempts=[attempt("clean", PASSED, run)])
        feature = ce.reporting.FeatureReport(
            number=2, patch=ce.reporting.PatchReport(status="applied"), **{where: run}
        )
        return report_of(feature2=feature)

    failed = attrs.evolve(attempt("conflicts", strategy="llm"), service_failed=True)

    assert not report_of(attempts=[attempt(), failed]).is_final
    assert not report(BROKEN_SANDBOX).is_final
    assert report(REJECTED).is_final
    assert report(FAILED).is_final


def test_two_rows_of_one_strategy_are_refused():
    """A name would not identify a row."""
    rows = [attempt(strategy="naive"), attempt(strategy="union"), attempt(strategy="union")]
    data = report_of(attempts=rows[:2]).to_dict()
    data["attempts"] = [*data["attempts"], data["attempts"][1]]

    with pytest.raises(ValueError, match="two rows of strategy 'union'"):
        report_of(attempts=rows)
    with pytest.raises(ce.errors.ReportError, match="two rows of strategy 'union'"):
        ce.MergeReport.from_json(json.dumps(data))
