"""Writes the JSON Schemas of reports.

    python docs/tools/report_schema.py

They are generated from the records: keys, types and defaults from attrs, descriptions
from the docstrings. Needs `griffelib`, which the extra `test` brings.
"""

import datetime as dt
import enum
import functools
import json
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import griffe

import cooperbench_eval
from cooperbench_eval.git.merging.conflicts import Conflict, ConflictDetails, LedgerRow
from cooperbench_eval.git.patching.patch_parts import HunkPlacement
from cooperbench_eval.reporting import Attempt, Blame, FeatureReport, MergeReport
from cooperbench_eval.reporting.agent_costs import MOST_USAGE, AgentRun, AgentUsage
from cooperbench_eval.reporting.landings import BrokenTests, LeftOut, SuiteRun
from cooperbench_eval.reporting.schema import SCHEMAS
from cooperbench_eval.reporting.serialization import SCHEMA_VERSION
from cooperbench_eval.reporting.teams import TeamAttempt, TeamBlame, TeamReport, TeamStep
from cooperbench_eval.running.results import COUNTS, TestResult
from cooperbench_eval.support.json_records import MOST

__all__ = ["make_schema", "print_schema"]

_ROOT: Final = Path(__file__).resolve().parents[2]
SCHEMA_FOLDER: Final = _ROOT / "cooperbench_eval/reporting"

_Json = dict[str, Any]

_ABOUT: Final[Mapping[type, str]] = {
    MergeReport: "Everything that is known about a pair of features: feature 1 merged into feature "
    "2.",
    TeamReport: "Everything that is known about a team of features, merged in their order.",
}
_COMPATIBLE: Final = (
    "Keys are only ever added while schema_version is the same; a reader ignores keys that it "
    "does not know, and uses the default of one that is missing."
)
_REPORTS: Final[Mapping[str, type]] = {"pair": MergeReport, "team": TeamReport}

# Facts that a report derives and writes, in the order of the file. The fields of a record come
# after them in their own order, unless they are named here too.
_WRITTEN_FIRST: Final[Mapping[type, tuple[str, ...]]] = {
    MergeReport: (
        "schema_version",
        "repo_name",
        "task_id",
        "timestamp",
        "feature1",
        "feature2",
        "merge_status",
        "conflict_score",
    ),
    TeamReport: ("schema_version", "kind"),
    FeatureReport: ("number", "tests_passed", "test_output"),
    ConflictDetails: ("conflict_sections", "conflict_lines", "avg_lines_per_conflict"),
    TestResult: ("status", *COUNTS),
}
_WRITTEN_LAST: Final[Mapping[type, tuple[str, ...]]] = {
    FeatureReport: ("tests",),
    Attempt: ("verdict", "blame"),
    MergeReport: ("preexisting_failures", "warnings", "agent_usage"),
    TeamAttempt: ("score", "verdict", "blame"),
    TeamReport: (
        "merge_status",
        "conflict_score",
        "preexisting_failures",
        "warnings",
        "agent_usage",
    ),
}
# Derived facts that reports of earlier versions lack, with what they are then.
_LATER: Final[Mapping[tuple[type, str], Any]] = {
    (MergeReport, "preexisting_failures"): [],
    (MergeReport, "warnings"): [],
    (MergeReport, "agent_usage"): {},
    (TeamReport, "agent_usage"): {},
}

# Numbers are at least 0, except these.
_SIGNED: Final = {
    (MergeReport, "task_id"),
    (FeatureReport, "number"),
    (TestResult, "exit_code"),
    (HunkPlacement, "offset"),
    (Blame, "features"),
    (LedgerRow, "features"),
    (TeamReport, "task_id"),
    (TeamStep, "feature"),
    (TeamStep, "into"),
    (TeamAttempt, "landed"),
    (LeftOut, "number"),
    (LeftOut, "features"),
    (SuiteRun, "feature"),
    (BrokenTests, "feature"),
    (AgentRun, "features"),
    (TeamBlame, "features"),
}
_FROM_ONE: Final = {
    (MergeReport, "k"),
    (TeamReport, "k"),
    (Conflict, "line"),
    (HunkPlacement, "hunk"),
    (LedgerRow, "line"),
}
_SHARES: Final = {
    (TestResult, "pass_rate"),
    (TeamAttempt, "score"),
    (LedgerRow, "ours_kept"),
    (LedgerRow, "theirs_kept"),
}
_FEWEST_ITEMS: Final[Mapping[tuple[type, str], int]] = {(TeamReport, "features"): 2}
_BLAMES: Final[Mapping[type, type]] = {Attempt: Blame, TeamAttempt: TeamBlame}

