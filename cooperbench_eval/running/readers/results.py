"""Shared by the readers: JSON as typed records, result files, outputs, and paths of the tree."""

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from cooperbench_eval.errors import ReportError
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.running.readers.protocol import (
    CASE_LIMIT,
    ID_LIMIT,
    UnreadableResultError,
    lengthened,
    read_result_file,
    shortened,
)
from cooperbench_eval.running.results import TestCase, TestCaseStatus

if TYPE_CHECKING:
    from cooperbench_eval.support.json_records import Converter

__all__ = [
    "as_record",
    "clean",
    "is_unnamed",
    "parse_json",
    "read_sessions",
    "tree_path",
    "unnamed",
    "whole_output",
]

# The most values that a JSON text may hold, since each one takes memory.
_VALUE_LIMIT = 20 * CASE_LIMIT
_SESSION_LIMIT = 100
_DEPTH_LIMIT = 64  # folders above a file
_SIZE_LIMIT = 64 << 20
_LONGEST = 1e12
_CUT = re.compile(rb"(?m)^\[\.\.\. \d+ bytes cut \.\.\.\]$")
_UNNAMED = re.compile(rf" (?:{'|'.join(TestCaseStatus)}) #\d+$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_Record = TypeVar("_Record")


def clean(text: str) -> str:
    """Return a message without colours, cut to a sensible length."""
    return shortened(_COLOUR.sub("", lengthened("", text)))


def whole_output(output: bytes) -> str:
    """Return a command's output as text.

    Raises:
        UnreadableResultError: A part of the output was cut.
    """
    if _CUT.search(output):
        raise UnreadableResultError("the output is too long to be read whole")
    return output.decode(errors="backslashreplace")


def unnamed(label: str, counts: Mapping[TestCaseStatus, int]) -> tuple[TestCase, ...]:
    """Return cases of which only the number is known, with ids `<label> <status> #<number>`.

    Raises:
        UnreadableResultError: The number of cases is impossible.
    """
    if sum(counts.values()) > CASE_LIMIT:
        raise UnreadableResultError("the result counts an impossible number of tests")
    return tuple(
        TestCase(id=f"{label} {status} #{number}", status=status)
        for status, count in counts.items()
        for number in range(1, count + 1)
    )


def is_unnamed(case: TestCase) -> bool:
    """Whether `unnamed` made a case, so that no test can be recognised by its id."""
    return _UNNAMED.search(case.id) is not None


def parse_json(data: bytes) -> Any:
    """Parse a JSON text.

    Raises:
        UnreadableResultError: The text is not JSON as in RFC 8259, holds too many values,
            or is nested too deeply.
    """
    if data.count(b",") + data.count(b"{") + data.count(b"[") > _VALUE_LIMIT:
        raise UnreadableResultError("the result file holds too many values")
    try:
        return json.loads(data.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        raise UnreadableResultError(f"the result file is not JSON ({type(exc).__name__})") from exc


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def as_record(value: object, kind: type[_Record]) -> _Record:
    """Read plain JSON values as a record, whose fields have the JSON keys as aliases.

    Characters that UTF-8 cannot express are escaped. A `float` is a duration: any value
    that cannot be one becomes 0. A `bool` is true only if the value is `true`.

    Raises:
        UnreadableResultError: A key is missing, or a value has the wrong type.
    """
    from cooperbench_eval.support.json_records import (  # noqa: PLC0415 - cattrs loads slowly
        structure,
    )

    try:
        return structure(_converter(), value, kind, "the result file is unusual")
    except ReportError as exc:
        problem = "the result file is not as its framework writes it"
        raise UnreadableResultError(problem) from exc


@cache
def _converter() -> "Converter":
    from cooperbench_eval.support.json_records import make_converter  # noqa: PLC0415 - as above

    converter = make_converter(use_alias=True, detailed_validation=False)
    converter.register_structure_hook(str, _load_text)
    converter.register_structure_hook(float, _load_duration)
    converter.register_structure_hook(bool, _is_true)
    return converter


def _load_text(value: object, _: object) -> str:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    raise ValueError(value)


def _load_duration(value: object, _: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value < _LONGEST else 0.0


def _is_true(value: object, _: object) -> bool:
    return value is True


def tree_path(path: str, tree: Snapshot) -> str:
    """Return the path of a file in the tree, whatever directory the tree was written to.

    For a file that is not in the tree, such as one that a build made, only its name is
    returned: an id must not depend on where the run took place.
    """
    parts = [part for part in path[-ID_LIMIT:].split("/") if part][-_DEPTH_LIMIT:]
    for start in range(len(parts)):
        candidate = "/".join(parts[start:])
        if tree.get(candidate) is not None:
            return candidate
    return parts[-1] if parts else path


def read_sessions(scratch: Path, prefix: str, suffix: str) -> list[bytes]:
    """Return the result files of all sessions of a run.

    Raises:
        UnreadableResultError: There is no result file, there are too many, or one cannot be read.
    """
    try:
        names = sorted(os.listdir(scratch))  # noqa: PTH208 - names are wanted
    except OSError as exc:
        raise UnreadableResultError(f"the results cannot be read ({exc.strerror})") from exc
    found = [name for name in names if name.startswith(prefix) and name.endswith(suffix)]
    if not found:
        raise UnreadableResultError("no result file was written")
    if len(found) > _SESSION_LIMIT:
        raise UnreadableResultError("there are too many result files")
    results = []
    for name in found:
        results.append(read_result_file(scratch / name))
        if sum(map(len, results)) > _SIZE_LIMIT:
            raise UnreadableResultError("the result files are too large together")
    return results
