"""Finds lines that the merged tree has in another place than expected.

Each copy of a line counts: a line that is expected twice and found once at another place
was moved once. A line with few letters and digits, such as a bracket, is only followed
next to a longer line that was moved too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from cooperbench_eval.origins.tracking import TrackedFile

__all__ = ["Place", "find_moves"]

Place = tuple[TrackedFile, int]
"""A file and a line of its expected or of its merged text."""
_TELLING = re.compile(rb"(?:[^\W_][^0-9A-Za-z\x80-\xff]*){3}")
"""Matches a line by which a place can be recognized: it has three letters or digits."""


def find_moves(files: Iterable[TrackedFile]) -> dict[Place, Place]:
    """Return the expected place of each merged line that was moved."""
    files = tuple(files)
    search = _Search(files)
    for file in files:
        search.pair([file])
    search.pair(files)
    return search.moves


class _Search:
    """The lines that have no counterpart yet."""

    def __init__(self, files: Iterable[TrackedFile]) -> None:
        self.moves: dict[Place, Place] = {}
        self._missing = {place for file in files for place in _missing(file)}
        self._foreign = {place for file in files for place in _foreign(file)}

    def pair(self, files: Iterable[TrackedFile]) -> None:
        """Pair lines within *files*, in their order."""
        missing: dict[bytes, list[Place]] = defaultdict(list)
        for file in files:
            for place in _missing(file):
                text = _expected_text(place)
                if place in self._missing and _TELLING.search(text):
                    missing[text].append(place)
        if not missing:
            return
        for each in missing.values():
            each.reverse()
        for file in files:
            for merged in _foreign(file):
                found = missing.get(_merged_text(merged))
                while found and merged in self._foreign:
                    expected = found.pop()
                    if expected in self._missing:
                        self._pair_run(expected, merged)

    def _pair_run(self, expected: Place, merged: Place) -> None:
        """Pair two lines, and the equal lines before and after them."""
        self._pair(expected, merged)
        for step in (-1, 1):
            one, other = _next(expected, step), _next(merged, step)
            while (
                one in self._missing
                and other in self._foreign
                and _expected_text(one) == _merged_text(other)
            ):
                self._pair(one, other)
                one, other = _next(one, step), _next(other, step)

    def _pair(self, expected: Place, merged: Place) -> None:
        self.moves[merged] = expected
        self._missing.discard(expected)
        self._foreign.discard(merged)


def _next(place: Place, step: int) -> Place:
    return place[0], place[1] + step


def _missing(file: TrackedFile) -> Iterator[Place]:
    return ((file, line) for line in file.missing)


def _foreign(file: TrackedFile) -> Iterator[Place]:
    return ((file, line) for line in file.foreign)


def _expected_text(place: Place) -> bytes:
    file, line = place
    return file.expected.lines[line].rstrip(b"\r\n") if file.expected else b""


def _merged_text(place: Place) -> bytes:
    file, line = place
    return file.lines[line].rstrip(b"\r\n")
