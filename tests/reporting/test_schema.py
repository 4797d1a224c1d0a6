"""The reports' JSON Schemas: what they allow is what is written, and what is read."""

import copy
import datetime as dt
import functools
import json
from concurrent.futures import ThreadPoolExecutor

import attrs
import jsonschema
import pytest
import report_schema as tool
from generators import documents, reports, team_reports
from hypothesis import HealthCheck, given, settings
from referencing import Registry

import cooperbench_eval as ce
from cooperbench_eval.reporting.rows import FailureTrace, TracedFunction, UsedOptions

SCHEMAS = {
    ce.MergeReport: ce.reporting.report_schema(),
    ce.TeamReport: ce.reporting.report_schema("team"),
}
VALIDATORS = {
    kind: jsonschema.Draft202012Validator(schema, registry=Registry())
    for kind, schema in SCHEMAS.items()
}
DEFINITIONS = {name: each for one in SCHEMAS.values() for name, each in one["$defs"].items()}
ANY = jsonschema.Draft202012Validator({"$defs": DEFINITIONS}, registry=Registry())
RECORDS = {kind.__name__: schema for kind, schema in SCHEMAS.items()} | {
    name: each for name, each in DEFINITIONS.items() if "title" in each and "required" in each
}
NULLS = "NothingMerged"

# What follows from other facts: written for others to read, and derived again here, where what
# stands there must not contradict it.
DERIVED = {
    ("MergeReport", "merge_status"),
    ("MergeReport", "conflict_score"),
    ("MergeReport", "preexisting_failures"),
    ("MergeReport", "warnings"),
    ("MergeReport", "agent_usage"),
    ("FeatureReport", "tests_passed"),
    ("ConflictDetails", "avg_lines_per_conflict"),
    ("TestResult", "passed_tests"),
    ("TestResult", "failed_tests"),
    ("TestResult", "error_tests"),
    ("TestResult", "skipped_tests"),
    ("TestResult", "xfailed_tests"),
    ("TestResult", "total_tests"),
    ("TestResult", "pass_rate"),
    ("Attempt", "verdict"),
    ("Attempt", "blame"),
    *(("Blame", key) for key in RECORDS["Blame"]["properties"]),
    ("TeamReport", "merge_status"),
    ("TeamReport", "conflict_score"),
    ("TeamReport", "preexisting_failures"),
    ("TeamReport", "warnings"),
    ("TeamReport", "agent_usage"),
    ("TeamAttempt", "score"),
    ("TeamAttempt", "verdict"),
    ("TeamAttempt", "blame"),
    *(("TeamBlame", key) for key in RECORDS["TeamBlame"]["properties"]),
}
OPTIONAL = {
    "AgentUsage": "steps",
    "ApplyPolicy": "partial",
    "TestFileFilter": "touched",
    "ConflictScorer": "per_line",
}
"""A key of each record of which every key may be missing."""
BLAMES = {"Blame", "TeamBlame"}
# Each feature of a team is in one of these lists, so one of them may be missing only if the other
# one is complete.
COMPLETE_TOGETHER = {("TeamAttempt", "landed"), ("TeamAttempt", "left_out")}
# What conflicts measure follows from the conflicts, so it contradicts their default.
COMPLETE_TOGETHER |= {("MergeReport", "conflicts"), ("TeamStep", "conflicts")}
COMPLETE_TOGETHER |= {("Conflict", "line"), ("ConflictDetails", "files")}
COMPLETE_TOGETHER |= {("Attempt", "conflicts_met"), ("TeamStep", "conflicts_met")}
COMPLETE_TOGETHER |= {("ConflictScorer", "per_section"), ("ConflictScorer", "per_line")}


