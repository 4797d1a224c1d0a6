"""The adapter to litellm, an extra: one request, one deadline, no retries."""

import datetime as dt
import logging
import math
import os
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import wait
from contextlib import contextmanager
from contextvars import ContextVar
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from cooperbench_eval.strategies.llm.chat import ChatError, ChatFault, ChatReply, ChatRequest
from cooperbench_eval.strategies.llm.threads import in_daemon_thread

if TYPE_CHECKING:
    from cooperbench_eval.strategies.llm.http_limits import HttpLimits


_MOST_CHARACTERS = 1_000_000
"""The longest answer that is accepted."""


def check_installed() -> None:
    """Raise `ImportError` if litellm is missing, without importing it, which takes seconds."""
    if find_spec("litellm") is None:
        raise ImportError(
            "litellm is missing: pip install 'cooperbench-eval[llm]', or pass your own client=..."
        )


_IS_ASKING: ContextVar[bool] = ContextVar("_IS_ASKING", default=False)


@frozen(kw_only=True)
class LitellmClient:
    """Asks any model that litellm supports.

    What the provider says is passed on as it is, so this client must be wrapped in a
    `RedactingClient`.

    The requests go through a client with `HttpLimits`, which litellm is given with each
    question. Some of its routes take none, so that only the deadline and the length of the
    text limit an answer there. In litellm 1.110 these are `replicate`, `anthropic_text`,
    `nlp_cloud`, `aleph_alpha`, `cohere`, `maritalk`, `amazon_nova`, `oobabooga`, `predibase`,
    `text-completion-codestral`, `sagemaker`, `vllm`, `triton`, `cloudflare`, `gradient_ai`,
    `azure` without a key, and providers that the caller registered.

    Attributes:
        api_base: The address of the provider, if not litellm's default.
        timeout_seconds: The deadline of a complete answer.
        options: Further options for litellm, such as headers.
    """

    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 120.0
    options: Mapping[str, Any] = field(factory=dict, repr=False)

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's reply, or raise `ChatError`.

        The deadline is that of the complete answer, so a provider cannot extend it by sending a
        byte now and then. A request that misses it is abandoned.
        """
        try:
            _litellm()  # the first import takes seconds, which do not count as latency
        except ImportError as exc:
            raise ChatError(ChatFault.REJECTED, str(exc)) from None
        began = time.monotonic()
        response = self._within_deadline(request)
        seconds = time.monotonic() - began
        try:
            return self._reply(response, seconds)
        # The provider sent something other than a completion.
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as exc:
            raise ChatError(ChatFault.MALFORMED, type(exc).__name__) from None

    def _within_deadline(self, request: ChatRequest) -> Any:
        """Ask in a daemon thread, so that a stalled answer does not block the caller's thread."""
        from cooperbench_eval.strategies.llm.http_limits import (  # noqa: PLC0415 - imports httpx
            HttpLimits,
        )

        limits = HttpLimits(self.timeout_seconds)
        asked = in_daemon_thread(self._ask, request, limits)
        wait([asked], self.timeout_seconds)
        if not asked.done():
            limits.stop()
            raise ChatError(ChatFault.TIMED_OUT, f"no whole answer in {self.timeout_seconds:g} s")
        try:
            response = asked.result()
        except Exception as exc:  # noqa: BLE001 - litellm raises errors of many libraries
            raise limits.refusal or self._fault(exc) from None
        if limits.refusal:  # litellm may turn an exception into a response
            raise limits.refusal
        return response

    def _ask(self, request: ChatRequest, limits: "HttpLimits") -> Any:
        """Ask in a thread of its own, so that no other request sees the context variable."""
        _silence()
        _IS_ASKING.set(True)
        options = {"drop_params": True} | dict(request.options) | dict(self.options)
        with limits.client(self._sender()) as http:
            return _litellm().completion(
                model=request.model,
                messages=[{"role": each.role, "content": each.text} for each in request.messages],
                api_base=self.api_base,
                api_key=self.api_key,
                timeout=self.timeout_seconds,
                num_retries=0,
                max_retries=0,
                **options | {"client": self._client(request.model, http)},
            )

    def _sender(self) -> Any:
        """Return what sends the requests: the caller's client of httpx, or one as litellm has."""
        given = self.options.get("client")
        # OpenAI's clients keep theirs in `_client`, and the handlers of litellm in `client`.
        own = getattr(given, "_client", None) or getattr(given, "client", None)
        return own or _litellm().client_session or _handler_class()(timeout=self.timeout_seconds)

    def _client(self, model: str, http: Any) -> Any:
        """Return what the route of a model takes as its client, with the limits of *http*."""
        given = self.options.get("client")
        if given is not None and hasattr(given, "with_options"):
            return given.with_options(http_client=http)
        litellm = _litellm()
        named = self.options.get("custom_llm_provider")
        _, provider, key, base = litellm.get_llm_provider(
            model, custom_llm_provider=named, api_base=self.api_base, api_key=self.api_key
        )
        key, base = key or self.api_key, base or self.api_base
        if provider.startswith("azure") and provider != "azure_ai":
            return self._azure_client(http, key, base)
        key = key or litellm.api_key or litellm.openai_key or os.environ.get("OPENAI_API_KEY")
        variables = map(os.environ.get, ("OPENAI_BASE_URL", "OPENAI_API_BASE"))
        base = base or litellm.api_base or next(filter(None, variables), None)
        return _route_client_class()(http, api_key=key, base_url=base)

    def _azure_client(self, http: Any, key: str | None, base: str | None) -> Any:
        """Return a client of Azure; `None`, so that litellm makes one, if no key is known."""
        import openai  # noqa: PLC0415 - takes long

        litellm, known = _litellm(), os.environ.get
        key = key or litellm.api_key or litellm.azure_key
        key = key or known("AZURE_OPENAI_API_KEY") or known("AZURE_API_KEY")
        version = self.options.get("api_version") or litellm.api_version
        version = version or known("AZURE_API_VERSION") or litellm.AZURE_DEFAULT_API_VERSION
        return key and openai.AzureOpenAI(
            azure_endpoint=base or litellm.api_base or known("AZURE_API_BASE") or "",
            api_key=key,
            api_version=version,
            http_client=http,
            max_retries=0,
        )

    def _reply(self, response: Any, seconds: float) -> ChatReply:
        choice = response.choices[0]
        text = choice.message.content or ""
        if len(text) > _MOST_CHARACTERS:
            raise ChatError(ChatFault.MALFORMED, f"an answer of {len(text):,} characters")
        is_refused = not text and _refusal(choice.message)
        usage = getattr(response, "usage", None)
        details = getattr(usage, "prompt_tokens_details", None)
        hidden: Mapping[str, Any] = getattr(response, "_hidden_params", None) or {}
        cost = float(hidden.get("response_cost") or 0)
        return ChatReply(
            text=text,
            finish_reason="refusal" if is_refused else str(choice.finish_reason or "stop"),
            model=str(response.model or ""),
            prompt_tokens=int(getattr(usage, "prompt_tokens", 0) or 0),
            completion_tokens=int(getattr(usage, "completion_tokens", 0) or 0),
            cached_tokens=int(getattr(details, "cached_tokens", 0) or 0),
            cost_usd=cost if cost > 0 and math.isfinite(cost) else None,
            latency_seconds=seconds,
        )

    def _fault(self, error: Exception) -> ChatError:
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
        return ChatError(fault, said, _retry_after(error))


