"""Reports as JSON: CooperBench's keys, the additional ones, and reading them."""

import copy
import datetime as dt
import json
import math
import pickle

import attrs
import pytest
from generators import indices, json_values, reports, team_reports
from hypothesis import given, settings

import cooperbench_eval as ce
from cooperbench_eval.reporting import serialization
from cooperbench_eval.reporting.serialization import SCHEMA_VERSION
from cooperbench_eval.support.json_records import make_converter, structure

fewer = settings(max_examples=settings().max_examples // 2)  # of what is dear

PATCH = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+%s\n"


def evaluate(first=b"2", second=b"3", **facts):
    """Return the report of two edits of one line."""
    return ce.Evaluator().evaluate(pair_of(first, second, **facts))


def evaluate_team():
    """Return the report of a team: a pair of which the second one conflicts."""
    pair = pair_of()
    team = ce.FeatureTeam(repo_name="calc", task_id=0, base=pair.base, features=pair.features[::-1])
    return ce.Evaluator(strategies=["naive", "union"]).evaluate_team(team)


def pair_of(first=b"2", second=b"3", **facts):
    """Return two edits of one line."""
    features = [
        ce.Feature(number=number, patch=PATCH % text) for number, text in ((1, first), (2, second))
    ]
    return ce.FeaturePair(
        repo_name="calc",
        task_id=0,
        base=ce.Snapshot.from_files({"f": b"1\n"}),
        feature1=features[0],
        feature2=features[1],
        **facts,
    )


def places(value, found=None):
    """List every place of a JSON value, as the container and the key or index in it."""
    found = [] if found is None else found
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        found.append((value, key))
        if isinstance(each, dict | list):
            places(each, found)
    return found


# --- keys -------------------------------------------------------------------------


def test_the_keys_of_the_base_document_come_first_and_keep_their_names():
    """Readers of CooperBench's merge reports can read these."""
    data = evaluate().to_dict()

    assert list(data)[:8] == [
        "schema_version",
        "repo_name",
        "task_id",
        "timestamp",
        "feature1",
        "feature2",
        "merge_status",
        "conflict_score",
    ]
    for feature in (data["feature1"], data["feature2"]):
        assert list(feature)[:3] == ["number", "tests_passed", "test_output"]
    assert list(data["conflict_details"])[:3] == [
        "conflict_sections",
        "conflict_lines",
        "avg_lines_per_conflict",
    ]


def test_the_values_of_the_base_document_are_those_of_the_report():
    """Derived facts are written down, times and words as JSON has them."""
    report = evaluate()

    data = json.loads(report.to_json())

    assert data == report.to_dict()
    assert data["schema_version"] == SCHEMA_VERSION == 1
    assert (data["repo_name"], data["task_id"]) == ("calc", 0)
    assert dt.datetime.fromisoformat(data["timestamp"]) == report.timestamp
    assert data["timestamp"].endswith("+00:00")
    assert data["feature1"] | data["feature2"] == data["feature2"]
    assert (data["feature1"]["tests_passed"], data["feature1"]["test_output"]) == (None, "")
    assert (data["merge_status"], data["conflict_score"]) == ("conflicts", 24)
    details = data["conflict_details"]
    assert (details["conflict_sections"], details["conflict_lines"]) == (1, 2)
    assert details["avg_lines_per_conflict"] == 2.0


def test_every_key_of_ours_is_known():
    """Adding one is a decision; this list is the format's."""
    data = evaluate().to_dict()

    assert list(data)[8:] == [
        "conflict_details",
        "conflicts",
        "diff",
        "attempts",
        "base_tree_id",
        "base_commit",
        "model",
        "setting",
        "k",
        "versions",
        "failure",
        "judge",
        "options",
        "base_joint_tests",
        "base_regression_tests",
        "preexisting_failures",
        "warnings",
        "agent_usage",
    ]
    assert list(data["attempts"][0]) == [
        "strategy",
        "implementation",
        "status",
        "conflicts_met",
        "conflict_details",
        "tree_id",
        "diff",
        "failure",
        "feature1_tests",
        "feature2_tests",
        "duration_seconds",
        "ledger",
        "usage",
        "service_failed",
        "replacements",
        "feature1_judgement",
        "feature2_judgement",
        "joint_tests",
        "joint_judgement",
        "regression_tests",
        "regression_judgement",
        "hazards",
        "trace",
        "verdict",
        "blame",
    ]
    assert list(data["conflicts"][0]) == [
        "path",
        "kind",
        "base",
        "ours",
        "theirs",
        "line",
        "newline",
    ]


def test_a_run_is_written_with_its_counts_and_its_output_once():
    """The output of a feature alone stands where the base document has it."""
    cases = [ce.models.TestCase(id=word, status=word) for word in ("passed", "xfailed", "failed")]
    run = ce.TestResult(status="failed", cases=cases, output="what it printed\n")
    report = evaluate()
    report = attrs.evolve(
        report,
        feature1=attrs.evolve(report.feature1, tests=run),
        attempts=[attrs.evolve(each, feature1_tests=run) for each in report.attempts],
    )

    data = report.to_dict()

    tests = data["feature1"]["tests"]
    assert data["feature1"]["test_output"] == "what it printed\n"
    assert "output" not in tests
    assert {key: tests[key] for key in list(tests)[:8]} == {
        "status": "failed",
        "passed_tests": 1,
        "failed_tests": 1,
        "error_tests": 0,
        "skipped_tests": 0,
        "xfailed_tests": 1,
        "total_tests": 2,
        "pass_rate": 0.5,
    }
    assert data["attempts"][0]["feature1_tests"]["output"] == "what it printed\n"
    assert ce.MergeReport.from_json(json.dumps(data)) == report


def test_a_pair_without_a_merge_has_empty_places_not_fewer_keys():
    """`missing_input` is written with the same keys, and no score."""
    report = evaluate(first=b"1")

    empty = report.to_dict()

    assert (empty["merge_status"], empty["conflict_score"]) == ("missing_input", None)
    assert set(empty["conflict_details"].values()) == {empty["diff"]} == {None}
    assert list(empty) == list(evaluate().to_dict())
    assert list(empty["conflict_details"]) == [
        "conflict_sections",
        "conflict_lines",
        "avg_lines_per_conflict",
    ]
    assert ce.MergeReport.from_json(json.dumps(empty)) == report
    empty["conflict_details"]["added_later"] = 5
    assert ce.MergeReport.from_json(json.dumps(empty)) == report


def test_text_stays_readable_and_other_bytes_become_base64():
    """A diff that is no UTF-8 survives, and one that is can be read in the file."""
    text, latin = evaluate(first="é".encode()), evaluate(first=b"\xe9")

    assert "+é\n" in text.to_dict()["diff"]
    assert list(latin.to_dict()["diff"]) == ["base64"]
    assert latin.to_dict()["conflicts"][0]["theirs"] == {"base64": "6Qo="}
    assert latin.to_dict()["conflicts"][0]["ours"] == "3\n"
    for report in (text, latin):
        assert ce.MergeReport.from_json(report.to_json()) == report


# --- round trip ---------------------------------------------------------------------


@fewer
@given(reports() | team_reports())
def test_a_round_trip_loses_nothing(report):
    """Nor change the text, which is ASCII: any encoding can hold it."""
    text = report.to_json()
    from_json = type(report).from_json

    loaded = from_json(text)

    assert loaded == report
    assert text.isascii()
    assert text.endswith("}\n")
    assert loaded.timestamp.utcoffset() == report.timestamp.utcoffset()
    assert loaded.to_json() == text == from_json(text.encode()).to_json()
    assert pickle.loads(pickle.dumps(loaded)) == report  # noqa: S301 - our own bytes


@fewer
@given(reports() | team_reports(), indices(), json_values())
def test_unknown_keys_are_ignored(report, index, value):
    """A later version may add one in any place."""
    data = report.to_dict()
    containers = [data] + [c[k] for c, k in places(data) if isinstance(c[k], dict)]
    records = [c for c in containers if "base64" not in c and c is not data["versions"]]
    records[index % len(records)]["added_later"] = value

    assert type(report).from_json(json.dumps(data)) == report


# --- what is no report --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        (b"\xff\xfe\xff", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("null", "is not a merge report"),
        ("[]", "is not a merge report"),
        ("{}", "is not a merge report"),
        ('{"merge_status": "clean"}', "is not a merge report"),
        ('{"schema_version": 2}', "schema version 2, newer than 1"),
        ('{"schema_version": "1"}', "schema version"),
        ('{"schema_version": true}', "the invalid schema version True"),
        ('{"schema_version": 0}', "the invalid schema version 0"),
        ('{"schema_version": 1}', "'feature1'"),
    ],
)
def test_text_that_is_not_a_report_is_refused(text, words):
    """The message says why."""
    with pytest.raises(ce.errors.ReportError) as caught:
        ce.MergeReport.from_json(text)

    assert isinstance(caught.value, ValueError)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        (b"\xff\xfe\xff", "is not JSON"),
        ("[]", "is not a team report"),
        ("{}", "is not a team report"),
        ('{"schema_version": 1}', "is not a team report"),
        (
            '{"kind": "plan", "schema_version": 1}',
            "is not a team report",
        ),
        ('{"kind": "landing plan", "schema_version": 1}', "but a landing plan, which LandingPlan"),
        ('{"kind": "team"}', "the invalid schema version None"),
        ('{"kind": "team", "schema_version": 2}', "schema version 2, newer than 1"),
        ('{"kind": "team", "schema_version": true}', "the invalid schema version True"),
        ('{"kind": "team", "schema_version": 1}', "'features' is missing"),
        ('{"kind": "team", "schema_version": 1, "features": 1}', "expected a list, found 1"),
    ],
)
def test_text_that_is_not_the_report_of_a_team_is_refused(text, words):
    """The message says why."""
    with pytest.raises(ce.errors.ReportError, match=words):
        ce.TeamReport.from_json(text)


