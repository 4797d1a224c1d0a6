"""Keeps secrets out of what is written down."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["is_secret", "redact", "secrets_in", "without_secrets"]

_SECRET_NAME = re.compile(
    r"(?i)key|secret|passw|credential|header|auth(?!or(?!i[sz]ation))|cookie|token(?!s)"
)
_SHORTEST = 6
"""Characters of a secret; a shorter one is a word of its own in other texts."""
_HIDDEN = "***"
_TOKEN = re.compile(r"(?i)\b(bearer\s+|sk-)[A-Za-z0-9._~+/=*-]{6,}")
_USER = re.compile(r"(?<=://)[^/\s@]+@")


def is_secret(name: str) -> bool:
    """Whether what goes by this name, an option or a variable, may be a secret."""
    return bool(_SECRET_NAME.search(name))


def without_secrets(value: Any) -> Any:
    """Return JSON values without those that go by a secret's name."""
    if isinstance(value, Mapping):
        return {
            name: without_secrets(each) for name, each in value.items() if not is_secret(str(name))
        }
    if isinstance(value, list | tuple):
        return [without_secrets(each) for each in value]
    return value


def secrets_in(value: Any, *, named: bool = False) -> Iterator[str]:
    """Yield the texts in JSON values that go by a secret's name, and the words of them."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from secrets_in(each, named=named or is_secret(str(name)))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from secrets_in(each, named=named)
    elif named and isinstance(value, str):
        yield from (value, *value.split())


def redact(text: str, secrets: Iterable[str]) -> str:
    """Take secrets out of a text, and what looks like a bearer's token or a login."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = re.sub(re.escape(secret), _HIDDEN, text, flags=re.IGNORECASE)
    return _USER.sub(f"{_HIDDEN}@", _TOKEN.sub(rf"\1{_HIDDEN}", text))
