"""The few functions of higher packages that records of lower ones call.

A report can be printed and can be asked for its reward, but imports neither views nor
policies. `cooperbench_eval/__init__.py` knows every package, and says with `connect` where
these functions are. Each is imported when it is first called.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

_PLACES: dict[str, str] = {}


def connect(**places: str) -> None:
    """Say where functions are, by the name with which they are called: `module:function`."""
    _PLACES.update(places)


def upcall(name: str) -> Callable[..., Any]:
    """Import and return the function that is connected with *name*."""
    module, _, function = _PLACES[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
