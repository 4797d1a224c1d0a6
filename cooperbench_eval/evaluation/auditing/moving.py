"""Finds lines that the merged tree has in another place than expected.

Each copy of a line counts: a line that is expected twice and found once at another place
was moved once. A line with few letters and digits, such as a bracket, is only followed
next to a longer line that was moved too.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator

from cooperbench_eval.evaluation.auditing.tracking import TrackedFile

__all__ = ["Place", "find_moves", "find_reformatted", "is_telling", "without_blanks"]

Place = tuple[TrackedFile, int]
"""A file and a line of its expected or of its merged text."""
_TELLING = re.compile(rb"(?:[0-9A-Za-z\x80-\xff][^0-9A-Za-z\x80-\xff]*){3}")


def is_telling(line: bytes) -> bool:
    """Whether a place can be recognized by a line: it has three letters or digits."""
    return _TELLING.search(line) is not None


def find_moves(files: Iterable[TrackedFile]) -> dict[Place, Place]:
    """Return the merged place of each expected line that was moved."""
    files = tuple(files)
    search = _Search(files, without_line_end)
    for file in files:
        search.pair([file])
    search.pair(files)
    return search.found


def find_reformatted(
    files: Iterable[TrackedFile], moved: Collection[Place], explained: Collection[Place]
) -> dict[Place, Place]:
    """Return the merged place of each expected line whose blanks were changed.

    Args:
        files: The files.
        moved: The expected places of lines that were moved.
        explained: The merged places of these lines.
    """
    files = tuple(files)
    search = _Search(files, without_blanks, moved, explained)
    for file in files:
        search.pair([file])
    return search.found


def without_line_end(line: bytes) -> bytes:
    """Return a line without its line end."""
    return line.rstrip(b"\r\n")


def without_blanks(line: bytes) -> bytes:
    """Return a line without spaces and tabs."""
    return b"".join(line.split())


class _Search:
    """The lines that have no counterpart yet."""

    def __init__(
        self,
        files: Iterable[TrackedFile],
        key: Callable[[bytes], bytes],
        missing: Collection[Place] = (),
        foreign: Collection[Place] = (),
    ) -> None:
        self.found: dict[Place, Place] = {}
        self._key = key
        every = [each for each in files if each.expected]
        self._missing = {(f, n) for f in every for n in f.missing}.difference(missing)
        self._foreign = {(f, n) for f in files for n in f.foreign}.difference(foreign)

    def pair(self, files: Iterable[TrackedFile]) -> None:
        """Pair lines within *files*, in their order."""
        missing: dict[bytes, list[Place]] = defaultdict(list)
        for file in files:
            for line in file.missing:
                text = self._expected_text((file, line))
                if (file, line) in self._missing and is_telling(text):
                    missing[text].append((file, line))
        for each in missing.values():
            each.reverse()
        for merged in self._left(files) if missing else ():
            found = missing.get(self._merged_text(merged))
            while found and merged in self._foreign:
                expected = found.pop()
                if expected in self._missing and self._can_be(expected, merged):
                    self._pair_run(expected, merged)

    def _left(self, files: Iterable[TrackedFile]) -> Iterator[Place]:
        return ((file, line) for file in files for line in file.foreign)

    def _can_be(self, expected: Place, merged: Place) -> bool:
        """Whether a merged line can be a missing one that was moved.

        A single line that the file has elsewhere too, at a place where others are missing, is
        probably a part of what replaced these.
        """
        file, line = merged
        replaced = file.replaced.get(line, ())
        if not replaced or (file is expected[0] and expected[1] in replaced):
            return True
        text = self._merged_text(merged)
        if sum(self._key(each) == text for each in file.lines) == 1:
            return True
        around = ((_next(expected, step), _next(merged, step)) for step in (-1, 1))
        return any(
            one in self._missing
            and other in self._foreign
            and self._expected_text(one) == self._merged_text(other)
            for one, other in around
        )

    def _pair_run(self, expected: Place, merged: Place) -> None:
        """Pair two lines, and the equal lines before and after them."""
        self._pair(expected, merged)
        for step in (-1, 1):
            one, other = _next(expected, step), _next(merged, step)
            while (
                one in self._missing
                and other in self._foreign
                and self._expected_text(one) == self._merged_text(other)
            ):
                self._pair(one, other)
                one, other = _next(one, step), _next(other, step)

    def _pair(self, expected: Place, merged: Place) -> None:
        self.found[expected] = merged
        self._missing.discard(expected)
        self._foreign.discard(merged)

    def _expected_text(self, place: Place) -> bytes:
        file, line = place
        return self._key(file.expected.lines[line]) if file.expected else b""

    def _merged_text(self, place: Place) -> bytes:
        file, line = place
        return self._key(file.lines[line])


def _next(place: Place, step: int) -> Place:
    return place[0], place[1] + step
