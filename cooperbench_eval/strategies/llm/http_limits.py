"""Limits how much time and memory a provider can take: the adapter to httpx.

The limits are in a client of our own, which passes each request on to another client. That one
knows the proxies and certificates, and nobody else's requests are touched.
"""

import socket
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import httpx

from cooperbench_eval.strategies.llm.chat import ChatError, ChatFault

MOST_BYTES: Final = 1 << 21
"""The longest response in bytes, as sent and when decompressed. Parsing a response of this
size takes a hundred megabytes if it is JSON with many small values."""

_GZIP: Final = 16 + zlib.MAX_WBITS
_OPERATIONS: Final = ("connect", "read", "write", "pool")
_OPENED: Final = ("connect_tcp.complete", "start_tls.complete")
"""The last words of httpcore's events that come with a new connection."""


class HttpLimits(httpx.BaseTransport):
    """The limits of one question's requests, and why a response was refused.

    Attributes:
        refusal: Why a response was refused; `None` if none was.
    """

    def __init__(self, seconds: float) -> None:
        """Start the time that all requests may take together."""
        self.refusal: ChatError | None = None
        self._deadline = time.monotonic() + seconds
        self._received = 0
        self._connections: list[Any] = []

    @contextmanager
    def client(self, sender: Any) -> Iterator[httpx.Client]:
        """Yield a client with these limits, for one question.

        The *sender* sends its requests, if it is a client of httpx. What owns a client, as
        litellm's handlers do, is closed in the end.
        """
        owned = getattr(sender, "client", None)
        inner = owned or sender
        if not isinstance(inner, httpx.Client):  # such as a client of httpx2
            owned = inner = httpx.Client()
        self._sender = inner
        headers = inner.headers
        try:
            with httpx.Client(transport=self, headers=headers, follow_redirects=False) as client:
                yield client
        finally:
            if owned:
                owned.close()

    def stop(self) -> None:
        """End what still goes on, so that no thread and no connection outlasts the deadline.

        httpx limits only the time between two bytes.
        """
        for stream in tuple(self._connections):
            with suppress(OSError, AttributeError):  # closed by now
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass a request on; refuse a redirect or an unknown encoding, and limit the body."""
        request.headers["accept-encoding"] = "gzip"
        request.headers["connection"] = "close"
        request.extensions = {
            **request.extensions,
            "timeout": self._timeouts(request.extensions.get("timeout", {})),
            "trace": self._trace,
        }
        response = self._sender.send(request, stream=True, follow_redirects=False)
        try:
            self._limit(response)
        except BaseException:
            response.close()
            raise
        return response

    def _timeouts(self, given: Mapping[str, float | None]) -> dict[str, float]:
        """Return how long each operation on the connection may take."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise httpx.ReadTimeout("the deadline of the whole answer has passed")
        return {name: min(left, given.get(name) or left) for name in _OPERATIONS}

    def _trace(self, event: str, facts: Mapping[str, Any]) -> None:
        if event.endswith(_OPENED):
            self._connections.append(facts["return_value"])

    def _limit(self, response: httpx.Response) -> None:
        if stream := response.extensions.get("network_stream"):
            self._connections.append(stream)  # the caller's client may have had it before
        if response.is_redirect:  # it could lead anywhere, with the key
            target = response.headers.get("location", "")
            problem = f"a redirect to {target!r:.200} is not followed; set api_base to that address"
            raise self._refused(ChatFault.REJECTED, problem)
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"", "identity", "gzip"}:
            problem = f"an answer in the encoding {encoding!r:.80}, which was not asked for"
            raise self._refused(ChatFault.MALFORMED, problem)
        response.headers.pop("content-encoding", None)
        response.stream = _Body(response.stream, self, is_gzip=encoding == "gzip")

    def count(self, size: int) -> None:
        """Count bytes of a body, and raise an error of httpx if there are too many."""
        self._received += size
        if self._received > MOST_BYTES:
            raise self._refused(ChatFault.MALFORMED, f"an answer of more than {MOST_BYTES:,} bytes")

    def _refused(self, fault: ChatFault, problem: str) -> httpx.RequestError:
        """Keep the reason, and return an exception that makes the client give up."""
        self.refusal = ChatError(fault, problem)
        return httpx.RemoteProtocolError(problem)


class _Body(httpx.SyncByteStream):
    """A response's body, decompressed, with limits on its size."""

    def __init__(self, stream: Any, limits: HttpLimits, *, is_gzip: bool) -> None:
        self._stream = stream
        self._limits = limits
        self._unpacker = zlib.decompressobj(_GZIP) if is_gzip else None

    def __iter__(self) -> Iterator[bytes]:
        for data in self._stream:
            if self._unpacker is None:
                self._limits.count(len(data))
                yield data
                continue
            try:
                unpacked = self._unpacker.decompress(data, MOST_BYTES + 1)
            except zlib.error as exc:
                raise httpx.DecodingError(str(exc)) from exc
            # A compressed body counts as whichever form is longer.
            self._limits.count(max(len(data), len(unpacked)))
            yield unpacked

    def close(self) -> None:
        self._stream.close()
