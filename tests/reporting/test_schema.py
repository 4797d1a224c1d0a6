"""The report's JSON Schema: what it allows is what is written, and what is read."""

import copy
import datetime as dt
import functools
import json
from concurrent.futures import ThreadPoolExecutor

import attrs
import jsonschema
import pytest
import report_schema as tool
from generators import documents, reports
from hypothesis import HealthCheck, given, settings
from referencing import Registry

import cooperbench_eval as ce

SCHEMA = ce.report_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, registry=Registry())
RECORDS = {"MergeReport": SCHEMA} | {
    name: each for name, each in SCHEMA["$defs"].items() if "title" in each and "required" in each
}
NULLS = "NothingMerged"

# What follows from other facts: written for others to read, and derived again here, where what
# stands there must not contradict it.
DERIVED = {
    ("MergeReport", "merge_status"),
    ("MergeReport", "conflict_score"),
    ("MergeReport", "preexisting_failures"),
    ("MergeReport", "warnings"),
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
}


@functools.cache
def full_report():
    """Make a report in which every record of the format stands, with something in each list."""
    case = ce.TestCase(id="t::a", status="failed", message="no")
    run = ce.TestResult(
        status="failed",
        cases=[case, ce.TestCase(id="t::b", status="passed")],
        exit_code=1,
        output="1 failed\n",
        command=["pytest"],
        restored_files=["conftest.py"],
        missing_tests=["t::c"],
        repeats=["failed", "passed"],
        repeat_policy="all",
    )
    hunk = ce.HunkPlacement(path="f", hunk=1, rung="exact")
    patch = ce.PatchReport(
        status="applied",
        dropped_files=["t"],
        touched_runner_control=["conftest.py"],
        names_test_framework=["f"],
        hunks=[hunk],
    )
    clash = ce.Conflict(path="f", base=b"1\n", ours=b"2\n", theirs=b"\xe9\n", line=1)
    details = ce.ConflictScorer().score([clash])
    judged = ce.Judgement(broken=["t::a"], preexisting=["t::b"], foreign=["t::d"], flaky=["t::e"])
    features = [
        ce.FeatureReport(
            number=n,
            patch=patch,
            tests=run,
            base_tests=run,
            other_tests=run,
            judgement=judged,
            joint_tests=run,
            regression_tests=run,
            regression_judgement=judged,
        )
        for n in (1, 2)
    ]
    hazard = ce.Hazard(kind="declared_twice", path="f", line=1, name="n", message="n", features=[1])
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
        ledger=[ce.LedgerRow(path="f", line=1, ours_kept=1.0, theirs_kept=0.5, attempts=1)],
        usage=[ce.ModelUsage(model="m", requests=1, cost_usd=0.25)],
        replacements=[ce.Replacement(kind="text", together=[0], text=b"3\n")],
        feature1_judgement=judged,
        feature2_judgement=judged,
        joint_tests=run,
        joint_judgement=judged,
        regression_tests=run,
        regression_judgement=judged,
        hazards=[hazard],
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
        failure=ce.Failure(kind="error", problem="it broke"),
        judge="delta",
        base_joint_tests=run,
        base_regression_tests=run,
    )


@functools.cache
def empty_report():
    """Make the report of a pair in which nothing could be merged."""
    return attrs.evolve(full_report(), conflict_details=None, conflicts=(), diff=None, failure=None)


def definitions_in(value, schema=SCHEMA, name="MergeReport", place=()):
    """Yield what each part of a document is by the schema, a name, and its place as keys."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield name, place
        schema = SCHEMA["$defs"][name]
    if "anyOf" in schema:
        fitting = [each for each in schema["anyOf"] if fits(value, each)]
        yield from definitions_in(value, fitting[0], name, place)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from definitions_in(each, schema["items"], name, (*place, index))
    for key, inner in schema.get("properties", {}).items():
        if key in value:
            yield from definitions_in(value[key], inner, name, (*place, key))


def records_in(document):
    """Yield every record in a document: its name, and its place as keys."""
    yield "MergeReport", ()
    yield from (each for each in definitions_in(document) if each[0] in RECORDS)


def fits(value, schema):
    """Whether *value* is what a part of the schema describes."""
    return VALIDATOR.evolve(schema=schema | {"$defs": SCHEMA["$defs"]}).is_valid(value)


def at(document, place):
    """Return what stands at a place."""
    for key in place:
        document = document[key]
    return document


@functools.cache
def places():
    """Return for each record of the format a report that holds it, and where."""
    found = {}
    for report in (full_report(), empty_report()):
        for name, place in records_in(report.to_dict()):
            if place[-1:] != ("tests",):  # the run whose output is `test_output`
                found.setdefault(name, (report, place))
    return found


@functools.cache
def _text_of(which):
    return json.dumps(which().to_dict())


def document_of(report):
    """Return a new document of one of the two reports; to copy one takes ten times as long."""
    return json.loads(_text_of(full_report if report is full_report() else empty_report))


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

    names = {key for name, key in DERIVED if name not in {"MergeReport", "Blame"}}
    data = stripped(data)
    for key in ("merge_status", "conflict_score"):
        data.pop(key, None)
    for feature in (data["feature1"], data["feature2"]):
        if feature.get("tests") is None:
            feature["test_output"] = ""
    return data


def is_read(data):
    """Whether the library reads a document; anything but its own error is let through."""
    try:
        ce.MergeReport.from_json(json.dumps(data))
    except ce.ReportError:
        return False
    return True


KEYS = [(name, key) for name, record in RECORDS.items() for key in record["properties"]]
REQUIRED = [(name, key) for name, record in RECORDS.items() for key in record["required"]]


# --- the schema itself --------------------------------------------------------


def test_it_is_a_schema_and_needs_nothing_from_elsewhere():
    """It obeys its metaschema, refers to nothing but itself, and is named by no address."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    text = json.dumps(SCHEMA)
    references = {part.split('"')[0] for part in text.split('"$ref": "')[1:]}
    assert references == {f"#/$defs/{name}" for name in SCHEMA["$defs"]}
    assert SCHEMA["$id"].startswith("urn:")
    assert text.count("://") == 1  # of "$schema"


