"""Field transformers for attrs: records that check their fields, or name them in errors."""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import GenericAlias
from typing import Any, Final, TypeAlias, get_args

from attrs import Attribute

from cooperbench_eval.errors import ArgumentError, CooperBenchEvalError
from cooperbench_eval.support.arguments.functions import hints_of
from cooperbench_eval.support.arguments.rules import ANYTHING, Rule, rule_of

__all__ = ["checked_fields", "follows", "named_fields"]

_RULE: Final = "cooperbench_eval.rule"
_DONE: Final = "cooperbench_eval.done"
_Field: TypeAlias = "Attribute[Any]"
_WRONG: Final = (TypeError, ValueError, AttributeError, OverflowError)


def follows(rule: Rule | None) -> dict[str, Rule | None]:
    """Return the metadata of a field that has this rule instead of its type's, or none."""
    return {_RULE: rule}


def named_fields(cls: type, fields: list[_Field]) -> list[_Field]:
    """Have errors of converters and validators name the field."""
    return [_transformed(cls, each, checks=False) for each in fields]


def checked_fields(cls: type, fields: list[_Field]) -> list[_Field]:
    """Check each field by its type, before and after conversion; errors name the field."""
    return [_transformed(cls, each, checks=True) for each in fields]


def _transformed(cls: type, field: _Field, *, checks: bool) -> _Field:
    if _DONE in field.metadata or not field.init:  # the first is inherited
        return field
    rules, validate = _Rules(cls, field), field.validator
    convert: Any = field.converter
    if convert is not None:
        accepted = _input_of(convert, field.type, inspect.get_annotations)
        convert = _named_converter(rules, convert, checks=checks)
        # With it, the signature of the record keeps its types.
        convert.__annotations__ = {"value": accepted}
    named = validate and _named_validator(rules, validate)
    return field.evolve(
        converter=convert,
        validator=_checking_validator(rules, named) if checks else named,
        metadata={**field.metadata, _DONE: True},
    )


class _Rules:
    """What a field of a record accepts, and what its type allows after the conversion."""

    def __init__(self, cls: type, field: _Field) -> None:
        self._cls = cls
        self._field = field
        self.name = field.alias or field.name

    @cached_property
    def accepted(self) -> Rule:
        """What the field accepts; made at the first use, when all names are defined."""
        convert = self._field.converter
        return self._rule(
            self._hint if convert is None else _input_of(convert, self._hint, hints_of)
        )

    @cached_property
    def allowed(self) -> Rule:
        """What its type allows."""
        return self._rule(self._hint)

    @cached_property
    def _hint(self) -> Any:
        return hints_of(self._cls).get(self._field.name, Any)

    def _rule(self, hint: Any) -> Rule:
        metadata = self._field.metadata
        return (metadata[_RULE] if _RULE in metadata else rule_of(hint)) or ANYTHING

    def check(self, rule: Rule, value: Any) -> None:
        """Refuse a value that breaks a rule."""
        if not rule.allows(value):
            raise ArgumentError(self.name, rule.problem(value))

    def error(self, exc: Exception) -> ArgumentError:
        """Return an error about a value as one that names the field."""
        message = str(exc.args[0]) if exc.args else str(exc)
        # The messages of attrs' own validators begin with the name.
        clause = message.removeprefix(f"'{self._field.name}' ")
        return ArgumentError(self.name, clause if clause != message else f"is not valid: {message}")


def _named_converter(rules: _Rules, convert: Any, *, checks: bool) -> Callable[[Any], Any]:
    def converted(value: Any) -> Any:
        # The elements of a tuple are checked after the conversion, which leaves it as it is.
        if checks and type(value) is not tuple and not isinstance(value, rules.accepted.kinds):
            rules.check(rules.accepted, value)
        try:
            return convert(value)
        except CooperBenchEvalError:
            raise
        except _WRONG as exc:
            rules.check(rules.accepted, value)
            raise rules.error(exc) from exc

    return converted


def _named_validator(rules: _Rules, validate: Callable[..., None]) -> Callable[..., None]:
    def validated(record: Any, field: _Field, value: Any) -> None:
        try:
            validate(record, field, value)
        except CooperBenchEvalError:
            raise
        except _WRONG as exc:
            raise rules.error(exc) from exc

    return validated


def _checking_validator(rules: _Rules, validate: Callable[..., None] | None) -> Callable[..., None]:
    def validated(record: Any, field: _Field, value: Any) -> None:
        if not isinstance(value, rules.allowed.kinds):
            rules.check(rules.allowed, value)
        if validate is not None:
            validate(record, field, value)

    return validated


def _input_of(convert: Any, hint: Any, hints: Callable[[Any], Mapping[str, Any]]) -> Any:
    """Return what a converter accepts: its own annotation, or what its class implies."""
    if convert is Path:
        return str | os.PathLike[str]
    if convert is frozenset or isinstance(convert, GenericAlias):
        items: Any = (get_args(convert) or get_args(hint))[0]
        return Iterable[items]
    if isinstance(convert, type) and issubclass(convert, StrEnum):
        return convert | str  # the text of a member; the rule for such a type allows no other
    own = hints(convert) if inspect.isfunction(convert) else {}
    found = next((found for name, found in own.items() if name != "return"), hint)
    # A converter of any items, such as `Iterable[T]` to `tuple[T, ...]`, takes the field's items.
    variables = getattr(found, "__parameters__", ())
    items = tuple(each for each in get_args(hint) if each is not ...)
    if variables and len(variables) == len(items):
        return found[items]
    return hint if variables else found
