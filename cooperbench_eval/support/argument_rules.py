"""What an annotation allows, as a rule that a value can be checked against."""

import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from numbers import Real
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from attrs import field, frozen

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
    return _instance(kind)


def _instance(*kinds: type) -> Rule:
    names = tuple(kind.__name__ for kind in kinds)
    return Rule(names, lambda value: isinstance(value, kinds), kinds=kinds)


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
    rules = []
    for hint in hints:
        rule = rule_of(hint)
        if rule is None:
            return None
        rules.append(rule)

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
