"""Asks a model one question until an answer is accepted, within limits of tries and cost."""

import math
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from attrs import evolve, field, frozen

from cooperbench_eval.git.merging.conflicts import ModelUsage
from cooperbench_eval.strategies.llm.answers import (
    AnswerError,
    check_lines,
    extract,
    extract_choice,
    fitted,
    invented_lines,
)
from cooperbench_eval.strategies.llm.chat import (
    ChatClient,
    ChatError,
    ChatFault,
    ChatReply,
    ChatRequest,
    Message,
)
from cooperbench_eval.strategies.llm.prompts import Prompts
from cooperbench_eval.strategies.llm.questions import Question
from cooperbench_eval.support.rendering.visible import visible

_FIRST_WAIT_SECONDS = 0.5

_MOST_OBJECTIONS = 1
"""How many objections of the judge are sent back for one question."""
_MOST_SAID = 600
"""How many characters of an objection are sent back."""

Check = Callable[[Sequence[bytes]], str]
"""Returns what is wrong with the texts for a question's conflicts, empty if nothing is."""


class Checks(NamedTuple):
    """The checks of an answer.

    Attributes:
        form: Finds why an answer cannot be used. Such an answer is sent back each time.
        judge: Finds what the static judge objects to. Such an answer is sent back once.
    """

    form: Check
    judge: Check


@frozen(kw_only=True)
class Exchange:
    """The result of a question.

    Attributes:
        texts: The text for each conflict; empty if no answer passed the check of its form.
        objections: How often the judge objected to an answer. If there are texts and a reason,
            the judge objected to these texts. They may still be right together with the texts
            for other conflicts of the file.
        side: The chosen side, `A` or `B`, if the question was a choice.
        reason: Why the last answer was rejected, or why there was no answer; else empty.
        invented: For each text, the number of lines that occur in no version.
        answered: Whether the model answered at all.
        service_failed: Whether the last attempt failed at the provider.
    """

    texts: tuple[bytes, ...] = field(default=(), repr=False)
    objections: int = 0
    side: str = ""
    reason: str = ""
    attempts: int = 0
    invented: tuple[int, ...] = ()
    answered: bool = False
    service_failed: bool = False


class UsageMeter:
    """Adds up the cost of the questions of one merge, which several threads ask."""

    def __init__(self, prompt_version: str, budget_usd: float | None) -> None:
        self._lock = threading.Lock()
        self._prompt_version = prompt_version
        self._budget_usd = budget_usd
        self._requests = 0
        self._replies: list[ChatReply] = []

    @property
    def usage(self) -> ModelUsage:
        """The tokens, requests and cost so far."""
        with self._lock:
            replies = tuple(self._replies)
        costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
        return ModelUsage(
            model=", ".join(sorted({reply.model for reply in replies if reply.model})),
            prompt_version=self._prompt_version,
            requests=self._requests,
            prompt_tokens=sum(reply.prompt_tokens for reply in replies),
            completion_tokens=sum(reply.completion_tokens for reply in replies),
            cached_tokens=sum(reply.cached_tokens for reply in replies),
            cost_usd=math.fsum(costs) if costs else None,
            latency_seconds=math.fsum(reply.latency_seconds for reply in replies),
        )

    @property
    def is_spent(self) -> bool:
        """Whether the budget is spent."""
        return self._budget_usd is not None and (self.usage.cost_usd or 0.0) >= self._budget_usd

    def add(self, reply: ChatReply | None) -> None:
        """Count a request, and its reply if there was one."""
        with self._lock:
            self._requests += 1
            if reply is not None:
                self._replies.append(reply)


