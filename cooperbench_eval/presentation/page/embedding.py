"""How values get into the page: as JSON, as addresses, and cut to a limit.

The page gets the texts of a report only as JSON that cannot end the script element around it. Its
script makes hidden characters visible when it shows a text.
"""

import hashlib
import json
import re
from typing import Any
from urllib.parse import quote

from cooperbench_eval.reporting.identity import PairId

_ESCAPED = {character: f"\\u{ord(character):04x}" for character in "<>&"}
_MOST = 2**53 - 1
_MAY_BE_MORE = re.compile("[0-9]{16}")
_MOST_TEXTS = 50
_MOST_CHARACTERS = 2_000
_MOST_ADDRESS = 200
_START = 100


def embed(value: Any) -> str:
    r"""Return *value* as JSON in ASCII that is safe in any script element.

    An integer that JavaScript would round becomes a string of its digits.
    """
    text = _dumps(value)
    # In JSON these characters occur only within strings, so each of them can be escaped.
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return text


def _dumps(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    if not _MAY_BE_MORE.search(text):
        return text
    return json.dumps(_exact(value), ensure_ascii=True, separators=(",", ":"))


def _exact(value: Any) -> Any:
    match value:
        case int() if abs(value) > _MOST:
            return str(value)
        case dict():
            return {key: _exact(each) for key, each in value.items()}
        case list() | tuple():
            return [_exact(each) for each in value]
    return value


class Texts:
    """The texts of a pair, at most *limit* bytes of each; equal texts are kept once.

    All texts together have at most fifty times *limit* bytes. A byte that is not UTF-8 becomes a
    lone surrogate, as in Python.

    Attributes:
        kept: The texts, each with the number of bytes that are left out.
    """

    def __init__(self, limit: int) -> None:
        self.kept: list[tuple[str, int]] = []
        self._limit = limit
        self._room = limit * _MOST_TEXTS
        self._numbers: dict[bytes, int] = {}

    def add(self, text: bytes | None) -> int | None:
        """Keep *text* if it is not kept yet, and return its index in `kept`; `None` for no text."""
        return None if text is None else self.number_of(text)

    def number_of(self, text: bytes) -> int:
        """Keep *text* if it is not kept yet, and return its index in `kept`."""
        if text not in self._numbers:
            size = _whole_characters(text, min(self._limit, self._room))
            self._room -= size
            self._numbers[text] = len(self.kept)
            self.kept.append((text[:size].decode("utf-8", "surrogateescape"), len(text) - size))
        return self._numbers[text]


def _whole_characters(text: bytes, limit: int) -> int:
    """Return at most *limit*, reduced so that no UTF-8 character is cut in two."""
    if len(text) <= limit:
        return len(text)
    size = limit
    while size and limit - size < 3 and text[size] & 0xC0 == 0x80:  # noqa: PLR2004 - UTF-8
        size -= 1
    return size


def cut(text: str, limit: int = _MOST_CHARACTERS) -> str:
    """Return the first *limit* characters of a text, and how many there are after them."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} more characters)"


def address_of(pair: PairId) -> str:
    """Return a name for the part of an address after the `#`; different pairs get different ones.

    It depends on nothing but the pair and its try, so it stays the same if a run grows or
    its order changes. Only a very long one ends in a digest.

    Example:
        >>> pair = {"repo_name": "click", "task_id": 2068, "features": (1, 2)}
        >>> address_of(PairId(**pair, model="gpt-5", setting="coop", k=3))
        'click-2068-1-2:gpt-5:coop:k3'
        >>> address_of(PairId(**pair))
        'click-2068-1-2:k1'
    """
    numbers = "-".join(str(number) for number in (pair.task_id, *pair.features))
    # Nothing else is quoted as `!`, which stands for an empty text.
    named = (pair.model, pair.setting)
    names = ["" if each is None else in_address(each) or "!" for each in named]
    parts = [f"{in_address(pair.repo_name)}-{numbers}", *names, f"k{pair.k}"]
    address = ":".join(parts if any(names) else (parts[0], parts[-1]))
    if len(address) <= _MOST_ADDRESS:
        return address
    return f"{address[:_START]}~{hashlib.sha256(address.encode('ascii')).hexdigest()[:16]}"


def in_address(text: str) -> str:
    """Return *text* quoted for an address; what UTF-8 cannot hold is escaped, as by the script."""
    return quote(text.replace("\\", "\\\\").encode("utf-8", "backslashreplace"), safe="")


class Addresses:
    """Gives each report of a run its own address; repeated pairs and tries get a number."""

    def __init__(self) -> None:
        self._reports: dict[str, int] = {}

    def add(self, pair: PairId) -> str:
        """Return the address of the next report, which is about *pair*."""
        address = address_of(pair)
        count = self._reports[address] = self._reports.get(address, 0) + 1
        return address if count == 1 else f"{address}~{count}"


def shortened(text: str, limit: int) -> str:
    """Return *text* with at most *limit* characters.

    It is cut in the middle, because long names often differ only at their end.
    """
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end]}…{text[len(text) - end :]}"
