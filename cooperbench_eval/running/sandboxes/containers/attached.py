"""The output of a container, as an engine sends it."""

import socket
from contextlib import suppress
from typing import Any

__all__ = ["Attached"]

_PIECE = 1 << 18
_HEADER = 8


class Attached:
    """The output of a container, as it comes."""

    def __init__(self, stream: Any) -> None:
        """Take what the SDK calls a socket: one, or a file over one."""
        self._socket: socket.socket = getattr(stream, "_sock", stream)
        self._buffer = bytearray()
        self._left = 0

    def read(self, seconds: float) -> bytes | None:
        """Return the next output, `b""` at its end; `None` if none comes in time."""
        # On the socket, not by waiting for it: TLS keeps bytes of its own.
        try:
            self._socket.settimeout(max(seconds, 0.001))
            data = self._socket.recv(_PIECE)
        except TimeoutError:
            return None
        except OSError:
            return b""
        if not data:
            return b""
        return self._payload(data) or None

    def _payload(self, data: bytes) -> bytes:
        """Take out the frames' headers, each a stream's number and a length."""
        output = bytearray()
        self._buffer += data
        start = 0
        while start < len(self._buffer):
            if not self._left:
                if len(self._buffer) - start < _HEADER:
                    break
                self._left = int.from_bytes(self._buffer[start + 4 : start + _HEADER], "big")
                start += _HEADER
            piece = self._buffer[start : start + self._left]
            output += piece
            start += len(piece)
            self._left -= len(piece)
        del self._buffer[:start]
        return bytes(output)

    def close(self) -> None:
        """Let go of the output; what still comes is lost."""
        # Its descriptor is the SDK's, and closed with the connection.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
