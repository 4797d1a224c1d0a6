"""Asks a model one question until an answer can be used, within limits."""

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from attrs import evolve, field, frozen

from cooperbench_eval.llm.answers import (
    AnswerError,
    check_lines,
    extract,
    extract_choice,
    fitted,
    invented_lines,
)
from cooperbench_eval.llm.chat import (
    ChatClient,
    ChatError,
    ChatFault,
    ChatReply,
    ChatRequest,
    Message,
)
from cooperbench_eval.llm.prompts import Prompts
from cooperbench_eval.llm.questions import Question
from cooperbench_eval.models import ModelUsage

__all__ = ["Asker", "Check", "Exchange", "Tally", "in_threads"]

_MOST_CHARACTERS = 1_000_000
"""Of an answer, whoever gave it."""
_FIRST_WAIT_SECONDS = 0.5

Check = Callable[[Sequence[bytes]], str]
"""Says what is wrong with the texts for a question's conflicts, empty if nothing is."""


@frozen(kw_only=True)
class Exchange:
    """What came of a question.

    Attributes:
        texts: What is to stand for each conflict; empty if no answer was accepted.
        side: Which side was chosen, `A` or `B`, where that was the question.
        reason: Why the last answer was refused, or why there was none; else empty.
        attempts: How often the model was asked.
        invented: Lines of each text that no version has.
        answered: Whether the model said anything at all.
        service_failed: Whether it was the provider that failed in the end.
    """

    texts: tuple[bytes, ...] = field(default=(), repr=False)
    side: str = ""
    reason: str = ""
    attempts: int = 0
    invented: tuple[int, ...] = ()
    answered: bool = False
    service_failed: bool = False


class Tally:
    """Adds up what the questions of a merge cost, in whatever order their threads end."""

    def __init__(self, prompt_version: str, budget_usd: float | None) -> None:
        """Start at nothing."""
        self._lock = threading.Lock()
        self._prompt_version = prompt_version
        self._budget_usd = budget_usd
        self._requests = 0
        self._replies: list[ChatReply] = []

    @property
    def usage(self) -> ModelUsage:
        """What it came to so far."""
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
        """Whether the budget is reached."""
        return self._budget_usd is not None and (self.usage.cost_usd or 0.0) >= self._budget_usd

    def add(self, reply: ChatReply | None) -> None:
        """Count a request, and its reply if there was one."""
        with self._lock:
            self._requests += 1
            if reply is not None:
                self._replies.append(reply)


