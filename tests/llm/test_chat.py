"""Requests as records, their digests, and what is never written down."""

import pickle

import pytest

from cooperbench_eval.llm.chat import ChatError, ChatFault, ChatReply, ChatRequest, Message
from cooperbench_eval.llm.redaction import is_secret, redact, secrets_in, without_secrets


def request(text="Hello", **options):
    """Return a request of one turn."""
    return ChatRequest(model="m", messages=[Message(role="user", text=text)], options=options)


# --- requests -------------------------------------------------------------------------


def test_equal_requests_have_one_digest_and_others_another():
    """The order of options does not matter; a word, an option or the model does."""
    first, again = request(seed=1, top_p=0.5), request(top_p=0.5, seed=1)

    assert first.key == again.key
    others = [request("Hallo", seed=1, top_p=0.5), request(seed=2, top_p=0.5), request()]
    assert len({first.key, *(each.key for each in others)}) == 4


def test_a_text_that_utf_8_cannot_write_is_escaped():
    """Such as a path with bytes of another encoding."""
    message = Message(role="user", text="caf\udce9.py")

    assert message.text == "caf\\udce9.py"
    assert len(request("caf\udce9.py").key) == 64


@pytest.mark.parametrize("facts", [{"text": 1}, {"text": None}, {"text": "", "model": 3}])
def test_a_reply_without_text_is_none(facts):
    """A file of a cassette cannot bring one in."""
    with pytest.raises(TypeError):
        ChatReply(**facts)


# --- faults ---------------------------------------------------------------------------


def test_a_fault_says_what_it_is_and_survives_a_pickle():
    """A worker process may hand it over."""
    error = ChatError(ChatFault.RATE_LIMITED, "slow down", 2.5)

    again = pickle.loads(pickle.dumps(error))  # noqa: S301

    assert str(again) == str(error) == "rate limited: slow down"
    assert (again.fault, again.retry_after_seconds) == (ChatFault.RATE_LIMITED, 2.5)
    assert str(ChatError(ChatFault.TIMED_OUT, "")) == "timed out"


def test_only_what_may_pass_is_asked_again():
    """A key that is rejected stays rejected."""
    assert {fault for fault in ChatFault if not fault.passes} == {
        ChatFault.REJECTED,
        ChatFault.NOT_RECORDED,
    }


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
def test_secrets_are_taken_out_of_texts(text, shown):
    """Known ones, and what looks like one."""
    assert redact(text, ["planted-9", ""]) == shown


def test_a_stand_in_for_a_key_hides_nothing_else():
    """Servers of one's own are given `x` for a key."""
    assert redact("a fixed example", ["x"]) == "a fixed example"


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
    """A number of tokens is none, nor is an author."""
    assert is_secret(name) is secret


def test_options_are_parted_into_what_shapes_and_what_is_secret():
    """At any depth; numbers of tokens are no tokens."""
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