def test_a_team_that_was_not_evaluated_says_nothing_of_its_features():
    """Its rows have none of them, or all, but not some."""
    report = evaluate_team()
    failure = ce.reporting.Failure(kind="error", problem="it broke")
    rows = [attrs.evolve(each, landed=(), left_out=()) for each in report.attempts]

    failed = attrs.evolve(report, failure=failure, attempts=rows)

    assert ce.TeamReport.from_json(failed.to_json()) == failed
    with pytest.raises(ValueError, match="does not name each feature of the team once"):
        attrs.evolve(report, attempts=rows)
    with pytest.raises(ValueError, match="does not name each feature of the team once"):
        attrs.evolve(failed, attempts=[attrs.evolve(rows[0], landed=(2,))])


def test_a_report_of_the_other_kind_is_refused_by_name():
    """The message says which class reads it."""
    with pytest.raises(
        ce.errors.ReportError, match="is not a merge report, but a team report, which"
    ):
        ce.MergeReport.from_json(evaluate_team().to_json())
    with pytest.raises(
        ce.errors.ReportError, match="is not a team report, but a merge report, which"
    ):
        ce.TeamReport.from_json(evaluate().to_json())


def overwritten(data, place, value):
    """Return JSON values with another value at a place, such as `attempts[0].score`."""
    *above, key = place.replace("[", ".").replace("]", "").split(".")
    container = data
    for each in above:
        container = container[int(each) if each.isdigit() else each]
    container[int(key) if key.isdigit() else key] = value
    return data


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("features[0]", None, "features"),
        ("features[0].tests", {}, "'test_output' is missing"),
        ("features[1].number", 2, "several features have the same number"),
        ("features", [], "two or more features, not 0"),
        ("timestamp", "2026-01-01T00:00:00", "timestamp"),
        ("merges", None, "merges"),
        ("attempts[0].landed", [2, 1], "'naive' does not name each feature of the team once"),
        ("attempts[0].landed", [], "'naive' does not name each feature of the team once"),
        ("attempts[0].landed", ["2"], "landed"),
        ("attempts[0].left_out", [], "'naive' does not name each feature of the team once"),
        ("attempts[0].left_out[0].number", 3, "does not name each feature of the team once"),
        ("attempts[0].left_out[0].reason", "tired", "reason"),
        ("attempts[0].left_out[0].files", "f", "files"),
        ("attempts[0].steps[0].status", "won", "status"),
        ("attempts[0].steps[0].into", 2, "into"),
        ("attempts[0].steps[0].conflicts[0].ours", {"base64": "?"}, "ours"),
        ("attempts[0].diff", 5, "diff"),
        ("attempts[1].strategy", "naive", "two rows of strategy 'naive'"),
    ],
)
def test_a_wrong_value_in_the_report_of_a_team_is_named(place, value, words):
    """A damaged file raises only `ReportError`."""
    data = overwritten(evaluate_team().to_dict(), place, value)
    if place == "features[0].tests":
        del data["features"][0]["test_output"]

    with pytest.raises(ce.errors.ReportError) as caught:
        ce.TeamReport.from_json(json.dumps(data))

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (["feature1"], None, "feature1"),
        (["feature1"], [], "feature1"),
        (["feature1", "patch"], "applied", "patch"),
        (["feature1", "tests"], "passed", "tests"),
        (["feature1", "tests"], [], "tests"),
        (["feature2", "number"], "two", "number"),
        (["timestamp"], "yesterday", "timestamp"),
        (["timestamp"], "2026-01-01T00:00:00", "timestamp"),
        (["diff"], 5, "diff"),
        (["diff"], {"base64": "?"}, "diff"),
        (["diff"], {"base64": "6Qo"}, "diff"),
        (["conflicts"], 5, "conflicts"),
        (["conflicts", 0, "kind"], "quarrel", "kind"),
        (["attempts", 0, "status"], "won", "status"),
        (["attempts", 1], None, "attempts"),
        (["versions"], [1], "versions"),
        (["versions"], {"git": None}, "versions"),
        (["repo_name"], None, "repo_name"),
        (["task_id"], "5", "task_id"),
        (["task_id"], True, "task_id"),
        (["task_id"], 5.5, "task_id"),
        (["timestamp"], 5, "timestamp"),
        (["attempts"], "", "attempts"),
        (["attempts"], {}, "attempts"),
        (["attempts", 0, "service_failed"], "no", "service_failed"),
        (["attempts", 0, "duration_seconds"], "1.5", "duration_seconds"),
        (["attempts", 0, "duration_seconds"], float("inf"), "duration_seconds"),
        (["feature1", "patch", "dropped_files"], "abc", "dropped_files"),
        (["task_id"], 2**63, "task_id"),
        (["task_id"], -(2**63), "task_id"),
        (["task_id"], 1e300, "task_id"),
        pytest.param(
            ["conflict_details", "conflict_lines"], 10**400, "conflict_lines", id="no-float"
        ),
    ],
)
def test_a_wrong_value_is_named(place, value, words):
    """A damaged file raises only `ReportError`."""
    data = evaluate().to_dict()
    container = data
    for key in place[:-1]:
        container = container[key]
    container[place[-1]] = value

    with pytest.raises(ce.errors.ReportError) as caught:
        ce.MergeReport.from_json(json.dumps(data))

    assert words in str(caught.value)