_DATE: Final = (
    "(?!0000)[0-9]{4}-("
    "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    "|02-(0[1-9]|[12][0-9]))"
)
_CLOCK: Final = "([01][0-9]|2[0-3]):[0-5][0-9]"
_TIME: Final = rf"^{_DATE}T{_CLOCK}:[0-5][0-9](\.[0-9]{{1,6}})?(Z|[+-]{_CLOCK}(:[0-5][0-9])?)$"
_BASE64: Final = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"

_BYTES: Final[_Json] = {
    "title": "Bytes",
    "description": "A file's content, or a part of it: as text where it is UTF-8, else as base64.",
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "required": ["base64"],
            "properties": {
                "base64": {"type": "string", "contentEncoding": "base64", "pattern": _BASE64}
            },
        },
    ],
}
_NOTHING_MERGED: Final[_Json] = {
    "title": "NothingMerged",
    "description": "Stands for the details where there was nothing to merge.",
    "type": "object",
    "required": ["conflict_sections", "conflict_lines", "avg_lines_per_conflict"],
    "properties": {
        "conflict_sections": {"type": "null"},
        "conflict_lines": {"type": "null"},
        "avg_lines_per_conflict": {"type": "null"},
    },
}


def make_schema(kind: str) -> _Json:
    """Return the schema of the report of a pair or a team."""
    return _Maker().make(kind)


def print_schema(schema: _Json) -> str:
    """Return *schema* as the text of its file."""
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


class _Maker:
    """Builds the schema from the report and the records it contains."""

    def __init__(self) -> None:
        self._words = _Docstrings()
        self._definitions: _Json = {"Bytes": _BYTES}

    def make(self, kind: str) -> _Json:
        report = self._record(_REPORTS[kind])
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": SCHEMAS[kind].id,
            **report,
            "description": f"{_ABOUT[_REPORTS[kind]]} {_COMPATIBLE}",
            # This key distinguishes all other files from the report of a pair.
            **({"not": {"required": ["kind"]}} if kind == "pair" else {}),
            "$defs": dict(sorted(self._definitions.items())),
        }

    def _record(self, record: type) -> _Json:
        fields = {field.name: field for field in attrs.fields(record)}
        first, last = _WRITTEN_FIRST.get(record, ()), _WRITTEN_LAST.get(record, ())
        names = [*first, *(name for name in fields if name not in first + last), *last]
        properties = {name: self._property(record, name, fields.get(name)) for name in names}
        return {
            "title": record.__name__,
            "description": self._words.of(record),
            "type": "object",
            # A derived fact has no default either, so that readers need not derive it again.
            "required": [name for name in names if "default" not in properties[name]],
            "properties": properties,
        }

    def _property(self, record: type, name: str, field: "attrs.Attribute[Any] | None") -> _Json:
        match record.__name__, name:
            case _, "schema_version":
                meaning = "The version of this format."
                return {"description": meaning, "const": SCHEMA_VERSION}
            case "TeamReport", "kind":
                return {"description": "That it is the report of a team.", "const": "team"}
            case (("Attempt" | "TeamAttempt"), "blame"):
                kind = _BLAMES[record]
                return {"description": self._words.of(kind), **self._type(kind, record, name)}
            case "MergeReport", "conflict_details":
                meaning = "The naive merge's conflicts, measured."
                self._definitions["NothingMerged"] = _NOTHING_MERGED
                merged = self._type(ConflictDetails, record, name)
                return {
                    "description": meaning,
                    "anyOf": [merged, {"$ref": "#/$defs/NothingMerged"}],
                }
        meaning = self._words.of(record, name)
        if field is None:
            kind = typing.get_type_hints(getattr(record, name).fget)["return"]
            later = (record, name) in _LATER
            default: _Json = {"default": _LATER[record, name]} if later else {}
            return {"description": meaning, **self._type(kind, record, name), **default}
        if (record, name) == (FeatureReport, "tests"):
            meaning += " Its output is `test_output`."
        kind = typing.get_type_hints(record)[name]
        default = {} if field.default is attrs.NOTHING else {"default": _plain(field.default)}
        return {"description": meaning, **self._type(kind, record, name), **default}

    def _type(self, kind: Any, record: type, name: str) -> _Json:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (types.UnionType, typing.Union):
            (some,) = (each for each in arguments if each is not types.NoneType)
            return _or_null(self._type(some, record, name))
        if origin in {tuple, frozenset}:
            fewest = _FEWEST_ITEMS.get((record, name))
            least = {} if fewest is None else {"minItems": fewest}
            return {"type": "array", "items": self._type(arguments[0], record, name), **least}
        if origin is Mapping:
            values = self._type(arguments[1], record, name)
            return {"type": "object", "additionalProperties": values}
        if kind is bytes:
            return {"$ref": "#/$defs/Bytes"}
        if attrs.has(kind) or issubclass(kind, enum.Enum):
            return self._reference(kind)
        return self._scalar(kind, record, name)

    def _reference(self, kind: Any) -> _Json:
        if kind.__name__ not in self._definitions:
            self._definitions[kind.__name__] = {}  # for one that holds itself
            made = self._record(kind) if attrs.has(kind) else self._enum(kind)
            self._definitions[kind.__name__] = made
        return {"$ref": f"#/$defs/{kind.__name__}"}

    def _enum(self, kind: type[enum.StrEnum]) -> _Json:
        members = [f"- `{each.value}`: {self._words.of(kind, each.name)}" for each in kind]
        return {
            "title": kind.__name__,
            "description": "\n".join([self._words.of(kind), "", *members]),
            "type": "string",
            "enum": [each.value for each in kind],
        }

    def _scalar(self, kind: type, record: type, name: str) -> _Json:
        if kind is dt.datetime:
            return {"type": "string", "pattern": _TIME}
        if kind is int:
            return {"type": "integer", "minimum": -MOST, "maximum": MOST} | _bounds(record, name)
        if kind is float:
            return {"type": "number"} | _bounds(record, name)
        return {"type": {bool: "boolean", str: "string"}[kind]}


