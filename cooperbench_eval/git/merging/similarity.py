r"""How similar two files are by git's measure, in points from 0 to 60,000.

Git cuts both files into chunks and counts the bytes of each chunk. The score is the
share of the larger file's bytes that occur in the other one. The order of the chunks
does not matter. A chunk is a line with its newline; a longer line is cut after every
64 bytes. A shorter rest at the end of the file, without a newline, is ignored. In a
text, CR LF counts as LF.

Git does not compare the chunks themselves, but numbers below 107,927 that are computed from
them. So different chunks can count as equal, such as 64 times `=` and 64 times `-`. The
rules and the numbers are those that `git diff -M` shows.
"""

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cooperbench_eval.git.merging.contents import is_binary
from cooperbench_eval.git.trees.entries import Entry

__all__ = ["FULL_SCORE", "Similarities"]

FULL_SCORE = 60_000  # the score of equal contents
_CHUNK = 64  # the most bytes of a chunk
_KINDS = 107_927  # chunks with the same number modulo this count as equal
_FACTOR = 97  # by which the upper half of a chunk's state is multiplied
_TOGETHER = 1024  # chunks that are numbered together; more would not be faster

# A chunk's state consists of 64 bits. These are its parts, as bytes in little-endian order.
_LOWER_HALF = b"\xff\xff\xff\xff\0\0\0\0"
_LOWEST_SEVEN = b"\x7f\0\0\0\0\0\0\0"


class Similarities:
    """Compares files; remembers the numbers of the chunks that it has seen."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        # By the ids of the files, so that no contents are kept.
        self._lengths: dict[str, int] = {}
        self._sizes: dict[str, Mapping[int, int]] = {}

    def score(self, source: Entry, target: Entry, least: int) -> int:
        """Return the score of two files; 0 if their sizes alone rule out *least* points."""
        small, large = sorted((self._length(source), self._length(target)))
        if not small or large * (FULL_SCORE - least) < (large - small) * FULL_SCORE:
            return 0
        mine, others = self._sizes_in(source), self._sizes_in(target)
        common = mine.keys() & others.keys()
        shared = sum(map(min, map(mine.__getitem__, common), map(others.__getitem__, common)))
        return shared * FULL_SCORE // large

    def _length(self, file: Entry) -> int:
        if file.id not in self._lengths:
            self._lengths[file.id] = len(file.data)
        return self._lengths[file.id]

    def _sizes_in(self, file: Entry) -> Mapping[int, int]:
        """Return the number of bytes in all chunks of each number."""
        if file.id not in self._sizes:
            self._sizes[file.id] = self._count(file.data)
        return self._sizes[file.id]

    def _count(self, data: bytes) -> Mapping[int, int]:
        chunks = Counter(_chunks(data))
        new = [chunk for chunk in chunks if chunk not in self._numbers]
        self._numbers.update(zip(new, _numbers_of(new), strict=True))
        sizes: dict[int, int] = {}
        for chunk, count in chunks.items():
            number = self._numbers[chunk]
            sizes[number] = sizes.get(number, 0) + count * len(chunk)
        return sizes


def _chunks(data: bytes) -> Iterator[bytes]:
    if not is_binary(data):
        data = data.replace(b"\r\n", b"\n")
    *lines, rest = data.split(b"\n")
    for line in lines:
        if len(line) < _CHUNK:
            yield line + b"\n"
        else:
            yield from _pieces(line + b"\n")
    yield from _pieces(rest[: len(rest) - len(rest) % _CHUNK])


def _pieces(line: bytes) -> Iterator[bytes]:
    return (line[start : start + _CHUNK] for start in range(0, len(line), _CHUNK))


def _numbers_of(chunks: Sequence[bytes]) -> Iterator[int]:
    for start in range(0, len(chunks), _TOGETHER):
        yield from _numbers_together(chunks[start : start + _TOGETHER])


def _numbers_together(chunks: Sequence[bytes]) -> Iterable[int]:
    """Return each chunk's number.

    The state of a chunk is 0 at first. For each byte, its 64 bits are rotated to the left
    by seven, and the byte is added to the lower half; an overflow of that half is lost. A
    leading NUL leaves the state at 0, so all chunks can be given the same length. The
    states of all chunks are the digits of one long integer, because Python rotates a
    thousand of them as fast as a few.
    """
    count, length = len(chunks), max(map(len, chunks))
    text = b"".join(chunk.rjust(length, b"\0") for chunk in chunks)
    every = (1 << 64 * count) - 1
    lower = int.from_bytes(_LOWER_HALF * count, "little")
    upper = every ^ lower
    seven = int.from_bytes(_LOWEST_SEVEN * count, "little")
    others = every ^ seven
    added = bytearray(8 * count)
    states = 0
    for place in range(length):
        added[::8] = text[place::length]
        states = states << 7 & others | states >> 57 & seven
        total = (states & lower) + int.from_bytes(added, "little")
        states = states & upper | total & lower
    halves = struct.unpack(f"<{2 * count}I", states.to_bytes(8 * count, "little"))
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return ((low + _FACTOR * high) % 2**32 % _KINDS for low, high in pairs)
