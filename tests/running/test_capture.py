"""The part of a long output that is kept."""

import tracemalloc

import pytest

from cooperbench_eval.running.processes.supervision import Capture


def test_short_output_is_kept_whole():
    """Nothing is cut if the output fits into both ends."""
    capture = Capture(4)

    for piece in (b"ab", b"cdef", b"", b"gh"):
        capture.feed(piece)

    assert capture.value() == b"abcdefgh"


@pytest.mark.parametrize("piece_size", [1, 3, 7, 1000])
def test_long_output_keeps_both_ends_and_counts_the_rest(piece_size):
    """Both ends are kept, and one line says how many bytes were cut between them."""
    data = bytes(range(256)) * 4
    capture = Capture(10)

    for start in range(0, len(data), piece_size):
        capture.feed(data[start : start + piece_size])

    assert capture.value() == data[:10] + b"\n[... 1004 bytes cut ...]\n" + data[-10:]


def test_memory_is_bounded_by_the_limit():
    """An output of 100 MB needs little more memory than the limit."""
    capture, piece = Capture(1000), b"x" * 1000
    tracemalloc.start()

    for _ in range(100_000):
        capture.feed(piece)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000


def test_the_limit_may_be_zero():
    """Only the line with the count is left then."""
    capture = Capture(0)

    capture.feed(b"abc")

    assert capture.value() == b"\n[... 3 bytes cut ...]\n"