def test_it_is_what_the_records_make():
    """`python docs/tools/report_schema.py` writes it, and the tables of the page, anew."""
    schema = tool.make_schema()

    page = tool.PAGE_FILE.read_text(encoding="utf-8")
    assert tool.print_schema(schema) == tool.print_schema(SCHEMA)
    assert page == tool.make_page(page, schema)


def test_each_caller_has_a_dict_of_its_own():
    """Changes to it do not affect other callers."""
    mine = ce.report_schema()
    mine["$defs"].clear()

    assert ce.report_schema()["$defs"]
    assert ce.report_schema() == SCHEMA


def test_every_record_is_described_key_by_key_in_the_order_of_the_file():
    """No key is written that the schema does not name, and none is named that is not written."""
    assert set(places()) == set(RECORDS)

    for report in (full_report(), empty_report()):
        data = json.loads(report.to_json())
        for name, place in records_in(data):
            named = list(RECORDS[name]["properties"])
            if place[-1:] == ("tests",):
                named.remove("output")  # it is the feature's `test_output`
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
    assert all(each["description"] for each in SCHEMA["$defs"].values())


# --- reports validate ---------------------------------------------------------


@given(reports())
def test_any_report_validates(report):
    """It may have any values, bytes that are not UTF-8, and times of any zone."""
    VALIDATOR.validate(json.loads(report.to_json()))


def evaluated(base, text1, text2, **options):
    """Return the report of two texts, or deletions, of one file."""
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
    return ce.Evaluator(strategies=strategies, runner=runner).evaluate(pair)


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
    report = evaluated(ce.Snapshot.from_files({"f": base}), text1, text2)

    assert report.merge_status == status
    VALIDATOR.validate(json.loads(report.to_json()))


def test_tested_pairs_validate():
    """With cases that pass and cases that do not."""
    base = ce.Snapshot.from_files({"f": b"1\n2\n3\n"})
    test = b"import unittest\nclass T(unittest.TestCase):\n    def test_f(self):\n"
    test += b"        self.assertIn('one', open('f').read())\n"
    suite = ce.TestSuite(
        command=("python3", "-m", "unittest", "-v", "test_f"),
        framework="unittest",
        patch=ce.Changes({"test_f.py": ce.Entry(test)}).diff(base),
    )

    report = evaluated(base, b"one\n2\n3\n", b"1\n2\nthree\n", tests=suite)

    data = json.loads(report.to_json())
    VALIDATOR.validate(data)
    assert [each["tests_passed"] for each in (data["feature1"], data["feature2"])] == [True, False]
    assert {each["verdict"] for each in data["attempts"]} == {"correct"}


def test_pairs_that_could_not_be_evaluated_validate():
    """A recorded failure is a report like others."""
    sides = [ce.Feature(number=number, patch=b"") for number in (1, 2)]
    base = ce.Snapshot.from_files({"f": b"1\n"})
    pair = ce.FeaturePair(repo_name="r", task_id=1, base=base, feature1=sides[0], feature2=sides[1])

    with ThreadPoolExecutor(1) as executor:
        batch = list(ce.evaluate_many([pair, pair], evaluator=ce.Evaluator(), executor=executor))

    documents_ = [json.loads(each.to_json()) for each in batch]
    assert sorted(each["merge_status"] for each in documents_) == ["missing_input", "not_evaluated"]
    for each in documents_:
        VALIDATOR.validate(each)


# --- what is no report is refused ---------------------------------------------


@pytest.mark.parametrize(("name", "key"), REQUIRED)
def test_a_report_that_lacks_a_required_key_is_refused(name, key):
    """By the schema always; the library derives some facts itself and misses none of them."""
    data = without(name, key)

    assert not is_allowed(name, data)
    if name != NULLS:
        assert is_read(data) == ((name, key) in DERIVED)


