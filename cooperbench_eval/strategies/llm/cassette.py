"""Records exchanges with a model, so that a run can be repeated without the model."""

import json
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from attrs import asdict, field, frozen

from cooperbench_eval.strategies.llm.chat import (
    ChatClient,
    ChatError,
    ChatFault,
    ChatReply,
    ChatRequest,
)
from cooperbench_eval.support.staging import staged

_FORMAT = 1


class Replay(StrEnum):
    """Where answers come from, and whether they are recorded."""

    LIVE = "live"
    """From the model; not recorded."""
    RECORD = "record"
    """From the model, and recorded."""
    REPLAY = "replay"
    """From the cassette, including recorded faults; a missing exchange is a fault."""
    AUTO = "auto"
    """From the cassette, or else from the model and recorded."""


@frozen(kw_only=True)
class Cassette:
    """A directory of exchanges, by the digest of the request.

    A retry after a fault is recorded after that fault. To replay both in order, a cassette
    counts how often each request is made, so use a new one for each merge.
    """

    directory: Path = field(converter=Path)
    mode: Replay = field(converter=Replay)
    client: ChatClient
    _asked: Counter[str] = field(factory=Counter, init=False, eq=False, repr=False)

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return a recorded or new reply of the model, or raise `ChatError`."""
        if self.mode is Replay.LIVE:
            return self.client.complete(request)
        number = self._asked[request.key]
        self._asked[request.key] += 1
        kept = self._kept(request)
        if self.mode is Replay.REPLAY:
            return self._replayed(request, kept[number : number + 1] or kept[-1:])
        if self.mode is Replay.AUTO and kept and isinstance(kept[-1], ChatReply):
            return kept[-1]
        return self._recorded(request, kept if number else [])

    def _replayed(self, request: ChatRequest, kept: Sequence[ChatReply | ChatError]) -> ChatReply:
        if not kept:
            problem = f"{self._file(request).name} is missing or incomplete"
            raise ChatError(ChatFault.NOT_RECORDED, problem)
        if isinstance(kept[0], ChatError):
            raise kept[0]
        return kept[0]

    def _recorded(self, request: ChatRequest, before: list[ChatReply | ChatError]) -> ChatReply:
        try:
            reply = self.client.complete(request)
        except ChatError as exc:
            self._keep(request, [*before, exc])
            raise
        self._keep(request, [*before, reply])
        return reply

    def _file(self, request: ChatRequest) -> Path:
        key = request.key
        return self.directory / key[:2] / f"{key}.json"

    def _kept(self, request: ChatRequest) -> list[ChatReply | ChatError]:
        """Read the recorded answers; an incomplete file, or one of another format, has none."""
        try:
            file = self._file(request)
            if not file.is_file():  # reading a pipe could block forever
                return []
            data = json.loads(file.read_text(encoding="utf-8"))
            return [_load(each) for each in data["answers"]] if data["format"] == _FORMAT else []
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return []

    def _keep(self, request: ChatRequest, answers: Sequence[ChatReply | ChatError]) -> None:
        """Write an exchange; the file is complete or does not appear."""
        file = self._file(request)
        data = {
            "format": _FORMAT,
            "request": json.loads(request.canonical()),
            "answers": [_dump(each) for each in answers],
        }
        text = json.dumps(data, ensure_ascii=False, indent=1)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with staged(file) as part:
                part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        except OSError as exc:
            problem = f"{file.name} cannot be written ({exc.strerror})"
            raise ChatError(ChatFault.NOT_RECORDED, problem) from exc


def _dump(answer: ChatReply | ChatError) -> dict[str, Any]:
    if isinstance(answer, ChatError):
        return {"fault": answer.fault, "problem": answer.problem}
    return asdict(answer)


def _load(data: dict[str, Any]) -> ChatReply | ChatError:
    if "fault" in data:  # without a wait when it is replayed
        return ChatError(ChatFault(data["fault"]), str(data["problem"]), 0.0)
    return ChatReply(**data)
