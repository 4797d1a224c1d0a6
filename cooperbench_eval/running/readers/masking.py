"""Blanks out comments and literals, so that declarations can be found by their text."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import frozen

_LINE_COMMENT = r"//[^\n]*"
# A comment that is not closed extends to the end, so that its text is read only once.
_BLOCK_COMMENT = r"/\*(?s:.*?)(?:\*/|(?P<open_comment>\Z))"
_QUOTED = r'"(?:[^"\\\n]|\\[^\n])*"'
_SINGLY_QUOTED = r"'(?:[^'\\\n]|\\[^\n])*'"
# A slash after one of these signs cannot mean division. The sign itself is kept.
_REGULAR_EXPRESSION = (
    r"(?P<sign>[=(,:!&|?{};\[]\s*)"
    r"/(?![/*])(?:[^/\\\n\[]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/"
)
_TEMPLATE = r"`(?:[^`\\]|\\(?s:.))*`"
_HEADER_LIMIT = 300


@frozen
class Language:
    """How a language writes comments and literals.

    Attributes:
        hidden: Matches each comment and each literal.
        unclosed: Characters that must not remain after masking; if one does, a comment or
            literal was misread.
    """

    hidden: re.Pattern[str]
    unclosed: tuple[str, ...] = ()

    def mask(self, text: str) -> str | None:
        """Return *text* with comments and literals blanked and every position kept.

        `None` if a comment or a literal was misread.
        """
        is_open = False

        def blank(found: re.Match[str]) -> str:
            nonlocal is_open
            is_open |= (found.lastgroup or "").startswith("open")
            sign = found.groupdict().get("sign") or ""
            return sign + re.sub(r"[^\n]", " ", found[0][len(sign) :])

        masked = self.hidden.sub(blank, text)
        return None if is_open or any(sign in masked for sign in self.unclosed) else masked


def _language(*hidden: str, unclosed: tuple[str, ...] = ()) -> Language:
    return Language(re.compile("|".join((_LINE_COMMENT, _BLOCK_COMMENT, *hidden))), unclosed)


GO = _language(_QUOTED, "`[^`]*`", _SINGLY_QUOTED)
# In Rust a quote also begins a lifetime: it is a character only if it closes at once.
# Rust's comments nest, which a regular expression cannot follow.
RUST = _language(
    r'\bb?r(?P<fence>#*)"(?s:.*?)(?:"(?P=fence)|(?P<open_text>\Z))',
    r'"(?s:[^"\\]|\\.)*"',
    r"'(?:[^'\\\n]|\\[^\n]{1,9}?)'",
    unclosed=("/*", "*/"),
)
JAVASCRIPT = _language(
    _QUOTED, _SINGLY_QUOTED, _TEMPLATE, _REGULAR_EXPRESSION, unclosed=("`", "/*")
)


def declarations(
    text: str, masked: str, found: Sequence[re.Match[str]], header: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], list[re.Match[str]], str]]:
    """Yield each declaration with the headers of the blocks around it, and its text.

    A declaration starts at the group `whole` of its match, and ends where the next one starts.
    It is left out unless *header* matches right before each brace that is open at its start.
    """
    starts = [each.start("whole") for each in found]
    for each, (start, end) in zip(found, pairwise((*starts, len(text))), strict=True):
        headers = _block_headers(masked, start, header)
        if headers is not None:
            yield each, headers, text[start:end].rstrip()


def _block_headers(masked: str, place: int, header: re.Pattern[str]) -> list[re.Match[str]] | None:
    opened: list[int] = []
    for brace in re.finditer(r"[{}]", masked[:place]):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            opened.pop()
        else:
            return None
    found = [header.search(masked, max(0, at - _HEADER_LIMIT), at) for at in opened]
    headers = [each for each in found if each is not None]
    return headers if len(headers) == len(opened) else None
