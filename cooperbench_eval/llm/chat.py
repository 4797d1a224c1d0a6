"""What is sent to a model and what comes back, as records; no library is known here."""

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from attrs import field, frozen, validators

__all__ = [
    "ChatClient",
    "ChatError",
    "ChatFault",
    "ChatReply",
    "ChatRequest",
    "Message",
]


class ChatFault(StrEnum):
    """Why there is no answer."""

    RATE_LIMITED = "rate limited"
    """The provider asked to come back later."""
    UNAVAILABLE = "unavailable"
    """The provider failed, or was not reached."""
    TIMED_OUT = "timed out"
    """No whole answer came in time."""
    REJECTED = "rejected"
    """The provider will not take the request, now or later: a key, a name, a length."""
    MALFORMED = "malformed"
    """What came back is no chat completion."""
    NOT_RECORDED = "not recorded"
    """The exchange was to be replayed or kept, and the cassette does not have it."""

    @property
    def passes(self) -> bool:
        """Whether trying again may help."""
        return self in {self.RATE_LIMITED, self.UNAVAILABLE, self.TIMED_OUT, self.MALFORMED}


class ChatError(Exception):
    """There is no answer.

    Attributes:
        fault: Why.
        problem: What the provider or the connection said, without secrets.
        retry_after_seconds: When to come back, if the provider said it.
    """

    def __init__(
        self, fault: ChatFault, problem: str, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(fault, problem, retry_after_seconds)
        self.fault = fault
        self.problem = problem
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        return f"{self.fault}: {self.problem}" if self.problem else str(self.fault)


def _as_text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@frozen(kw_only=True)
class Message:
    """A turn of a conversation.

    Attributes:
        role: `system`, `user` or `assistant`.
        text: What is said; what UTF-8 cannot write, as in some paths, is escaped.
    """

    role: str
    text: str = field(repr=False, converter=_as_text)


def _as_options(options: Mapping[str, Any]) -> dict[str, Any]:
    return dict(options)


@frozen(kw_only=True)
class ChatRequest:
    """A conversation that waits for the model's turn.

    Attributes:
        model: The model, as litellm names it.
        messages: The turns so far.
        options: What else shapes the answer, such as `temperature`; never a key or
            a header.
    """

    model: str
    messages: tuple[Message, ...] = field(converter=tuple[Message, ...])
    options: Mapping[str, Any] = field(factory=dict, converter=_as_options, hash=False)

    @property
    def key(self) -> str:
        """A digest of everything that shapes the answer, as hex."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def canonical(self) -> str:
        """Write the request as JSON, always in the same way."""
        data = {
            "model": self.model,
            "messages": [{"role": each.role, "content": each.text} for each in self.messages],
            "options": dict(self.options),
        }
        return json.dumps(data, sort_keys=True, ensure_ascii=False, default=str)


@frozen(kw_only=True)
class ChatReply:
    """The model's turn.

    Attributes:
        text: What it said.
        finish_reason: Why it stopped: `stop`, `length`, `content_filter`, `refusal` …
        model: The model, as the provider names it.
        prompt_tokens: Tokens read, cached ones included.
        completion_tokens: Tokens written.
        cached_tokens: Tokens read that the provider had in its cache.
        cost_usd: What it cost; `None` where no price is known.
        latency_seconds: How long it took.
    """

    text: str = field(repr=False, validator=validators.instance_of(str))
    finish_reason: str = field(default="stop", validator=validators.instance_of(str))
    model: str = field(default="", validator=validators.instance_of(str))
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    latency_seconds: float = 0.0


class ChatClient(Protocol):
    """Answers requests."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's turn.

        Raises:
            ChatError: There is none.
        """
        ...
