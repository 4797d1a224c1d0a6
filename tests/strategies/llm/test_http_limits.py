"""What a provider sends is limited in bytes, time and requests, with litellm's real clients."""

import gzip
import json
import threading
import time
import tracemalloc
import zlib
from functools import partial

import pytest
from needs import need_package
from server import ModelServer, said, stalled, status

from cooperbench_eval.strategies.llm.chat import ChatError, ChatFault, ChatRequest, Message
from cooperbench_eval.strategies.llm.litellm_client import LitellmClient

KEY = "planted-key-of-the-argument"
MILLION = 1_000_000
MOST_BYTES = need_package("cooperbench_eval.strategies.llm.http_limits").MOST_BYTES


def complete(server, model="openai/tiny", **options):
    """Ask the scripted server."""
    facts = {"api_base": server.address, "api_key": KEY, "timeout_seconds": 30} | options
    messages = [Message(role="user", text="Hello")]
    return LitellmClient(**facts).complete(ChatRequest(model=model, messages=messages))


def fault_of(server, *args, **options):
    """Ask the scripted server, and return the fault."""
    with pytest.raises(ChatError) as caught:
        complete(server, *args, **options)
    return caught.value


def encoded(data, encoding):
    """Answer with a body in an encoding."""
    return status(200, data, content_type="application/json", content_encoding=encoding)


def completion(text):
    """Return the JSON of a completion."""
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    facts = {"id": "x", "object": "chat.completion", "created": 1, "model": "served-model"}
    return json.dumps(facts | {"choices": choices}).encode()


