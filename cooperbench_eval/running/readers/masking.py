"""Blanks out what is no code, so that declarations can be found by their text."""

import re

__all__ = ["mask_go", "mask_javascript", "mask_rust", "open_braces"]

_LINE_COMMENT = r"//[^\n]*"
_BLOCK_COMMENT = r"/\*(?s:.*?)\*/"
_QUOTED = r'"(?:[^"\\\n]|\\[^\n])*"'
_SINGLY_QUOTED = r"'(?:[^'\\\n]|\\[^\n])*'"
_GO = re.compile(f"{_LINE_COMMENT}|{_BLOCK_COMMENT}|{_QUOTED}|`[^`]*`|{_SINGLY_QUOTED}")
# A quote in Rust also begins a lifetime: only what closes at once is a character.
_RUST = re.compile(
    "|".join(
        (
            _LINE_COMMENT,
            _BLOCK_COMMENT,
            r'\bb?r(?P<fence>#*)"(?s:.*?)"(?P=fence)',
            r'"(?s:[^"\\]|\\.)*"',
            r"'(?:[^'\\\n]|\\[^\n]{1,9}?)'",
        )
    )
)
# A slash behind one of these signs cannot divide; the sign itself is kept.
_REGULAR_EXPRESSION = (
    r"(?P<sign>[=(,:!&|?{};\[]\s*)"
    r"/(?![/*])(?:[^/\\\n\[]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/"
)
_TEMPLATE = r"`(?:[^`\\]|\\(?s:.))*`"
_JAVASCRIPT = re.compile(
    f"{_LINE_COMMENT}|{_BLOCK_COMMENT}|{_QUOTED}|{_SINGLY_QUOTED}|{_TEMPLATE}|{_REGULAR_EXPRESSION}"
)


def mask_go(text: str) -> str:
    """Return Go with its comments and literals blanked, each place kept."""
    return _GO.sub(_blank, text)


def mask_rust(text: str) -> str | None:
    """Return Rust likewise; `None` where comments are nested."""
    masked = _RUST.sub(_blank, text)
    return None if "/*" in masked or "*/" in masked else masked


def mask_javascript(text: str) -> str | None:
    """Return JavaScript or TypeScript likewise; `None` where an end is not found."""
    masked = _JAVASCRIPT.sub(_blank, text)
    return None if "`" in masked or "/*" in masked else masked


def open_braces(masked: str, place: int) -> list[int] | None:
    """Return where the braces stand that are open at a place; `None` if they do not match."""
    opened: list[int] = []
    for each in re.finditer(r"[{}]", masked[:place]):
        if each[0] == "{":
            opened.append(each.start())
        elif opened:
            opened.pop()
        else:
            return None
    return opened


def _blank(found: re.Match[str]) -> str:
    sign = found.groupdict().get("sign") or ""
    return sign + re.sub(r"[^\n]", " ", found[0][len(sign) :])
