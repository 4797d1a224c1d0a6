"""`Plain`: the base class of every record of which some facts are written as plain JSON values."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar

from attrs import fields, has


class Plain:
    """A record of which some facts are written as plain JSON values."""

    __slots__ = ()

    _written: ClassVar[tuple[str, ...]] = ()
    """The names of these facts, in their order."""

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON values."""
        return {name: _plain(getattr(self, name)) for name in self._written}


def _plain(value: Any) -> Any:
    if isinstance(value, Plain):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {getattr(key, "value", key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if has(type(value)):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(type(value))}
    return value.value if isinstance(value, Enum) else value