@pytest.mark.parametrize(
    "version", [10**5000, -(10**5000), [10**5000], 1e300], ids=["large", "small", "list", "float"]
)
def test_a_version_without_end_is_refused(version):
    """Python does not print such an integer."""
    with pytest.raises(ce.errors.ReportError, match="invalid schema version"):
        ce.MergeReport.from_dict({"schema_version": version})


def test_the_largest_integers_are_read():
    """Of either sign, and a report with them is written."""
    data = evaluate().to_dict() | {"task_id": -(2**63) + 1, "k": 2**63 - 1}

    loaded = ce.MergeReport.from_dict(data)

    assert ce.MergeReport.from_json(loaded.to_json()) == loaded


def test_a_whole_number_may_be_written_with_a_point():
    """JSON knows one kind of number, and some writers print 1.0 for 1."""
    report = evaluate()
    data = report.to_dict() | {"schema_version": 1.0, "k": 1.0}
    data["attempts"][0]["duration_seconds"] = 2

    loaded = ce.MergeReport.from_dict(data)

    assert (loaded.k, type(loaded.k)) == (1, int)
    assert loaded.attempts[0].duration_seconds == 2.0


# --- what follows from the rest -----------------------------------------------------


def report_with_tests():
    """Return a report whose naive row was tested, and a feature alone, both with counts."""
    words = ["passed", "passed", "failed", "error", "skipped", "xfailed"]
    cases = [ce.models.TestCase(id=str(n), status=word) for n, word in enumerate(words)]
    failed = ce.TestResult(status="failed", cases=cases, output="no\n")
    passed = ce.TestResult(status="passed", cases=cases[:2])
    report = evaluate()
    naive, union = report.attempts
    return attrs.evolve(
        report,
        feature1=attrs.evolve(report.feature1, tests=passed, base_tests=failed),
        attempts=[naive, attrs.evolve(union, feature1_tests=failed, feature2_tests=passed)],
    )


