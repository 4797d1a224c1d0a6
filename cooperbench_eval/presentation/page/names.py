"""Names of pairs for addresses, and texts cut so that they can still be told apart."""

import hashlib
from urllib.parse import quote

from cooperbench_eval.reporting.identity import PairId

__all__ = ["Addresses", "address_of", "in_address", "shortened"]

_MOST_ADDRESS = 200
_START = 100
_ELLIPSIS = "…"


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
    names = [_name(each) for each in (pair.model, pair.setting)]
    parts = [f"{in_address(pair.repo_name)}-{numbers}", *names, f"k{pair.k}"]
    address = ":".join(parts if any(names) else (parts[0], parts[-1]))
    if len(address) <= _MOST_ADDRESS:
        return address
    return f"{address[:_START]}~{hashlib.sha256(address.encode('ascii')).hexdigest()[:16]}"


def in_address(text: str) -> str:
    """Return *text* quoted for an address; what UTF-8 cannot hold is escaped, as by the script."""
    return quote(text.replace("\\", "\\\\").encode("utf-8", "backslashreplace"), safe="")


def _name(text: str | None) -> str:
    """Return a name for an address; nothing else is quoted as `!`, which stands for no text."""
    return "" if text is None else in_address(text) or "!"


class Addresses:
    """Gives each report of a run an address of its own.

    A second report of the same pair and try gets a number, in the order of the reports.
    """

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

    Example:
        >>> shortened("tests/test_very_long_name.py::test_1", 15)
        'tests/t…:test_1'
    """
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end]}{_ELLIPSIS}{text[len(text) - end :]}"
