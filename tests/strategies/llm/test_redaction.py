"""Secrets are found in every form in which a provider may echo them."""

import base64
import json
import logging
import pickle
import random
import string
import time
import traceback
import warnings
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from needs import need_package
from server import error, fenced, said, status

import cooperbench_eval as ce
from cooperbench_eval.strategies.llm.chat import (
    ChatError,
    ChatFault,
    ChatReply,
    ChatRequest,
    Message,
)
from cooperbench_eval.strategies.llm.litellm_client import LitellmClient
from cooperbench_eval.strategies.llm.redaction import RedactingClient, Redactor, known_secrets

KEY = "sk-proj-Zx81Kq0pLm93VbTnR27aQwEe"
WINDOW = 10
"""No more than this many characters of a form may be left."""
LETTERS = string.ascii_letters + string.digits


def escaped(pattern):
    """Make a function that escapes every character."""
    return lambda key: "".join(pattern % ord(character) for character in key)


FORMS = {
    "plain": str,
    "upper": str.upper,
    "reversed": lambda key: key[::-1],
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of a login": lambda key: base64.b64encode(b"u:" + key.encode()).decode(),
    "base64 of a header": lambda key: base64.b64encode(b"x=" + key.encode() + b"\r\n").decode(),
    "base64 for addresses": lambda key: base64.urlsafe_b64encode(key.encode()).decode().strip("="),
    "base64 in lines": lambda key: base64.encodebytes(b"y" * 40 + key.encode() * 2).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "percent": escaped("%%%02x"),
    "percent, upper": escaped("%%%02X"),
    "percent, twice": lambda key: quote(escaped("%%%02x")(key)),
    "percent, some": lambda key: quote(key.replace(key[5], f"%{ord(key[5]):02x}")),
    "json": escaped("\\u%04x"),
    "json in json": escaped("\\\\u%04X"),
    "python": escaped("\\x%02x"),
    "html": escaped("&#%d;"),
    "beginning": lambda key: key[:14],
    "end": lambda key: key[-14:],
    "middle": lambda key: key[5:19],
    "masked": lambda key: f"{key[:9]}…{key[-4:]}",
    "stars": lambda key: f"{key[:4]}{'*' * 20}{key[-4:]}",
    "lines": lambda key: "\n    ".join(key[at : at + 7] for at in range(0, len(key), 7)),
    "escaped lines": lambda key: "\\n".join(key[at : at + 5] for at in range(0, len(key), 5)),
    "literals": lambda key: f'"{key[:9]}" +\n "{key[9:]}"',
    "spaces": " ".join,
}


def left_of(form, text):
    """Return the parts of a form that a text still has."""
    parts = (form[at : at + WINDOW] for at in range(max(len(form) - WINDOW, 0) + 1))
    return {part for part in parts if part in text}


@st.composite
def keys(draw):
    """Make a key: random letters and digits, after a prefix, perhaps with other characters."""
    source = draw(st.randoms(use_true_random=True))
    alphabet = LETTERS + draw(st.sampled_from(["", "-_", "+/=", ".~"]))
    body = "".join(source.choices(alphabet, k=draw(st.integers(24, 80))))
    return draw(st.sampled_from(["", "sk-", "sk-ant-api03-", "AIza", "key:"])) + body


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=settings().max_examples // 3)
@given(key=keys(), before=st.text(max_size=9), after=st.text(max_size=9))
def test_a_key_is_found_in_every_form(form, key, before, after):
    """Whatever is around it: little of it is left."""
    said_by_provider = FORMS[form](key)
    around = f"{before} {said_by_provider} {after}"
    redactor = Redactor([key, "another-secret-1"])

    left = left_of(said_by_provider, redactor.redact(around))

    assert redactor.finds(around)
    # In base64, a letter at each end depends on the neighbours; words may be between escapes.
    assert not {part for part in left if len(set(part)) > 3 and form != "base64 in lines"}
    assert key not in redactor.redact(around)


@given(key=keys())
def test_ordinary_text_is_left_alone(key):
    """A random key has nothing in common with it."""
    redactor = Redactor([key])

    assert not redactor.finds(PROSE)
    assert redactor.redact(PROSE) == PROSE


