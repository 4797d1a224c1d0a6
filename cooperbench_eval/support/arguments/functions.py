"""`checked`: a function whose arguments are checked before it runs."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints, overload

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.support.arguments.rules import ANYTHING, Rule, rule_of

__all__ = ["checked", "hints_of"]

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
        hints, kinds = hints_of(function), inspect.Parameter
        self._by_place: list[tuple[str, Rule]] = []
        self._by_name: dict[str, Rule] = {}
        self._others: tuple[str, Rule] | None = None
        self._takes_only: tuple[str, ...] = ()  # if the names of its options are known
        self._function = function.__qualname__
        for name, parameter in inspect.signature(function).parameters.items():
            hint, kind = hints.get(name, Any), parameter.kind
            if kind is kinds.VAR_KEYWORD:
                records = get_args(hint)
                options = (option for each in records for option in hints_of(each).items())
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


def hints_of(owner: Any) -> dict[str, Any]:
    """Return the annotations of a function or class, without those that cannot be resolved."""
    try:
        return get_type_hints(owner)
    except NameError:  # a name that is imported for type checkers only
        return {k: v for k, v in inspect.get_annotations(owner).items() if not isinstance(v, str)}
