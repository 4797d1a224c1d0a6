"""Asks a language model to resolve conflicts, and accepts only answers that pass the checks."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from attrs import Attribute, evolve, field, fields, frozen, validators

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.merging.conflicts import Conflict, LedgerRow
from cooperbench_eval.git.merging.three_way_merge import Gone
from cooperbench_eval.languages.token_merge import shares_kept
from cooperbench_eval.strategies.judging import reopen_misfits
from cooperbench_eval.strategies.llm.answers import texts_of
from cooperbench_eval.strategies.llm.asked_files import asked_files
from cooperbench_eval.strategies.llm.background import Background
from cooperbench_eval.strategies.llm.cassette import Cassette, Replay
from cooperbench_eval.strategies.llm.chat import ChatClient, ChatRequest, as_options
from cooperbench_eval.strategies.llm.litellm_client import LitellmClient, check_installed
from cooperbench_eval.strategies.llm.prompts import Prompts
from cooperbench_eval.strategies.llm.questions import Place, Question, ask_about
from cooperbench_eval.strategies.llm.redaction import (
    RedactingClient,
    Redactor,
    known_secrets,
    without_secrets,
)
from cooperbench_eval.strategies.llm.retries import Asker, Checks, Exchange, UsageMeter
from cooperbench_eval.strategies.llm.threads import in_threads
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome
from cooperbench_eval.strategies.refusals import why_not_structural
from cooperbench_eval.support.arguments import able_to, checked_fields, follows


def _as_prompts(prompts: Prompts | str | Path | None) -> Prompts:
    if prompts is None:
        return Prompts.built_in()
    if isinstance(prompts, Prompts):
        return prompts
    try:
        return Prompts.read(prompts)
    except ArgumentError as exc:
        raise ArgumentError("prompts", f"cannot be used: {exc}") from exc


_TAKEN = frozenset({"api_base", "api_key", "base_url", "max_retries", "max_tokens", "messages"}) | {
    *("model", "n", "num_retries", "seed", "stream", "temperature", "timeout")
}
"""Options that have an argument of their own, or would not give one complete answer."""


@frozen(field_transformer=checked_fields)
class LLMStrategy:
    """Asks a model for the text that replaces each conflict.

    One question covers all conflicts of a definition. It shows the definition in all
    versions, the functions that one side calls and the other side changed, and why a merge
    by structure leaves each conflict open.

    An answer is accepted only if it has exactly one text for each conflict, no conflict
    markers, and every line that both sides kept, and if the file still parses, provided
    that all versions parse. If an answer is not accepted, the model is asked again with
    the reason. If the judge objects to an answer that passes these checks, the objection
    is sent back once. A conflict without an accepted answer stays open.

    Pickling drops the key and all options that may be secrets, such as headers. A worker
    process reads its own key from the environment.

    Without litellm, which the extra `llm` installs, a strategy that would ask it cannot be
    made: this raises `ImportError`. One with its own *client* needs no litellm, and neither
    does one that only replays a cassette.

    Attributes:
        model: The model, as litellm names it, such as `gpt-5` or `openai/my-model`.
        api_base: The address of the provider, such as your own server's.
        api_key: The key, if it is not in the environment.
        temperature: The sampling temperature; `None` uses the provider's default.
        seed: The seed for sampling, if the provider supports one.
        max_attempts: The maximum number of times that a question is asked.
        timeout_seconds: How long one answer may take, and the longest wait before a
            retry.
        max_tokens: The most tokens that an answer may have.
        context_lines: How many lines around a conflict are shown.
        whole_lines: A file with at most this many lines is asked about in one question.
        concurrency: How many questions of a merge may be in flight.
        budget_usd: The cost of a merge at which no further question is asked. Only known
            prices count. Questions in flight are not cancelled.
        max_invented_lines: How many lines of an answer may be in none of the versions.
        min_kept: If both sides only added lines: the share of each side's tokens that an
            answer must contain. Git may split such additions into several conflicts, and
            then a correct answer may have less in one conflict and more in another.
        cassette: A directory that stores exchanges, and from which they are replayed.
        replay: Where answers come from; by default from the cassette if it has them, and
            otherwise from the model.
        prompts: The prompts, or a directory with other ones.
        options: Further arguments for litellm. Arguments with names like those of
            secrets, such as `extra_headers`, are not stored in a cassette.
        client: The client to ask instead of litellm.
        may_invent: True: a model may write names and values that no version has.
    """

    __module__ = "cooperbench_eval.strategies.llm"  # where it is registered; reports name it

    may_invent: ClassVar[bool] = True

    model: str = field(default="")
    name: str = field(default="llm", kw_only=True)
    api_base: str | None = field(default=None, kw_only=True)
    api_key: str | None = field(default=None, kw_only=True, repr=False)
    temperature: float | None = field(default=0.0, kw_only=True)
    seed: int | None = field(default=None, kw_only=True)
    max_attempts: int = field(default=3, kw_only=True, validator=validators.ge(1))
    timeout_seconds: float = field(default=120.0, kw_only=True, validator=validators.gt(0))
    max_tokens: int = field(default=4096, kw_only=True, validator=validators.ge(1))
    context_lines: int = field(default=30, kw_only=True, validator=validators.ge(0))
    whole_lines: int = field(default=150, kw_only=True, validator=validators.ge(0))
    concurrency: int = field(default=4, kw_only=True, validator=validators.ge(1))
    budget_usd: float | None = field(default=None, kw_only=True)
    max_invented_lines: int | None = field(default=10, kw_only=True)
    min_kept: float = field(
        default=0.0, kw_only=True, validator=[validators.ge(0), validators.le(1)]
    )
    cassette: str | Path | None = field(default=None, kw_only=True)
    replay: Replay = field(default=Replay.AUTO, kw_only=True, converter=Replay)
    prompts: Prompts = field(default=None, kw_only=True, converter=_as_prompts, repr=False)
    options: Mapping[str, Any] = field(
        factory=dict, kw_only=True, converter=as_options, hash=False, repr=False
    )
    client: ChatClient | None = field(
        default=None, kw_only=True, repr=False, metadata=follows(able_to("complete"))
    )

    @model.validator
    def _check_model(self, _: object, model: str) -> None:
        if not model:
            raise ArgumentError("model", 'is not named: get_strategy("llm", model="gpt-5")')

    @budget_usd.validator
    @max_invented_lines.validator
    def _check_limit(self, attribute: "Attribute[Any]", limit: float | None) -> None:
        if limit is not None and not limit >= 0:
            raise ArgumentError(attribute.name, f"must not be negative: {limit}")

    @replay.validator
    def _check_replay(self, _: object, replay: Replay) -> None:
        if replay in {Replay.REPLAY, Replay.RECORD} and self.cassette is None:
            raise ArgumentError("replay", f"{replay.value!r} needs a directory: cassette=...")

    @options.validator
    def _check_options(self, _: object, options: Mapping[str, Any]) -> None:
        if taken := sorted(_TAKEN & options.keys()):
            raise ArgumentError("options", f"must not contain {', '.join(taken)}")

    @client.validator
    def _check_client(self, _: object, client: ChatClient | None) -> None:
        """Report a missing litellm here, not once for each pair."""
        if client is None and self.replay is not Replay.REPLAY:
            check_installed()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the key and without options that may be secrets."""
        state = {each.name: getattr(self, each.name) for each in fields(LLMStrategy)}
        return state | {"api_key": None, "options": without_secrets(self.options)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Return the three-way merge with everything that the model resolved."""
        return _Conversation(self, merge_input).outcome()


def _request(strategy: LLMStrategy) -> ChatRequest:
    known = {
        "temperature": strategy.temperature,
        "seed": strategy.seed,
        "max_tokens": strategy.max_tokens,
    }
    options = {name: value for name, value in known.items() if value is not None}
    redactor = Redactor(_secrets(strategy))  # a key may also be in an option of another name
    options |= {
        name: value
        for name, value in without_secrets(strategy.options).items()
        if not redactor.finds(repr(value))
    }
    return ChatRequest(model=strategy.model, messages=(), options=options)


def _secrets(strategy: LLMStrategy) -> Iterator[str]:
    return known_secrets(strategy.api_key, strategy.api_base, strategy.options)


def _client(strategy: LLMStrategy) -> ChatClient:
    client = strategy.client or LitellmClient(
        api_base=strategy.api_base,
        api_key=strategy.api_key,
        timeout_seconds=strategy.timeout_seconds,
        options=strategy.options,
    )
    client = RedactingClient(client=client, secrets=partial(_secrets, strategy))
    if strategy.cassette is None:
        return client
    return Cassette(directory=strategy.cassette, mode=strategy.replay, client=client)


class _Conversation:
    def __init__(self, strategy: LLMStrategy, merge_input: MergeInput) -> None:
        self._strategy = strategy
        self._merge_input = merge_input
        self._merge = merge_input.merge
        self._meter = UsageMeter(strategy.prompts.version, strategy.budget_usd)
        self._asker = Asker(
            client=_client(strategy),
            request=_request(strategy),
            prompts=strategy.prompts,
            features=_features(merge_input),
            context_lines=strategy.context_lines,
            max_attempts=strategy.max_attempts,
            max_wait_seconds=strategy.timeout_seconds,
            max_invented_lines=strategy.max_invented_lines,
            meter=self._meter,
        )
        self._files = {file.path: file for file in asked_files(merge_input.merge)}
        self._judging = threading.Lock()

    def outcome(self) -> MergeOutcome:
        """Ask all questions, and put the accepted answers in place of the conflicts."""
        questions = list(self._questions())
        exchanges = in_threads(
            self._ask,
            questions,
            threads=self._strategy.concurrency,
            stopped=self._asker.stopped,
        )
        answers: dict[Conflict, bytes | Gone] = {}
        reasons = {True: "the file is not UTF-8", False: "text cannot resolve it"}  # if not asked
        rows = {c: LedgerRow.left_open(c, reasons[c.has_lines]) for c in self._merge.conflicts}
        for question, exchange in zip(questions, exchanges, strict=True):
            for conflict, answer, row in _settle(question, exchange):
                rows[conflict] = row
                if answer is not None:
                    answers[conflict] = answer
        self._reopen_faulty(questions, answers, rows)
        resolved = self._merge.resolve(answers.get)
        is_unanswered = bool(exchanges) and not any(each.answered for each in exchanges)
        outcome = MergeOutcome(
            changes=resolved.changes,
            conflicts=resolved.conflicts,
            conflicts_met=len(self._merge.conflicts),
            failure=exchanges[0].reason if is_unanswered else "",
            ledger=tuple(rows.values()),
            merge=resolved,
            service_failed=any(each.service_failed for each in exchanges),
            usage=(self._meter.usage,),
        )
        return reopen_misfits(self._merge_input, outcome)

    def _questions(self) -> Iterator[Question]:
        refusals = why_not_structural(self._merge_input) if self._files else {}
        background = Background(self._merge_input)
        for file in self._files.values():
            places = file.places(refusals)
            for each in ask_about(file.path, places, whole_lines=self._strategy.whole_lines):
                conflicts = [place.conflict for place in each.places]
                yield evolve(each, definitions=background.of(file.path, conflicts))
        for conflict in self._merge.conflicts:
            if not conflict.has_lines and self._merge.takes_text(conflict):
                place = Place(conflict=conflict)
                yield Question(path=conflict.path, places=(place,), is_choice=True)

    def _ask(self, question: Question) -> Exchange:
        conflicts = [place.conflict for place in question.places]

        def form(texts: Sequence[bytes]) -> str:
            answers = dict(zip(conflicts, texts, strict=True))
            return self._files[question.path].fault(answers) or self._left_out(answers)

        def judge(texts: Sequence[bytes]) -> str:
            answers = dict(zip(conflicts, texts, strict=True))
            with self._judging:  # one file at a time, because trees need much memory
                return self._files[question.path].objection(answers)

        return self._asker.ask(question, Checks(form, judge))

    def _left_out(self, answers: Mapping[Conflict, bytes]) -> str:
        """Return which added lines an answer lacks; empty if it has enough of them."""
        both_added = any(not c.base and c.ours and c.theirs for c in answers)
        if both_added and not any(text.strip() for text in answers.values()):
            return "it has nothing of what both sides added"
        for conflict, text in answers.items():
            for name, share in zip("AB", shares_kept(texts_of(conflict), text), strict=True):
                if not conflict.base and share < self._strategy.min_kept:
                    return f"it has only {share:.0%} of what side {name} added"
        return ""

    def _reopen_faulty(
        self,
        questions: Iterable[Question],
        answers: dict[Conflict, bytes | Gone],
        rows: dict[Conflict, LedgerRow],
    ) -> None:
        """Reopen the conflicts whose answers the judge refuses or the parser rejects together.

        An answer to which the judge objected is accepted if the file has no fault with all
        answers together.
        """
        for file in self._files.values():
            asked = [each for each in questions if each.path == file.path and not each.is_choice]
            groups = [group for each in asked if (group := _texts_for(each, answers))]
            refused = file.objections(groups) if groups else {}
            together: dict[Conflict, bytes] = {}
            for i, group in enumerate(groups):
                together |= group if i not in refused else {}
            faulty = [(groups[i], problem) for i, problem in refused.items()]
            if together and (problem := file.fault(together)):
                faulty.append((together, problem))
            for group, problem in faulty:
                for conflict in group:
                    del answers[conflict]
                    rows[conflict] = _opened(rows[conflict], problem)


def _texts_for(
    question: Question, answers: Mapping[Conflict, bytes | Gone]
) -> dict[Conflict, bytes]:
    """Return the texts for the conflicts of a question."""
    conflicts = [place.conflict for place in question.places]
    return {c: text for c in conflicts if isinstance(text := answers.get(c), bytes)}


def _opened(row: LedgerRow, reason: str) -> LedgerRow:
    row = evolve(row, rule="", reason=reason, is_provisional=True)
    return evolve(row, invented_lines=None, ours_kept=None, theirs_kept=None)


def _settle(
    question: Question, exchange: Exchange
) -> Iterator[tuple[Conflict, bytes | Gone | None, LedgerRow]]:
    """Yield the answer to each conflict of a question, if it has one, and its ledger row."""
    for i, place in enumerate(question.places):
        conflict = place.conflict
        row = LedgerRow(
            path=conflict.path,
            line=conflict.line,
            shape=conflict.kind.value,
            attempts=exchange.attempts,
        )
        if exchange.side:
            chosen = conflict.ours if exchange.side == "A" else conflict.theirs
            answer = Gone.GONE if chosen is None else chosen
            yield conflict, answer, evolve(row, rule=f"model, side {exchange.side}")
        elif exchange.texts:
            text = exchange.texts[i]
            ours_kept, theirs_kept = shares_kept(texts_of(conflict), text)
            row = evolve(
                row,
                rule="model",
                invented_lines=exchange.invented[i],
                ours_kept=ours_kept,
                theirs_kept=theirs_kept,
            )
            yield conflict, text, row
        else:
            yield conflict, None, evolve(row, reason=exchange.reason)


def _features(merge_input: MergeInput) -> str:
    known = [("A", feature) for feature in merge_input.ours_features]
    if merge_input.theirs_feature:
        known.append(("B", merge_input.theirs_feature))
    return "\n".join(
        f"\nSide {side} adds feature {feature.number}:\n"
        f"{feature.description.strip() or '(no description)'}\n"
        for side, feature in known
    )