@functools.cache
def full_report():
    """Make a report in which every record of the format stands, with something in each list."""
    case = ce.models.TestCase(id="t::a", status="failed", message="no")
    run = ce.TestResult(
        status="failed",
        cases=[case, ce.models.TestCase(id="t::b", status="passed")],
        exit_code=1,
        output="1 failed\n",
        command=["pytest"],
        restored_files=["conftest.py"],
        missing_tests=["t::c"],
        repeats=["failed", "passed"],
        repeat_policy="all",
    )
    hunk = ce.models.HunkPlacement(path="f", hunk=1, rung="exact")
    patch = ce.reporting.PatchReport(
        status="applied",
        dropped_files=["t"],
        touched_runner_control=["conftest.py"],
        names_test_framework=["f"],
        hunks=[hunk],
        diff=b"--- a/f\n",
    )
    clash = ce.Conflict(path="f", base=b"1\n", ours=b"2\n", theirs=b"\xe9\n", line=1)
    details = ce.ConflictScorer(per_section=21, per_line=3).score([clash])
    judged = ce.models.Judgement(
        broken=["t::a"], preexisting=["t::b"], foreign=["t::d"], flaky=["t::e"]
    )
    features = [
        ce.reporting.FeatureReport(
            number=n,
            patch=patch,
            tests=run,
            base_tests=run,
            other_tests=run,
            judgement=judged,
            joint_tests=run,
            regression_tests=run,
            regression_judgement=judged,
            agent=ce.models.AgentRun(
                features=[n],
                status="Submitted",
                usage=ce.models.AgentUsage(cost_usd=0.5, steps=n),
                messages_together=3,
                problem="conversation.json: it is cut off",
            ),
        )
        for n in (1, 2)
    ]
    options = UsedOptions(
        strategies=["naive"],
        judge="delta",
        apply_policy=ce.patching.ApplyPolicy(),
        test_filter=ce.patching.TestFileFilter(keep={"tests/kept"}),
        sandbox="local",
        scorer=ce.ConflictScorer(per_section=21, per_line=3),
    )
    hazard = ce.models.Hazard(
        kind="declared_twice", path="f", line=1, name="n", message="n", features=[1]
    )
    traced = TracedFunction(
        path="f",
        name="n",
        line=1,
        kind="frame",
        tests=["t::a"],
        base=b"0\n",
        feature1=b"1\n",
        feature2=b"2\n",
        merged=b"3\n",
    )
    row = ce.Attempt(
        strategy="naive",
        implementation="m:C",
        status="conflicts",
        conflicts_met=1,
        conflict_details=details,
        tree_id="0" * 40,
        diff=b"--- a/f\n",
        feature1_tests=run,
        feature2_tests=run,
        ledger=[ce.models.LedgerRow(path="f", line=1, ours_kept=1.0, theirs_kept=0.5, attempts=1)],
        usage=[ce.models.ModelUsage(model="m", requests=1, cost_usd=0.25)],
        replacements=[ce.models.Replacement(kind="text", together=[0], text=b"3\n")],
        feature1_judgement=judged,
        feature2_judgement=judged,
        joint_tests=run,
        joint_judgement=judged,
        regression_tests=run,
        regression_judgement=judged,
        hazards=[hazard],
        trace=FailureTrace(functions=[traced], left_out=1),
    )
    return ce.MergeReport(
        repo_name="calc",
        task_id=1,
        timestamp=dt.datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=dt.UTC),
        feature1=features[0],
        feature2=features[1],
        conflict_details=details,
        conflicts=[clash],
        diff=b"\xff\n",
        attempts=[row],
        base_commit="1" * 40,
        model="m",
        setting="coop",
        versions={"git": "2"},
        failure=ce.reporting.Failure(kind="error", problem="it broke"),
        judge="delta",
        options=options,
        base_joint_tests=run,
        base_regression_tests=run,
    )


@functools.cache
def empty_report():
    """Make the report of a pair in which nothing could be merged."""
    report = full_report()
    rows = [attrs.evolve(each, status="not_tried") for each in report.attempts]
    return attrs.evolve(
        report, conflict_details=None, conflicts=(), diff=None, failure=None, attempts=rows
    )


