"""An iterator that knows its length."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from attrs import frozen

__all__ = ["Counted"]

_Item = TypeVar("_Item")


@frozen
class Counted(Generic[_Item]):
    """An iterator that knows how many items it has in all, for a progress bar."""

    items: Iterator[_Item]
    count: int

    def __iter__(self) -> Iterator[_Item]:
        return self.items

    def __next__(self) -> _Item:
        return next(self.items)

    def __len__(self) -> int:
        return self.count
