"""Writes reports as JSON and reads them.

cattrs converts the records. This module adds the derived facts under the names of
CooperBench's merge report, and defines how bytes are written.
"""

import base64
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from cooperbench_eval.errors import ReportError
from cooperbench_eval.models import (
    COUNTS,
    ConflictDetails,
    Entry,
    FileMode,
    TestCase,
    TestCaseStatus,
    TestResult,
    count_cases,
)
from cooperbench_eval.reporting.derived import check_derived, check_team, shown
from cooperbench_eval.snapshot import Changes
from cooperbench_eval.structuring import (
    Converter,
    load_number,
    make_converter,
    parse_json,
    structure,
)

__all__ = [
    "SCHEMA_VERSION",
    "dump",
    "dump_audit",
    "dump_plan",
    "dump_probe",
    "dump_team",
    "dumps",
    "dumps_values",
    "load",
    "load_audit",
    "load_plan",
    "load_team",
    "loads",
    "parse_json",
]

SCHEMA_VERSION = 1

_UNFIT = "is not a valid merge report"
_UNFIT_PLAN = "is not a valid landing plan"
_UNFIT_TEAM = "is not a valid report of a team"
_UNFIT_AUDIT = "is not a valid audit"
_PAIR = "pair"  # no file says so: a merge report has no key for its kind
_TEAM = "team"
_PLAN = "landing plan"
_AUDIT = "audit"
_PROBE = "probe"
_KINDS = {
    _PAIR: "a merge report, which MergeReport reads",
    _TEAM: "the report of a team, which TeamReport reads",
    _PLAN: "a landing plan, which LandingPlan reads",
    _AUDIT: "an audit, which Audit reads",
}
_Report = TypeVar("_Report")
_Json = dict[str, Any]


def dump(report: Any) -> _Json:
    """Return *report* as plain JSON values."""
    data: _Json = _CONVERTER.unstructure(report)
    head = {
        "schema_version": SCHEMA_VERSION,
        "repo_name": data.pop("repo_name"),
        "task_id": data.pop("task_id"),
        "timestamp": data.pop("timestamp"),
        "feature1": _feature(report.feature1, data.pop("feature1")),
        "feature2": _feature(report.feature2, data.pop("feature2")),
        "merge_status": report.merge_status.value,
        "conflict_score": report.conflict_score,
    }
    if data["conflict_details"] is None:  # CooperBench's keys are always written
        data["conflict_details"] = dict.fromkeys(_DETAILS)
    for attempt, row in zip(report.attempts, data["attempts"], strict=True):
        row["verdict"] = attempt.verdict.value
        row["blame"] = _CONVERTER.unstructure(report.blame(attempt.strategy))
    facts = {
        "preexisting_failures": list(report.preexisting_failures),
        "warnings": list(report.warnings),
        "agent_usage": _CONVERTER.unstructure(report.agent_usage),
    }
    return head | data | facts


def dumps(report: Any) -> str:
    """Return *report* as JSON text, with one line for each value."""
    return dumps_values(dump(report))


def dumps_values(values: _Json) -> str:
    """Return plain JSON values as text, with one line for each value."""
    return json.dumps(values, allow_nan=False, indent=2) + "\n"


def loads(text: str | bytes, kind: type[_Report]) -> _Report:
    """Read JSON text as a report of class *kind*.

    Raises:
        ReportError: The text is not a report, or it has a newer schema.
    """
    return load(parse_json(text), kind)


def load(data: object, kind: type[_Report]) -> _Report:
    """Read plain JSON values as a report of class *kind*.

    Raises:
        ReportError: The values are not a report, or they have a newer schema.
    """
    if not isinstance(data, dict) or "schema_version" not in data:
        raise ReportError("is not a merge report")
    if "kind" in data:
        raise ReportError(_other_kind(data, "a merge report"))
    _check_version(data)
    with _missing_keys(_UNFIT):
        plain = data | {name: _plain_feature(data[name]) for name in ("feature1", "feature2")}
    details = plain.get("conflict_details")
    if isinstance(details, dict) and all(details.get(name, "") is None for name in _DETAILS):
        plain["conflict_details"] = None
    report: Any = structure(_CONVERTER, plain, kind, _UNFIT)
    check_derived(report, data)
    return cast("_Report", report)


