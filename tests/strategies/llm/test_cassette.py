"""Exchanges are recorded, and replayed without a model."""

import json
import os
import stat

import pytest

from cooperbench_eval.strategies.llm.cassette import Cassette, Replay
from cooperbench_eval.strategies.llm.chat import (
    ChatError,
    ChatFault,
    ChatReply,
    ChatRequest,
    Message,
)


class Client:
    """Answers with a script of texts and faults, and counts requests."""

    def __init__(self, *script):
        """Take the script."""
        self.script = list(script)

    def complete(self, _request):
        """Take the next step."""
        step = self.script.pop(0)
        if isinstance(step, ChatFault):
            raise ChatError(step, "a problem", 7.0)
        return ChatReply(text=step, model="served", prompt_tokens=3, cost_usd=0.1)


SLOW = ChatFault.RATE_LIMITED


def request(text="Hello"):
    """Return a request of one turn."""
    return ChatRequest(model="m", messages=[Message(role="user", text=text)])


def run(directory, mode, *script, times=1):
    """Ask a new cassette a few times; return its answers and the client's unused steps."""
    client = Client(*script)
    cassette = Cassette(directory=directory, mode=mode, client=client)
    given = []
    for _ in range(times):
        try:
            given.append(cassette.complete(request()).text)
        except ChatError as exc:
            given.append(exc.fault)
    return given, client.script


def files(directory):
    """List the files below a directory."""
    return sorted(path for path in directory.rglob("*") if path.is_file())


@pytest.mark.parametrize("mode", [Replay.RECORD, Replay.AUTO])
def test_a_recorded_exchange_is_replayed(tmp_path, mode):
    """With every field of the reply, and without the client."""
    assert run(tmp_path, mode, "hi") == (["hi"], [])

    replayed = Cassette(directory=tmp_path, mode=Replay.REPLAY, client=Client())

    reply = replayed.complete(request())
    assert reply == ChatReply(text="hi", model="served", prompt_tokens=3, cost_usd=0.1)


def test_a_file_is_named_after_the_digest_and_is_readable(tmp_path):
    """It has the request and the answers."""
    run(tmp_path, Replay.RECORD, "hi")

    (file,) = files(tmp_path)
    assert file.name == f"{request().key}.json"
    data = json.loads(file.read_text())
    assert data["request"]["messages"] == [{"role": "user", "content": "Hello"}]
    assert data["answers"][0]["text"] == "hi"


@pytest.mark.parametrize(
    ("mode", "given", "left"),
    [
        (Replay.LIVE, "new", []),
        (Replay.RECORD, "new", []),
        (Replay.REPLAY, "old", ["new"]),
        (Replay.AUTO, "old", ["new"]),
    ],
)
def test_the_mode_decides_where_an_answer_comes_from(tmp_path, mode, given, left):
    """From the model or from the cassette."""
    run(tmp_path, Replay.RECORD, "old")

    assert run(tmp_path, mode, "new") == ([given], left)

    expected = "new" if mode is Replay.RECORD else "old"
    assert run(tmp_path, Replay.REPLAY)[0] == [expected]


def test_live_mode_records_nothing(tmp_path):
    """It does not even create a directory."""
    run(tmp_path / "none", Replay.LIVE, "hi")

    assert not (tmp_path / "none").exists()


def test_a_missing_exchange_is_a_fault(tmp_path):
    """The error names the file."""
    cassette = Cassette(directory=tmp_path, mode=Replay.REPLAY, client=Client("hi"))

    with pytest.raises(ChatError, match=request().key) as caught:
        cassette.complete(request())

    assert caught.value.fault is ChatFault.NOT_RECORDED