ROOT = Path(__file__).parents[3]
PROSE = (ROOT / "docs/explanation/resolving.md").read_text(encoding="utf-8")[:3000]


@pytest.mark.parametrize("word", ["unused", "x", "placeholder", "lm-studio", "EMPTY", "secret"])
def test_a_word_may_be_the_key_of_a_local_server(word):
    """Answers with that word are accepted."""
    code = f"def {word}_value(placeholder, unused, secret, EMPTY):\n    return {word!r}\n"

    assert not Redactor([word]).finds(code)


@pytest.mark.parametrize(
    "text",
    ["a" * 90_000, "\\" * 90_000, "%41" * 30_000, "** " * 30_000, "%25" * 30_000, "sk-" * 30_000],
    ids=["letters", "backslashes", "escapes", "masks", "layers", "beginnings"],
)
def test_long_texts_are_searched_in_little_time(text):
    """The time grows with the length only; a key may be a file of thousands of characters."""
    source = random.Random(1)  # noqa: S311 - not for security
    redactor = Redactor(["".join(source.choices(LETTERS, k=size)) for size in (30, 200, 3000)])
    began = time.process_time()

    assert not redactor.finds(text)
    assert time.process_time() - began < 5


# --- known secrets ----------------------------------------------------------------------------


def test_the_secrets_of_a_client_are_known(monkeypatch):
    """Its key, its options, its address and the environment; public headers are not secret."""
    monkeypatch.setenv("SOME_API_KEY", "of-the-environment")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/ssh-agent/socket.12345")
    monkeypatch.setenv("SOME_TOKEN", "short")
    headers = {"Authorization": "Bearer of-the-header", "Content-Type": "application/json"}

    found = set(known_secrets("mine", "https://u:p%40ss@host/?key=abc", {"extra_headers": headers}))

    assert {"mine", "of-the-environment", "of-the-header", "p@ss", "abc"} <= found
    assert not found & {"application/json", "short", "/run/ssh-agent/socket.12345"}


def test_a_key_that_is_set_in_litellm_is_known(monkeypatch):
    """It is an attribute of the module."""
    litellm = need_package("litellm")
    monkeypatch.setattr(litellm, "openai_key", "set-in-the-module")

    assert "set-in-the-module" in set(known_secrets(None, None, {}))


# --- clients ------------------------------------------------------------------------------------


