"""The JSON Schemas of the reports, for readers that do not use this library."""

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final, Literal, NamedTuple

from cooperbench_eval.support.arguments import checked


class _Schema(NamedTuple):
    id: str
    file: str


SCHEMAS: Final[Mapping[str, _Schema]] = {
    "pair": _Schema("urn:cooperbench-eval:merge-report:1", "merge_report.schema.json"),
    "team": _Schema("urn:cooperbench-eval:team-report:1", "team_report.schema.json"),
}
"""The id of each schema and the name of its file, by what the report is about."""


@checked
def report_schema(kind: Literal["pair", "team"] = "pair") -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a report's JSON.

    It has the records' description of each key, and excludes values that no report has.
    Unknown keys are allowed, because a later version may add some. Its `$id` is a name and
    not an address.

    Args:
        kind: `"pair"` for the text that `MergeReport.to_json` writes, `"team"` for that of
            `TeamReport.to_json`.

    Returns:
        A new dict at each call, which any validator of that draft accepts.

    Raises:
        ValueError: *kind* is something else.

    Example:
        >>> schema = report_schema()
        >>> schema["$id"]
        'urn:cooperbench-eval:merge-report:1'
        >>> schema["$defs"]["Verdict"]["enum"]
        ['correct', 'incorrect', 'unhandled', 'not_run']
        >>> report_schema("team")["properties"]["kind"]["const"]
        'team'
    """
    file = resources.files("cooperbench_eval.reporting").joinpath(SCHEMAS[kind].file)
    schema: dict[str, Any] = json.loads(file.read_bytes())
    return schema