@pytest.mark.parametrize(("name", "key"), sorted(set(KEYS) - set(REQUIRED)))
def test_a_key_that_is_not_required_may_be_missing_and_means_its_default(name, key):
    """The schema has the default, which a reader must assume."""
    default = RECORDS[name]["properties"][key]["default"]
    data = without(name, key)

    explicit = with_value(name, key, default)
    assert is_allowed(name, data)
    assert is_allowed(name, explicit)
    read = ce.MergeReport.from_dict
    assert read(underived(data)) == read(underived(explicit))


@pytest.mark.parametrize(("name", "key"), KEYS)
def test_a_value_of_a_wrong_type_is_refused(name, key):
    """By the schema and by the library, quotation marks around a number included."""
    kinds = json.dumps(RECORDS[name]["properties"][key])
    wrong = [[[True]], {"a": [1]}, 1.5 if '"number"' not in kinds else "1.5"]
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
        if name not in {NULLS, "Blame"} and (name, key) != ("Attempt", "blame"):
            same = (name, key) in DERIVED and value == before  # as `True` is 1
            assert is_read(data) == same, value


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
    ],
)
def test_values_that_no_report_has_are_refused(name, key, value):
    """Such as a misspelt word, a negative count, a share above one, or a time without a zone."""
    assert not VALIDATOR.is_valid(with_value(name, key, value))


@pytest.mark.parametrize("name", sorted(set(RECORDS) | {"Bytes"}))
def test_unknown_keys_are_allowed(name):
    """In every record, because a later version may add one."""
    if name == "Bytes":
        data = with_value("MergeReport", "diff", {"base64": "6Qo=", "added_later": [1]})
    else:
        data = with_value(name, "added_later", [{"x": None}])

    VALIDATOR.validate(data)
    assert is_read(data)


# --- whatever validates is read -----------------------------------------------


def read_or_refused(data):
    """Read a valid document; what no schema can exclude may be refused."""
    VALIDATOR.validate(data)
    try:
        report = ce.MergeReport.from_json(json.dumps(underived(data)))
    except ce.ReportError as error:
        if not any(words in str(error) for words in ("surrogates not allowed", "two rows of")):
            with pytest.raises(ValueError, match="day is out of range"):
                dt.datetime.fromisoformat(data["timestamp"])
        return
    VALIDATOR.validate(report.to_dict())
    assert ce.MergeReport.from_json(report.to_json()) == report


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SCHEMA["$defs"]))
def test_any_record_that_the_schema_allows_is_read(name):
    """In its place in a report; and what is written of it validates again."""
    schema = {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}
    [report, place], *_ = [
        (report, place)
        for report in (full_report(), empty_report())
        for defined, place in definitions_in(report.to_dict())
        if defined == name
    ]

    @settings(max_examples=6, suppress_health_check=list(HealthCheck))
    @given(documents(schema))
    def check(made):
        data = copy.deepcopy(report.to_dict())
        at(data, place[:-1])[place[-1]] = made
        read_or_refused(data)

    check()


@settings(max_examples=30)
@given(documents(SCHEMA["properties"]["timestamp"]))
def test_any_time_that_the_schema_allows_is_read(time):
    """Of every year from 1 on, to the microsecond, with an offset or a Z."""
    read_or_refused(full_report().to_dict() | {"timestamp": time})


def with_known_records(key, value):
    """Return what the schema allows for a key, of records those alone that stand in a report."""
    if not any(f'"#/$defs/{name}"' in json.dumps(value) for name in RECORDS):
        return value
    return {"enum": [report.to_dict()[key] for report in (full_report(), empty_report())]}


def whole_reports():
    """Return a schema of reports with any keys, each record in which is one of a few."""
    found = {key: with_known_records(key, value) for key, value in SCHEMA["properties"].items()}
    return {key: SCHEMA[key] for key in ("type", "required", "$defs")} | {"properties": found}


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(documents(whole_reports()))
def test_any_report_that_the_schema_allows_is_read(data):
    """Or refused as no report, where only a reader can tell; any records are made above."""
    read_or_refused(data)


def test_only_the_reader_refuses_a_day_that_its_year_lacks():
    """2026 has no 29th of February, and no regular expression knows."""
    data = full_report().to_dict() | {"timestamp": "2026-02-29T00:00:00Z"}

    VALIDATOR.validate(data)
    assert not is_read(data)


def test_only_the_reader_refuses_two_rows_of_one_strategy():
    """No schema says that a key is different in each item of a list."""
    data = full_report().to_dict()
    data["attempts"] *= 2

    VALIDATOR.validate(data)
    assert not is_read(data)


def test_only_the_reader_refuses_a_lone_surrogate():
    """A lone surrogate cannot be encoded."""
    data = full_report().to_dict() | {"diff": "\ud800"}

    VALIDATOR.validate(data)
    assert not is_read(data)
