"""Values of others as JSON within a page: nothing in them can end the script element.

Texts of others reach the page in these blocks only. What is in them is made visible
when it is shown, by the page's script.
"""

import json
import re
from typing import Any

__all__ = ["embed", "shown_bytes"]

_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}
_MOST = 2**53 - 1
_MAY_BE_MORE = re.compile(r"\d{16}")


def embed(value: Any) -> str:
    r"""Return *value* as JSON of plain ASCII that may stand in any script element.

    An integer that JavaScript would round is a text of its digits.

    Example:
        >>> embed("</script><!--\u2028\udce9")
        '"\\u003c/script\\u003e\\u003c!--\\u2028\\udce9"'
    """
    # In JSON these characters stand in strings only, so they may be escaped anywhere.
    return _dumps(value).translate(_ESCAPED)


def _dumps(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    if not _MAY_BE_MORE.search(text):
        return text
    return json.dumps(_held(value), ensure_ascii=True, separators=(",", ":"))


def _held(value: Any) -> Any:
    match value:
        case int() if abs(value) > _MOST:
            return str(value)
        case dict():
            return {key: _held(each) for key, each in value.items()}
        case list() | tuple():
            return [_held(each) for each in value]
    return value


def shown_bytes(data: bytes) -> str:
    r"""Decode *data*; a byte that is no UTF-8 becomes a lone surrogate, as Python has it.

    Example:
        >>> shown_bytes(b"caf\xe9")
        'caf\udce9'
    """
    return data.decode("utf-8", "surrogateescape")
