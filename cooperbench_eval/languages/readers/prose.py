"""Reads prose, such as a change log, into blocks that can be merged.

A block is a paragraph, a heading with its underline, an item of a list, or a row of a table.
A document is a flat list of blocks. This is all that Markdown and reStructuredText have in
common, and all that a merge needs.
"""

import re
from collections.abc import Iterator, Sequence

from cooperbench_eval.languages.tree import (
    DOCUMENT,
    RESERVED,
    Construct,
    Element,
    Elements,
    StructureError,
    Token,
    suite,
)
from cooperbench_eval.languages.words import TEXT

_BLOCK = re.compile(
    # An empty line ends a block, and so does a line that starts an item, a row or a directive.
    rb"\n(?=[ \t]*(?:\n|[-*+][ \t]|\d+[.)][ \t]|\#\.[ \t]|\||\.\.[ \t]|<!--))"
)


def read_prose(versions: Sequence[bytes]) -> list[Construct]:
    """Read versions of a document; a block that all of them share stays one token.

    Args:
        versions: The bytes of each version, with a newline at the end.

    Returns:
        One tree for each version. `render` writes it with the last newline moved to the
        front.

    Raises:
        StructureError: A version contains control characters.
    """
    if any(map(RESERVED.search, versions)):
        raise StructureError("the file contains control characters")
    cut = [list(_blocks(b"\n" + version.removesuffix(b"\n"))) for version in versions]
    common = set(cut[0]).intersection(*cut[1:])
    return [
        suite((*_read(blocks, common), Token(b"", b"", "end")), kind=DOCUMENT) for blocks in cut
    ]


def _blocks(text: bytes) -> Iterator[tuple[bytes, bytes]]:
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


def _read(blocks: Sequence[tuple[bytes, bytes]], common: set[tuple[bytes, bytes]]) -> Elements:
    return tuple(
        Token(space, block, "unread") if (space, block) in common else _block(space, block)
        for space, block in blocks
    )


def _block(space: bytes, block: bytes) -> Element:
    *words, end = (Token(*found) for found in TEXT.split(space + block))
    children = (*words, end) if end.space else tuple(words)
    return Construct(kind="block", children=children)
