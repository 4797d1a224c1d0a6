"""Finds lines in a file, in time that grows with the file and not with its square."""

from collections.abc import Sequence

__all__ = ["LineSearch"]


class LineSearch:
    """A file as a text in which every line is a code of one length.

    Bytes are then searched instead of lists of lines, and no file is slow.
    """

    _SIZE = 8
    _CLAIMED = b"-" * _SIZE
    _REACH = 64  # lines around the stated place that are searched first
    _GROWTH = 8  # how many times as many next

    def __init__(self, keys: Sequence[bytes], claimed: Sequence[int]) -> None:
        """Take lines as they are compared, and which of them a hunk claimed."""
        # Blanks, then digits: so no code stands astride two others.
        self._codes = {key: b"%8x" % code for code, key in enumerate(dict.fromkeys(keys))}
        codes = map(self._codes.__getitem__, keys)
        self._text = bytearray().join(
            self._CLAIMED if taken else code for code, taken in zip(codes, claimed, strict=True)
        )

    def find(self, keys: Sequence[bytes], near: int) -> int | None:
        """Find lines that no hunk claimed, nearest to *near* first, later before earlier."""
        if not self._codes.keys() >= set(keys):
            return None
        pattern = b"".join(map(self._codes.__getitem__, keys))
        start, size, reach = near * self._SIZE, len(pattern), self._REACH * self._SIZE
        while True:
            low = max(start - reach, 0)
            behind = self._text.find(pattern, start, start + reach + size)
            if behind >= 0:
                low = max(low, 2 * start - behind + 1)
            nearer = self._text[low : start + size - 1]
            # Backwards by reversing: `rfind` may take the product of both lengths.
            at = nearer[::-1].find(pattern[::-1])
            place = behind if at < 0 else low + len(nearer) - at - size
            if place >= 0:
                return place // self._SIZE
            if reach > len(self._text):
                return None
            reach *= self._GROWTH

    def claim(self, start: int, end: int, size: int) -> None:
        """Put *size* claimed lines in the place of those from *start* to *end*."""
        self._text[start * self._SIZE : end * self._SIZE] = self._CLAIMED * size
