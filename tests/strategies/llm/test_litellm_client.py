"""The adapter of litellm, over HTTP against a scripted server."""

import datetime as dt
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from email.utils import format_datetime
from functools import partial

import pytest
from needs import need_installed
from server import error, said, slowly, stalled, status

from cooperbench_eval.strategies.llm.chat import ChatError, ChatFault, ChatRequest, Message
from cooperbench_eval.strategies.llm.litellm_client import LitellmClient, _environment
from cooperbench_eval.strategies.llm.redaction import RedactingClient, known_secrets

KEY = "planted-key-of-the-argument"
HEADER = "planted-header-of-the-options"
VARIABLE = "planted-key-of-the-environment"
HELLO = ChatRequest(
    model="openai/tiny",
    messages=[Message(role="user", text="Hello")],
    options={"temperature": 0.0, "seed": 7, "max_tokens": 9},
)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Set a key that must not appear anywhere."""
    monkeypatch.setenv("OPENAI_API_KEY", VARIABLE)


def complete(server, request=HELLO, **options):
    """Ask the scripted server."""
    options = {"api_base": server.address, "api_key": KEY, "timeout_seconds": 30} | options
    return redacting(LitellmClient(**options)).complete(request)


def redacting(client):
    """Ask as a strategy does."""
    secrets = partial(known_secrets, client.api_key, client.api_base, client.options)
    return RedactingClient(client=client, secrets=secrets)


def fault_of(server, **options):
    """Ask the scripted server, and return the fault."""
    with pytest.raises(ChatError) as caught:
        complete(server, **options)
    return caught.value


# --- answers ------------------------------------------------------------------------------


def test_a_reply_has_text_tokens_and_the_model_as_served(model_server):
    """As the provider reports them."""
    model_server.script = ["Hi."]

    reply = complete(model_server)

    assert (reply.text, reply.finish_reason, reply.model) == ("Hi.", "stop", "served-model")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (100, 10, 40)
    assert reply.cost_usd is None
    assert 0 < reply.latency_seconds < 30


def test_a_known_price_is_counted(model_server):
    """From litellm's own table of prices, which is not downloaded."""
    model_server.script = [said("Hi.", model="gpt-4o-mini")]

    reply = complete(model_server, ChatRequest(model="openai/gpt-4o-mini", messages=HELLO.messages))

    assert 0 < reply.cost_usd < 0.001


def test_the_request_has_all_options(model_server):
    """Model, messages, options, key and headers; nothing else influences the answer."""
    model_server.script = ["Hi."]

    complete(model_server, options={"extra_headers": {"X-Planted": HEADER}, "top_p": 0.5})

    (body,) = model_server.requests
    assert body == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0.0,
        "seed": 7,
        "max_tokens": 9,
        "top_p": 0.5,
    }
    headers = {name.lower(): value for name, value in model_server.headers[0].items()}
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["x-planted"] == HEADER


@pytest.mark.parametrize(
    ("step", "finish_reason"),
    [
        (said("Hi", finish_reason="length"), "length"),
        (said("", finish_reason="content_filter"), "content_filter"),
        (said(None, refusal="I must not."), "refusal"),
        (said(None), "stop"),
    ],
)
def test_a_reply_has_its_finish_reason(model_server, step, finish_reason):
    """Also without text."""
    model_server.script = [step]

    reply = complete(model_server)

    assert reply.finish_reason == finish_reason
    assert reply.text in {"Hi", ""}


def completion_with(tokens):
    """Return a completion with a number of tokens as the provider writes it."""
    answer = b'{"choices": [{"message": {"role": "assistant", "content": "x"}}], "usage": '
    return answer + b'{"prompt_tokens": %b, "completion_tokens": 1, "total_tokens": 1}}' % tokens


# --- faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (error(429, "slow down"), ChatFault.RATE_LIMITED),
        (error(500, "oops"), ChatFault.UNAVAILABLE),
        (status(503), ChatFault.UNAVAILABLE),
        (error(401, "no such key"), ChatFault.REJECTED),
        (error(404, "no such model"), ChatFault.REJECTED),
        (error(400, "too long"), ChatFault.REJECTED),
        (status(200, b"{]", content_type="application/json"), ChatFault.UNAVAILABLE),
        (status(200, b"[]", content_type="application/json"), None),
        (status(200, b'{"choices": []}', content_type="application/json"), None),
        (status(200, b'{"choices": [{}]}', content_type="application/json"), None),
        (status(200, completion_with(b"1e999"), content_type="application/json"), None),
        (status(200, completion_with(b"9" * 400), content_type="application/json"), None),
        (status(200, b"<html>", content_type="text/html"), None),
        (status(200), None),
    ],
)
def test_a_response_that_is_not_an_answer_is_a_fault(model_server, step, fault):
    """For anything that the server sends, and any exception of litellm."""
    model_server.script = [step]

    found = fault_of(model_server).fault

    assert found is fault or (fault is None and found.is_transient)


@pytest.mark.parametrize(
    ("name", "fault"),
    [("Timeout", ChatFault.TIMED_OUT), ("JSONSchemaError", ChatFault.MALFORMED)],
)
def test_an_exception_without_a_status_is_recognized_by_its_name(name, fault):
    """Other exceptions mean a malformed answer."""
    found = LitellmClient()._fault(type(name, (Exception,), {})())

    assert (found.fault, found.problem) == (fault, name)


