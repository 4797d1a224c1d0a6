"""Walks through a source text: tokens with the white space before them, indentation, nesting."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cooperbench_eval.languages.readers.grammars import SyntaxNode
from cooperbench_eval.languages.readers.profiles import TEXTS
from cooperbench_eval.languages.tree import Element, StructureError, Token, indented, relative_lines

_DEEPEST = 120
"""How deep constructs may nest; a merge needs about four nested calls for each level."""


class SourceCursor:
    """A place in a source text; what is before it has been read.

    Attributes:
        at: The offset in the text; negative before the first token.
        indent: The indentation of the suite around it.
        depth: How many constructs are around it.
    """

    def __init__(self, source: bytes) -> None:
        """Start before the first token of *source*."""
        self._source = source
        self.at = -1
        self.indent = b""
        self.depth = 0

    def space(self, start: int) -> bytes:
        """Take the white space before the next token."""
        space = self._source[max(self.at, 0) : start]
        if self.at < 0:
            space = b"\n" + space
        return indented(space, self.indent) if b"\n" in space else space

    def word(self, start: int, word: bytes, kind: str = "token") -> Token:
        """Make a token of a word, and continue after it."""
        space = self.space(start)
        self.at = start + len(word)
        return Token(space, word, kind)

    def token(self, node: SyntaxNode, kind: str = "token", end: int = 0) -> list[Element]:
        """Make a token of a node, preceded by text that the grammar skipped.

        A node of white space gives no token. An *end* after that of the node may be given.
        """
        start = node.start_byte
        word = self._source[start : end or node.end_byte]
        if not (stripped := word.strip()):
            return []
        start += word.index(stripped)
        missed = self._missed(start)
        token = self.word(start, stripped, kind)
        if b"\n" in stripped and kind in {"comment", "text"}:
            token = token._replace(word=relative_lines(stripped, self.indent))
        return [*missed, token]

    def _missed(self, start: int) -> list[Element]:
        """Make a token of skipped text: separators in macros."""
        gap = self._source[max(self.at, 0) : start]
        if not gap or gap.replace(b"\\\n", b"").isspace():  # Python's continued lines
            return []
        word = gap.strip()
        return [self.word(max(self.at, 0) + gap.index(word), word)]

    def breaks(self, one: SyntaxNode, other: SyntaxNode) -> bool:
        """Whether a line ends between two nodes."""
        return b"\n" in self._source[one.end_byte - 1 : other.start_byte]

    def begins_line(self, node: SyntaxNode) -> bool:
        """Whether a line ends between the last token and a node."""
        return b"\n" in self._source[self.at : node.start_byte]

    @contextmanager
    def within(self, levels: int) -> Iterator[None]:
        """Enter nested constructs.

        Raises:
            StructureError: They nest too deeply.
        """
        self.depth += levels
        if self.depth > _DEEPEST:
            raise StructureError(f"constructs nest more than {_DEEPEST} levels deep")
        yield
        self.depth -= levels

    @contextmanager
    def deeper(self, nodes: Sequence[SyntaxNode]) -> Iterator[bytes]:
        """Enter a body; yield how much deeper it is indented than its surroundings."""
        outer = self.indent
        inner = self._indentation(nodes)
        if inner.startswith(outer):
            self.indent = inner
        yield self.indent[len(outer) :]
        self.indent = outer

    def _indentation(self, nodes: Sequence[SyntaxNode]) -> bytes:
        """Return the indentation of the first node that begins a line."""
        end = self.at
        for node in nodes:
            start = node.start_byte
            if node.type in TEXTS:
                text = self._source[start : node.end_byte]
                start += len(text) - len(text.lstrip())
                if start == node.end_byte:
                    continue
            _, newline, last = self._source[end:start].rpartition(b"\n")
            if newline:
                return last
            end = max(node.end_byte - 1, start)
        return self.indent
