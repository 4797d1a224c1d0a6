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
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, StrEnum
from functools import cache, cached_property, wraps
from numbers import Real
from pathlib import Path
from types import GenericAlias, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    ParamSpec,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from attrs import Attribute, field, frozen

from cooperbench_eval.errors import ArgumentError, CooperBenchEvalError

_SHOWN: Final = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 100
_CONTAINERS: Final = frozenset({list, tuple, set, frozenset, dict})
"""Iterables whose elements can be looked at without side effects."""
_Allows = Callable[[Any], bool]


@frozen
class Rule:
    """What a value must be.

    Attributes:
        choices: The allowed types and values, for messages.
        allows: Whether a value follows the rule.
        flaws: Yields where the elements of a value break the rule, and the elements.
        kinds: Classes all of whose instances follow the rule, for speed.
    """

    choices: tuple[str, ...]
    allows: _Allows = field(repr=False)
    flaws: Callable[[Any], Iterator[tuple[str, object]]] = field(
        default=lambda _: iter(()), repr=False
    )
    kinds: tuple[type, ...] = ()

    @property
    def words(self) -> str:
        """The choices as words."""
        *others, last = dict.fromkeys(self.choices)
        return f"{', '.join(others)} or {last}" if others else last

    def problem(self, value: object) -> str:
        """Say what is wrong with a value, as a clause after the argument's name."""
        for place, element in self.flaws(value):
            return f"must be {self.words}, but {place} is {_described(element)}"
        return f"must be {self.words}, not {_described(value)}"


ANYTHING: Final = Rule(("anything",), lambda _: True, kinds=(object,))


def able_to(method: str, *, or_none: bool = True) -> Rule:
    """Return the rule for objects with a method, or `None`; classes do not follow it."""

    def allows(value: Any) -> bool:
        if value is None:
            return or_none
        return not isinstance(value, type) and callable(getattr(value, method, None))

    choices = f"an object with a {method} method", "None"
    return Rule(choices if or_none else choices[:1], allows)


def rule_of(hint: Any) -> Rule | None:
    """Return the rule of an annotation; `None` if it allows everything or is a protocol."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in _FORMS:
        return _FORMS[origin](args)
    hint = NoneType if hint is None else hint
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    return _rule_of_class(origin or hint, args)


def _rule_of_class(kind: Any, args: tuple[Any, ...]) -> Rule | None:
    if not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return None
    if issubclass(kind, Enum):
        values = tuple(repr(member.value) for member in kind)
        return Rule(values, lambda value: _is_member(kind, value), kinds=(kind,))
    if issubclass(kind, Mapping) and args:
        return _mapping(kind, *args)
    if issubclass(kind, Iterable) and args:
        return _iterable(kind, args)
    return Rule((kind.__name__,), lambda value: isinstance(value, kind), kinds=(kind,))


def _is_integer(value: Any) -> bool:
    return type(value) is int or (hasattr(type(value), "__index__") and type(value) is not bool)


def _is_number(value: Any) -> bool:
    kind = type(value)
    return kind is float or kind is int or (isinstance(value, Real) and kind is not bool)


def _any_of(hints: Iterable[Any]) -> Rule | None:
    hints = list(hints)
    if any(isinstance(hint, type) and issubclass(hint, Enum) for hint in hints):
        # `JudgeRule | str` means a member or its value, not any text.
        hints = [hint for hint in hints if hint is not str]
    rules = [rule for rule in map(rule_of, hints) if rule is not None]
    if len(rules) < len(hints):
        return None

    def allows(value: Any) -> bool:
        return any(rule.allows(value) for rule in rules)

    def flaws(value: Any) -> Iterator[tuple[str, object]]:
        return (flaw for rule in rules for flaw in rule.flaws(value))

    choices = tuple(choice for rule in rules for choice in rule.choices)
    return Rule(choices, allows, flaws, tuple(kind for rule in rules for kind in rule.kinds))


def _is_member(kind: type[Enum], value: object) -> bool:
    try:
        kind(value)
    except (TypeError, ValueError):
        return False
    return True


def _iterable(kind: Any, args: tuple[Any, ...]) -> Rule:
    """Return the rule for a collection; text is not one, although it can be iterated over."""
    is_record = issubclass(kind, tuple) and args[-1] is not ...
    element = None if is_record else rule_of(args[0])
    inner = [rule_of(each) for each in args] if is_record else []

    def flaws(value: Any) -> Iterator[tuple[str, object]]:
        if type(value) in _CONTAINERS and element is not None:
            for place, each in enumerate(value):
                if not element.allows(each):
                    yield f"item {place}", each

    def allows(value: Any) -> bool:
        if not isinstance(value, kind) or isinstance(value, str | bytes | bytearray):
            return False
        if is_record:
            rows = zip(inner, value, strict=False)
            return len(value) == len(inner) and all(r is None or r.allows(v) for r, v in rows)
        if element is None or type(value) not in _CONTAINERS:
            return True
        return all(map(element.allows, value))

    words = ", ".join("..." if arg is ... else _words(arg) for arg in args)
    return Rule((f"{kind.__name__}[{words}]",), allows, flaws)


def _mapping(kind: Any, key_hint: Any, value_hint: Any) -> Rule:
    key_rule, value_rule = rule_of(key_hint), rule_of(value_hint)

    def flaws(value: Any) -> Iterator[tuple[str, object]]:
        for key, each in value.items() if type(value) is dict else ():
            if key_rule is not None and not key_rule.allows(key):
                yield "a key", key
            if value_rule is not None and not value_rule.allows(each):
                yield f"the value of {_shown(key)}", each

    def allows(value: Any) -> bool:
        return isinstance(value, kind) and not any(flaws(value))

    words = f"{kind.__name__}[{_words(key_hint)}, {_words(value_hint)}]"
    return Rule((words,), allows, flaws)


def _words(hint: Any) -> str:
    rule = rule_of(hint)
    if rule is None or (isinstance(hint, type) and not issubclass(hint, Enum)):
        return getattr(hint, "__name__", str(hint))
    return rule.words


def _described(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    return f"{type(value).__qualname__}: {_shown(value)}"


def _shown(value: object) -> str:
    """Return a short form of a value, which may be one that cannot be shown.

    Python refuses to print an integer with thousands of digits, for example.
    """
    try:
        return _SHOWN.repr(value)
    except Exception:  # noqa: BLE001 - the classes of callers may raise anything
        return "(it cannot be shown)"


_SIMPLE: Final[Mapping[Any, Rule | None]] = {
    Any: None,
    object: None,
    NoneType: Rule(("None",), lambda value: value is None, kinds=(NoneType,)),
    int: Rule(("an integer",), _is_integer),
    float: Rule(("a number",), _is_number),
    Callable: Rule(("a function",), callable),
}
_FORMS: Final[Mapping[Any, Callable[[tuple[Any, ...]], Rule | None]]] = {
    Union: _any_of,
    UnionType: _any_of,
    Annotated: lambda args: rule_of(args[0]),
    Literal: lambda args: Rule(
        tuple(map(repr, args)), lambda value: isinstance(value, str) and value in args
    ),
    Callable: lambda _: _SIMPLE[Callable],
}


_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


@overload
def checked(function: Callable[_Parameters, _Result], /) -> Callable[_Parameters, _Result]: ...
@overload
def checked(
    **rules: Rule | None,
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]: ...
def checked(function: Callable[..., Any] | None = None, /, **rules: Rule | None) -> Any:
    """Make a function check its arguments against their annotations before it runs.

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
    @cache
    def signature() -> _Signature:  # made at the first call, when all names are defined
        return _Signature(function, given)

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        signature().check(args, options)
        return function(*args, **options)

    @wraps(function)
    async def call_later(*args: Any, **options: Any) -> Any:
        signature().check(args, options)
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
    """Make errors of converters and validators name the field."""
    return [_transformed(cls, each, checks=False) for each in fields]