@functools.cache
def full_team():
    """Make the report of a team in which every record of the format stands."""
    report = full_report()
    row, run, judged = report.attempts[0], report.base_joint_tests, report.feature1.judgement
    step = ce.reporting.TeamStep(
        feature=1,
        into=[2],
        status="conflicts",
        conflicts_met=1,
        conflict_details=row.conflict_details,
        diff=row.diff,
        ledger=row.ledger,
        usage=row.usage,
        replacements=row.replacements,
        conflicts=report.conflicts,
    )
    runs = [
        ce.reporting.SuiteRun(suite="feature", feature=2, tests=run, judgement=judged),
        ce.reporting.SuiteRun(suite="joint", tests=run),
    ]
    lost = ce.reporting.BrokenTests(suite="feature", feature=2, tests=["t::a"])
    attempt = ce.reporting.TeamAttempt(
        strategy="naive",
        implementation="m:C",
        status="clean",
        landed=[2],
        left_out=[
            ce.reporting.LeftOut(number=1, reason="breaks", features=[2], files=["f"], tests=[lost])
        ],
        steps=[attrs.evolve(step, feature=2, into=[1])],
        tree_id="0" * 40,
        diff=b"--- a/f\n",
        tests=runs,
        landed_tests=runs,
    )
    # A feature that passes alone, so that a lost test is blamed on the merge.
    passed = attrs.evolve(
        run, status="passed", exit_code=0, cases=[ce.models.TestCase(id="t::a", status="passed")]
    )
    own = attrs.evolve(report.feature2, tests=passed, judgement=ce.models.Judgement(broken=[]))
    return ce.TeamReport(
        repo_name="calc",
        task_id=1,
        timestamp=report.timestamp,
        features=[own, report.feature1],
        merges=[step],
        attempts=[attempt],
        base_commit="1" * 40,
        versions=report.versions,
        judge="delta",
        options=report.options,
        base_joint_tests=run,
        base_regression_tests=run,
    )


@functools.cache
def documented():
    """Return reports in which every record stands, some without a thing."""
    failed = attrs.evolve(full_team(), failure=full_report().failure)
    return full_report(), empty_report(), full_team(), failed


def definitions_in(value, schema, name, place=()):
    """Yield what each part of a document is by the schema, a name, and its place as keys."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield name, place
        schema = DEFINITIONS[name]
    if "anyOf" in schema:
        fitting = [each for each in schema["anyOf"] if fits(value, each)]
        yield from definitions_in(value, fitting[0], name, place)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from definitions_in(each, schema["items"], name, (*place, index))
    for key, inner in schema.get("properties", {}).items():
        if key in value:
            yield from definitions_in(value[key], inner, name, (*place, key))


def parts_of(report):
    """Yield what each part of a report is by its schema, a name, and its place as keys."""
    kind = type(report)
    return definitions_in(report.to_dict(), SCHEMAS[kind], kind.__name__)


def records_in(report):
    """Yield every record in a report: its name, and its place as keys."""
    yield type(report).__name__, ()
    yield from (each for each in parts_of(report) if each[0] in RECORDS)


def is_of_a_feature(place):
    """Whether it is the run of a feature's own tests, whose output is `test_output`."""
    return place[-1:] == ("tests",) and place[0] in {"feature1", "feature2", "features"}


def fits(value, schema):
    """Whether *value* is what a part of a schema describes."""
    return ANY.evolve(schema=schema).is_valid(value)


def at(document, place):
    """Return what stands at a place."""
    for key in place:
        document = document[key]
    return document


@functools.cache
def places():
    """Return for each record of the format a report that holds it, and where."""
    found = {}
    for report in documented():
        for name, place in records_in(report):
            if not is_of_a_feature(place):
                found.setdefault(name, (report, place))
    return found


@functools.cache
def _text_of(place):
    return json.dumps(documented()[place].to_dict())


def document_of(report):
    """Return a new document of one of the reports; to copy one takes ten times as long."""
    [place] = [place for place, each in enumerate(documented()) if each is report]
    return json.loads(_text_of(place))


def with_value(name, key, value):
    """Return a document in which one key of one record holds another value."""
    report, place = places()[name]
    data = document_of(report)
    at(data, place)[key] = value
    return data


def is_allowed(name, data):
    """Whether the schema allows what stands in that record's place; it alone is looked at."""
    return fits(at(data, places()[name][1]), RECORDS[name])


def without(name, key):
    """Return a document in which one record lacks one key."""
    report, place = places()[name]
    data = document_of(report)
    del at(data, place)[key]
    return data


def underived(data):
    """Return a document without what follows from other facts, as an older report may be."""

    def stripped(value):
        if isinstance(value, list):
            return [stripped(each) for each in value]
        if isinstance(value, dict):
            gone = set() if value.get("conflict_sections", 0) is None else names  # nothing merged
            return {key: stripped(each) for key, each in value.items() if key not in gone}
        return value

    reports_ = {"MergeReport", "TeamReport"}
    names = {key for name, key in DERIVED if name not in reports_ | BLAMES} - {"score"}
    data = stripped(data)
    for key in ("merge_status", "conflict_score", "agent_usage"):
        data.pop(key, None)
    for row in data.get("attempts", ()):
        row.pop("score", None)  # a team's; that of a conflict is no derived fact
    features = data["features"] if "features" in data else (data["feature1"], data["feature2"])
    for feature in features:
        if feature.get("tests") is None:
            feature["test_output"] = ""
    return data