def _bounds(record: type, name: str) -> _Json:
    place = (record, name)
    if place in _SIGNED:
        return {}
    if place in _SHARES:
        return {"minimum": 0, "maximum": 1}
    if record is AgentUsage or place == (AgentRun, "messages_together"):
        return {"minimum": 0, "maximum": MOST_USAGE}
    return {"minimum": 1 if place in _FROM_ONE else 0}


def _or_null(kind: _Json) -> _Json:
    if "type" in kind:
        return kind | {"type": [kind["type"], "null"]}
    return {"anyOf": [kind, {"type": "null"}]}


def _plain(default: Any) -> Any:
    """Return a default as it is written in the file."""
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()
    if isinstance(default, bytes):
        return default.decode()
    if isinstance(default, AgentUsage):
        return attrs.asdict(default)
    if isinstance(default, frozenset):
        return sorted(default)
    return list(default) if isinstance(default, tuple) else default


class _Docstrings:
    """The descriptions in docstrings, for readers of the file."""

    def __init__(self) -> None:
        self._package = _documented_package()

    def of(self, kind: type, name: str | None = None) -> str:
        """Return the first paragraph about a class, or the description of one attribute."""
        inside = kind.__module__.removeprefix("cooperbench_eval.")
        found = self._package[f"{inside}.{kind.__name__}"]
        if name is None:
            return _flat(found.docstring.value.split("\n\n")[0])
        for base in kind.__mro__:  # a property may be inherited
            if name in vars(base) and isinstance(vars(base)[name], property):
                return _flat(vars(base)[name].__doc__ or "")
        if name in found.members and found[name].docstring is not None:  # a member of an enum
            return _flat(found[name].docstring.value)
        for section in found.docstring.parsed:
            if section.kind is griffe.DocstringSectionKind.attributes:
                for each in section.value:
                    if each.name == name:
                        return _flat(each.description)
        raise LookupError(f"nothing is said of {kind.__name__}.{name}")


@functools.cache
def _documented_package() -> griffe.Module:
    paths = [Path(cooperbench_eval.__file__).parents[1]]
    package = griffe.load("cooperbench_eval", docstring_parser="google", search_paths=paths)
    return typing.cast("griffe.Module", package)


def _flat(text: str) -> str:
    return " ".join(text.split()).replace("`None`", "`null`")


def main() -> None:
    """Write the schemas."""
    for kind in SCHEMAS:
        file = SCHEMA_FOLDER / SCHEMAS[kind].file
        file.write_text(print_schema(make_schema(kind)), encoding="utf-8")


if __name__ == "__main__":
    main()
