"""Adds to griffe, which reads the sources for the reference, what it cannot see.

An attrs class has no `__init__` in its source, so its entry would lack the arguments.
And docstrings here use the heading `Example:`, which griffe only knows in the plural.
"""

import ast
import importlib
import inspect
import re
from enum import Enum
from typing import Any, Final, Literal, get_origin

import attrs
import griffe

__all__ = ["SiteReference"]

_MAKERS: Final = ("attrs.frozen", "attrs.define")
_INNER: Final = {"Shown"}
"""Base classes that are irrelevant for users of a class."""
_PATH: Final = re.compile(r"\b(?:\w+\.)+(?=\w)")
"""The module of a name."""
_EXAMPLE: Final = re.compile(r"^Example:$", re.MULTILINE)


class SiteReference(griffe.Extension):
    """Completes the data that griffe read."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Make examples in docstrings code."""
        if obj.docstring:
            obj.docstring.value = _EXAMPLE.sub("Examples:", obj.docstring.value)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Show which texts an argument accepts, instead of the name that the sources give them."""
        for parameter in func.parameters:
            parameter.annotation = _spelled_out(parameter.annotation, func.module)

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
        known = vars(made)["__init__"].__annotations__
        parameters = [
            _parameter(cls, field, known.get(field.alias))
            for field in attrs.fields(made)
            if field.init
        ]
        parameters.sort(key=lambda each: each.kind is griffe.ParameterKind.keyword_only)
        this = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
        method = griffe.Function(
            "__init__", parameters=griffe.Parameters(this, *parameters), parent=cls
        )
        cls.set_member("__init__", method)


def _is_maker(decorator: griffe.Decorator) -> bool:
    return decorator.callable_path in _MAKERS


def _parameter(
    cls: griffe.Class, field: "attrs.Attribute[Any]", accepted: object
) -> griffe.Parameter:
    member = cls.all_members.get(field.name)
    kind = griffe.ParameterKind
    return griffe.Parameter(
        field.alias or field.name,
        annotation=_annotation(cls, member, field, accepted),
        kind=kind.keyword_only if field.kw_only else kind.positional_or_keyword,
        default=_default(field.default),
    )


def _annotation(
    cls: griffe.Class, member: object, field: "attrs.Attribute[Any]", accepted: object
) -> str | griffe.Expr | None:
    """Return what an argument accepts: if it is converted, other types than that of the field."""
    if field.converter is not None and accepted is not None:
        text = _PATH.sub("", inspect.formatannotation(accepted))
        return _expression(text, cls.module)
    shown = member.annotation if isinstance(member, griffe.Attribute) else None
    return _spelled_out(shown, cls.module)


def _spelled_out(
    annotation: str | griffe.Expr | None, module: griffe.Module
) -> str | griffe.Expr | None:
    """Replace the names of `Literal` types by these types."""
    names = set(re.findall(r"\b[A-Z]\w+", str(annotation))) & module.members.keys()
    if not names:
        return annotation
    try:
        values = vars(importlib.import_module(module.path))
    except ImportError:  # an extra is not installed
        return annotation
    literals = {name for name in names if get_origin(values.get(name)) is Literal}
    if not literals:
        return annotation
    text = re.sub(
        rf"\b({'|'.join(literals)})\b",
        lambda name: _PATH.sub("", inspect.formatannotation(values[name[0]])),
        str(annotation),
    )
    return _expression(text, module)


def _expression(text: str, module: griffe.Module) -> griffe.Expr | str | None:
    """Return a type as an expression, in which known names are links."""
    node = ast.parse(text, mode="eval").body
    return griffe.get_expression(node, parent=module, parse_strings=False)


def _default(value: Any) -> str | None:
    """Return a default as source text; `None` where there is none."""
    if value is attrs.NOTHING:
        return None
    if type(value) is type(attrs.Factory(list)):
        return "..."
    return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)
