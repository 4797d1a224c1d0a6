"""Writes records as JSON and reads them.

cattrs converts the records. This module adds the facts that follow from them; in a merge report,
they have CooperBench's names.
"""

import base64
import json
import math
from collections.abc import Callable
from typing import Any, TypeVar

from attrs import frozen

from cooperbench_eval.errors import ReportError
from cooperbench_eval.git.merging.conflicts import ConflictDetails
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.reporting.derived import check_derived, check_report, facts_of, shown
from cooperbench_eval.running.results import TestCase, TestCaseStatus, TestResult
from cooperbench_eval.support.json_records import (
    Converter,
    load_number,
    make_converter,
    parse_json,
    structure,
)

__all__ = ["SCHEMA_VERSION", "dump", "dumps", "load", "parse_json"]

SCHEMA_VERSION = 1

_PAIR = "pair"  # no file says so: a merge report has no key for its kind
_DETAILS = ("conflict_sections", "conflict_lines", "avg_lines_per_conflict")
_Record = TypeVar("_Record")
_Json = dict[str, Any]


@frozen
class _Format:
    """How one kind of record is written.

    Attributes:
        written: Returns what is written, for a record and its attributes as plain values.
        check: Raises `ReportError` if a fact that was written contradicts the record.
        attributes: Returns the attributes as plain values, from what was written. It may raise
            `KeyError` for one that is missing.
    """

    name: str
    reader: str
    written: Callable[[Any, _Json], _Json]
    check: Callable[[Any, _Json], None]
    attributes: Callable[[_Json], _Json] = lambda data: data

    @property
    def described(self) -> str:
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"


def dump(record: object, kind: str) -> _Json:
    """Return a record of a kind as plain JSON values."""
    head = {"schema_version": SCHEMA_VERSION} | ({} if kind == _PAIR else {"kind": kind})
    return head | _FORMATS[kind].written(record, _CONVERTER.unstructure(record))


def dumps(values: _Json) -> str:
    """Return plain JSON values as text, with one line for each value."""
    return json.dumps(values, allow_nan=False, indent=2) + "\n"


def load(data: object, cls: type[_Record], kind: str) -> _Record:
    """Read plain JSON values as a record of a kind and of class *cls*."""
    form = _FORMATS[kind]
    if not isinstance(data, dict) or _kind_of(data) != kind:
        raise ReportError(_other_kind(data, form.described))
    _check_version(data.get("schema_version"))
    problem = f"is not a valid {form.name}"
    try:
        attributes = form.attributes(data)
    except KeyError as exc:
        raise ReportError(f"{problem}: {exc} is missing") from exc
    record = structure(_CONVERTER, attributes, cls, problem)
    form.check(record, data)
    return record


def _kind_of(data: _Json) -> object:
    return data.get("kind", _PAIR if "schema_version" in data else None)


def _other_kind(data: object, wanted: str) -> str:
    """Return that *data* is not what is wanted, and what it is instead if that is known."""
    what = f"is not {wanted}"
    if not isinstance(data, dict) or "schema_version" not in data:
        return what
    kind = _kind_of(data)
    form = _FORMATS.get(kind) if isinstance(kind, str) else None
    is_known = form and (kind != _PAIR or "feature1" in data)
    return f"{what}, but {form.described}, which {form.reader} reads" if form and is_known else what


def _check_version(value: object) -> None:
    try:
        version = load_number(value)
    except ValueError as exc:
        raise ReportError(f"has the invalid schema version {shown(value)}") from exc
    if version < 1:
        raise ReportError(f"has the invalid schema version {version}")
    if version > SCHEMA_VERSION:
        raise ReportError(f"has schema version {version}, newer than {SCHEMA_VERSION}")


# --- pairs -------------------------------------------------------------------


def _written_pair(report: Any, data: _Json) -> _Json:
    head = {
        "repo_name": data.pop("repo_name"),
        "task_id": data.pop("task_id"),
        "timestamp": data.pop("timestamp"),
        "feature1": _written_feature(report.feature1, data.pop("feature1")),
        "feature2": _written_feature(report.feature2, data.pop("feature2")),
        **facts_of(report),
    }
    if data["conflict_details"] is None:  # CooperBench's keys are always written
        data["conflict_details"] = dict.fromkeys(_DETAILS)
    _add_verdicts(report, data)
    return head | data | _remarks(report)