@frozen(kw_only=True)
class Asker:
    """Asks questions, and retries until an answer is accepted.

    Attributes:
        request: The request without its messages.
        context_lines: How many lines around a conflict are shown.
        max_invented_lines: How many lines of a text may be in no version.
        stopped: Set when the answers are no longer needed.
    """

    client: ChatClient
    request: ChatRequest
    prompts: Prompts
    features: str = field(repr=False)
    context_lines: int
    max_attempts: int
    max_wait_seconds: float
    max_invented_lines: int | None
    meter: UsageMeter
    stopped: threading.Event = field(factory=threading.Event)

    def ask(self, question: Question, checks: Checks) -> Exchange:
        """Ask until an answer is accepted, or the attempts or the budget are used up.

        An answer to which only the judge objects is sent back once, with the objection.
        """
        turns = [
            Message(role="system", text=self.prompts.system),
            Message(
                role="user", text=question.text(self.prompts, self.features, self.context_lines)
            ),
        ]
        exchange, failures = Exchange(), 0
        for attempt in range(1, self.max_attempts + 1):
            if self.stopped.is_set():
                return evolve(exchange, reason="it was interrupted")
            if self.meter.is_spent:
                return evolve(exchange, reason="the budget is spent")
            exchange = evolve(exchange, attempts=attempt)
            try:
                reply = self._complete(evolve(self.request, messages=turns))
            except ChatError as exc:
                self.meter.add(None)
                if exchange.objections and exc.fault is ChatFault.NOT_RECORDED:
                    return exchange  # recorded by a version that sent no objection back
                exchange = evolve(exchange, reason=str(exc), service_failed=True)
                if not exc.fault.is_transient:
                    return exchange
                if attempt < self.max_attempts:
                    self._wait(exc, failures)
                failures += 1
                continue
            self.meter.add(reply)
            exchange = self._after(exchange, reply, question, checks)
            if not exchange.reason or exchange.objections > _MOST_OBJECTIONS:
                return exchange
            turns += [
                Message(role="assistant", text=reply.text),
                Message(role="user", text=self.prompts.fill("retry", reason=exchange.reason)),
            ]
        return exchange

    def _wait(self, error: ChatError, failures: int) -> None:
        """Wait before the next attempt, longer after each of the earlier *failures*."""
        after = error.retry_after_seconds
        seconds = _FIRST_WAIT_SECONDS * 2**failures if after is None else after
        self.stopped.wait(min(seconds, self.max_wait_seconds))

    def _complete(self, request: ChatRequest) -> ChatReply:
        """Ask the client; turn every exception but an interrupt into a `ChatError`."""
        try:
            return self.client.complete(request)
        except (ChatError, KeyboardInterrupt):
            raise
        # A third-party client may raise anything; event loops cancel with a BaseException.
        except BaseException as exc:
            raise ChatError(ChatFault.MALFORMED, type(exc).__qualname__) from exc

    def _after(
        self, exchange: Exchange, reply: ChatReply, question: Question, checks: Checks
    ) -> Exchange:
        """Return the exchange with another reply."""
        try:
            answer = self._accepted(question, reply, checks.form)
        except AnswerError as exc:
            return evolve(exchange, answered=True, reason=str(exc), service_failed=False)
        objection = visible(checks.judge(answer.texts), _MOST_SAID) if answer.texts else ""
        return evolve(
            answer,
            attempts=exchange.attempts,
            reason=objection,
            objections=exchange.objections + bool(objection),
        )

    def _accepted(self, question: Question, reply: ChatReply, check: Check) -> Exchange:
        if problem := _UNFINISHED.get(reply.finish_reason):
            raise AnswerError(problem)
        if question.is_choice:
            return Exchange(side=extract_choice(reply.text), answered=True)
        conflicts = [place.conflict for place in question.places]
        texts = extract(reply.text, len(conflicts))
        data = tuple(map(fitted, conflicts, texts))
        for conflict, each in zip(conflicts, data, strict=True):
            check_lines(conflict, each)
        invented = tuple(map(invented_lines, conflicts, data))
        if self.max_invented_lines is not None and max(invented) > self.max_invented_lines:
            raise AnswerError(f"{max(invented)} of its lines occur in no version")
        if problem := check(data):
            raise AnswerError(problem)
        return Exchange(texts=data, invented=invented, answered=True)


_UNFINISHED = {
    "length": "it was cut off at the limit of tokens",
    "content_filter": "the provider withheld it",
    "refusal": "the model refused to answer",
}
