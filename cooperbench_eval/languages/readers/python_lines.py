"""Cuts Python source into pieces and logical lines.

It does not use `tokenize`, whose tokens differ between versions of Python.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from cooperbench_eval.languages.tree import Elements, StructureError, Token

_TOKEN = re.compile(
    rb"""(?P<space>(?:[ \t\f\r\n]|\\\r?\n)*)
    (?P<word>
        \#[^\r\n]*
        |(?:[rRbBuUfFtT]{0,2})(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''
            |"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*')
        |\d(?:[\w.]|(?<=[eE])[+-])*
        |[A-Za-z0-9_\x80-\xff]+
        |->|:=|\.\.\.|\*\*=?|//=?|>>=?|<<=?|[-+*/%&|^@<>=!]=
        |[^\s]
        |\Z
    )""",
    re.VERBOSE | re.DOTALL,
)
_CONTINUED = re.compile(rb"\\\r?\n")
_CUT = re.compile(
    # The look-behind accepts only the first newline of a run, or the time would be quadratic.
    rb"\n(?:(?<=\S\n)|(?<=\S\r\n))(?=(?:\r?\n)+(?:#[^\n]*\n)*(?:@|def |class |async def ))"
)
_MEMBER_CUT = re.compile(
    rb"\n(?<=[^\s\\]\n)(?=\n+([ \t]+)(?:#[^\n]*\n\1)*(?:@|def |class |async def ))"
)
_LONG_QUOTES = frozenset({b'"""', b"'''"})
_EMPTY_STRING = re.compile(rb"""[rRbBuUfFtT]{0,2}(?:""|'')""")


@lru_cache(maxsize=64)
def split_python(source: bytes) -> list[bytes]:
    """Cut a file before the newlines that precede its top-level definitions.

    A cut may fall inside a string. If each piece can be read on its own, no cut is
    inside a string, and the pieces are runs of the file's statements.
    """
    ends = (found.start() for found in _CUT.finditer(source))
    cuts = [end - (source[end - 1 : end] == b"\r") for end in ends]
    return [source[start:end] for start, end in pairwise([0, *cuts, len(source)])]


def split_members(piece: bytes) -> tuple[bytes, list[bytes]]:
    """Cut a definition before the newlines that precede the definitions in its suite.

    As in `split_python`, a cut may fall inside a string.

    Returns:
        The indentation of the inner definitions, and the pieces: the first begins with
        the outer definition, and the last may contain more than its suite.
    """
    found = list(_MEMBER_CUT.finditer(piece))
    indent = min((each[1] for each in found), key=len, default=b"")
    cuts = [each.start() for each in found if each[1] == indent]
    return indent, [piece[start:end] for start, end in pairwise([0, *cuts, len(piece)])]


class LogicalLine(NamedTuple):
    """A logical line, a comment on its own line, or statements that were read before.

    Attributes:
        indent: Its indentation.
        tokens: Its tokens.
        members: The statements that were read before; then there are no tokens.
    """

    indent: bytes
    tokens: list[Token]
    members: Elements = ()

    @property
    def is_comment(self) -> bool:
        """Whether it is a comment."""
        return not self.members and self.tokens[0].word.startswith(b"#")


def to_lines(source: bytes) -> list[LogicalLine]:
    """Cut source into logical lines; the last one has only the token for the end.

    Raises:
        StructureError: Brackets or strings do not match, or the first line is indented.
    """
    lines: list[LogicalLine] = []
    known: dict[tuple[bytes, bytes], _Word] = {}
    depth = 0
    before = b""
    for found in _TOKEN.findall(source):
        word = known.get(found) or known.setdefault(found, _Word.of(*found))
        token = word.token
        if token.kind == "end":
            lines.append(LogicalLine(b"", [token]))
            break
        if word.follows and _opens_long_string(before, token.word):
            raise StructureError(_NOT_CLOSED)
        if word.starts_line and not depth:
            lines.append(LogicalLine(token.space.rpartition(b"\n")[2], []))
        depth += word.deeper
        if depth < 0:
            raise StructureError("a closing bracket has no opening one")
        if not lines:
            raise StructureError("the first line is indented")
        lines[-1].tokens.append(token)
        before = token.word
    if depth:
        raise StructureError("a bracket is not closed")
    return lines


class _Word(NamedTuple):
    """A token with what matters to its line; equal tokens share one.

    Attributes:
        token: The token.
        starts_line: Whether a newline that ends a line is before it.
        follows: Whether it is a string right after another token.
        deeper: 1 for an opening bracket, -1 for a closing one, otherwise 0.
    """

    token: Token
    starts_line: bool
    follows: bool
    deeper: int

    @classmethod
    def of(cls, space: bytes, word: bytes) -> "_Word":
        if not word:
            return cls(Token(space, word, "end"), starts_line=False, follows=False, deeper=0)
        if word in b"\"'":
            raise StructureError(_NOT_CLOSED)
        return cls(
            Token(space, word, _kind(word)),
            starts_line=b"\n" in (_CONTINUED.sub(b"", space) if b"\\" in space else space),
            follows=not space and word[:1] in b"\"'",
            deeper=(word in b"([{") - (word in b")]}"),
        )


_NOT_CLOSED = "a string is not closed"


def _opens_long_string(before: bytes, word: bytes) -> bool:
    """Whether an empty string and the next token begin a long string that is not closed."""
    return before[-1:] == word[:1] and bool(_EMPTY_STRING.fullmatch(before))


def _kind(word: bytes) -> str:
    if word[:1] == b"#":
        return "comment"
    return "text" if word[-3:] in _LONG_QUOTES else "token"


def indents_of_code(lines: Sequence[LogicalLine], following: bytes = b"") -> list[bytes]:
    """Return each line's indentation; a comment counts as indented like the code after it.

    Args:
        lines: The lines.
        following: The indentation of the code after the last line.
    """
    indents: list[bytes] = []
    for line in reversed(lines):
        if not line.is_comment:
            following = line.indent
        indents.append(following)
    return indents[::-1]
