"""Reads the output of a container from the engine's stream, and writes its input."""

import socket
from contextlib import suppress
from typing import Any

__all__ = ["Attached"]

_PIECE = 1 << 18
_HEADER = 8
_SEND_SECONDS = 60.0


class Attached:
    """The output of a running container, and its input."""

    def __init__(self, stream: Any) -> None:
        """Use *stream*: a socket, or the file object that the SDK returns instead."""
        self._socket: socket.socket = getattr(stream, "_sock", stream)
        self._buffer = bytearray()
        self._left = 0

    def send(self, data: bytes) -> None:
        """Write to the container's standard input.

        Raises:
            OSError: The connection is lost, or the engine takes too long.
        """
        self._socket.settimeout(_SEND_SECONDS)
        self._socket.sendall(data)

    def read(self, seconds: float) -> bytes | None:
        """Return the next output, `b""` at its end, or `None` if none comes in time."""
        # A timeout of the socket, because TLS may hold bytes that `select` does not see.
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
        """Remove the headers of frames; each has a stream's number and a length."""
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
        """Stop reading; later output is lost."""
        # The SDK closes the descriptor with the connection.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
