"""Which secrets a request to a model uses, as far as they can be known."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = ["is_secret", "known_secrets", "secrets_in", "without_secrets"]

_SECRET_NAME = re.compile(
    r"(?i)key|secret|passw|credential|header|auth(?!or(?!i[sz]ation))|cookie|token(?!s)"
)
_PUBLIC_HEADER = re.compile(
    r"(?i)accept(-.*)?|content-.*|user-agent|(http-)?referer|x-title|.*-(version|beta)"
)
"""Headers that providers ask for and that are not secret."""
_SHORTEST_IN_ENVIRONMENT = 12
"""The minimum length of a secret in a variable; a shorter value may be an ordinary word."""
_PATH = re.compile(r"[~.]{0,2}/[\w./ -]*")


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
            if not (named and _PUBLIC_HEADER.fullmatch(str(name))):
                yield from secrets_in(each, named=named or is_secret(str(name)))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from secrets_in(each, named=named)
    elif named and isinstance(value, str):
        yield from (value, *value.split())


def known_secrets(
    api_key: str | None, api_base: str | None, options: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the secrets of a client, those in the environment, and those set in litellm.

    A key that litellm reads from a file, such as `~/.aws/credentials`, is not known.
    """
    yield api_key or ""
    yield from secrets_in(options)
    yield from _secrets_in_address(api_base or "")
    named = [(name, value) for name, value in os.environ.items() if is_secret(name)]
    litellm = vars(sys.modules.get("litellm") or object)
    named += [(name, value) for name, value in litellm.items() if name.endswith(("key", "token"))]
    for _, value in named:
        is_long = isinstance(value, str) and len(value) >= _SHORTEST_IN_ENVIRONMENT
        if is_long and not _PATH.fullmatch(value):
            yield value


def _secrets_in_address(address: str) -> Iterator[str]:
    """Yield the login and the values of the query; any of them may be a key."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return
    yield from (unquote(each) for each in (parts.username, parts.password) if each)
    yield from (value for _, value in parse_qsl(parts.query))