def is_read(data, name):
    """Whether the library reads a document that has that record.

    Anything but its own error is let through.
    """
    try:
        type(places()[name][0]).from_json(json.dumps(data))
    except ce.errors.ReportError:
        return False
    return True


KEYS = [(name, key) for name, record in RECORDS.items() for key in record["properties"]]
REQUIRED = [(name, key) for name, record in RECORDS.items() for key in record["required"]]


# --- the schema itself --------------------------------------------------------


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=["pair", "team"])
def test_it_is_a_schema_and_needs_nothing_from_elsewhere(schema):
    """It obeys its metaschema, refers to nothing but itself, and is named by no address."""
    jsonschema.Draft202012Validator.check_schema(schema)

    text = json.dumps(schema)
    references = {part.split('"')[0] for part in text.split('"$ref": "')[1:]}
    assert references == {f"#/$defs/{name}" for name in schema["$defs"]}
    assert schema["$id"].startswith("urn:")
    assert text.count("://") == 1  # of "$schema"


def test_they_are_what_the_records_make():
    """`python docs/tools/report_schema.py` writes them anew."""
    schemas = [tool.make_schema(kind) for kind in ("pair", "team")]

    assert list(map(tool.print_schema, schemas)) == list(map(tool.print_schema, SCHEMAS.values()))


def test_each_caller_has_a_dict_of_its_own():
    """Changes to it do not affect other callers."""
    mine = ce.reporting.report_schema()
    mine["$defs"].clear()

    assert ce.reporting.report_schema()["$defs"]
    assert ce.reporting.report_schema() == SCHEMAS[ce.MergeReport]


def test_a_kind_without_a_schema_is_refused():
    """The message has the kinds that there are."""
    with pytest.raises(ValueError, match="kind must be 'pair' or 'team', not str: 'plan'"):
        ce.reporting.report_schema("plan")


def test_every_record_is_described_key_by_key_in_the_order_of_the_file():
    """No key is written that the schema does not name, and none is named that is not written."""
    assert set(places()) == set(RECORDS)

    for report in documented():
        data = json.loads(report.to_json())
        for name, place in records_in(report):
            named = list(RECORDS[name]["properties"])
            if is_of_a_feature(place):
                named.remove("output")
            assert list(at(data, place)) == named


def test_every_key_has_a_meaning_in_words():
    """A reader does not have to guess the meaning from the name."""
    silent = [
        (name, key)
        for name, record in RECORDS.items()
        for key, value in record["properties"].items()
        if not value.get("description") and name != NULLS
    ]

    assert not silent
    assert all(each["description"] for each in DEFINITIONS.values())


# --- reports validate ---------------------------------------------------------


def validate(report):
    """Check the JSON of a report with its schema, and return it."""
    data = json.loads(report.to_json())
    VALIDATORS[type(report)].validate(data)
    return data