@pytest.mark.parametrize(
    ("place", "value", "derived"),
    [
        ("merge_status", "clean", "'conflicts'"),
        ("conflict_score", 42, "24"),
        ("conflict_score", None, "24"),
        ("conflict_details.avg_lines_per_conflict", 2.1, "2.0"),
        ("feature1.tests_passed", False, "True"),
        ("feature1.base_tests.failed_tests", 0, "1"),
        ("feature2.tests_passed", True, "None"),
        ("feature2.test_output", "all passed", "''"),
        ("attempts[0].verdict", "correct", "'unhandled'"),
        ("attempts[1].verdict", "correct", "'incorrect'"),
        ("attempts[1].verdict", ["incorrect"], "'incorrect'"),
        ("attempts[0].blame.kind", "nobody", "'broken_alone' or 'conflict'"),
        ("attempts[0].conflict_details.avg_lines_per_conflict", 0, "2.0"),
        ("attempts[0].conflict_details.conflict_score", 10, "24"),
        ("attempts[0].conflict_details.severity", "HIGH", "'MEDIUM'"),
        ("attempts[0].conflict_details.files[0].score", 10, "24"),
        ("attempts[0].status", "failed", "'conflicts'"),
        ("attempts[1].status", "clean", "'resolved'"),
        ("attempts[0].conflicts_met", 2, "1"),
        ("attempts[1].conflicts_met", 0, "1"),
        ("feature1.base_tests.status", "passed", "another status"),
        ("feature1.base_tests.status", "no_tests", "another status"),
        ("attempts[1].feature1_tests.passed_tests", 4, "2"),
        ("attempts[1].feature1_tests.failed_tests", "1", "1"),
        ("attempts[1].feature1_tests.error_tests", 0, "1"),
        ("attempts[1].feature1_tests.skipped_tests", 0, "1"),
        ("attempts[1].feature1_tests.xfailed_tests", 0, "1"),
        ("attempts[1].feature1_tests.total_tests", 6, "4"),
        ("attempts[1].feature1_tests.pass_rate", 1.0, "0.5"),
        ("attempts[1].feature2_tests.pass_rate", 0.99, "1.0"),
        ("attempts[1].feature2_tests.pass_rate", math.nan, "1.0"),
    ],
)
def test_a_derived_fact_that_contradicts_the_rest_is_refused(place, value, derived):
    """Other readers of the file would get other facts about the pair."""
    data = overwritten(report_with_tests().to_dict(), place, value)

    with pytest.raises(ce.errors.ReportError) as caught:
        ce.MergeReport.from_json(json.dumps(data))

    assert caught.value.location == place
    assert str(caught.value) == f"{place}: is {value!r}, but {derived} follows from the rest"


