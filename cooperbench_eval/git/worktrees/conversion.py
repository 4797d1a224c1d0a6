"""Converts the contents of a file as git does when it stores them.

Git's documentation of `gitattributes` and of `core.autocrlf` describes the rules. The encoding is
changed first, then line endings, then keywords.
"""

import re
from collections.abc import Callable
from enum import Enum

from attrs import frozen

from cooperbench_eval.git.worktrees.attributes import Attribute

__all__ = ["Conversion", "LineEndings", "line_endings"]

_KEYWORD = re.compile(rb"\$Id:[^$\n]*\$")
_LONE_CR = re.compile(rb"\r(?!\n)")
_CONTROLS = bytes({*range(32), 127} - {*b"\b\t\n\f\r\x1b"})
_NO_TEXT = bytes({*range(32), 127} - {*b"\b\t\f\x1b"})
_END_OF_FILE = b"\x1a"
_WIDE = re.compile("utf-?(16|32)(le|be)?(-bom)?", re.IGNORECASE)
_BOMS = {"16": (b"\xff\xfe", b"\xfe\xff"), "32": (b"\xff\xfe\0\0", b"\0\0\xfe\xff")}


class LineEndings(Enum):
    """What git does with the line endings of a file that it stores."""

    KEEP = "keep"
    """They stay as they are."""
    CONVERT = "convert"
    """CRLF becomes LF."""
    GUESS = "guess"
    """CRLF becomes LF if the file is text, and the stored version has no CRLF."""


def line_endings(text: Attribute, crlf: Attribute, eol: Attribute, autocrlf: str) -> LineEndings:
    """Return what happens to the line endings of a file.

    Args:
        text: The attribute `text`; `None` if it is not specified.
        crlf: The attribute `crlf`, by which old repositories say the same.
        eol: The attribute `eol`.
        autocrlf: The setting `core.autocrlf`, in lower case.
    """
    found = _said(text) or _said(crlf)
    if found is not LineEndings.KEEP and eol in {"lf", "crlf"}:
        return found or LineEndings.CONVERT
    default = LineEndings.KEEP if autocrlf in {"", "false"} else LineEndings.GUESS
    return found or default


def _said(attribute: Attribute) -> LineEndings | None:
    if attribute == "auto":
        return LineEndings.GUESS
    if attribute is True or attribute == "input":
        return LineEndings.CONVERT
    return LineEndings.KEEP if attribute is False else None


@frozen(kw_only=True)
class Conversion:
    """What git does with the contents of one file.

    Attributes:
        line_endings: What it does with line endings.
        encoding: The encoding of the file; empty for UTF-8.
        has_keywords: Whether `$Id: …$` becomes `$Id$`.
        stored: Returns the contents that the index has at the path, if any.
    """

    line_endings: LineEndings
    encoding: str
    has_keywords: bool
    stored: Callable[[], bytes | None]

    @property
    def is_needed(self) -> bool:
        """Whether it may change anything."""
        is_kept = self.line_endings is LineEndings.KEEP
        return bool(self.encoding) or self.has_keywords or not is_kept

    def __call__(self, data: bytes) -> bytes:
        """Return the contents that git stores.

        Raises:
            ValueError: They are not in the encoding.
            LookupError: The encoding is unknown.
        """
        if self.encoding and data:
            data = _decoded(data, self.encoding).encode()
        if b"\r\n" in data:
            data = self._with_line_feeds(data)
        return _KEYWORD.sub(b"$Id$", data) if self.has_keywords else data

    def _with_line_feeds(self, data: bytes) -> bytes:
        if self.line_endings is LineEndings.KEEP:
            return data
        if self.line_endings is LineEndings.GUESS:
            stored = b"" if _is_binary(data) else self.stored() or b""
            if _is_binary(data) or (b"\r\n" in stored and not _is_binary(stored)):
                return data
        return data.replace(b"\r\n", b"\n")


def _is_binary(data: bytes) -> bool:
    """Whether git decides that contents are not text when it guesses."""
    if b"\0" in data or _LONE_CR.search(data):
        return True
    controls = len(data) - len(data.translate(None, _CONTROLS)) - data.endswith(_END_OF_FILE)
    printable = len(data.translate(None, _NO_TEXT))
    return printable >> 7 < controls


def _decoded(data: bytes, encoding: str) -> str:
    """Decode contents. Git demands a byte order mark for some encodings and forbids it for others.

    Raises:
        ValueError: They are not in the encoding.
        LookupError: The encoding is unknown.
    """
    wide = _WIDE.fullmatch(encoding)
    if wide is None:
        return data.decode(encoding)
    width, order, mark = wide.groups()
    has_mark = data.startswith(_BOMS[width])
    if bool(order) == has_mark and not mark:
        needs = "must not" if order else "must"
        raise ValueError(f"text in {encoding} {needs} begin with a byte order mark")
    return data.decode(f"utf-{width}{'' if mark or not order else order}")
