"""What earlier probes found. Each value is found by the contents that it was computed from.

A second probe therefore costs only what changed. All caches are bounded, and belong to the
process, because a caller has no object that two probes share. Some values keep files of their
repository open, so all are forgotten when too many repositories were probed.
"""

import gc
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from cooperbench_eval.git.trees.entries import is_stored
from cooperbench_eval.git.trees.snapshot import Changes
from cooperbench_eval.support.memo import WeighedMemo

__all__ = ["Memory", "enter", "size_of_changes"]

_Value = TypeVar("_Value")
_USUAL_BYTES = 1_000
_ENTRY_BYTES = 400
_MOST_REPOSITORIES = 64
_entered: set[str] = set()
_memories: "list[Memory[Any]]" = []


def enter(location: str) -> None:
    """Begin to probe a repository; this may forget the others."""
    if location not in _entered and len(_entered) >= _MOST_REPOSITORIES:
        _entered.clear()
        for memory in _memories:
            memory.forget()
        gc.collect()  # trees refer to their caches, and these to them
    _entered.add(location)


class Memory(Generic[_Value]):
    """Remembers the values that were computed last, up to a total size; `None` is a value too.

    Example:
        >>> memory = Memory[int](max_bytes=2_000)
        >>> memory.recall("tea", lambda: 3), memory.recall("tea", lambda: 4)
        (3, 3)
    """

    def __init__(
        self, max_bytes: int, *, size_of: Callable[[_Value], int] = lambda _: _USUAL_BYTES
    ) -> None:
        """Keep values of up to *max_bytes* in total, as *size_of* estimates them."""
        self._max_bytes = max_bytes
        self._size_of = size_of
        self.forget()
        _memories.append(self)

    def forget(self) -> None:
        """Forget all values."""
        self._values = WeighedMemo[Hashable, tuple[_Value]](self._max_bytes)

    def recall(
        self,
        key: Hashable,
        compute: Callable[[], _Value],
        is_lasting: Callable[[_Value], bool] = lambda _: True,
    ) -> _Value:
        """Return the value of *key*; compute it if it is not remembered.

        Args:
            key: What the value depends on.
            compute: Computes the value. What it raises is not remembered.
            is_lasting: Whether the value would be the same if it were computed again.
        """
        found = self._values.get(key)
        if found is None:
            found = (compute(),)
            if is_lasting(found[0]):
                size = self._size_of(found[0]) + _USUAL_BYTES
                found = self._values.keep(key, found, size=size)
        return found[0]


def size_of_changes(changes: Changes) -> int:
    """Return about how many bytes of memory changes need."""
    held = (each for each in changes.values() if each is not None and not is_stored(each))
    return _ENTRY_BYTES * len(changes) + sum(len(each.data) for each in held)