@pytest.mark.parametrize(
    ("facts", "place"),
    [
        ({"conflict_sections": 2}, "conflict_sections"),
        ({"conflict_lines": 5}, "conflict_lines"),
        ({"files": []}, "conflict_sections"),
    ],
)
def test_measures_of_a_row_are_the_sums_of_its_files(facts, place):
    """A row of a pair does not have its open conflicts, but the measures of each file."""
    data = report_with_tests().to_dict()
    data["attempts"][0]["conflict_details"] |= facts
    del data["attempts"][0]["conflict_details"]["avg_lines_per_conflict"]

    with pytest.raises(ce.errors.ReportError, match=rf"attempts\[0\]\.conflict_details\.{place}"):
        ce.MergeReport.from_json(json.dumps(data))


def test_the_row_of_git_has_the_measures_of_the_report():
    """Both are of the naive merge."""
    data = report_with_tests().to_dict()
    nothing = attrs.asdict(ce.ConflictScorer().score(()))
    data["attempts"][0] |= {"conflict_details": nothing, "status": "resolved"}
    del data["attempts"][0]["verdict"]
    del data["attempts"][0]["blame"]

    with pytest.raises(ce.errors.ReportError, match="other than the report's"):
        ce.MergeReport.from_json(json.dumps(data))


