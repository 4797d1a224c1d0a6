"""Converts the values of reports to plain JSON values and back: cattrs, with our own types."""

import base64
import math
from typing import Any

from cooperbench_eval.git.merging.conflicts import ConflictDetails
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.running.results import (
    COUNTS,
    TestCase,
    TestCaseStatus,
    TestResult,
    count_cases,
)
from cooperbench_eval.support.json_records import Converter, make_converter

__all__ = ["make_report_converter"]

_Json = dict[str, Any]


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


def make_report_converter() -> Converter:
    """Return a converter for the records of reports. It also writes some facts that follow."""
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