def test_faults_are_replayed_in_their_order(tmp_path):
    """Without waiting; the last answer is repeated."""
    run(tmp_path, Replay.RECORD, SLOW, SLOW, "hi", times=3)

    assert run(tmp_path, Replay.REPLAY, times=4)[0] == [SLOW, SLOW, "hi", "hi"]
    cassette = Cassette(directory=tmp_path, mode=Replay.REPLAY, client=Client())
    with pytest.raises(ChatError, match="a problem") as caught:
        cassette.complete(request())
    assert caught.value.retry_after_seconds == 0.0


def test_auto_mode_asks_again_after_a_fault(tmp_path):
    """A run that was interrupted continues; faults before an answer are skipped."""
    run(tmp_path, Replay.AUTO, SLOW)

    assert run(tmp_path, Replay.AUTO, SLOW, "hi", times=2) == ([SLOW, "hi"], [])
    assert run(tmp_path, Replay.AUTO) == (["hi"], [])
    assert run(tmp_path, Replay.REPLAY, times=2)[0] == [SLOW, "hi"]


TORN = [
    b"",
    b'{"format": 1, "answ',
    b"\xff",
    b"[]",
    b"[" * 100_000,
    b'{"format": 2, "answers": [{"text": "old"}]}',
    b'{"format": 1, "answers": []}',
    b'{"format": 1, "answers": [{"text": 1}]}',
    b'{"format": 1, "answers": [3]}',
    b'{"format": 1, "answers": [{"fault": "nonesuch", "problem": ""}]}',
]


@pytest.mark.parametrize("data", TORN, ids=range(len(TORN)))
def test_an_incomplete_file_counts_as_missing(tmp_path, data):
    """Auto mode asks again, and replay reports a fault."""
    run(tmp_path, Replay.RECORD, "old")
    (file,) = files(tmp_path)
    file.write_bytes(data)

    assert run(tmp_path, Replay.REPLAY)[0] == [ChatFault.NOT_RECORDED]
    assert run(tmp_path, Replay.AUTO, "new") == (["new"], [])
    assert run(tmp_path, Replay.REPLAY)[0] == ["new"]


def test_an_answer_that_cannot_be_recorded_is_a_fault(tmp_path):
    """A recording must be complete."""
    (tmp_path / "file").write_text("")

    assert run(tmp_path / "file", Replay.RECORD, "hi")[0] == [ChatFault.NOT_RECORDED]


def test_no_other_file_is_left_in_the_directory(tmp_path):
    """A file is written completely or not at all."""
    run(tmp_path, Replay.RECORD, SLOW, "\ud800", times=2)

    assert [file.suffix for file in files(tmp_path)] == [".json"]


@pytest.mark.parametrize("mask", [0o002, 0o022, 0o077])
def test_a_cassette_has_the_mode_of_new_files(tmp_path, mask):
    """A group that may read the user's new files can read recordings."""
    before = os.umask(mask)
    try:
        run(tmp_path, Replay.RECORD, "hi")
    finally:
        os.umask(before)

    (file,) = files(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("tokens", ['"9"', "-1", "1e999", "null"])
def test_a_reply_that_cannot_be_counted_is_not_replayed(tmp_path, tokens):
    """Somebody may have edited the file."""
    run(tmp_path, Replay.RECORD, "hi")
    [file] = files(tmp_path)
    file.write_text(file.read_text().replace('"prompt_tokens": 3', f'"prompt_tokens": {tokens}'))

    assert run(tmp_path, Replay.REPLAY) == ([ChatFault.NOT_RECORDED], [])


def test_a_pipe_in_place_of_an_exchange_does_not_block(tmp_path):
    """It is replaced when the exchange is recorded again."""
    run(tmp_path, Replay.RECORD, "hi")
    [file] = files(tmp_path)
    file.unlink()
    os.mkfifo(file)

    assert run(tmp_path, Replay.REPLAY) == ([ChatFault.NOT_RECORDED], [])
    assert run(tmp_path, Replay.AUTO, "hi") == (["hi"], [])
    assert run(tmp_path, Replay.REPLAY) == (["hi"], [])