@settings(max_examples=settings().max_examples // 2)
@given(reports() | team_reports())
def test_any_report_validates(report):
    """It may have any values, bytes that are not UTF-8, and times of any zone."""
    validate(report)


def test_a_report_does_not_fit_the_schema_of_the_other_kind():
    """Unknown keys are allowed, but required ones are missing."""
    assert not VALIDATORS[ce.TeamReport].is_valid(full_report().to_dict())
    assert not VALIDATORS[ce.MergeReport].is_valid(full_team().to_dict())


def evaluated(base, text1, text2, **options):
    """Return the reports of two texts, or deletions, of one file: as a pair and as a team."""
    sides = [ce.Changes({"f": None if text is None else ce.Entry(text)}) for text in (text1, text2)]
    features = [
        ce.Feature(number=number, patch=side.diff(base), **options)
        for number, side in enumerate(sides, 1)
    ]
    pair = ce.FeaturePair(
        repo_name="r", task_id=1, base=base, feature1=features[0], feature2=features[1]
    )
    strategies = ["naive", "union", "tokens", "structured", ce.cascade("tokens", "union")]
    runner = ce.TestRunner(sandbox=ce.LocalSandbox()) if options else None
    team = ce.FeatureTeam(repo_name="r", task_id=1, base=base, features=features[::-1])
    evaluator = ce.Evaluator(strategies=strategies, runner=runner)
    return evaluator.evaluate(pair), evaluator.evaluate_team(team)


@pytest.mark.parametrize(
    ("base", "text1", "text2", "status"),
    [
        (b"a\nb\n", b"A\nb\n", b"a\nb\nc\n", "clean"),
        (b"a\n", b"b\n", b"c\n", "conflicts"),
        (b"a\r\n", b"b\r\n", b"c\r\n", "conflicts"),
        (b"a\n", b"\xe9\n", b"\xe8\n", "conflicts"),
        (b"\0a", b"\0b", b"\0c", "conflicts"),
        (b"a\n", None, b"c\n", "conflicts"),
        (b"a\n", b"a\n", b"c\n", "missing_input"),
    ],
    ids=["clean", "text", "crlf", "latin1", "binary", "deleted", "empty"],
)
def test_evaluated_pairs_validate(base, text1, text2, status):
    """Whatever kind of conflict they have, with the ledgers of the strategies."""
    found = evaluated(ce.Snapshot.from_files({"f": base}), text1, text2)

    for report in found:
        assert report.merge_status == status
        validate(report)
        assert type(report).from_json(report.to_json()) == report


def test_tested_pairs_and_teams_validate():
    """With cases that pass and cases that do not."""
    base = ce.Snapshot.from_files({"f": b"1\n2\n3\n"})
    test = b"import unittest\nclass T(unittest.TestCase):\n    def test_f(self):\n"
    test += b"        self.assertIn('one', open('f').read())\n"
    suite = ce.TestSuite(
        command=("python3", "-m", "unittest", "-v", "test_f"),
        framework="unittest",
        patch=ce.Changes({"test_f.py": ce.Entry(test)}).diff(base),
    )

    pair, team = evaluated(base, b"one\n2\n3\n", b"1\n2\nthree\n", tests=suite)

    data, of_team = validate(pair), validate(team)
    assert [each["tests_passed"] for each in (data["feature1"], data["feature2"])] == [True, False]
    assert [each["tests_passed"] for each in of_team["features"]] == [False, True]
    assert {each["verdict"] for each in (*data["attempts"], *of_team["attempts"])} == {"correct"}
    assert ce.TeamReport.from_json(team.to_json()) == team


def test_pairs_that_could_not_be_evaluated_validate():
    """A recorded failure is a report like others."""
    sides = [ce.Feature(number=number, patch=b"") for number in (1, 2)]
    base = ce.Snapshot.from_files({"f": b"1\n"})
    pair = ce.FeaturePair(repo_name="r", task_id=1, base=base, feature1=sides[0], feature2=sides[1])

    with ThreadPoolExecutor(1) as executor:
        batch = list(ce.evaluate_many([pair, pair], evaluator=ce.Evaluator(), executor=executor))

    statuses = [validate(each)["merge_status"] for each in batch]
    assert sorted(statuses) == ["missing_input", "not_evaluated"]


# --- what is no report is refused ---------------------------------------------


@pytest.mark.parametrize(("name", "key"), REQUIRED)
def test_a_report_that_lacks_a_required_key_is_refused(name, key):
    """By the schema always; the library derives some facts itself and misses none of them."""
    data = without(name, key)

    assert not is_allowed(name, data)
    if name != NULLS:
        assert is_read(data, name) == ((name, key) in DERIVED)


@pytest.mark.parametrize(("name", "key"), sorted(set(KEYS) - set(REQUIRED)))
def test_a_key_that_is_not_required_may_be_missing_and_means_its_default(name, key):
    """The schema has the default, which a reader must assume."""
    default = RECORDS[name]["properties"][key]["default"]
    data = without(name, key)

    explicit = with_value(name, key, default)
    assert is_allowed(name, data)
    assert is_allowed(name, explicit)
    if (name, key) in COMPLETE_TOGETHER:
        assert is_read(data, name) is is_read(explicit, name) is False
        return
    read = type(places()[name][0]).from_dict
    assert read(underived(data)) == read(underived(explicit))


@pytest.mark.parametrize(("name", "key"), KEYS)
def test_a_value_of_a_wrong_type_is_refused(name, key):
    """By the schema and by the library, quotation marks around a number included."""
    kinds = json.dumps(RECORDS[name]["properties"][key])
    # An object with unknown keys only is a record of which every key may be missing.
    known = next((key for kind, key in OPTIONAL.items() if f'"#/$defs/{kind}"' in kinds), "a")
    wrong = [
        [[True]],
        {known: {}},
        1.5 if '"number"' not in kinds else "1.5",
    ]
    wrong += [5] if '"string"' in kinds or "$ref" in kinds else ["5", "true", True]
    if '"boolean"' in kinds:
        wrong.remove(True)
    if '"null"' not in kinds and (name, key) != ("MergeReport", "conflict_details"):
        wrong.append(None)

    report, place = places()[name]
    before = at(document_of(report), place)[key]
    for value in wrong:
        data = with_value(name, key, value)
        assert not is_allowed(name, data), value
        if name not in {NULLS} | BLAMES and key != "blame":
            same = (name, key) in DERIVED and value == before  # as `True` is 1
            assert is_read(data, name) == same, value


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("MergeReport", "schema_version", 2),
        ("MergeReport", "merge_status", "konflikt"),
        ("MergeReport", "conflict_score", -1),
        ("MergeReport", "k", 0),
        ("MergeReport", "k", 2**63),
        ("MergeReport", "task_id", -(2**63)),
        ("MergeReport", "timestamp", "2026-01-01T00:00:00"),
        ("MergeReport", "timestamp", "2026-13-01T00:00:00Z"),
        ("MergeReport", "timestamp", "yesterday"),
        ("MergeReport", "diff", {"base64": "6Qo"}),
        ("MergeReport", "diff", {"base46": "6Qo="}),
        ("MergeReport", "conflict_details", {"conflict_sections": None}),
        ("ConflictDetails", "conflict_lines", -1),
        ("ConflictDetails", "conflict_lines", None),
        ("ConflictDetails", "severity", "WORST"),
        ("Conflict", "kind", "quarrel"),
        ("Conflict", "line", 0),
        ("PatchReport", "status", "aplied"),
        ("HunkPlacement", "rung", "guess"),
        ("TestResult", "status", "passsed"),
        ("TestResult", "pass_rate", 1.01),
        ("TestResult", "passed_tests", -1),
        ("TestResult", "repeats", ["passed", "maybe"]),
        ("TestCase", "status", "xpassed"),
        ("Attempt", "status", "won"),
        ("Attempt", "verdict", "corect"),
        ("Attempt", "duration_seconds", -0.5),
        ("Blame", "kind", "somebody"),
        ("LedgerRow", "ours_kept", 1.5),
        ("Failure", "kind", "bad luck"),
        ("TeamReport", "schema_version", 2),
        ("TeamReport", "kind", "pair"),
        ("TeamReport", "features", []),
        ("TeamReport", "k", 0),
        ("TeamAttempt", "score", 1.01),
        ("TeamAttempt", "score", -0.01),
        ("LeftOut", "reason", "tired"),
        ("SuiteRun", "suite", "unit"),
    ],
)
def test_values_that_no_report_has_are_refused(name, key, value):
    """Such as a misspelt word, a negative count, a share above one, or a time without a zone."""
    assert not VALIDATORS[type(places()[name][0])].is_valid(with_value(name, key, value))


