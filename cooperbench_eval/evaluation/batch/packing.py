"""A report as bytes, to send and to store: a small head, and large parts by digest.

The head is the report's JSON. Each large text or list in it is replaced with
`{"text_sha256": …}` or `{"json_sha256": …}`, and the key `beside` lists their places. The
head also has the facts that statistics need, so statistics read only heads. Equal parts
are stored once, within a report and across reports.

A head that is stored is also *sealed*: its last two keys are the name of its file and the
SHA-256 of every byte before that digest. So a changed byte is noticed, and so is a head that
was stored under another name.
"""

import functools
import hashlib
import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from attrs import frozen

from cooperbench_eval.analysis.facts import GroupFacts, PairFacts, TeamFacts
from cooperbench_eval.analysis.sources import facts_of
from cooperbench_eval.errors import ReportError
from cooperbench_eval.reporting import MergeReport
from cooperbench_eval.reporting.teams import GroupReport, TeamReport
from cooperbench_eval.support.json_records import SharedList, parse_json
from cooperbench_eval.support.memo import WeighedMemo

_LARGE: Final = 1024
"""A text or list with more characters becomes a part."""
_TEXT: Final = "text_sha256"
_JSON: Final = "json_sha256"
_PLACES: Final = "beside"
_ROWS: Final = {"attempts", "features", "landed_tests", "merges", "steps", "tests"}
"""Lists whose items are packed one by one, because other reports may have the same texts."""
_SEAL: Final = re.compile(rb',"stored_as":"([^"]{1,99})","sha256":"([0-9a-f]{64})"}')
_LONGEST_SEAL: Final = 256
_KEPT_BYTES: Final = 1 << 22

_Place = tuple[str | int, ...]


@frozen
class Packed:
    """A report as bytes: JSON on one line, and the large parts by the SHA-256 of their bytes."""

    head: bytes
    parts: Mapping[str, bytes]
    is_final: bool

    def unpack(self) -> GroupReport:
        """Turn it back into a report; see `unpack`."""
        return unpack(self.head, Parts(self.parts.__getitem__))


def pack(report: GroupReport) -> Packed:
    """Turn *report* into bytes."""
    parts: dict[str, bytes] = {}
    places: list[_Place] = []
    data = report.to_dict()
    _put_beside(data, (), parts, places)
    head = {"facts": facts_of(report).to_dict(), **data, _PLACES: places}
    return Packed(_dumps(head), parts, report.is_final)


class Parts:
    """Reads the parts of reports.

    Reports share parts, and so do the rows of one report, because a run serves every strategy
    with the same merged tree. The parts that were read last are kept, up to a total length.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._kept = WeighedMemo[tuple[str, str], Any](_KEPT_BYTES)

    def value(self, named: dict[str, str]) -> Any:
        """Return the text or the list that a head names."""
        kind = _TEXT if _TEXT in named else _JSON
        key = kind, named[kind]
        found = self._kept.get(key)
        if found is None:
            data = self._read(named[kind])
            found = self._kept.keep(key, _parsed(kind, data), size=len(data))
        return found


def _parsed(kind: str, data: bytes) -> Any:
    if kind == _TEXT:
        return data.decode("utf-8", "surrogatepass")
    value = json.loads(data)
    return SharedList(value) if isinstance(value, list) else value


def unpack(head: bytes, parts: Parts) -> GroupReport:
    """Turn bytes back into a report, and reuse what *parts* has parsed."""
    data = _loads(head)
    try:
        for *above, last in data.pop(_PLACES, ()):
            holder = functools.reduce(operator.getitem, above, data)
            holder[last] = parts.value(holder[last])
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as exc:
        raise ReportError(f"lists a part at a place where it has none ({exc!r})") from exc
    kind: type[GroupReport] = TeamReport if _is_team(data) else MergeReport
    return kind.from_dict(data)


def digests_in(head: bytes) -> Iterator[str]:
    """Yield the digests of the parts that a head refers to."""
    data = _loads(head)
    for place in data.get(_PLACES, ()):
        named = functools.reduce(operator.getitem, place, data)
        yield named[_TEXT] if _TEXT in named else named[_JSON]


def seal(head: bytes, name: str) -> bytes:
    """Add the name of the file and the digest to a head that is to be stored."""
    named = head[:-1] + f',"stored_as":"{name}"'.encode("ascii")
    return named + f',"sha256":"{hashlib.sha256(named).hexdigest()}"}}'.encode("ascii")


def check_seal(head: bytes, name: str) -> None:
    """Refuse a stored head that has changed, or that belongs to another file than *name*."""
    start = max(len(head) - _LONGEST_SEAL, 0)
    found = next((each for each in _SEAL.finditer(head, start) if each.end() == len(head)), None)
    if found is None:
        _loads(head)  # raises an error of its own if it is not even JSON
        raise ReportError("has changed since it was written")
    if hashlib.sha256(head[: found.end(1) + 1]).hexdigest().encode("ascii") != found[2]:
        raise ReportError("has changed since it was written")
    if found[1] != name.encode("utf-8", "surrogateescape"):
        raise ReportError(f"was stored as {found[1].decode('ascii', 'replace')}")


def facts_in(head: bytes) -> GroupFacts:
    """Read only the facts."""
    data = _loads(head)
    if "facts" not in data:
        raise ReportError("has no facts")
    kind: type[GroupFacts] = TeamFacts if _is_team(data) else PairFacts
    return kind.from_dict(data["facts"])


def _put_beside(holder: Any, above: _Place, parts: dict[str, bytes], places: list[_Place]) -> None:
    """Move the large texts and lists in *holder* to *parts*, and note their places."""
    for at, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
        place = (*above, at)
        if isinstance(value, dict) or (at in _ROWS and isinstance(value, list)):
            _put_beside(value, place, parts, places)
        elif isinstance(value, str) and len(value) > _LARGE:
            holder[at] = {_TEXT: _keep(value.encode("utf-8", "surrogatepass"), parts)}
            places.append(place)
        elif isinstance(value, list) and len(data := _dumps(value)) > _LARGE:
            holder[at] = {_JSON: _keep(data, parts)}
            places.append(place)


def _keep(data: bytes, parts: dict[str, bytes]) -> str:
    digest = hashlib.sha256(data).hexdigest()
    parts[digest] = data
    return digest


def _is_team(data: Mapping[str, Any]) -> bool:
    """Whether a head is of the report of a team, as `TeamReport.from_dict` decides it."""
    return data.get("kind") == "team"


def _dumps(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _loads(head: bytes) -> dict[str, Any]:
    data = parse_json(head)
    if not isinstance(data, dict):
        raise ReportError("is not a stored report")
    return data
