"""Writes values as JSON that cannot end the script element around it.

The page gets the texts of a report only in this form. Its script makes hidden characters
visible when it shows a text.
"""

import json
import re
from typing import Any

__all__ = ["embed", "shown_bytes"]

_ESCAPED = {character: f"\\u{ord(character):04x}" for character in "<>&"}
_MOST = 2**53 - 1
_MAY_BE_MORE = re.compile("[0-9]{16}")


def embed(value: Any) -> str:
    r"""Return *value* as JSON in ASCII that is safe in any script element.

    An integer that JavaScript would round becomes a string of its digits.

    Example:
        >>> embed("</script><!--\u2028\udce9")
        '"\\u003c/script\\u003e\\u003c!--\\u2028\\udce9"'
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


def shown_bytes(data: bytes) -> str:
    r"""Decode *data* as UTF-8; a byte that is not UTF-8 becomes a lone surrogate, as in Python.

    Example:
        >>> shown_bytes(b"caf\xe9")
        'caf\udce9'
    """
    return data.decode("utf-8", "surrogateescape")
