"""Requests as records, their digests, and what is never written down."""

import pickle

import pytest

from cooperbench_eval.strategies.llm.chat import (
    ChatError,
    ChatFault,
    ChatReply,
    ChatRequest,
    Message,
)
from cooperbench_eval.strategies.llm.redaction import (
    Redactor,
    is_secret,
    secrets_in,
    without_secrets,
)


def request(text="Hello", **options):
    """Return a request of one turn."""
    return ChatRequest(model="m", messages=[Message(role="user", text=text)], options=options)


# --- requests -------------------------------------------------------------------------


def test_only_equal_requests_have_the_same_digest():
    """The order of options does not matter; a word, an option or the model does."""
    first, again = request(seed=1, top_p=0.5), request(top_p=0.5, seed=1)

    assert first.key == again.key
    others = [request("Hallo", seed=1, top_p=0.5), request(seed=2, top_p=0.5), request()]
    assert len({first.key, *(each.key for each in others)}) == 4


def test_a_text_that_utf_8_cannot_encode_is_escaped():
    """Such as a path with bytes of another encoding."""
    message = Message(role="user", text="caf\udce9.py")

    assert message.text == "caf\\udce9.py"
    assert len(request("caf\udce9.py").key) == 64


@pytest.mark.parametrize("facts", [{"text": 1}, {"text": None}, {"text": "", "model": 3}])
def test_a_reply_needs_a_text(facts):
    """The file of a cassette cannot give a reply without one."""
    with pytest.raises(TypeError):
        ChatReply(**facts)


# --- faults ---------------------------------------------------------------------------


def test_a_fault_has_a_message_and_can_be_pickled():
    """A worker process may return it."""
    error = ChatError(ChatFault.RATE_LIMITED, "slow down", 2.5)

    again = pickle.loads(pickle.dumps(error))  # noqa: S301

    assert str(again) == str(error) == "rate limited: slow down"
    assert (again.fault, again.retry_after_seconds) == (ChatFault.RATE_LIMITED, 2.5)
    assert str(ChatError(ChatFault.TIMED_OUT, "")) == "timed out"


def test_only_transient_faults_are_retried():
    """A key that is rejected stays rejected."""
    assert {fault for fault in ChatFault if not fault.is_transient} == {
        ChatFault.REJECTED,
        ChatFault.NOT_RECORDED,
    }


# --- replies ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens", "cached_tokens"])
@pytest.mark.parametrize("value", ["5", None, 0.5, -1, 10**400])
def test_a_number_of_tokens_is_a_number(name, value):
    """Usage is added up and stored as JSON, so a provider cannot send anything else."""
    with pytest.raises((TypeError, ValueError), match=name):
        ChatReply(text="", **{name: value})


@pytest.mark.parametrize("name", ["cost_usd", "latency_seconds"])
@pytest.mark.parametrize("value", ["5", float("nan"), float("inf"), -0.1])
def test_an_amount_is_finite(name, value):
    """JSON cannot express other numbers."""
    with pytest.raises((TypeError, ValueError), match=name):
        ChatReply(text="", **{name: value})


# --- secrets ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key planted-9 is wrong", "key *** is wrong"),
        ("key PLANTED-9 is wrong", "key *** is wrong"),
        ("Authorization: Bearer abcdef123", "Authorization: Bearer ***"),
        ("Incorrect API key: sk-ab****wxyz", "Incorrect API key: sk-***"),
        ("http://ann:pass@host/v1 is down", "http://***@host/v1 is down"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_secrets_are_removed_from_texts(text, shown):
    """Known secrets, and text that looks like one."""
    assert Redactor(["planted-9", ""]).redact(text) == shown


def test_a_placeholder_key_hides_no_other_text():
    """Users give `x` as the key of a local server."""
    assert Redactor(["x"]).redact("a fixed example") == "a fixed example"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True),
        ("HF_TOKEN", True),
        ("Proxy-Authorization", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("max_tokens", False),
        ("GIT_AUTHOR_NAME", False),
        ("temperature", False),
    ],
)
def test_a_secret_is_known_by_its_name(name, secret):
    """A number of tokens is not a secret, nor is an author."""
    assert is_secret(name) is secret


def test_secret_options_are_separated_from_the_others():
    """At any depth; a number of tokens is not a secret token."""
    options = {
        "top_p": 0.5,
        "max_completion_tokens": 9,
        "logit_bias": {50256: -100},
        "extra_headers": {"Authorization": "Bearer planted", "X-Team": "red-team"},
        "extra_body": {"session_token": "planted-2", "thinking": {"budget_tokens": 1}},
        "aws_secret_access_key": "planted-3",
        "tools": [{"api_key": "planted-4", "name": "t"}],
    }

    assert without_secrets(options) == {
        "top_p": 0.5,
        "max_completion_tokens": 9,
        "logit_bias": {50256: -100},
        "extra_body": {"thinking": {"budget_tokens": 1}},
        "tools": [{"name": "t"}],
    }
    found = set(secrets_in(options))
    assert {"planted", "red-team", "planted-2", "planted-3", "planted-4"} <= found
