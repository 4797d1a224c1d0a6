"""Report <-> JSON: the schema in one place.

cattrs does the records; this module adds the derived facts under the base
document's names, and says how bytes and times are written.
"""

import base64
import datetime as dt
import functools
import json
import math
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast, get_origin

import attrs
import cattrs
from cattrs.cols import list_structure_factory
from cattrs.v import format_exception

from cooperbench_eval.errors import ReportError
from cooperbench_eval.models import COUNTS, ConflictDetails, TestResult, count_cases
from cooperbench_eval.reporting.derived import check_derived, shown

__all__ = ["MOST", "SCHEMA_VERSION", "Compact", "dump", "dumps", "load", "loads"]

SCHEMA_VERSION = 1
MOST = 2**63 - 1
"""No integer of a report is further from zero: others may be more than a float holds."""

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
    if data["conflict_details"] is None:  # the base document's keys are always there
        data["conflict_details"] = dict.fromkeys(_DETAILS)
    for attempt, row in zip(report.attempts, data["attempts"], strict=True):
        row["verdict"] = attempt.verdict.value
        row["blame"] = _CONVERTER.unstructure(report.blame(attempt.strategy))
    return head | data


def dumps(report: Any) -> str:
    """Return *report* as JSON text, one line a value."""
    return json.dumps(dump(report), allow_nan=False, indent=2) + "\n"


def loads(text: str | bytes, kind: type[_Report]) -> _Report:
    """Read JSON text as a report of class *kind*.

    Raises:
        ReportError: The text is no report, or of a newer schema.
    """
    try:
        data = json.loads(text)
    # Brackets nested without end exhaust the reader instead.
    except (ValueError, RecursionError) as exc:
        raise ReportError(f"is no JSON ({exc})") from exc
    return load(data, kind)


def load(data: object, kind: type[_Report]) -> _Report:
    """Read plain JSON values as a report of class *kind*.

    Raises:
        ReportError: The values are no report, or of a newer schema.
    """
    if not isinstance(data, dict) or "schema_version" not in data:
        raise ReportError("is no merge report")
    version = _schema_version(data["schema_version"])
    if version > SCHEMA_VERSION:
        raise ReportError(f"has schema version {version}, newer than {SCHEMA_VERSION}")
    try:
        plain = data | {name: _plain_feature(data[name]) for name in ("feature1", "feature2")}
        details = plain["conflict_details"]
        if isinstance(details, dict) and all(details.get(name, "") is None for name in _DETAILS):
            plain["conflict_details"] = None
        report: Any = _CONVERTER.structure(plain, kind)
    except (ArithmeticError, KeyError, TypeError, ValueError, cattrs.BaseValidationError) as exc:
        problem = _problems(exc) if _is_validation(exc) else repr(exc)
        raise ReportError(f"does not hold what a merge report holds: {problem}") from exc
    check_derived(report, data)
    return cast("_Report", report)


def _schema_version(value: object) -> int:
    try:
        version = _load_number(value, int)
    except ValueError as exc:
        raise ReportError(f"has {shown(value)} for a schema version") from exc
    if version < 1:
        raise ReportError(f"has {version} for a schema version")
    return version


def _is_validation(exc: Exception) -> bool:
    return isinstance(exc, cattrs.BaseValidationError)


def _problems(exc: BaseException) -> str:
    return "; ".join(cattrs.transform_error(exc, format_exception=_problem))


def _problem(exc: BaseException, kind: type | None) -> str:
    """Say what a record itself has to say of its fields; cattrs knows what one of them needs."""
    if kind is None and isinstance(exc, ValueError):
        return f"{exc!s:.200}"
    return format_exception(exc, kind)


class Compact(Generic[_Report]):
    """Small records as small JSON values, fast enough for a hundred thousand of them.

    What is at its default is left out, and values are taken as they are: a number in
    quotation marks is no number.

    Args:
        kind: The class of the records, whose attributes are records, numbers, texts,
            enums, times and tuples of these.
    """

    def __init__(self, kind: type[_Report]) -> None:
        self._kind = kind
        self._converter = _make_compact_converter(detailed=False)

    def dump(self, record: _Report) -> _Json:
        """Return *record* as plain JSON values."""
        data: _Json = self._converter.unstructure(record, self._kind)
        return data

    def load(self, data: object) -> _Report:
        """Read plain JSON values as a record.

        Raises:
            ReportError: The values are no such record.
        """
        try:
            return self._converter.structure(data, self._kind)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as exc:
            raise ReportError(
                f"holds no {self._kind.__name__}: {self._problem(data, exc)}"
            ) from exc

    def _problem(self, data: object, exc: Exception) -> str:
        """Say where *data* is wrong, which the fast converter does not tell."""
        try:
            _make_compact_converter(detailed=True).structure(data, self._kind)
        except cattrs.BaseValidationError as detailed:
            return _problems(detailed)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as detailed:
            return repr(detailed)
        return repr(exc)