def test_ten_megabytes_are_not_an_answer(model_server):
    """They are not parsed."""
    model_server.script = ["a" * 10_000_000]

    assert str(fault_of(model_server)) == "malformed: an answer of more than 2,097,152 bytes"


def test_a_connection_that_is_refused_is_a_fault():
    """So is a host name that does not exist."""
    need_installed("litellm")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"

        with pytest.raises(ChatError) as caught:
            LitellmClient(api_base=address, api_key=KEY, timeout_seconds=5).complete(HELLO)

    assert caught.value.fault is ChatFault.UNAVAILABLE


@pytest.mark.parametrize("step", [stalled, slowly("Hi.", 2)])
def test_the_deadline_holds_for_the_whole_answer(model_server, step):
    """Bytes that arrive slowly do not extend it."""
    model_server.script = ["Hi.", step]
    complete(model_server)  # litellm is imported
    began = time.monotonic()

    found = fault_of(model_server, timeout_seconds=0.4)

    assert found.fault is ChatFault.TIMED_OUT
    assert 0.3 < time.monotonic() - began < 1.5


def test_litellm_does_not_retry_by_itself(model_server):
    """The caller counts the attempts."""
    model_server.script = [error(500, "oops")]

    fault_of(model_server)

    assert len(model_server.requests) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3.0), ("0", 0.0), ("-1", 0.0), ("nan", None), ("inf", None), ("soon", None)],
)
def test_the_time_to_retry_comes_from_the_provider(model_server, header, seconds):
    """If it is a valid time."""
    model_server.script = [error(429, "slow down", retry_after=header)]

    assert fault_of(model_server).retry_after_seconds == seconds


def test_the_time_to_retry_may_be_a_date(model_server):
    """In the format of HTTP."""
    date = format_datetime(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=30), usegmt=True)
    model_server.script = [error(429, "slow down", retry_after=date)]

    assert 25 < fault_of(model_server).retry_after_seconds <= 30


# --- secrets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [error(401, f"no: {KEY} {HEADER} {VARIABLE}"), said("Hi.")])
def test_no_secret_is_reported_printed_or_logged(model_server, step, caplog, capfd):
    """Even if the server returns it and every logger is verbose."""
    caplog.set_level(logging.DEBUG)
    model_server.script = [step]
    client = LitellmClient(
        api_base=model_server.address,
        api_key=KEY,
        options={"extra_headers": {"Authorization": f"Bearer {HEADER}", "X-Planted": HEADER}},
    )
    client = redacting(client)

    try:
        told = repr(client.complete(HELLO))
    except ChatError as exc:
        told = f"{exc} {exc!r} {exc.__cause__!r}"

    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")
    for secret in (KEY, HEADER, VARIABLE):
        assert secret not in told
        assert secret not in repr(client)
        assert secret not in caplog.text


def test_a_secret_in_the_models_name_is_removed(model_server):
    """Reports contain that name."""
    model_server.script = [said("Hi.", model=f"model-{KEY}")]

    assert complete(model_server).model == "model-***"


# --- litellm ------------------------------------------------------------------------------------

IMPORT = """
import os, sys, threading
from cooperbench_eval.strategies.llm import litellm_client
from cooperbench_eval import LLMStrategy
LLMStrategy("openai/tiny")
assert "litellm" not in sys.modules
fetched = []
def watch(event, args):
    if event in {"socket.connect", "socket.getaddrinfo"}:
        fetched.append(args)
sys.addaudithook(watch)
threads = [threading.Thread(target=litellm_client._litellm) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert "litellm" in sys.modules
assert not fetched, fetched
assert "LITELLM_LOCAL_MODEL_COST_MAP" not in os.environ
"""


@pytest.mark.long
def test_importing_litellm_downloads_prints_and_leaves_nothing():
    """It is imported with the first request, not earlier."""
    need_installed("litellm")
    done = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("before", [None, "False"])
def test_a_variable_is_restored(monkeypatch, before):
    """Whether it was set before or not."""
    monkeypatch.delenv("PLANTED", raising=False)
    if before is not None:
        monkeypatch.setenv("PLANTED", before)

    with _environment("PLANTED", "True"):
        assert os.environ["PLANTED"] == "True"

    assert os.environ.get("PLANTED") == before


def test_an_exit_inside_of_litellm_is_not_swallowed(model_server, monkeypatch):
    """The caller gets an exception that is not an `Exception`."""

    def leave(_self, _request, _limits):
        raise SystemExit(3)

    monkeypatch.setattr(LitellmClient, "_ask", leave)

    with pytest.raises(SystemExit):
        complete(model_server)


def test_requests_of_several_threads_do_not_mix(model_server):
    """Each thread gets its own answer."""
    model_server.script = lambda body: body["messages"][-1]["content"].upper()
    replies = {}

    def ask(word):
        messages = [Message(role="user", text=word)]
        replies[word] = complete(model_server, ChatRequest(model="openai/t", messages=messages))

    threads = [threading.Thread(target=ask, args=(word,)) for word in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {word: reply.text for word, reply in replies.items()} == {
        w: w.upper() for w in "abcdefgh"
    }
