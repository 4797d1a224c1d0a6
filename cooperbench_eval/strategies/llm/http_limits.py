"""Limits how much time and memory a provider can take: the adapter to httpx and httpcore.

litellm creates its HTTP clients itself, in many places. So the limits are not in a client
of our own, but in the methods that all clients of httpx use. They apply only to requests
that are made inside `HttpLimits.call`; all others are sent as usual.
"""

import time
import zlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any, Final, TypeVar

import httpcore
import httpx

from cooperbench_eval.strategies.llm.chat import ChatError, ChatFault

__all__ = ["MOST_BYTES", "HttpLimits"]

MOST_BYTES: Final = 1 << 21
"""The longest response in bytes, as sent and when decompressed. Parsing a response of this
size takes a hundred megabytes if it is JSON with many small values."""

_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")

_GZIP: Final = 16 + zlib.MAX_WBITS
_ACTIVE: ContextVar["HttpLimits | None"] = ContextVar("_ACTIVE", default=None)


class HttpLimits:
    """The limits of one request, and why it was refused.

    Attributes:
        refusal: Why a response was refused; `None` if none was.
    """

    def __init__(self, seconds: float) -> None:
        self.refusal: ChatError | None = None
        self._deadline = time.monotonic() + seconds
        self._received = 0

    def call(self, function: Callable[[_Argument], _Result], argument: _Argument) -> _Result:
        """Call *function*; the limits apply to its requests, and to no other thread's."""
        _install()
        token = _ACTIVE.set(self)
        try:
            return function(argument)
        finally:
            _ACTIVE.reset(token)

    def refuse(self, fault: ChatFault, problem: str) -> httpx.RequestError:
        """Keep the reason, and return an exception that makes the client give up."""
        self.refusal = ChatError(fault, problem)
        return httpx.RemoteProtocolError(problem)

    def count(self, size: int) -> None:
        """Count bytes of a body.

        Raises:
            httpx.RequestError: There are too many bytes.
        """
        self._received += size
        if self._received > MOST_BYTES:
            raise self.refuse(ChatFault.MALFORMED, f"an answer of more than {MOST_BYTES:,} bytes")

    def remaining(self, timeout: float | None) -> float:
        """Return how long one operation on the connection may take.

        Raises:
            httpcore.ReadTimeout: The deadline has passed.
        """
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise httpcore.ReadTimeout("the deadline of the whole answer has passed")
        return seconds if timeout is None else min(seconds, timeout)


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


class _Stream(httpcore.NetworkStream):
    """A connection on which no operation outlasts the deadline of the whole answer.

    httpx limits only the time between two bytes. A connection may be used again later, by
    requests with other limits or without any.
    """

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _remaining(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _remaining(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, _remaining(timeout))
        return _Stream(stream)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _remaining(timeout: float | None) -> float | None:
    limits = _ACTIVE.get()
    return limits.remaining(timeout) if limits else timeout


@cache
def _install() -> None:
    """Make httpx and httpcore apply the active limits, if there are any."""
    send, connect = httpx.Client.send, httpcore.SyncBackend.connect_tcp

    @wraps(send)
    def send_limited(
        client: httpx.Client, request: httpx.Request, *, stream: bool = False, **options: Any
    ) -> httpx.Response:
        limits = _ACTIVE.get()
        if limits is None:
            return send(client, request, stream=stream, **options)
        request.headers["accept-encoding"] = "gzip"
        options["follow_redirects"] = False
        response = send(client, request, stream=True, **options)
        try:
            _limit(response, limits)
            if not stream:
                response.read()
        except BaseException:
            response.close()
            raise
        return response

    @wraps(connect)
    def connect_limited(
        backend: httpcore.SyncBackend,
        host: str,
        port: int,
        timeout: float | None = None,
        **options: Any,
    ) -> httpcore.NetworkStream:
        stream = connect(backend, host, port, timeout=_remaining(timeout), **options)
        return _Stream(stream) if _ACTIVE.get() else stream

    httpx.Client.send = send_limited  # type: ignore[method-assign,assignment]
    httpcore.SyncBackend.connect_tcp = connect_limited  # type: ignore[method-assign,assignment]


def _limit(response: httpx.Response, limits: HttpLimits) -> None:
    """Refuse a redirect or an unknown encoding; otherwise limit the body."""
    if response.is_redirect:  # it could lead anywhere, with the key
        target = response.headers.get("location", "")
        problem = f"a redirect to {target!r:.200} is not followed; set api_base to that address"
        raise limits.refuse(ChatFault.REJECTED, problem)
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"", "identity", "gzip"}:
        problem = f"an answer in the encoding {encoding!r:.80}, which was not asked for"
        raise limits.refuse(ChatFault.MALFORMED, problem)
    response.headers.pop("content-encoding", None)
    response.stream = _Body(response.stream, limits, is_gzip=encoding == "gzip")
