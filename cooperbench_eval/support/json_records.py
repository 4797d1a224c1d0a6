"""Plain JSON values as typed records, checked strictly: the adapter to cattrs.

A value is accepted unchanged or refused. Unlike with cattrs' own rules, nothing is
converted: a number in quotation marks is not a number, and `None` is not a text.
"""

import datetime as dt
import functools
import json
import math
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, get_args, get_origin

import attrs
import cattrs
from cattrs.cols import list_structure_factory
from cattrs.v import format_exception

from cooperbench_eval.errors import ReportError

MOST: Final = 2**63 - 1
"""The greatest integer that is accepted; a greater one may not fit into a float."""

_FAILURES: Final = (
    ArithmeticError,
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
    cattrs.BaseValidationError,
)

Converter = cattrs.Converter
_Record = TypeVar("_Record")
_Json = dict[str, Any]


def make_converter(**options: Any) -> Converter:
    """Return a converter that refuses every value that is not exactly of the expected type."""
    converter = Converter(prefer_attrib_converters=False, **options)
    converter.register_unstructure_hook(dt.datetime, dt.datetime.isoformat)
    converter.register_structure_hook(dt.datetime, _load_time)
    converter.register_structure_hook(int, load_number)
    converter.register_structure_hook(bool, _load_truth)
    converter.register_structure_hook(float, _load_seconds)
    converter.register_structure_hook(str, _load_text)  # also for its subclasses, our enums
    converter.register_structure_hook_factory(_is_tuple, _make_tuple_hook)
    converter.register_structure_hook_factory(_is_set, _make_set_hook)
    converter.register_unstructure_hook_func(_is_set, sorted)
    converter.register_structure_hook_factory(_is_all_defaults, _make_record_hook)
    return converter


def parse_json(text: str | bytes, location: str | None = None) -> Any:
    """Parse JSON text; raise `ReportError` if it is not JSON, or is nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ReportError(f"is not JSON ({exc})", location) from exc


def structure(
    converter: Converter,
    data: object,
    kind: type[_Record],
    problem: str,
    *,
    location: str | None = None,
    path: str = "$",
) -> _Record:
    """Read plain JSON values as a record of class *kind*.

    Raises:
        ReportError: The values do not fit. The message begins with *problem*, and says where in the
            file, in which *data* is at the JSON *path*, and what was expected.
    """
    try:
        return converter.structure(data, kind)
    except _FAILURES as exc:
        reasons = [f"{exc!s:.200} @ {path}"]
        if isinstance(exc, cattrs.BaseValidationError):
            reasons = cattrs.transform_error(exc, path, format_exception=_problem)
        raise ReportError(f"{problem}: {'; '.join(reasons)}", location) from exc


def _problem(exc: BaseException, kind: type | None) -> str:
    """Return the message of our hooks and validators, or cattrs' own, as for missing fields."""
    return f"{exc!s:.200}" if isinstance(exc, ValueError) else format_exception(exc, kind)


class Compact(Generic[_Record]):
    """Small records as small JSON values, fast enough for a hundred thousand of them.

    Their attributes are records, numbers, texts, enums, times and tuples of these. Attributes at
    their defaults are left out.
    """

    def __init__(self, kind: type[_Record]) -> None:
        self._kind = kind
        self._converter = make_converter(omit_if_default=True, detailed_validation=False)

    def dump(self, record: _Record) -> _Json:
        """Return *record* as plain JSON values."""
        data: _Json = self._converter.unstructure(record, self._kind)
        return data

    def load(self, data: object) -> _Record:
        """Read plain JSON values as a record; raise `ReportError` if they do not fit."""
        try:
            return self._converter.structure(data, self._kind)
        except _FAILURES:
            # The fast converter does not say where the values are wrong.
            problem = f"does not hold {self._kind.__name__}"
            return structure(make_converter(), data, self._kind, problem)


# --- values ------------------------------------------------------------------


def _load_time(value: object, _: object) -> dt.datetime:
    if isinstance(value, str):
        time = dt.datetime.fromisoformat(value)
        if time.tzinfo is not None:
            return time
    raise ValueError(f"expected a time with its zone, found {value!r:.100}")


def load_number(value: object, _: object = None) -> int:
    """Return a JSON value as an integer; raise `ValueError` if it is none, or too large."""
    if isinstance(value, float) and value.is_integer():  # JSON has one kind of number
        value = int(value)
    if type(value) is not int:  # and not `bool`, its subclass
        raise ValueError(f"expected an integer, found {value!r:.100}")
    if abs(value) > MOST:
        raise ValueError(f"an integer of {value.bit_length()} bits is too large")
    return value


def _load_truth(value: object, _: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"expected true or false, found {value!r:.100}")


def _load_seconds(value: object, _: object) -> float:
    if (isinstance(value, float) and math.isfinite(value)) or type(value) is int:
        return float(value)
    raise ValueError(f"expected a finite number, found {value!r:.100}")


def _load_text(value: object, kind: type[str]) -> str:
    if isinstance(value, str):
        # A look-up is faster than a call of the enum, which raises the error if there is one.
        return value if kind is str else _members(kind).get(value) or kind(value)
    raise ValueError(f"expected a text, found {value!r:.100}")


@functools.cache
def _members(kind: Any) -> dict[str, str]:
    return {each.value: each for each in kind}


def _is_tuple(kind: object) -> bool:
    return get_origin(kind) is tuple


def _is_set(kind: object) -> bool:
    return get_origin(kind) is frozenset


def _make_set_hook(
    kind: Any, converter: cattrs.BaseConverter
) -> Callable[[object, object], frozenset[Any]]:
    (item,) = get_args(kind)
    load_items = _make_tuple_hook(tuple.__class_getitem__((item, ...)), converter)
    return lambda value, _: frozenset(load_items(value, kind))


class SharedList(list[Any]):
    """A list that several values hold, such as the cases of a run that served two strategies.

    The tuple of records that is made from it is kept with it, so the values share that too.
    """

    __slots__ = ("tuples",)

    def __init__(self, items: list[Any]) -> None:
        """Hold *items*, which must not change afterwards."""
        super().__init__(items)
        self.tuples: dict[object, tuple[Any, ...]] = {}


def _make_tuple_hook(
    kind: Any, converter: cattrs.BaseConverter
) -> Callable[[object, object], tuple[Any, ...]]:
    load_items = list_structure_factory(kind, converter)

    def load(value: object, _: object) -> tuple[Any, ...]:
        if type(value) is SharedList:
            if load not in value.tuples:
                value.tuples[load] = tuple(load_items(value, kind))
            return value.tuples[load]
        if isinstance(value, list | tuple):  # a text has items too
            return tuple(load_items(value, kind)) if value else ()
        raise ValueError(f"expected a list, found {value!r:.100}")

    return load


def _is_all_defaults(kind: Any) -> bool:
    return attrs.has(kind) and all(f.default is not attrs.NOTHING for f in attrs.fields(kind))


def _make_record_hook(kind: Any, converter: Converter) -> Callable[[object, object], Any]:
    """Refuse anything but an object, even if every key may be missing."""
    load_object = converter.gen_structure_attrs_fromdict(kind)

    def load(value: object, _: object) -> Any:
        if isinstance(value, dict):
            return load_object(value, kind)
        raise ValueError(f"expected an object, found {value!r:.100}")

    return load