def checked_fields(cls: type, fields: list[_Field]) -> list[_Field]:
    """Check each field by its type, before and after conversion; errors name the field."""
    return [_transformed(cls, each, checks=True) for each in fields]


def _transformed(cls: type, field: _Field, *, checks: bool) -> _Field:
    if _DONE in field.metadata or not field.init:  # the first is inherited
        return field
    rules = _Rules(cls, field, checks=checks)
    return field.evolve(
        converter=field.converter and rules.converter(),
        validator=rules.validate if checks or field.validator else None,
        metadata={**field.metadata, _DONE: True},
    )


class _Rules:
    """What a field of a record accepts, and what its type allows after the conversion."""

    def __init__(self, cls: type, field: _Field, *, checks: bool) -> None:
        self._cls = cls
        self._field = field
        self._checks = checks
        self._name = field.alias or field.name

    @cached_property
    def accepted(self) -> Rule:
        """What its converter accepts; made at the first use, when all names are defined."""
        return self._rule(_input_of(self._field.converter, self._hint, _hints_of))

    @cached_property
    def allowed(self) -> Rule:
        return self._rule(self._hint)

    @cached_property
    def _hint(self) -> Any:
        return _hints_of(self._cls).get(self._field.name, Any)

    def _rule(self, hint: Any) -> Rule:
        metadata = self._field.metadata
        return (metadata[_RULE] if _RULE in metadata else rule_of(hint)) or ANYTHING

    def converter(self) -> Callable[[Any], Any]:
        """Return the converter of the field, with errors that name it."""
        convert: Any = self._field.converter

        def converted(value: Any) -> Any:
            # The elements of a tuple are checked after the conversion, which leaves it as it is.
            checks = self._checks and type(value) is not tuple
            if checks and not isinstance(value, self.accepted.kinds):
                self._check(self.accepted, value)
            try:
                return convert(value)
            except CooperBenchEvalError:
                raise
            except _WRONG as exc:
                self._check(self.accepted, value)
                raise self._error(exc) from exc

        # So the signature of the record keeps its types.
        accepted = _input_of(convert, self._field.type, inspect.get_annotations)
        converted.__annotations__ = {"value": accepted}
        return converted

    def validate(self, record: Any, attribute: _Field, value: Any) -> None:
        """Refuse a value that the type or the validator of the field does not allow."""
        if self._checks and not isinstance(value, self.allowed.kinds):
            self._check(self.allowed, value)
        validate = self._field.validator
        if validate is None:
            return
        try:
            validate(record, attribute, value)
        except CooperBenchEvalError:
            raise
        except _WRONG as exc:
            raise self._error(exc) from exc

    def _check(self, rule: Rule, value: Any) -> None:
        if not rule.allows(value):
            raise ArgumentError(self._name, rule.problem(value))

    def _error(self, exc: Exception) -> ArgumentError:
        """Return an error about a value as one that names the field."""
        message = str(exc.args[0]) if exc.args else str(exc)
        # The messages of attrs' own validators begin with the name.
        clause = message.removeprefix(f"'{self._field.name}' ")
        problem = clause if clause != message else f"is not valid: {message}"
        return ArgumentError(self._name, problem)


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