def team_with_tests():
    """Return the report of a team in which every kind of row has a run with counts."""
    pair = report_with_tests()
    passed = pair.feature1.tests
    failed = pair.feature1.base_tests
    report = evaluate_team()
    naive, union = report.attempts
    runs = [
        ce.reporting.SuiteRun(suite="feature", feature=2, tests=passed),
        ce.reporting.SuiteRun(suite="joint", tests=failed),
    ]
    return attrs.evolve(
        report,
        features=[attrs.evolve(each, tests=passed, base_tests=failed) for each in report.features],
        attempts=[attrs.evolve(naive, landed_tests=runs), attrs.evolve(union, tests=runs)],
        base_joint_tests=failed,
    )


@pytest.mark.parametrize(
    ("place", "value", "derived"),
    [
        ("merge_status", "clean", "'conflicts'"),
        ("conflict_score", 42, "24"),
        ("preexisting_failures", "t", "must be a list of strings"),
        ("warnings", [1], "must be a list of strings"),
        ("base_joint_tests.failed_tests", 0, "1"),
        ("merges[0].conflict_details.avg_lines_per_conflict", 2.1, "2.0"),
        ("features[1].tests_passed", False, "True"),
        ("features[0].base_tests.total_tests", 3, "4"),
        ("attempts[0].score", 1.0, "0.5"),
        ("attempts[0].verdict", "correct", "'unhandled'"),
        ("attempts[1].verdict", "correct", "'incorrect'"),
        ("attempts[0].blame.kind", "nobody", "'broken_alone' or 'conflict'"),
        ("attempts[0].steps[0].conflict_details.avg_lines_per_conflict", 0, "2.0"),
        ("merges[0].status", "failed", "'conflicts'"),
        ("merges[0].conflicts_met", 3, "1"),
        ("attempts[0].status", "failed", "'conflicts'"),
        ("attempts[0].steps[0].status", "resolved", "'conflicts'"),
        ("attempts[1].steps[0].status", "clean", "'resolved'"),
        ("attempts[1].tests[1].tests.passed_tests", 4, "2"),
        ("attempts[0].landed_tests[0].tests.pass_rate", 0.5, "1.0"),
    ],
)
def test_a_derived_fact_of_a_team_that_contradicts_the_rest_is_refused(place, value, derived):
    """As one of a pair."""
    report = team_with_tests()
    assert ce.TeamReport.from_json(report.to_json()) == report
    data = overwritten(report.to_dict(), place, value)

    with pytest.raises(ce.errors.ReportError) as caught:
        ce.TeamReport.from_json(json.dumps(data))

    assert caught.value.location == place
    follows = "" if "must" in derived else " follows from the rest"
    assert str(caught.value).startswith(f"{place}: is {value!r}, but {derived}{follows}")


@pytest.mark.parametrize("kind", [*ce.reporting.BlameKind, "added_later"])
def test_the_kind_of_blame_must_be_possible_with_the_verdict(kind):
    """Lost tests and kinds of later versions are not checked."""
    data = report_with_tests().to_dict()
    data["attempts"][0]["blame"] = {"kind": kind, "features": [1], "lost_tests1": ["x"]}

    if kind in {"conflict", "broken_alone", "added_later"}:
        ce.MergeReport.from_dict(data)
    else:
        with pytest.raises(ce.errors.ReportError, match=r"attempts\[0\].blame.kind"):
            ce.MergeReport.from_dict(data)


def test_derived_facts_may_be_missing():
    """Older reports may lack some; they are derived again."""
    report = report_with_tests()
    data = report.to_dict()
    del data["merge_status"], data["conflict_score"]
    del data["conflict_details"]["avg_lines_per_conflict"], data["feature1"]["tests_passed"]
    for row in data["attempts"]:
        del row["verdict"], row["blame"]
    for key in ("passed_tests", "total_tests", "pass_rate"):
        del data["attempts"][1]["feature1_tests"][key]

    assert ce.MergeReport.from_dict(data) == report


def test_derived_facts_of_a_team_may_be_missing():
    """They are derived again."""
    report = team_with_tests()
    data = report.to_dict()
    for key in ("merge_status", "conflict_score", "preexisting_failures", "warnings"):
        del data[key]
    for row in data["attempts"]:
        del row["score"], row["verdict"], row["blame"]
    del data["base_joint_tests"]["pass_rate"], data["features"][0]["tests_passed"]

    assert ce.TeamReport.from_dict(data) == report


