"""The only door to litellm."""

import datetime as dt
import logging
import math
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from functools import cache
from types import ModuleType
from typing import Any

from attrs import field, frozen

from cooperbench_eval.llm.chat import ChatError, ChatFault, ChatReply, ChatRequest
from cooperbench_eval.llm.redaction import is_secret, redact, secrets_in

__all__ = ["LitellmClient"]

_MOST_CHARACTERS = 1_000_000
"""Of an answer; a longer one is none."""
_MOST_SAID = 500
"""Characters of what a provider says of a fault."""

_SHORTEST_KEY = 12
"""Characters of a variable; a shorter one is a word that texts may have of their own."""


@frozen(kw_only=True)
class LitellmClient:
    """Asks any model that litellm reaches.

    Attributes:
        api_base: Where the provider is, if not where litellm looks.
        api_key: The key, if not in the environment.
        timeout_seconds: How long a whole answer may take.
        options: What else is passed to litellm beside the request's own, such as headers.
    """

    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 120.0
    options: Mapping[str, Any] = field(factory=dict, repr=False)

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's turn.

        The deadline holds for the whole answer: a provider that sends a byte now and
        then does not put it off. A request that is past it is left to itself.

        Raises:
            ChatError: There is none.
        """
        _litellm()  # takes seconds at first, which are not the answer's
        began = time.monotonic()
        response = self._within_deadline(request)
        seconds = time.monotonic() - began
        try:
            return self._reply(response, seconds)
        # Whatever a provider sends in place of a completion is its mistake.
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as exc:
            raise ChatError(ChatFault.MALFORMED, type(exc).__name__) from None

    def _within_deadline(self, request: ChatRequest) -> Any:
        """Ask in a thread of its own, which a stalled answer cannot hold up."""
        done: list[Any] = []
        failed: list[BaseException] = []

        def ask() -> None:
            try:
                done.append(self._ask(request))
            # Handed over to the thread that waits.
            except BaseException as exc:  # noqa: BLE001
                failed.append(exc)

        thread = threading.Thread(target=ask, name="cooperbench-eval-ask", daemon=True)
        thread.start()
        thread.join(self.timeout_seconds)
        if done:
            return done[0]
        if failed:
            error = failed[0]
            if isinstance(error, Exception):
                raise self._fault(error) from None
            raise error
        raise ChatError(ChatFault.TIMED_OUT, f"no whole answer in {self.timeout_seconds:g} s")

    def _ask(self, request: ChatRequest) -> Any:
        return _litellm().completion(
            model=request.model,
            messages=[{"role": each.role, "content": each.text} for each in request.messages],
            api_base=self.api_base,
            api_key=self.api_key,
            timeout=self.timeout_seconds,
            num_retries=0,
            max_retries=0,
            **{"drop_params": True} | dict(request.options) | dict(self.options),
        )

    def _reply(self, response: Any, seconds: float) -> ChatReply:
        choice = response.choices[0]
        text = choice.message.content or ""
        if len(text) > _MOST_CHARACTERS:
            raise ChatError(ChatFault.MALFORMED, f"an answer of {len(text):,} characters")
        more = getattr(choice.message, "provider_specific_fields", None) or {}
        is_refused = not text and more.get("refusal")
        usage = getattr(response, "usage", None)
        details = getattr(usage, "prompt_tokens_details", None)
        hidden: Mapping[str, Any] = getattr(response, "_hidden_params", None) or {}
        cost = float(hidden.get("response_cost") or 0)
        return ChatReply(
            text=text,
            finish_reason="refusal" if is_refused else str(choice.finish_reason or "stop"),
            model=redact(str(response.model or ""), self._secrets()),
            prompt_tokens=int(getattr(usage, "prompt_tokens", 0) or 0),
            completion_tokens=int(getattr(usage, "completion_tokens", 0) or 0),
            cached_tokens=int(getattr(details, "cached_tokens", 0) or 0),
            cost_usd=cost if cost > 0 and math.isfinite(cost) else None,
            latency_seconds=seconds,
        )

    def _fault(self, error: Exception) -> ChatError:
        """Say what an exception of litellm means."""
        status = getattr(error, "status_code", None)
        names = {kind.__name__ for kind in type(error).__mro__}
        if names & {"Timeout", "APITimeoutError"}:
            fault = ChatFault.TIMED_OUT
        elif status == 429 or "RateLimitError" in names:  # noqa: PLR2004 - HTTP
            fault = ChatFault.RATE_LIMITED
        elif "APIConnectionError" in names or (isinstance(status, int) and status >= 500):  # noqa: PLR2004
            fault = ChatFault.UNAVAILABLE
        elif isinstance(status, int):
            fault = ChatFault.REJECTED
        else:
            fault = ChatFault.MALFORMED
        said = str(error).removeprefix("litellm.") or type(error).__name__
        return ChatError(fault, redact(said, self._secrets())[:_MOST_SAID], _retry_after(error))

    def _secrets(self) -> Iterator[str]:
        yield self.api_key or ""
        yield from secrets_in(self.options)
        for name, value in os.environ.items():
            if is_secret(name) and len(value) >= _SHORTEST_KEY:
                yield value


def _retry_after(error: Exception) -> float | None:
    """Return the seconds to wait, of a header that has them or a date."""
    response = getattr(error, "response", None)
    headers = getattr(error, "litellm_response_headers", None) or getattr(response, "headers", {})
    try:
        said = str(headers["retry-after"])
    except (KeyError, TypeError):
        return None
    try:
        seconds = float(said)
    except ValueError:
        seconds = _seconds_until(said)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _seconds_until(date: str) -> float:
    try:
        return (parsedate_to_datetime(date) - dt.datetime.now(dt.UTC)).total_seconds()
    except (TypeError, ValueError):  # no date, or one without a time zone
        return math.nan


def _litellm() -> ModuleType:
    with _IMPORTING:
        return _import()


_IMPORTING = threading.Lock()
"""Or else a thread would find the variable set by another one, and restore that."""


@cache
def _import() -> ModuleType:
    """Import litellm without its fetch of prices and without its printing."""
    with _environment("LITELLM_LOCAL_MODEL_COST_MAP", "True"):
        import litellm  # noqa: PLC0415 - takes seconds
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    _quieten()
    module: ModuleType = litellm
    return module


def _quieten() -> None:
    """Have nothing printed, and no header in a log of what is sent."""
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
        for handler in tuple(logger.handlers):
            if type(handler).__module__.startswith("litellm"):
                logger.removeHandler(handler)
        logger.addHandler(logging.NullHandler())  # or else warnings go to the error stream


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set a variable for a moment."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
