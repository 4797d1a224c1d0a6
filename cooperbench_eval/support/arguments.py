"""Checks what callers pass against the type annotations of arguments and fields.

A wrong argument raises `ArgumentError` with its name, before anything else happens. `checked` is
for functions and methods, `checked_fields` for the attrs records that callers make. The records
that only the library makes have `named_fields`: their types are not checked, which would cost
time, but an error of a converter or a validator names the field.

cattrs converts values instead of checking them, and attrs has validators for fields only, which
repeat the annotations. So the rules are our own.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cached_property, wraps
from pathlib import Path
from types import GenericAlias
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, get_args, get_type_hints, overload

from attrs import Attribute

from cooperbench_eval.errors import ArgumentError, CooperBenchEvalError
from cooperbench_eval.support.argument_rules import ANYTHING, Rule, able_to, rule_of

__all__ = ["Rule", "able_to", "checked", "checked_fields", "follows", "named_fields", "rule_of"]

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


@overload
def checked(function: Callable[_Parameters, _Result], /) -> Callable[_Parameters, _Result]: ...
@overload
def checked(
    **rules: Rule | None,
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]: ...
def checked(function: Callable[..., Any] | None = None, /, **rules: Rule | None) -> Any:
    """Have a function check its arguments by their annotations, before it runs.

    Elements are checked if they are in a list, tuple, set or dictionary; those of other
    iterables are up to the function, and so are protocols.

    Args:
        function: The function or method. A coroutine function checks when it is awaited.
        rules: Other rules for some of the arguments; `None` for no check.
    """
    if function is None:
        return lambda decorated: _checked(decorated, rules)
    return _checked(function, rules)


def _checked(function: Callable[..., Any], given: Mapping[str, Rule | None]) -> Callable[..., Any]:
    signature: _Signature | None = None  # made at the first call, when all names are defined

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        nonlocal signature
        signature = signature or _Signature(function, given)
        signature.check(args, options)
        return function(*args, **options)

    @wraps(function)
    async def call_later(*args: Any, **options: Any) -> Any:
        nonlocal signature
        signature = signature or _Signature(function, given)
        signature.check(args, options)
        return await function(*args, **options)

    return call_later if inspect.iscoroutinefunction(function) else call


class _Signature:
    """The rules of a function's arguments."""

    def __init__(self, function: Callable[..., Any], given: Mapping[str, Rule | None]) -> None:
        hints, kinds = _hints_of(function), inspect.Parameter
        self._by_place: list[tuple[str, Rule]] = []
        self._by_name: dict[str, Rule] = {}
        self._others: tuple[str, Rule] | None = None
        self._takes_only: tuple[str, ...] = ()  # if the names of its options are known
        self._function = function.__qualname__
        for name, parameter in inspect.signature(function).parameters.items():
            hint, kind = hints.get(name, Any), parameter.kind
            if kind is kinds.VAR_KEYWORD:
                records = get_args(hint)
                options = (option for each in records for option in _hints_of(each).items())
                self._by_name |= {key: rule_of(each) or ANYTHING for key, each in options}
                self._by_name |= {key: rule or ANYTHING for key, rule in given.items()}
                known = (key for each in records for key in inspect.get_annotations(each))
                self._takes_only = tuple(dict.fromkeys((*self._by_name, *known)) if records else ())
                continue
            rule = (given[name] if name in given else rule_of(hint)) or ANYTHING
            if kind is kinds.VAR_POSITIONAL:
                self._others = (name, rule)
                continue
            if kind is not kinds.POSITIONAL_ONLY:
                self._by_name[name] = rule
            if kind is not kinds.KEYWORD_ONLY:
                self._by_place.append((name, rule))

    def check(self, args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        """Check a call; without `**`, names that the function does not have are left to Python."""
        for (name, rule), value in zip(self._by_place, args, strict=False):
            if not isinstance(value, rule.kinds) and not rule.allows(value):
                raise ArgumentError(name, rule.problem(value))
        if self._others and len(args) > len(self._by_place):
            name, rule = self._others
            for value in args[len(self._by_place) :]:
                if not rule.allows(value):
                    raise ArgumentError(name, rule.problem(value))
        for name, value in options.items():
            if self._takes_only and name not in self._takes_only:
                known = ", ".join(key for key in self._takes_only if key != "self")
                raise ArgumentError(name, f"is not an argument of {self._function}; it has {known}")
            rule = self._by_name.get(name, ANYTHING)
            if not isinstance(value, rule.kinds) and not rule.allows(value):
                raise ArgumentError(name, rule.problem(value))


def _hints_of(owner: Any) -> dict[str, Any]:
    """Return the annotations of a function or class, without those that cannot be resolved."""
    try:
        return get_type_hints(owner)
    except NameError:  # a name that is imported for type checkers only
        return {k: v for k, v in inspect.get_annotations(owner).items() if not isinstance(v, str)}


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
            self._hint if convert is None else _input_of(convert, self._hint, _hints_of)
        )

    @cached_property
    def allowed(self) -> Rule:
        """What its type allows."""
        return self._rule(self._hint)

    @cached_property
    def _hint(self) -> Any:
        return _hints_of(self._cls).get(self._field.name, Any)

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
