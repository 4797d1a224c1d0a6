"""Keeps both ends of an output of any length."""

__all__ = ["Capture"]


class Capture:
    r"""Receives output piece by piece, and keeps its beginning and its end.

    Example:
        >>> capture = Capture(3)
        >>> for data in (b"12345", b"6789"):
        ...     capture.feed(data)
        >>> capture.value()
        b'123\n[... 3 bytes cut ...]\n789'
    """

    def __init__(self, limit: int) -> None:
        """Keep *limit* bytes at each end."""
        self._limit = limit
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        self._total += len(data)
        room = self._limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # At twice the limit, so that many small pieces move the tail only once.
        if len(self._tail) > 2 * self._limit:
            del self._tail[: len(self._tail) - self._limit]

    def skip(self, size: int) -> None:
        """Count *size* bytes between both ends as cut."""
        self._total += size

    def value(self) -> bytes:
        """Return both ends; a line between them says how many bytes were cut."""
        tail = bytes(self._tail[-self._limit :])
        cut = self._total - len(self._head) - len(tail)
        if not cut:
            return bytes(self._head) + tail
        return b"%b\n[... %d bytes cut ...]\n%b" % (bytes(self._head), cut, tail)
