"""Records of requests to a model and of its replies, independent of any library."""

import hashlib
import json
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Protocol

from attrs import Attribute, field, frozen, validators

from cooperbench_eval.support.arguments import checked_fields, named_fields

_MOST_TOKENS: Final = 1 << 50
"""More tokens than any model has read; sums of them still fit into the report's JSON."""


class ChatFault(StrEnum):
    """Why there is no answer."""

    RATE_LIMITED = "rate limited"
    """The provider asked for a later retry."""
    UNAVAILABLE = "unavailable"
    """The provider failed or could not be reached."""
    TIMED_OUT = "timed out"
    """No complete answer came in time."""
    REJECTED = "rejected"
    """The provider will never accept the request, because of its key, model, length or address."""
    MALFORMED = "malformed"
    """The response was not a chat completion."""
    NOT_RECORDED = "not recorded"
    """The cassette does not have the exchange to replay, or could not store it."""

    @property
    def is_transient(self) -> bool:
        """Whether a retry may help."""
        return self in {self.RATE_LIMITED, self.UNAVAILABLE, self.TIMED_OUT, self.MALFORMED}


class ChatError(Exception):
    """A request got no answer.

    Attributes:
        fault: The kind of fault.
        problem: The message of the provider or the connection, without secrets.
        retry_after_seconds: When to retry, if the provider gave a time.
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
    """One message of a conversation.

    Attributes:
        role: `system`, `user` or `assistant`.
        text: The text. Characters that UTF-8 cannot encode, as in some paths, are escaped.
    """

    role: str
    text: str = field(repr=False, converter=_as_text)


def as_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as a dictionary of their own."""
    return dict(options)


@frozen(kw_only=True, field_transformer=checked_fields)
class ChatRequest:
    """A conversation for the model to continue.

    Attributes:
        model: The model, as litellm names it.
        messages: The messages so far.
        options: Other options that influence the answer, such as `temperature`; never a
            key or a header.
    """

    model: str
    messages: tuple[Message, ...] = field(converter=tuple[Message, ...])
    options: Mapping[str, Any] = field(factory=dict, converter=as_options, hash=False)

    @property
    def key(self) -> str:
        """A hexadecimal digest of everything that influences the answer."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def canonical(self) -> str:
        """Return the request as JSON; equal requests give equal text."""
        data = {
            "model": self.model,
            "messages": [{"role": each.role, "content": each.text} for each in self.messages],
            "options": dict(self.options),
        }
        return json.dumps(data, sort_keys=True, ensure_ascii=False, default=str)


def _is_count(_: object, attribute: "Attribute[int]", value: int) -> None:
    if not isinstance(value, int):
        raise TypeError(f"{attribute.name} is not an integer: {value!r:.80}")
    if not 0 <= value <= _MOST_TOKENS:
        raise ValueError(f"{attribute.name} is not from 0 to {_MOST_TOKENS:,}")


def _is_amount(_: object, attribute: "Attribute[float]", value: float) -> None:
    if not isinstance(value, int | float):
        raise TypeError(f"{attribute.name} is not a number: {value!r:.80}")
    if not 0 <= value < math.inf:
        raise ValueError(f"{attribute.name} is negative or not finite: {value}")


@frozen(kw_only=True, field_transformer=named_fields)
class ChatReply:
    """The model's reply.

    Attributes:
        text: The text.
        finish_reason: Why the model stopped: `stop`, `length`, `content_filter`,
            `refusal` …
        model: The model, as the provider names it.
        prompt_tokens: Tokens read, including cached ones.
        completion_tokens: Tokens written.
        cached_tokens: Those of the tokens read that the provider had in its cache.
        cost_usd: The cost; `None` if no price is known.
        latency_seconds: How long the request took.
    """

    text: str = field(repr=False, validator=validators.instance_of(str))
    finish_reason: str = field(default="stop", validator=validators.instance_of(str))
    model: str = field(default="", validator=validators.instance_of(str))
    prompt_tokens: int = field(default=0, validator=_is_count)
    completion_tokens: int = field(default=0, validator=_is_count)
    cached_tokens: int = field(default=0, validator=_is_count)
    cost_usd: float | None = field(default=None, validator=validators.optional(_is_amount))
    latency_seconds: float = field(default=0.0, validator=_is_amount)


class ChatClient(Protocol):
    """Answers requests."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's reply.

        Raises:
            ChatError: There is no reply.
        """
        ...
