"""Removes secrets from text that is written to files or shown."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["is_secret", "redact", "secrets_in", "without_secrets"]

_SECRET_NAME = re.compile(
    r"(?i)key|secret|passw|credential|header|auth(?!or(?!i[sz]ation))|cookie|token(?!s)"
)
_SHORTEST = 6
"""The least length of a secret; a shorter one may occur as a word in any text."""
_HIDDEN = "***"
_TOKEN = re.compile(r"(?i)\b(bearer\s+|sk-)[A-Za-z0-9._~+/=*-]{6,}")
_USER = re.compile(r"(?<=://)[^/\s@]+@")


def is_secret(name: str) -> bool:
    """Whether an option or variable of this name may hold a secret."""
    return bool(_SECRET_NAME.search(name))


def without_secrets(value: Any) -> Any:
    """Return a JSON value without the object members that may hold secrets."""
    if isinstance(value, Mapping):
        return {
            name: without_secrets(each) for name, each in value.items() if not is_secret(str(name))
        }
    if isinstance(value, list | tuple):
        return [without_secrets(each) for each in value]
    return value


def secrets_in(value: Any, *, named: bool = False) -> Iterator[str]:
    """Yield the strings in a JSON value that may be secrets, and each of their words."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from secrets_in(each, named=named or is_secret(str(name)))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from secrets_in(each, named=named)
    elif named and isinstance(value, str):
        yield from (value, *value.split())


def redact(text: str, secrets: Iterable[str]) -> str:
    """Replace *secrets* in a text, and everything that looks like a bearer token or a login."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = re.sub(re.escape(secret), _HIDDEN, text, flags=re.IGNORECASE)
    return _USER.sub(f"{_HIDDEN}@", _TOKEN.sub(rf"\1{_HIDDEN}", text))