@frozen(kw_only=True)
class Asker:
    """Asks questions.

    Attributes:
        client: Who answers.
        request: The request without its turns.
        prompts: The texts to ask with.
        features: What is known of the features.
        context_lines: How many lines around a conflict are shown.
        max_attempts: How often a question is asked.
        max_wait_seconds: How long to wait at most before asking again.
        max_invented_lines: How many lines of a text no version may have.
        tally: Where costs are added up.
        stopped: Set where nobody waits for an answer any more.
    """

    client: ChatClient
    request: ChatRequest
    prompts: Prompts
    features: str = field(repr=False)
    context_lines: int
    max_attempts: int
    max_wait_seconds: float
    max_invented_lines: int | None
    tally: Tally
    stopped: threading.Event = field(factory=threading.Event)

    def ask(self, question: Question, check: Check) -> Exchange:
        """Ask until an answer passes, or the attempts or the budget are spent."""
        text = question.text(self.prompts, self.features, self.context_lines)
        turns = [
            Message(role="system", text=self.prompts.system),
            Message(role="user", text=text),
        ]
        exchange = Exchange()
        waits = self._waits()
        for attempt in range(1, self.max_attempts + 1):
            if self.stopped.is_set():
                return evolve(exchange, reason="it was interrupted")
            if self.tally.is_spent:
                return evolve(exchange, reason="the budget is spent")
            exchange = evolve(exchange, attempts=attempt)
            try:
                reply = self._complete(evolve(self.request, messages=turns))
            except ChatError as exc:
                self.tally.add(None)
                exchange = evolve(exchange, reason=str(exc), service_failed=True)
                if not exc.fault.passes:
                    return exchange
                if attempt < self.max_attempts:
                    after, usual = exc.retry_after_seconds, next(waits)
                    seconds = usual if after is None else after
                    self.stopped.wait(min(seconds, self.max_wait_seconds))
                continue
            self.tally.add(reply)
            try:
                return evolve(self._accepted(question, reply, check), attempts=attempt)
            except AnswerError as exc:
                reason = str(exc)
                exchange = evolve(exchange, answered=True, reason=reason, service_failed=False)
            turns += [
                Message(role="assistant", text=reply.text),
                Message(role="user", text=self.prompts.fill("retry", reason=exchange.reason)),
            ]
        return exchange

    def _waits(self) -> Iterator[float]:
        """Yield how long to wait where nobody says it, each twice as long as the last."""
        seconds = _FIRST_WAIT_SECONDS
        while True:
            yield seconds
            seconds = min(2 * seconds, self.max_wait_seconds)

    def _complete(self, request: ChatRequest) -> ChatReply:
        """Ask the client; whatever it raises but an interrupt is a fault of the exchange.

        Raises:
            ChatError: There is no answer.
        """
        try:
            return self.client.complete(request)
        except (ChatError, KeyboardInterrupt):
            raise
        # A client is anybody's code, and event loops cancel by what is no Exception.
        except BaseException as exc:
            raise ChatError(ChatFault.MALFORMED, type(exc).__qualname__) from exc

    def _accepted(self, question: Question, reply: ChatReply, check: Check) -> Exchange:
        """Take the data out of an answer and check it.

        Raises:
            AnswerError: It cannot be used.
        """
        if problem := _UNFINISHED.get(reply.finish_reason):
            raise AnswerError(problem)
        if question.is_choice:
            return Exchange(side=extract_choice(reply.text), answered=True)
        conflicts = [place.conflict for place in question.places]
        texts = extract(reply.text, len(conflicts))
        data = [fitted(conflict, text) for conflict, text in zip(conflicts, texts, strict=True)]
        invented = []
        for conflict, each in zip(conflicts, data, strict=True):
            check_lines(conflict, each)
            invented.append(invented_lines(conflict, each))
        if self.max_invented_lines is not None and max(invented) > self.max_invented_lines:
            raise AnswerError(f"{max(invented)} of its lines occur in no version")
        if problem := check(data):
            raise AnswerError(problem)
        return Exchange(texts=tuple(data), invented=tuple(invented), answered=True)


_UNFINISHED = {
    "length": "it was cut off at the limit of tokens",
    "content_filter": "the provider withheld it",
    "refusal": "the model refused to answer",
}

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")


def in_threads(
    function: Callable[[_Item], _Found],
    items: Sequence[_Item],
    *,
    threads: int,
    stopped: threading.Event,
) -> list[_Found]:
    """Call *function* with each item, in some threads at a time; return what they gave.

    *stopped* is set when this ends, so that *function* can tell that nobody waits any
    more if the caller is interrupted. The threads do not hold up the end of the program.
    """
    todo = iter(range(len(items)))  # next() of it is atomic
    found: dict[int, _Found] = {}
    failed: dict[int, BaseException] = {}

    def work() -> None:
        for i in todo:
            try:
                found[i] = function(items[i])
            # Handed over to the thread that waits.
            except BaseException as exc:  # noqa: BLE001
                failed[i] = exc
                stopped.set()

    started = [
        threading.Thread(target=work, name="cooperbench-eval-llm", daemon=True)
        for _ in range(min(threads, len(items)))
    ]
    try:
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
    finally:
        stopped.set()
    if failed:
        raise failed[min(failed)]
    return [found[i] for i in range(len(items))]