def dump_team(report: Any) -> _Json:
    """Return the report of a team as plain JSON values."""
    data: _Json = _CONVERTER.unstructure(report)
    data["features"] = [
        _feature(each, row) for each, row in zip(report.features, data["features"], strict=True)
    ]
    for attempt, row in zip(report.attempts, data["attempts"], strict=True):
        row["score"] = attempt.score
        row["verdict"] = attempt.verdict.value
        row["blame"] = _CONVERTER.unstructure(report.blame(attempt.strategy))
    facts = {
        "merge_status": report.merge_status.value,
        "conflict_score": report.conflict_score,
        "preexisting_failures": list(report.preexisting_failures),
        "warnings": list(report.warnings),
        "agent_usage": _CONVERTER.unstructure(report.agent_usage),
    }
    return {"schema_version": SCHEMA_VERSION, "kind": _TEAM} | data | facts


def load_team(data: object, kind: type[_Report]) -> _Report:
    """Read plain JSON values as the report of a team of class *kind*.

    Raises:
        ReportError: The values are not the report of a team, or they have a newer schema.
    """
    if not isinstance(data, dict) or data.get("kind") != _TEAM:
        raise ReportError(_other_kind(data, "the report of a team"))
    _check_version(data)
    with _missing_keys(_UNFIT_TEAM):
        features = data["features"]
        if not isinstance(features, list):
            raise ReportError(f"{_UNFIT_TEAM}: features is not a list")
        plain = data | {"features": [_plain_feature(each) for each in features]}
    report: Any = structure(_CONVERTER, plain, kind, _UNFIT_TEAM)
    check_team(report, data)
    return cast("_Report", report)


def dump_plan(plan: Any) -> _Json:
    """Return a landing plan as plain JSON values."""
    data: _Json = _CONVERTER.unstructure(plan)
    derived = {"landed": list(plan.landed)}
    return {"schema_version": SCHEMA_VERSION, "kind": _PLAN} | derived | data


def dump_probe(probe: Any) -> _Json:
    """Return a probe of branches as plain JSON values."""
    data: _Json = _CONVERTER.unstructure(probe)
    data["plan"] = dump_plan(probe.plan)
    collisions = [[each.one, each.other] for each in probe.collisions]
    derived = {"landing": list(probe.landing), "collisions": collisions}
    return {"schema_version": SCHEMA_VERSION, "kind": _PROBE} | data | derived


def load_plan(data: object, kind: type[_Report]) -> _Report:
    """Read plain JSON values as a landing plan of class *kind*.

    Raises:
        ReportError: The values are not a landing plan, or they have a newer schema.
    """
    if not isinstance(data, dict) or data.get("kind") != _PLAN:
        raise ReportError(_other_kind(data, "a landing plan"))
    _check_version(data)
    plan: Any = structure(_CONVERTER, data, kind, _UNFIT_PLAN)
    if data.get("landed", landed := list(plan.landed)) != landed:
        raise ReportError(f"is {shown(data['landed'])}, but the order says {landed}", "landed")
    return cast("_Report", plan)


def dump_audit(audit: Any) -> _Json:
    """Return an audit as plain JSON values."""
    data: _Json = _CONVERTER.unstructure(audit)
    for file, row in zip(audit.files, data["files"], strict=True):
        row["fate"] = file.fate.value
    for comparison, row in zip(audit.comparisons, data["comparisons"], strict=True):
        row["is_equal"] = comparison.is_equal
    for run, row in zip(audit.suites, data["suites"], strict=True):
        row["passed"] = run.outcome
    derived = {"is_complete": audit.is_complete, "score": audit.score}
    return {"schema_version": SCHEMA_VERSION, "kind": _AUDIT} | derived | data


def load_audit(data: object, kind: type[_Report]) -> _Report:
    """Read plain JSON values as an audit of class *kind*.

    Raises:
        ReportError: The values are not an audit, or they have a newer schema.
    """
    if not isinstance(data, dict) or data.get("kind") != _AUDIT:
        raise ReportError(_other_kind(data, "an audit"))
    _check_version(data)
    audit: Any = structure(_CONVERTER, data, kind, _UNFIT_AUDIT)
    for name, found in (("is_complete", audit.is_complete), ("score", audit.score)):
        if data.get(name, found) != found:
            raise ReportError(f"is {shown(data[name])}, but the rest says {found}", name)
    return cast("_Report", audit)


def _other_kind(data: object, wanted: str) -> str:
    """Return that *data* is not what is wanted, and what it is instead if that is known."""
    what = f"is not {wanted}"
    if not isinstance(data, dict) or "schema_version" not in data:
        return what
    kind = data.get("kind")
    if kind is None and "feature1" in data:
        kind = _PAIR
    found = _KINDS.get(kind) if isinstance(kind, str) else None
    return f"{what}, but {found}" if found else what


@contextmanager
def _missing_keys(problem: str) -> Iterator[None]:
    try:
        yield
    except KeyError as exc:
        raise ReportError(f"{problem}: {exc} is missing") from exc