def test_a_team_is_written_with_its_score_and_what_is_to_blame():
    """The keys of a row come in the order of the record, and what follows from them last."""
    data = team_with_tests().to_dict()

    assert list(data)[:5] == ["schema_version", "kind", "repo_name", "task_id", "timestamp"]
    assert list(data)[-5:] == [
        "merge_status",
        "conflict_score",
        "preexisting_failures",
        "warnings",
        "agent_usage",
    ]
    naive, union = data["attempts"]
    assert list(naive)[-3:] == ["score", "verdict", "blame"]
    assert (naive["score"], naive["landed"], naive["verdict"]) == (0.5, [2], "unhandled")
    assert naive["left_out"] == [
        {
            "number": 1,
            "reason": "conflict",
            "features": [2],
            "files": ["f"],
            "tests": [],
            "problem": "",
        }
    ]
    assert (union["score"], union["verdict"]) == (1.0, "incorrect")
    assert union["blame"]["kind"] == "merge_broke_joint"
    assert [each["suite"] for each in union["blame"]["lost"]] == ["joint"]


def test_a_fraction_may_have_fewer_digits():
    """Other writers print nine of them, and a whole number without a point."""
    cases = [ce.models.TestCase(id=str(n), status="failed" if n else "passed") for n in range(6)]
    report = report_with_tests()
    sixth = attrs.evolve(report.attempts[1].feature1_tests, cases=cases)
    row = attrs.evolve(report.attempts[1], feature1_tests=sixth)
    report = attrs.evolve(report, attempts=[report.attempts[0], row])
    data = report.to_dict()
    data["attempts"][1]["feature1_tests"]["pass_rate"] = 0.166666667
    data["attempts"][1]["feature2_tests"]["pass_rate"] = 1

    assert ce.MergeReport.from_dict(data) == report


@pytest.mark.parametrize("amount", [math.nan, math.inf, -1.0])
def test_no_record_has_an_amount_that_json_cannot_express(amount):
    """A third-party strategy may measure these costs and shares, and a report must hold them."""
    for make in (
        lambda: ce.models.ModelUsage(cost_usd=amount),
        lambda: ce.models.ModelUsage(latency_seconds=amount),
        lambda: ce.models.LedgerRow(path="f", ours_kept=amount),
        lambda: ce.models.LedgerRow(path="f", theirs_kept=amount),
    ):
        with pytest.raises(ValueError, match="must be a finite number of at least 0, not"):
            make()


@fewer
@given(reports() | team_reports(), indices(), json_values())
def test_damage_is_refused_or_makes_another_report(report, index, value):
    """Only `ReportError` is raised, whatever is overwritten."""
    data = copy.deepcopy(report.to_dict())
    container, key = places(data)[index % len(places(data))]
    container[key] = value

    try:
        loaded = type(report).from_json(json.dumps(data))
    except ce.errors.ReportError:
        return
    assert isinstance(loaded, type(report))


@fewer
@given(reports() | team_reports(), indices())
def test_a_report_cut_short_is_refused(report, index):
    """As a crash would leave it."""
    text = report.to_json()

    with pytest.raises(ce.errors.ReportError):
        type(report).from_json(text[: index % (len(text) - 2)])


ODD_VALUES = [
    None,
    True,
    1,
    0.5,
    -1.0,
    float("inf"),
    float("nan"),
    "",
    "passed",
    "gone",
    [],
    {},
    ["passed"],
]


@pytest.mark.parametrize("name", ["id", "status", "duration_seconds", "message"])
@pytest.mark.parametrize("value", [..., *ODD_VALUES], ids=repr)
def test_the_short_cut_for_cases_accepts_and_refuses_what_the_general_way_does(name, value):
    """Both read a value as the same case, or refuse it with the same message."""
    data = {"id": "t", "status": "failed", "duration_seconds": 0.25, "message": "m", "other": 1}
    data[name] = value
    if value is ...:
        del data[name]

    results = []
    for converter in (serialization._CONVERTER, make_converter()):
        try:
            results.append(structure(converter, data, ce.models.TestCase, "does not fit"))
        except ce.errors.ReportError as exc:
            results.append(str(exc))

    assert results[0] == results[1]
    assert type(results[0]) is type(results[1])