@pytest.mark.parametrize("name", sorted(set(RECORDS) | {"Bytes"}))
def test_unknown_keys_are_allowed(name):
    """In every record, because a later version may add one."""
    if name == "Bytes":
        data = with_value("MergeReport", "diff", {"base64": "6Qo=", "added_later": [1]})
    else:
        data = with_value(name, "added_later", [{"x": None}])

    of = "MergeReport" if name == "Bytes" else name
    VALIDATORS[type(places()[of][0])].validate(data)
    assert is_read(data, of)


def test_the_report_of_a_pair_has_no_kind():
    """The key stands in all other files, so a report of a pair must not have it by chance."""
    data = full_report().to_dict() | {"kind": None}

    assert not VALIDATORS[ce.MergeReport].is_valid(data)
    assert not is_read(data, "MergeReport")


# --- whatever validates is read -----------------------------------------------


NO_SCHEMA_SAYS = (
    "surrogates not allowed",
    "two rows of",
    "several features have the same number",
    "does not name each feature of the team once",
    "conflict_details",
    "least_similarity",
    "per_line",
    "per_section",
    "'not_tried' follows from the rest",
    "conflicts_met: is",
    "status: is",
    "strategy: is",
    "exit_code: is",
)


def read_or_refused(data, kind):
    """Read a valid document; what no schema can exclude may be refused."""
    VALIDATORS[kind].validate(data)
    try:
        report = kind.from_json(json.dumps(underived(data)))
    except ce.errors.ReportError as error:
        if not any(words in str(error) for words in NO_SCHEMA_SAYS):
            with pytest.raises(ValueError, match="day is out of range"):
                dt.datetime.fromisoformat(data["timestamp"])
        return
    VALIDATORS[kind].validate(report.to_dict())
    assert kind.from_json(report.to_json()) == report


