"""Reads prose, such as a change log, into blocks that can be merged.

A block is a paragraph, a heading with its underline, an item of a list, or a row of a table.
A document is a flat list of blocks. This is all that Markdown and reStructuredText have in
common, and all that a merge needs. Code in a fence of Markdown may be given as a tree.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

from cooperbench_eval.languages.tree import (
    DOCUMENT,
    RESERVED,
    Construct,
    Element,
    StructureError,
    Token,
    suite,
)
from cooperbench_eval.languages.words import TEXT

_BLOCK = re.compile(
    # An empty line ends a block, and so does a line that starts an item, a row or a directive.
    rb"\n(?=[ \t]*(?:\n|[-*+][ \t]|\d+[.)][ \t]|\#\.[ \t]|\||\.\.[ \t]|<!--))"
)


_FENCE = re.compile(rb"(?ms)^(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^\1[`~]*[ \t]*$|\Z)")


class Fence(NamedTuple):
    """Code in a document.

    Attributes:
        start: Where the line before the code begins.
        language: The word after the fence.
        code: Where the code begins and ends.
        end: Where the line after the code ends; where the code ends if there is none.
    """

    start: int
    language: bytes
    code: slice
    end: int


FencedCode = tuple[Fence, Construct]
"""Code and its tree."""


def fences(text: bytes) -> list[Fence]:
    """Return the code between the fences of a Markdown document, in order."""
    return [
        Fence(found.start(), found[2], slice(*found.span(3)), found.end())
        for found in _FENCE.finditer(text)
    ]


def read_prose(
    versions: Sequence[bytes], code: Sequence[Sequence[FencedCode]] = ()
) -> list[Construct]:
    """Read versions of a document; a block that all of them share stays one token.

    Args:
        versions: The bytes of each version, with a newline at the end.
        code: The trees of the code in some of its fences, for each version.

    Returns:
        One tree for each version. `render` writes it with the last newline moved to the
        front.

    Raises:
        StructureError: A version contains control characters.
    """
    if any(map(RESERVED.search, versions)):
        raise StructureError("the file contains control characters")
    cut = [list(_parts(*each)) for each in zip(versions, code or repeat(()), strict=False)]
    blocks = ({each for each in part if isinstance(each, tuple)} for part in cut)
    common = set.intersection(*blocks)
    return [suite((*_read(parts, common), Token(b"", b"", "end")), kind=DOCUMENT) for parts in cut]


def _parts(version: bytes, code: Sequence[FencedCode]) -> Iterator["_Block | Construct"]:
    """Yield the blocks of a document, and its code."""
    at, space, text = 0, b"", version.removesuffix(b"\n")
    for number, (fence, tree) in enumerate(code):
        found = list(_blocks(b"\n" + text[at : fence.start - 1])) if fence.start > at else []
        space = b"\n"
        if found and not found[-1][1]:
            space = found.pop()[0] + space
        yield from found
        lines = text[fence.start : fence.code.start - 1], text[fence.code.stop : fence.end]
        first, last = Token(space, lines[0]), Token(b"\n", lines[1])
        key = b"%d" % number
        yield Construct(kind="fence", children=(first, tree, last), key=key)
        at = fence.end + 1
    if at <= len(text):
        yield from _blocks(b"\n" + text[at:])


_Block = tuple[bytes, bytes]


def _blocks(text: bytes) -> Iterator[_Block]:
    """Yield the white space before each block, and the block."""
    start, space = 0, b""
    for end in (*(found.start() for found in _BLOCK.finditer(text)), len(text)):
        piece = space + text[start:end]
        start = end
        block = piece.lstrip()
        space = piece if not block else b""
        if block:
            yield piece[: len(piece) - len(block)], block
    if space:
        yield space, b""


def _read(parts: Sequence[_Block | Construct], common: set[_Block]) -> Iterator[Element]:
    for part in parts:
        if isinstance(part, Construct):
            yield part
        else:
            yield Token(*part, "unread") if part in common else _block(*part)


def _block(space: bytes, block: bytes) -> Element:
    *words, end = (Token(*found) for found in TEXT.split(space + block))
    children = (*words, end) if end.space else tuple(words)
    return Construct(kind="block", children=children)
