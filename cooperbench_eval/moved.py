"""The names that moved from the top level to a module of their own.

Each still works at the top level for one version, with a `DeprecationWarning`. The table is
the second part of `__init__.pyi`, so that type checkers accept the old names as well.
"""

import ast
import functools
import importlib
import operator
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["get_moved", "has_moved", "moved_names", "warn_of_old_name"]

_PACKAGE: Final = "cooperbench_eval"
_STUB: Final = Path(__file__).with_name("__init__.pyi")
_NOT_CALLERS: Final = (_PACKAGE, "collections", "importlib", "lazy_loader")
"""Packages whose frames are between the line that uses an old name and `warn_of_old_name`."""


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
    warn_of_old_name(f"{_PACKAGE}.{name} is now {_PACKAGE}.{place}")
    module, _, attribute = place.partition(".")
    return operator.attrgetter(attribute)(importlib.import_module(f"{_PACKAGE}.{module}"))


def warn_of_old_name(change: str) -> None:
    """Warn that a name has changed, at the line outside of the library that uses it."""
    frame = sys._getframe(1)  # noqa: SLF001 - `inspect.stack` would read every source file
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in _NOT_CALLERS:
        frame = frame.f_back
    warnings.warn_explicit(
        f"{change}; the old name will be removed in version 0.2",
        DeprecationWarning,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals["__name__"],
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )
