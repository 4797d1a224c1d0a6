"""The texts of a pair on the page: each is kept once, and cut to a limit."""

from cooperbench_eval.presentation.page.embedding import shown_bytes

__all__ = ["Texts", "whole_characters"]

_MOST_TEXTS = 50


class Texts:
    """The texts of a pair, at most *limit* bytes of each; equal texts are kept once.

    All texts together have at most fifty times *limit* bytes.

    Attributes:
        kept: The texts, each with the number of bytes that are left out.
    """

    def __init__(self, limit: int) -> None:
        self.kept: list[tuple[str, int]] = []
        self._limit = limit
        self._room = limit * _MOST_TEXTS
        self._numbers: dict[bytes, int] = {}

    def add(self, text: bytes | None) -> int | None:
        """Keep *text* if it is not kept yet, and return its index in `kept`; `None` for no text."""
        return None if text is None else self.number_of(text)

    def number_of(self, text: bytes) -> int:
        """Keep *text* if it is not kept yet, and return its index in `kept`."""
        if text not in self._numbers:
            size = whole_characters(text, min(self._limit, self._room))
            self._room -= size
            self._numbers[text] = len(self.kept)
            self.kept.append((shown_bytes(text[:size]), len(text) - size))
        return self._numbers[text]


def whole_characters(text: bytes, limit: int) -> int:
    """Return at most *limit*, reduced so that no UTF-8 character is cut in two."""
    if len(text) <= limit:
        return len(text)
    size = limit
    while size and limit - size < 3 and text[size] & 0xC0 == 0x80:  # noqa: PLR2004 - UTF-8
        size -= 1
    return size
