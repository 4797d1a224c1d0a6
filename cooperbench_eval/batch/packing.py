"""A report as it travels and is kept: a small head, and its large parts by content.

The head is the report's JSON with `{"text_sha256": …}` or `{"json_sha256": …}` where
a large text or list stood, and with the facts that statistics need, so that whoever
counts reads heads alone. Equal parts are one part, in a report and across reports.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import frozen

from cooperbench_eval.analysis.facts import PairFacts, facts_of
from cooperbench_eval.errors import ReportError
from cooperbench_eval.reporting import MergeReport

__all__ = ["Packed", "facts_in", "pack", "unpack"]

_LARGE: Final = 1024
"""Characters from which on a part stands beside."""
_TEXT: Final = "text_sha256"
_JSON: Final = "json_sha256"


@frozen
class Packed:
    """A report as bytes.

    Attributes:
        head: JSON on one line.
        parts: What stands beside, by the SHA-256 of its bytes.
        is_final: See `MergeReport.is_final`.
    """

    head: bytes
    parts: Mapping[str, bytes]
    is_final: bool


def pack(report: MergeReport) -> Packed:
    """Turn *report* into bytes."""
    parts: dict[str, bytes] = {}
    data = report.to_dict()
    data["attempts"] = [_outlined(attempt, parts) for attempt in data["attempts"]]
    head = {"facts": facts_of(report).to_dict(), **_outlined(data, parts, keep="attempts")}
    return Packed(_dumps(head), parts, report.is_final)


def unpack(head: bytes, part: Callable[[str], bytes]) -> MergeReport:
    """Turn bytes back into a report; *part* returns a part by its digest.

    Raises:
        ReportError: They are no report, or of a newer schema.
    """
    return MergeReport.from_dict(_restored(_loads(head), part))


def facts_in(head: bytes) -> PairFacts:
    """Read the facts alone.

    Raises:
        ReportError: The bytes hold none.
    """
    data = _loads(head)
    if "facts" not in data:
        raise ReportError("holds no facts")
    return PairFacts.from_dict(data["facts"])


def _outlined(data: dict[str, Any], parts: dict[str, bytes], keep: str = "") -> dict[str, Any]:
    """Return *data* with its large texts and lists moved to *parts*."""
    return {key: value if key == keep else _small(value, parts) for key, value in data.items()}


def _small(value: Any, parts: dict[str, bytes]) -> Any:
    if isinstance(value, dict):
        return _outlined(value, parts)
    if isinstance(value, str) and len(value) > _LARGE:
        return {_TEXT: _beside(value.encode("utf-8", "surrogatepass"), parts)}
    if isinstance(value, list) and len(data := _dumps(value)) > _LARGE:
        return {_JSON: _beside(data, parts)}
    return value


def _beside(data: bytes, parts: dict[str, bytes]) -> str:
    digest = hashlib.sha256(data).hexdigest()
    parts[digest] = data
    return digest


def _restored(value: Any, part: Callable[[str], bytes]) -> Any:
    if isinstance(value, list):
        return [_restored(each, part) for each in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        if _TEXT in value:
            return part(value[_TEXT]).decode("utf-8", "surrogatepass")
        if _JSON in value:
            return json.loads(part(value[_JSON]))
    return {key: _restored(each, part) for key, each in value.items()}


def _dumps(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _loads(head: bytes) -> dict[str, Any]:
    try:
        data = json.loads(head)
    except (ValueError, RecursionError) as exc:
        raise ReportError(f"is no JSON ({exc})") from exc
    if not isinstance(data, dict):
        raise ReportError("is no stored report")
    return data