def zipped(size, *, wbits=31):
    """Compress that many letters, without holding them in memory."""
    packer = zlib.compressobj(9, wbits=wbits)
    pieces = [packer.compress(b"a" * MILLION) for _ in range(size // MILLION)]
    return b"".join([*pieces, packer.flush()])


def zstd(size):
    """Compress as zstd does."""
    zstandard = need_package("zstandard")
    return zstandard.compress(b"a" * size)


def workers():
    """Return the threads that are still asking."""
    return [each for each in threading.enumerate() if each.name == "cooperbench-eval-llm"]


# --- bytes ----------------------------------------------------------------------------------

BOMBS = {
    "gzip": partial(zipped, 400 * MILLION),
    "x-gzip": partial(zipped, 4 * MILLION),
    "deflate": partial(zipped, 100 * MILLION, wbits=15),
    "zstd": partial(zstd, 100 * MILLION),
    "gzip, gzip": lambda: gzip.compress(zipped(100 * MILLION)),
    "gzip,identity": partial(zipped, 100 * MILLION),
    "GZIP ": partial(zipped, 100 * MILLION),
    "br": lambda: b"\x8b\x7f\x80" * 100,
    "no-such-thing": lambda: b"x",
}


@pytest.mark.parametrize(("encoding", "code"), [("gzip", 500), *((each, 200) for each in BOMBS)])
def test_a_compressed_answer_is_not_expanded_beyond_the_limit(model_server, encoding, code):
    """For any encoding, and in the body of an error too."""
    data = BOMBS[encoding]()
    facts = {"content_type": "application/json", "content_encoding": encoding}
    model_server.script = ["Hi.", status(code, data, **facts)]
    complete(model_server)  # litellm is imported
    tracemalloc.start()
    try:
        found = fault_of(model_server)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert found.fault is ChatFault.MALFORMED
    assert "more than" in found.problem or "which was not asked for" in found.problem
    assert peak < 10 * MOST_BYTES
    assert len(model_server.requests) == 2


def test_an_ordinary_compressed_answer_is_read(model_server):
    """The request asks for gzip only, whatever the options say."""
    model_server.script = [encoded(gzip.compress(completion("Grüße")), "gzip")]

    reply = complete(model_server, options={"extra_headers": {"Accept-Encoding": "br"}})

    assert reply.text == "Grüße"
    headers = {name.lower(): value for name, value in model_server.headers[0].items()}
    assert headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize("damage", [lambda d: d[:-20], lambda d: b"x" + d, lambda d: d[:30] * 2])
def test_a_damaged_compressed_answer_is_a_fault(model_server, damage):
    """It may be cut off or altered."""
    model_server.script = [encoded(damage(gzip.compress(completion("Hi." * 99))), "gzip")]

    assert fault_of(model_server).fault.is_transient


def test_an_answer_just_below_the_limit_is_read(model_server):
    """Plain or compressed."""
    text = "a" * 999_000
    model_server.script = [text, encoded(gzip.compress(completion(text)), "gzip")]

    assert complete(model_server).text == complete(model_server).text == text


def test_an_endless_answer_is_given_up_before_the_deadline(model_server):
    """The server sends spaces as fast as it can."""

    def endless(handler):
        handler.send_response(200)
        handler.send_header("content-type", "application/json")
        handler.end_headers()
        while not model_server.stopping.is_set():
            handler.wfile.write(b" " * 65536)

    model_server.script = [endless]

    found = fault_of(model_server)

    assert str(found) == f"malformed: an answer of more than {MOST_BYTES:,} bytes"


def test_json_of_many_small_values_takes_little_memory(model_server):
    """Each empty list in it takes three bytes, and sixty in memory."""
    body = completion("Hi.")[:-1] + b', "x": [' + b"[]," * 600_000 + b"[]]}"
    assert len(body) < MOST_BYTES
    model_server.script = ["Hi.", status(200, body, content_type="application/json")]
    complete(model_server)
    tracemalloc.start()
    try:
        complete(model_server)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 200 * MILLION


# --- time -----------------------------------------------------------------------------------


def trickle(first, more):
    """Send *first*, and then *more* every few milliseconds."""

    def step(handler):
        handler.wfile.write(first)
        while not handler.server.model.stopping.wait(0.005):
            handler.wfile.write(more)
            handler.wfile.flush()

    return step


@pytest.mark.parametrize(
    "step",
    [
        stalled,
        trickle(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
        trickle(b"HTTP/1.1 200 OK\r\nx: ", b"x"),
        trickle(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;", b"x"),
        trickle(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n", gzip.compress(b"")[:10]),
    ],
    ids=["body", "interim responses", "header", "chunk", "empty gzip"],
)
def test_nothing_goes_on_after_the_deadline(model_server, step):
    """Neither a thread nor a connection remains, although bytes keep arriving."""
    model_server.script = ["Hi.", step]
    complete(model_server)
    before = workers()
    began = time.monotonic()

    found = fault_of(model_server, timeout_seconds=0.4)

    assert found.fault.is_transient
    assert time.monotonic() - began < 1.5
    until = time.monotonic() + 5
    while workers() != before and time.monotonic() < until:
        time.sleep(0.02)
    assert workers() == before


# --- requests -------------------------------------------------------------------------------


@pytest.fixture
def elsewhere():
    """Return a second server, at another origin."""
    server = ModelServer()
    yield server
    server.stop()


def openai_client(server):
    """Return the options with which litellm uses a client of the caller's."""
    httpx = need_package("httpx")
    http = httpx.Client(follow_redirects=True)
    import openai  # noqa: PLC0415 - takes seconds, and all workers import this file

    return {"client": openai.OpenAI(api_key=KEY, base_url=server.address, http_client=http)}


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("to", ["same", "other"])
def test_a_redirect_is_not_followed(model_server, elsewhere, code, to):
    """It could lead the key and the headers anywhere, and on to further requests."""
    target = {"same": model_server, "other": elsewhere}[to]
    location = f"{target.address}/chat/completions"
    model_server.script = [status(code, location=location)]

    found = fault_of(model_server, options={"extra_headers": {"X-Secret": KEY}})

    assert found.fault is ChatFault.REJECTED
    assert location in found.problem
    assert (len(model_server.requests), len(elsewhere.requests)) == (1, 0)


@pytest.mark.parametrize(
    "model",
    [
        *("openai/tiny", "anthropic/tiny", "gemini/tiny", "mistral/tiny"),
        *("azure/tiny", "deepseek/tiny", "openrouter/tiny", "text-completion-openai/tiny"),
    ],
)
@pytest.mark.parametrize("limit", ["redirect", "bytes"])
def test_the_limits_hold_for_every_provider(model_server, elsewhere, model, limit):
    """Some routes take OpenAI's client or Azure's, and the others a handler of litellm."""
    bomb = encoded(zipped(20 * MILLION), "gzip")
    redirect = status(307, location=elsewhere.address)
    model_server.script = [redirect if limit == "redirect" else bomb]

    found = fault_of(model_server, model)

    assert ("redirect" if limit == "redirect" else "more than") in found.problem
    assert (len(model_server.requests), len(elsewhere.requests)) == (1, 0)


def test_the_limits_hold_for_a_client_of_the_caller(model_server, elsewhere):
    """One of the options of litellm is such a client."""
    options = openai_client(model_server)
    bomb = encoded(zipped(20 * MILLION), "gzip")
    model_server.script = [status(307, location=elsewhere.address), bomb, said("Hi.")]

    faults = [fault_of(model_server, options=options).fault for _ in range(2)]

    assert faults == [ChatFault.REJECTED, ChatFault.MALFORMED]
    assert complete(model_server, options=options).text == "Hi."
    assert not elsewhere.requests


def test_other_requests_of_the_program_are_not_limited(model_server, elsewhere):
    """Neither those of other threads, nor those on a connection that was limited before."""
    model_server.script = ["Hi."]
    client = openai_client(model_server)["client"]
    complete(model_server, options={"client": client})
    text = "a" * (2 * MOST_BYTES)
    model_server.script = [status(308, location=f"{elsewhere.address}/chat/completions")]
    elsewhere.script = [encoded(gzip.compress(completion(text)), "gzip")]

    messages = [{"role": "user", "content": "Hello"}]
    answer = client.chat.completions.create(model="tiny", messages=messages)

    assert answer.choices[0].message.content == text
