"""Keeps secrets that a provider echoes out of everything that is stored or shown."""

from collections.abc import Callable, Iterable

from attrs import evolve, field, frozen

from cooperbench_eval.strategies.llm.chat import (
    ChatClient,
    ChatError,
    ChatFault,
    ChatReply,
    ChatRequest,
)
from cooperbench_eval.strategies.llm.redaction import Redactor

__all__ = ["RedactingClient"]

_MOST_READ = 20_000
"""How much of a provider's message is searched for secrets."""
_MOST_SAID = 500
"""The longest message of a provider that is kept."""
_MOST_NAMED = 200
"""The longest name of a model or of a finish reason that is kept."""


@frozen(kw_only=True)
class RedactingClient:
    """Asks another client, and keeps secrets out of its replies and errors.

    An answer that contains a secret is refused, because a mask in its place would be merged
    as code. It is not refused if the question contains the secret too, because then the
    repository does. In messages and names a secret is masked.

    Attributes:
        client: The client to ask.
        secrets: Returns the secrets, when a request is made.
    """

    client: ChatClient
    secrets: Callable[[], Iterable[str]] = field(repr=False)

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the client's reply.

        Raises:
            ChatError: There is no reply, or it contains a secret.
        """
        answer = self._answer(request, Redactor(self.secrets()))
        if isinstance(answer, ChatError):
            raise answer  # not in the `except` block: its context could hold a secret
        return answer

    def _answer(self, request: ChatRequest, redactor: Redactor) -> ChatReply | ChatError:
        try:
            reply = self.client.complete(request)
        except ChatError as exc:
            problem = redactor.redact(exc.problem[:_MOST_READ])[:_MOST_SAID]
            return ChatError(exc.fault, problem, exc.retry_after_seconds)
        question = "\n".join(message.text for message in request.messages)
        if redactor.finds(reply.text, apart_from=question):
            return ChatError(ChatFault.MALFORMED, "the answer contains part of a secret")
        return evolve(
            reply,
            model=redactor.redact(reply.model[:_MOST_READ])[:_MOST_NAMED],
            finish_reason=redactor.redact(reply.finish_reason[:_MOST_READ])[:_MOST_NAMED],
        )
