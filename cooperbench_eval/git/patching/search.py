"""Finds a run of lines in a file in linear time."""

from collections.abc import Sequence

__all__ = ["LineSearch"]


class LineSearch:
    """A file as one text in which each line is a code of fixed length.

    Searching bytes is fast for every file; comparing lists of lines is not.
    """

    _SIZE = 8
    _CLAIMED = b"-" * _SIZE
    _REACH = 64  # lines around the stated place that are searched first
    _GROWTH = 8  # factor by which the next search reaches further

    def __init__(self, keys: Sequence[bytes], claimed: Sequence[int]) -> None:
        """Take the lines in comparable form, and for each whether a hunk has claimed it."""
        # A code is spaces and then digits, so it cannot match across two codes.
        self._codes = {key: b"%8x" % code for code, key in enumerate(dict.fromkeys(keys))}
        codes = map(self._codes.__getitem__, keys)
        self._text = bytearray().join(
            self._CLAIMED if taken else code for code, taken in zip(codes, claimed, strict=True)
        )

    def find(self, keys: Sequence[bytes], near: int) -> int | None:
        """Find unclaimed lines nearest to *near*; of two equally near places, the later one."""
        if not self._codes.keys() >= set(keys):
            return None
        pattern = b"".join(map(self._codes.__getitem__, keys))
        start, size, reach = near * self._SIZE, len(pattern), self._REACH * self._SIZE
        while True:
            low = max(start - reach, 0)
            later = self._text.find(pattern, start, start + reach + size)
            if later >= 0:
                low = max(low, 2 * start - later + 1)
            nearer = self._text[low : start + size - 1]
            # Reversed, because `rfind` may take time proportional to the product of lengths.
            at = nearer[::-1].find(pattern[::-1])
            place = later if at < 0 else low + len(nearer) - at - size
            if place >= 0:
                return place // self._SIZE
            if reach > len(self._text):
                return None
            reach *= self._GROWTH

    def claim(self, start: int, end: int, size: int) -> None:
        """Replace the lines from *start* to *end* by *size* claimed ones."""
        self._text[start * self._SIZE : end * self._SIZE] = self._CLAIMED * size
