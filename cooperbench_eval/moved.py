"""The names that moved from the top level to a module of their own.

Each still works at the top level for one version, with a `DeprecationWarning`. The table is
the second part of `__init__.pyi`, so that type checkers accept the old names as well.
"""

import ast
import functools
import importlib
import operator
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["get_moved", "has_moved", "moved_names"]

_PACKAGE: Final = "cooperbench_eval"
_STUB: Final = Path(__file__).with_name("__init__.pyi")
_CALLER: Final = 3
"""The caller is `get_moved`'s caller's caller: between them is the package's `__getattr__`."""


@functools.cache
def moved_names() -> Mapping[str, str]:
    """Return each old name with its present place, such as `errors.ReportError`."""
    body = ast.parse(_STUB.read_text(encoding="utf-8")).body
    return {ast.unparse(n.targets[0]): ast.unparse(n.value) for n in body if type(n) is ast.Assign}


def has_moved(name: str) -> bool:
    """Return whether the top level used to have *name*."""
    return name in moved_names()


def get_moved(name: str) -> object:
    """Return what *name* stands for, and warn at the line that uses it."""
    place = moved_names()[name]
    message = (
        f"{_PACKAGE}.{name} is now {_PACKAGE}.{place}; the old name will be removed in version 0.2"
    )
    warnings.warn(message, DeprecationWarning, stacklevel=_CALLER)
    module, _, attribute = place.partition(".")
    return operator.attrgetter(attribute)(importlib.import_module(f"{_PACKAGE}.{module}"))