# --- features ----------------------------------------------------------------


def _feature(feature: Any, data: _Json) -> _Json:
    """Put what the base document asks for on top; the output stands there once."""
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
        return data  # what is wrong with it is told where it is structured
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
    raise ValueError(f"{value!r} stands for no bytes")


def _load_time(value: object, _: object) -> dt.datetime:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no time")
    time = dt.datetime.fromisoformat(value)
    if time.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone")
    return time


def _load_number(value: object, _: object) -> int:
    if isinstance(value, float) and value.is_integer():  # JSON has one kind of number
        value = int(value)
    if type(value) is not int:  # a boolean is no number
        raise ValueError(f"{value!r} is no integer")
    if abs(value) > MOST:
        raise ValueError(f"an integer of {value.bit_length()} bits is too large")
    return value


def _load_truth(value: object, _: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is neither true nor false")


def _load_seconds(value: object, _: object) -> float:
    if (isinstance(value, float) and math.isfinite(value)) or type(value) is int:
        return float(value)
    raise ValueError(f"{value!r} is no number")


def _load_text(value: object, kind: type[str]) -> str:
    if isinstance(value, str):
        # To look a member up is faster than to call its class, which says what is wrong.
        return value if kind is str else _members(kind).get(value) or kind(value)
    raise ValueError(f"{value!r} is no text")


@functools.cache
def _members(kind: Any) -> dict[str, str]:
    return {each.value: each for each in kind}


def _is_tuple(kind: object) -> bool:
    return get_origin(kind) is tuple


def _make_tuple_hook(
    kind: Any, converter: cattrs.BaseConverter
) -> Callable[[object, object], tuple[Any, ...]]:
    load_items = list_structure_factory(kind, converter)

    def load(value: object, _: object) -> tuple[Any, ...]:
        if isinstance(value, list | tuple):  # a text has items too
            return tuple(load_items(value, kind)) if value else ()
        raise ValueError(f"{value!r} is no list")

    return load


def _is_all_defaults(kind: Any) -> bool:
    return attrs.has(kind) and all(f.default is not attrs.NOTHING for f in attrs.fields(kind))


def _make_record_hook(kind: Any, converter: cattrs.Converter) -> Callable[[object, object], Any]:
    """Ask for an object where no missing key would tell that it is none."""
    load_object = converter.gen_structure_attrs_fromdict(kind)

    def load(value: object, _: object) -> Any:
        if isinstance(value, dict):
            return load_object(value, kind)
        raise ValueError(f"{value!r} is no object")

    return load


def _register_values(converter: cattrs.Converter) -> None:
    """Have *converter* take values as they are; cattrs' own way makes text of `None`."""
    converter.register_unstructure_hook(dt.datetime, dt.datetime.isoformat)
    converter.register_structure_hook(dt.datetime, _load_time)
    converter.register_structure_hook(int, _load_number)
    converter.register_structure_hook(bool, _load_truth)
    converter.register_structure_hook(float, _load_seconds)
    converter.register_structure_hook(str, _load_text)  # and its subclasses, our enums
    converter.register_structure_hook_factory(_is_tuple, _make_tuple_hook)
    converter.register_structure_hook_factory(_is_all_defaults, _make_record_hook)


def _make_compact_converter(*, detailed: bool) -> cattrs.Converter:
    converter = cattrs.Converter(
        detailed_validation=detailed, omit_if_default=True, prefer_attrib_converters=False
    )
    _register_values(converter)
    return converter


def _make_converter() -> cattrs.Converter:
    converter = cattrs.Converter(prefer_attrib_converters=False)
    _register_values(converter)
    converter.register_unstructure_hook(bytes, _dump_bytes)
    converter.register_structure_hook(bytes, _load_bytes)

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

    converter.register_unstructure_hook(ConflictDetails, dump_details)
    converter.register_unstructure_hook(TestResult, dump_tests)
    return converter


_DETAILS = ("conflict_sections", "conflict_lines", "avg_lines_per_conflict")
_CONVERTER = _make_converter()