class Saying:
    """A client that says one thing."""

    def __init__(self, answer):
        """Take the answer."""
        self.answer = answer

    def complete(self, _request):
        """Say it."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def ask(answer, question="Hello"):
    """Ask a client that knows the key."""
    client = RedactingClient(client=Saying(answer), secrets=lambda: [KEY])
    messages = [Message(role="user", text=question)]
    return client.complete(ChatRequest(model="m", messages=messages))


def test_an_answer_with_a_secret_is_refused():
    """A mask would be merged as code."""
    with pytest.raises(ChatError) as caught:
        ask(ChatReply(text=f"x = {KEY!r}"))

    assert caught.value.fault is ChatFault.MALFORMED
    assert "secret" in caught.value.problem


def test_an_answer_with_a_text_of_the_repository_is_accepted():
    """The key was in the question."""
    reply = ChatReply(text=f"x = {KEY!r}")

    assert ask(reply, question=f"y = {KEY!r}") == reply


def test_an_error_carries_no_secret_and_no_other_error():
    """Not as cause or context, whose message or variables could hold it, nor when pickled."""
    with pytest.raises(ChatError) as caught:
        ask(ChatError(ChatFault.REJECTED, f"bad key {KEY}", 3.0))

    found = caught.value
    assert (found.problem, found.retry_after_seconds) == ("bad key ***", 3.0)
    assert (found.__cause__, found.__context__) == (None, None)
    told = [*traceback.format_exception(found), pickle.dumps(found).decode("latin-1"), repr(found)]
    assert not left_of(KEY, "".join(told))


def test_long_names_and_messages_are_cut():
    """A provider may send megabytes as the name of a model."""
    reply = ask(ChatReply(text="x", model="m" * 9999, finish_reason="f" * 9999))

    assert len(reply.model) == len(reply.finish_reason) == 200
    with pytest.raises(ChatError) as caught:
        ask(ChatError(ChatFault.REJECTED, "e" * 9_000_000))
    assert len(caught.value.problem) == 500


# --- reports ------------------------------------------------------------------------------------

PLACES = {
    "answer": lambda text: said(fenced(f"import os\n# {text}")),
    "finish reason": lambda text: said(fenced("import os\n"), finish_reason=text),
    "model": lambda text: said(fenced("import os\n"), model=text),
    "error": lambda text: error(401, f"Incorrect API key provided: {text}"),
    "failure": lambda text: error(503, text),
    "redirect": lambda text: status(307, location=f"http://other/{quote(text)}"),
    "header": lambda text: error(429, "slow", x_request_id=quote(text), retry_after=0),
    "usage": lambda text: status(
        200, json.dumps({"choices": [{"message": {"content": [text]}}], "usage": text}).encode()
    ),
    "encoding": lambda text: status(200, b"x", content_encoding=quote(text)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", ["plain", "base64 of a login", "percent", "json", "masked"])
def test_an_echoed_key_reaches_nothing(  # noqa: PLR0917 - fixtures
    model_server, tmp_path, caplog, capfd, place, form
):
    """No report, cassette, log, warning or output, through the real client."""
    caplog.set_level(logging.DEBUG)
    for name in ("httpcore", "httpcore.http11", "httpx", "openai"):  # as a caller may set them
        caplog.set_level(logging.DEBUG, name)
    echoed = FORMS[form](KEY)
    model_server.script = [PLACES[place](echoed)]
    strategy = ce.LLMStrategy(
        "openai/tiny",
        api_base=model_server.address,
        api_key=KEY,
        cassette=tmp_path,
        max_attempts=1,
        timeout_seconds=20,
    )
    base = ce.Snapshot.from_files({"a.py": b"x = 1\n"})
    texts = (b"import os\nx = 1\n", b"import sys\nx = 1\n")
    ours, theirs = (ce.Changes({"a.py": ce.Entry(text)}).diff(base) for text in texts)
    pair = ce.FeaturePair(
        repo_name="r",
        task_id=0,
        base=base,
        feature1=ce.Feature(number=1, patch=ours),
        feature2=ce.Feature(number=2, patch=theirs),
    )

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        report = ce.Evaluator(strategies=[strategy]).evaluate(pair)

    assert len(model_server.requests) == 1
    cassette = [file.read_text(encoding="utf-8") for file in tmp_path.rglob("*.json")]
    assert cassette
    told = [report.to_json(), repr(report), caplog.text, *capfd.readouterr(), *cassette]
    told += [str(each.message) for each in warned if "ReadOnly" not in str(each.message)]
    for text in told:
        assert not left_of(echoed, text)
        assert not left_of(KEY, text)


def test_the_client_itself_shows_no_key():
    """Neither does the one around it."""
    client = LitellmClient(api_key=KEY, options={"extra_headers": {"X-Key": KEY}})
    around = RedactingClient(client=client, secrets=lambda: [KEY])

    assert KEY not in repr(client) + repr(around) + repr(Redactor([KEY]))


def test_a_key_in_an_option_of_another_name_is_not_stored(model_server, tmp_path):
    """It is sent, but the cassette has only the other options."""
    model_server.script = [fenced("import os")]
    base = ce.Snapshot.from_files({"a.py": b"x = 1\n"})
    sides = [ce.Changes({"a.py": ce.Entry(b"import %s\nx = 1\n" % n)}) for n in (b"os", b"sys")]
    strategy = ce.LLMStrategy(
        "openai/tiny",
        api_base=model_server.address,
        api_key=KEY,
        options={"extra_body": {"user": f"me {KEY}"}, "top_p": 0.5},
        cassette=tmp_path,
        max_attempts=1,
    )

    ce.merge(base, *sides, strategy=strategy)

    [file] = tmp_path.rglob("*.json")
    assert '"top_p": 0.5' in file.read_text(encoding="utf-8")
    assert KEY not in file.read_text(encoding="utf-8")
    assert model_server.requests[0]["user"] == f"me {KEY}"