def _check_version(data: _Json) -> None:
    version = _schema_version(data.get("schema_version"))
    if version > SCHEMA_VERSION:
        raise ReportError(f"has schema version {version}, newer than {SCHEMA_VERSION}")


def _schema_version(value: object) -> int:
    try:
        version = load_number(value)
    except ValueError as exc:
        raise ReportError(f"has the invalid schema version {shown(value)}") from exc
    if version < 1:
        raise ReportError(f"has the invalid schema version {version}")
    return version


# --- features ----------------------------------------------------------------


def _feature(feature: Any, data: _Json) -> _Json:
    """Put the keys of CooperBench's report first; the output is written only there."""
    tests = data.pop("tests")
    if tests is not None:
        tests.pop("output")
    return {
        "number": data.pop("number"),
        "tests_passed": feature.tests_passed,
        "test_output": feature.test_output,
        **data,
        "tests": tests,
    }


def _plain_feature(data: Any) -> Any:
    if not isinstance(data, dict) or not isinstance(data.get("tests"), dict):
        return data  # the converter reports what is wrong with it
    return data | {"tests": data["tests"] | {"output": data["test_output"]}}


# --- values ------------------------------------------------------------------


def _dump_bytes(value: bytes) -> str | dict[str, str]:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode("ascii")}


def _load_bytes(value: object, _: object) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, dict) and isinstance(value.get("base64"), str):
        return base64.b64decode(value["base64"], validate=True)
    raise ValueError(f"{value!r} does not represent bytes")


def _dump_changes(changes: Changes) -> list[_Json]:
    rows: list[_Json] = []
    for path, entry in changes.items():
        row: _Json = {"path": path, "mode": None, "data": None}
        if entry is not None:
            row |= {"mode": f"{entry.mode:06o}", "data": _dump_bytes(entry.data)}
        rows.append(row)
    return rows


def _load_changes(value: object, _: object) -> Changes:
    if isinstance(value, list):
        return Changes(dict(map(_load_change, value)))
    raise ValueError(f"expected a list of changes, found {value!r:.100}")


def _load_change(row: object) -> tuple[str, Entry | None]:
    if isinstance(row, dict) and isinstance(row.get("path"), str):
        path, mode, data = row["path"], row.get("mode"), row.get("data")
        if mode is None and data is None:
            return path, None
        if mode in _MODES:
            return path, Entry(_load_bytes(data, bytes), _MODES[mode])
    raise ValueError(f"expected a path, a file mode and contents, found {row!r:.100}")


_MODES = {f"{each:06o}": each for each in FileMode}


def _make_converter() -> Converter:
    converter = make_converter()
    converter.register_unstructure_hook(bytes, _dump_bytes)
    converter.register_structure_hook(bytes, _load_bytes)
    converter.register_unstructure_hook(Changes, _dump_changes)
    converter.register_structure_hook(Changes, _load_changes)

    plain_details = converter.gen_unstructure_attrs_fromdict(ConflictDetails)
    plain_tests = converter.gen_unstructure_attrs_fromdict(TestResult)

    def dump_details(details: ConflictDetails) -> _Json:
        average = {"avg_lines_per_conflict": details.avg_lines_per_conflict}
        data = plain_details(details)
        return {k: data.pop(k) for k in ("conflict_sections", "conflict_lines")} | average | data

    def dump_tests(tests: TestResult) -> _Json:
        cases = count_cases(tests.cases)
        counts = {name: getattr(cases, name) for name in COUNTS}
        data = plain_tests(tests)
        return {"status": data.pop("status")} | counts | data

    plain_case = converter.gen_structure_attrs_fromdict(TestCase)

    def load_case(value: Any, kind: Any) -> TestCase:
        # A report may have thousands of cases. This is five times as fast as cattrs, which still
        # handles the values that are unusual or wrong.
        try:
            seconds, message = value["duration_seconds"], value["message"]
            status = _CASE_STATUSES[value["status"]]
            is_usual = type(value["id"]) is type(message) is str and type(seconds) is float
        except (LookupError, TypeError):
            is_usual = False
        if is_usual and math.isfinite(seconds):
            id_ = value["id"]
            return TestCase(id=id_, status=status, duration_seconds=seconds, message=message)
        case: TestCase = plain_case(value, kind)
        return case

    converter.register_structure_hook(TestCase, load_case)
    converter.register_unstructure_hook(ConflictDetails, dump_details)
    converter.register_unstructure_hook(TestResult, dump_tests)
    return converter


_CASE_STATUSES = {each.value: each for each in TestCaseStatus}
_DETAILS = ("conflict_sections", "conflict_lines", "avg_lines_per_conflict")
_CONVERTER = _make_converter()
