"""The JSON Schema of the merge report, for readers that do not use this library."""

import json
from importlib import resources
from typing import Any, Final

__all__ = ["SCHEMA_ID", "report_schema"]

SCHEMA_ID: Final = "urn:cooperbench-eval:merge-report:1"


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the text that `MergeReport.to_json` writes.

    It has the records' description of each key, and excludes values that no report has.
    Unknown keys are allowed, because a later version may add some. Its `$id` is a name and
    not an address.

    Returns:
        A new dict at each call, which any validator of that draft accepts.

    Example:
        >>> schema = report_schema()
        >>> schema["$id"]
        'urn:cooperbench-eval:merge-report:1'
        >>> schema["$defs"]["Verdict"]["enum"]
        ['correct', 'incorrect', 'unhandled', 'not_run']
    """
    file = resources.files("cooperbench_eval.reporting").joinpath("merge_report.schema.json")
    schema: dict[str, Any] = json.loads(file.read_bytes())
    return schema
