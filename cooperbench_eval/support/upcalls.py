"""Lets records call a few functions of higher packages that they must not import.

A report can print itself and return its reward, but imports neither views nor policies.
`cooperbench_eval/__init__.py` knows every package, and registers with `connect` where these
functions are. `upcall` imports one when it is needed.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

_PLACES: dict[str, str] = {}


def connect(**places: str) -> None:
    """Register where functions are: each name with its place, `module:function`."""
    _PLACES.update(places)


def upcall(name: str) -> Callable[..., Any]:
    """Import and return the function that is registered under *name*."""
    module, _, function = _PLACES[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