def fitted(name, made, report, place):
    """Let what a record of a team says agree with the team, which no schema ensures."""
    if name == "LeftOut":
        return made | {"number": at(report.to_dict(), place)["number"]}
    if name == "TeamAttempt":
        return made | {"landed": list(report.numbers), "left_out": []}
    return made


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_any_record_that_the_schema_allows_is_read(name):
    """In its place in a report; and what is written of it validates again."""
    schema = {"$ref": f"#/$defs/{name}", "$defs": DEFINITIONS}
    [report, place], *_ = [
        (report, place)
        for report in documented()
        for defined, place in parts_of(report)
        if defined == name
    ]

    @settings(max_examples=6, suppress_health_check=list(HealthCheck))
    @given(documents(schema))
    def check(made):
        data = copy.deepcopy(report.to_dict())
        at(data, place[:-1])[place[-1]] = fitted(name, made, report, place)
        read_or_refused(data, type(report))

    check()


@settings(max_examples=30)
@given(documents(RECORDS["MergeReport"]["properties"]["timestamp"]))
def test_any_time_that_the_schema_allows_is_read(time):
    """Of every year from 1 on, to the microsecond, with an offset or a Z."""
    read_or_refused(full_report().to_dict() | {"timestamp": time}, ce.MergeReport)


def with_known_records(key, value, known):
    """Return what the schema allows for a key, of records those alone that stand in a report."""
    if not any(f'"#/$defs/{name}"' in json.dumps(value) for name in RECORDS):
        return value
    return {"enum": [report.to_dict()[key] for report in known]}


WITHOUT_PROPERTIES = {"type", "required", "not", "$defs"}


def whole_reports(kind):
    """Return a schema of reports with any keys, each record in which is one of a few."""
    schema, known = SCHEMAS[kind], [each for each in documented() if type(each) is kind]
    found = {k: with_known_records(k, value, known) for k, value in schema["properties"].items()}
    parts = {key: value for key, value in schema.items() if key in WITHOUT_PROPERTIES}
    return parts | {"properties": found}


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(documents(whole_reports(ce.MergeReport)))
def test_any_report_that_the_schema_allows_is_read(data):
    """Or refused as no report, where only a reader can tell; any records are made above."""
    read_or_refused(data, ce.MergeReport)


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(documents(whole_reports(ce.TeamReport)))
def test_any_report_of_a_team_that_the_schema_allows_is_read(data):
    """As that of a pair."""
    read_or_refused(data, ce.TeamReport)


def test_only_the_reader_refuses_a_day_that_its_year_lacks():
    """2026 has no 29th of February, and no regular expression knows."""
    data = full_report().to_dict() | {"timestamp": "2026-02-29T00:00:00Z"}

    VALIDATORS[ce.MergeReport].validate(data)
    assert not is_read(data, "MergeReport")


def test_only_the_reader_refuses_two_rows_of_one_strategy():
    """No schema says that a key is different in each item of a list."""
    data = full_report().to_dict()
    data["attempts"] *= 2

    VALIDATORS[ce.MergeReport].validate(data)
    assert not is_read(data, "MergeReport")


def test_only_the_reader_refuses_a_lone_surrogate():
    """A lone surrogate cannot be encoded."""
    data = full_report().to_dict() | {"diff": "\ud800"}

    VALIDATORS[ce.MergeReport].validate(data)
    assert not is_read(data, "MergeReport")


@pytest.mark.parametrize(
    ("landed", "left_out"), [([2, 1], [1]), ([2], []), ([2], [3]), ([2, 2], [1])]
)
def test_only_the_reader_refuses_features_that_are_not_those_of_the_team(landed, left_out):
    """Each one has landed or was left out, and no schema compares lists."""
    data = full_team().to_dict()
    gone = data["attempts"][0]["left_out"][0]
    data["attempts"][0] |= {
        "landed": landed,
        "left_out": [gone | {"number": number} for number in left_out],
    }

    VALIDATORS[ce.TeamReport].validate(data)
    assert not is_read(underived(data), "TeamReport")
