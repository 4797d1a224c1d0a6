"""The output of a container comes in frames, which a socket may split anywhere."""

import socket

import pytest

from cooperbench_eval.running.sandboxes.containers.engine import Attached


def frame(stream, data):
    """Return data as an engine frames it."""
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


@pytest.mark.parametrize("size", [1, 3, 7, 8, 9, 64, 1000])
def test_frames_are_joined_from_pieces_of_any_size(size):
    """Both streams, empty frames, and data that looks like a header."""
    parts = (b"out\n", b"", b"err\n", b"\1\0\0\0\0\0\0\5", b"x" * 300)
    sent = b"".join(frame(1 + number % 2, part) for number, part in enumerate(parts))
    ours, theirs = socket.socketpair()
    received = []

    with ours, theirs:
        output = Attached(ours)
        for start in range(0, len(sent), size):
            theirs.sendall(sent[start : start + size])
            received.append(output.read(1) or b"")
        theirs.close()
        assert output.read(1) == b""

    assert b"".join(received) == b"".join(parts)


def test_silence_is_not_the_end():
    """No data in time gives `None`; a lost connection is the end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        output = Attached(ours)

        assert output.read(0.01) is None
        assert output.read(-1) is None

        output.close()
        assert output.read(1) == b""
        assert theirs.recv(1) == b""
    assert output.read(1) == b""
