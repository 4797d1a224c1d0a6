"""Makes the tables of a report's keys for the site, from the JSON Schemas in the package."""

import json
from collections.abc import Iterable
from typing import Any

__all__ = ["make_tables"]

_Json = dict[str, Any]


def make_tables(schemas: Iterable[_Json]) -> str:
    """Return the tables of *schemas*: each record once, then each kind of value."""
    reports = {schema["title"]: schema for schema in schemas}
    merged = {name: each for schema in reports.values() for name, each in schema["$defs"].items()}
    found = dict(sorted(merged.items()))
    records = reports | {name: each for name, each in found.items() if "properties" in each}
    others = {name: each for name, each in found.items() if name not in records}
    parts = [_table(name, each) for name, each in records.items()]
    parts += [f"### {name}\n\n{each['description']}\n" for name, each in others.items()]
    return "\n".join(parts)


def _table(name: str, record: _Json) -> str:
    rows = [
        f"| `{key}` | {_shown_type(each)} | {_shown_default(key, each, record)} "
        f"| {each.get('description', '').replace('|', chr(92) + '|')} |"
        for key, each in record["properties"].items()
    ]
    head = f"### {name}\n\n{record['description']}\n\n"
    return head + "\n".join(["| key | value | default | |", "|---|---|---|---|", *rows]) + "\n"


def _shown_default(key: str, value: _Json, record: _Json) -> str:
    return "required" if key in record["required"] else f"`{json.dumps(value['default'])}`"


def _shown_type(value: _Json) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(_shown_type(each) for each in value["anyOf"])
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if value["type"] == "array":
        return f"list of {_shown_type(value['items'])}"
    if value["type"] == "object" and "additionalProperties" in value:
        return f"object of {_shown_type(value['additionalProperties'])}"
    names = value["type"] if isinstance(value["type"], list) else [value["type"]]
    return " or ".join(names)
