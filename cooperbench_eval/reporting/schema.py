"""The merge report's JSON Schema, for whoever reads reports without this library."""

import json
from importlib import resources
from typing import Any, Final

__all__ = ["SCHEMA_ID", "report_schema"]

SCHEMA_ID: Final = "urn:cooperbench-eval:merge-report:1"


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) that `MergeReport.to_json` keeps to.

    It describes each key in the words of the records, and refuses values that no report
    has. Keys that it does not name are allowed, because a later version may add them. Its
    `$id` is a name and no address.

    Returns:
        A new dict at each call, for any validator of that draft.

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
