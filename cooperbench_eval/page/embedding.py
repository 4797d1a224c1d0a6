"""Values of others as JSON within a page: nothing in them can end the script element.

Texts of others reach the page in these blocks only. What is in them is made visible
when it is shown, by the page's script.
"""

import json
from typing import Any

__all__ = ["embed", "shown_bytes"]

_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def embed(value: Any) -> str:
    r"""Return *value* as JSON of plain ASCII that may stand in any script element.

    Example:
        >>> embed("</script><!--\u2028\udce9")
        '"\\u003c/script\\u003e\\u003c!--\\u2028\\udce9"'
    """
    # In JSON these characters stand in strings only, so they may be escaped anywhere.
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).translate(_ESCAPED)


def shown_bytes(data: bytes) -> str:
    r"""Decode *data*; a byte that is no UTF-8 becomes a lone surrogate, as Python has it.

    Example:
        >>> shown_bytes(b"caf\xe9")
        'caf\udce9'
    """
    return data.decode("utf-8", "surrogateescape")