def _pair_attributes(data: _Json) -> _Json:
    plain = data | {name: _feature_attributes(data[name]) for name in ("feature1", "feature2")}
    details = plain.get("conflict_details")
    if isinstance(details, dict) and all(details.get(name, "") is None for name in _DETAILS):
        plain["conflict_details"] = None
    return plain


# --- teams -------------------------------------------------------------------


def _written_team(report: Any, data: _Json) -> _Json:
    features = zip(report.features, data["features"], strict=True)
    data["features"] = [_written_feature(each, row) for each, row in features]
    _add_verdicts(report, data)
    return data | facts_of(report) | _remarks(report)


def _team_attributes(data: _Json) -> _Json:
    features = data["features"]
    if not isinstance(features, list):
        return data  # the converter reports what is wrong with it
    return data | {"features": [_feature_attributes(each) for each in features]}


# --- what pairs and teams have in common -------------------------------------


def _add_verdicts(report: Any, data: _Json) -> None:
    for attempt, row in zip(report.attempts, data["attempts"], strict=True):
        row.update(facts_of(attempt))
        row["blame"] = _CONVERTER.unstructure(report.blame(attempt.strategy))


def _remarks(report: Any) -> _Json:
    return {
        "preexisting_failures": list(report.preexisting_failures),
        "warnings": list(report.warnings),
        "agent_usage": _CONVERTER.unstructure(report.agent_usage),
    }


def _written_feature(feature: Any, data: _Json) -> _Json:
    """Put the keys of CooperBench's report first; the output is written only as `test_output`."""
    tests = data.pop("tests")
    if tests is not None:
        tests.pop("output")
    return {"number": data.pop("number"), **facts_of(feature), **data, "tests": tests}


def _feature_attributes(data: Any) -> Any:
    if not isinstance(data, dict) or not isinstance(data.get("tests"), dict):
        return data  # the converter reports what is wrong with it
    return data | {"tests": data["tests"] | {"output": data["test_output"]}}


# --- plans, probes and audits ------------------------------------------------


def _written_plan(plan: Any, data: _Json) -> _Json:
    return facts_of(plan) | data


def _written_probe(probe: Any, data: _Json) -> _Json:
    return data | {"plan": probe.plan.to_dict()} | facts_of(probe)


def _written_audit(audit: Any, data: _Json) -> _Json:
    for name in ("files", "comparisons", "suites"):
        for record, row in zip(getattr(audit, name), data[name], strict=True):
            row.update(facts_of(record))
    return facts_of(audit) | data


_FORMATS = {
    _PAIR: _Format("merge report", "MergeReport", _written_pair, check_report, _pair_attributes),
    "team": _Format("team report", "TeamReport", _written_team, check_report, _team_attributes),
    "landing plan": _Format("landing plan", "LandingPlan", _written_plan, check_derived),
    "probe": _Format("probe", "Probe", _written_probe, check_derived),
    "audit": _Format("audit", "Audit", _written_audit, check_derived),
}


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
    raise ValueError(f"expected a text or {{'base64': …}}, found {value!r:.100}")


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
    """Return a converter for the records of reports. It also writes some facts that follow."""
    converter = make_converter()
    converter.register_unstructure_hook(bytes, _dump_bytes)
    converter.register_structure_hook(bytes, _load_bytes)
    converter.register_unstructure_hook(Changes, _dump_changes)
    converter.register_structure_hook(Changes, _load_changes)

    plain_details = converter.gen_unstructure_attrs_fromdict(ConflictDetails)
    plain_tests = converter.gen_unstructure_attrs_fromdict(TestResult)

    def dump_details(details: ConflictDetails) -> _Json:
        data = plain_details(details)
        return {name: data.pop(name) for name in _DETAILS[:2]} | facts_of(details) | data

    def dump_tests(tests: TestResult) -> _Json:
        data = plain_tests(tests)
        return {"status": data.pop("status")} | facts_of(tests) | data

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
_CONVERTER = _make_converter()
