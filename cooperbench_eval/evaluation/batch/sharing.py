"""Parts that many jobs share, such as the base of a task: a worker gets each of them once.

The caller decides what a worker keeps and tells it with each job, so the two always agree.
"""

import pickle
from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

_MOST: Final = 64
_MOST_BYTES: Final = 1 << 26
"""The limits for the number of parts that a worker keeps and for the bytes of their pickles.
The parts of the current job are kept in any case."""


@frozen
class Delivery:
    """A job on its way to a worker: the call, its new parts, and the parts to drop before it."""

    call: bytes
    new: Mapping[str, bytes]
    dropped: tuple[str, ...]


class SentParts:
    """The caller's list of the parts that one worker has."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._bytes = 0

    def deliver(self, call: bytes, parts: Mapping[str, bytes]) -> Delivery:
        """Return a job with those of its *parts* that the worker does not have."""
        new = {digest: data for digest, data in parts.items() if digest not in self._sizes}
        self._bytes += sum(map(len, new.values()))
        for digest, data in parts.items():
            self._sizes.pop(digest, None)
            self._sizes[digest] = len(data)  # the last used parts come last
        dropped = []
        while len(self._sizes) > _MOST or self._bytes > _MOST_BYTES:
            oldest = next(iter(self._sizes))
            if oldest in parts:
                break
            self._bytes -= self._sizes.pop(oldest)
            dropped.append(oldest)
        return Delivery(call, new, tuple(dropped))


class ReceivedParts:
    """The parts that this worker has; each is unpickled when it is first used, and then kept."""

    def __init__(self) -> None:
        self._pickled: dict[str, bytes] = {}
        self._values: dict[str, Any] = {}

    def accept(self, delivery: Delivery) -> None:
        """Drop parts, and take new ones."""
        for digest in delivery.dropped:
            self._pickled.pop(digest, None)
            self._values.pop(digest, None)
        self._pickled |= delivery.new

    def value(self, digest: str) -> Any:
        """Return a part. If it cannot be unpickled, each call raises the error."""
        if digest not in self._values:
            self._values[digest] = pickle.loads(self._pickled[digest])  # noqa: S301 - our caller's
            del self._pickled[digest]
        return self._values[digest]


received_parts: Final = ReceivedParts()
"""The parts of this process, if it is a worker. It does one job at a time."""