def _retry_after(error: Exception) -> float | None:
    """Return the wait that a header asks for, as seconds or as a date."""
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
"""Without it, a thread could take another thread's temporary value of the variable for the
original one, and restore it at the end."""


@cache
def _import() -> ModuleType:
    """Import litellm; it must neither download prices nor print."""
    check_installed()  # a worker's environment may lack it
    with _environment("LITELLM_LOCAL_MODEL_COST_MAP", "True"):
        import litellm  # noqa: PLC0415 - takes seconds
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    _quieten()
    module: ModuleType = litellm
    return module


def _handler_class() -> Any:
    from litellm.llms.custom_httpx.http_handler import HTTPHandler  # noqa: PLC0415 - as above

    return HTTPHandler


@cache
def _route_client_class() -> Any:
    """Return a class of clients for all routes of litellm.

    Most routes take a handler of litellm. The others use OpenAI's library and take its client,
    which is made when one of its attributes is needed.
    """

    class RouteClient(_handler_class()):  # type: ignore[misc] # litellm has no types
        def __init__(self, http: Any, **options: Any) -> None:
            self._options = options | {"http_client": http, "max_retries": 0}
            super().__init__(client=http)

        def post(self, *args: Any, **options: Any) -> Any:
            if "cast_to" in options:  # only OpenAI's has this argument
                return self.__getattr__("post")(*args, **options)
            return super().post(*args, **options)

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__") or name == "_options":
                raise AttributeError(name)
            if "_openai" not in self.__dict__:
                import openai  # noqa: PLC0415 - takes long

                self.__dict__["_openai"] = openai.OpenAI(**self._options)
            return getattr(self.__dict__["_openai"], name)

    return RouteClient


_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore")


def _silence() -> None:
    """Drop warnings and log records about requests of this module.

    Some quote the provider, and some are about litellm's own types.
    """
    warnings.filterwarnings("ignore", "Pydantic serializer warnings")
    warnings.filterwarnings("ignore", ".* on TypedDict class .* using the `ReadOnly` qualifier")
    for name in (*_LOGGERS, *logging.root.manager.loggerDict):
        if name.startswith(_LOGGERS):  # a filter is not inherited by the loggers below
            logging.getLogger(name).addFilter(_is_not_ours)


def _is_not_ours(_: logging.LogRecord) -> bool:
    return not _IS_ASKING.get()


def _quieten() -> None:
    """Keep litellm from printing, and from logging the headers of requests."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
        for handler in tuple(logger.handlers):
            if type(handler).__module__.startswith("litellm"):
                logger.removeHandler(handler)
        logger.addHandler(logging.NullHandler())  # otherwise warnings go to standard error


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _refusal(message: Any) -> Any:
    """Return the words with which a model refuses; litellm from 1.110 on has a field for them."""
    more = getattr(message, "provider_specific_fields", None) or {}
    return getattr(message, "refusal", None) or more.get("refusal")
