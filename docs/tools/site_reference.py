"""Adds to griffe, which reads the sources for the reference, what it cannot see.

An attrs class has no `__init__` in its source, so its entry would lack the arguments.
And docstrings here use the heading `Example:`, which griffe only knows in the plural.
"""

import importlib
import re
from enum import Enum
from typing import Any, Final

import attrs
import griffe

__all__ = ["SiteReference"]

_MAKERS: Final = ("attrs.frozen", "attrs.define")
_INNER: Final = {"Shown"}
"""Base classes that are irrelevant for users of a class."""
_EXAMPLE: Final = re.compile(r"^Example:$", re.MULTILINE)


class SiteReference(griffe.Extension):
    """Completes the data that griffe read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Make examples in docstrings code."""
        if obj.docstring:
            obj.docstring.value = _EXAMPLE.sub("Examples:", obj.docstring.value)

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Give a class of attrs the `__init__` that it has when the program runs."""
        cls.bases = [base for base in cls.bases if str(base) not in _INNER]
        if "__init__" in cls.members or not any(map(_is_maker, cls.decorators)):
            return
        try:
            made = getattr(importlib.import_module(cls.module.path), cls.name, None)
        except ImportError:  # an extra is not installed; no entry is about such a module
            return
        if made is None or not attrs.has(made):
            return
        parameters = [_parameter(cls, field) for field in attrs.fields(made) if field.init]
        parameters.sort(key=lambda each: each.kind is griffe.ParameterKind.keyword_only)
        this = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
        method = griffe.Function(
            "__init__", parameters=griffe.Parameters(this, *parameters), parent=cls
        )
        cls.set_member("__init__", method)


def _is_maker(decorator: griffe.Decorator) -> bool:
    return decorator.callable_path in _MAKERS


def _parameter(cls: griffe.Class, field: "attrs.Attribute[Any]") -> griffe.Parameter:
    member = cls.all_members.get(field.name)
    kind = griffe.ParameterKind
    return griffe.Parameter(
        field.alias or field.name,
        annotation=member.annotation if isinstance(member, griffe.Attribute) else None,
        kind=kind.keyword_only if field.kw_only else kind.positional_or_keyword,
        default=_default(field.default),
    )


def _default(value: Any) -> str | None:
    """Return a default as source text; `None` where there is none."""
    if value is attrs.NOTHING:
        return None
    if type(value) is type(attrs.Factory(list)):
        return "..."
    return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)
