r"""Splits text into tokens, in which a value is one token.

If both sides change one value differently, a merge must not make a third one. So a number,
a version, a date, an address, a path, a URL or a string without white space is one token.
In source, `a.b`, `a-b` and `a/b` are expressions of several tokens, except in an import. In
all other text, and in the strings and comments of source, each is a value.

No token spans lines. The patterns take linear time: whatever may repeat in them is
possessive or bounded.
"""

import re
from collections import Counter
from collections.abc import Generator, Iterator

WORD = re.compile(rb"[A-Za-z0-9_\x80-\xff]+")
"""Letters, digits and underscores, and all bytes beyond ASCII."""
PART = re.compile(WORD.pattern + rb"|\S")
"""A part of a token: a word, or a sign."""

# In the patterns, L is a character of a word.
_URL = rb"""[A-Za-z][A-Za-z0-9+.-]{0,15}:// (?: [.;:!?]{0,9}[^\s.;:!?"'<>()\[\]{}`,\\] )++"""
_MONTH = rb"""(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?
    |Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"""
_FIELD = rb"(?:\*|[0-9]{1,2})(?:[-,/][0-9*]{1,2}){0,6}"
_SPACED = rb"""(?<!L)(?:
    %b[ ][0-9]{1,2}(?:,?[ ][0-9]{4})?(?!L)                  # Jan 5, 2024
  | [0-9]{1,2}[ ]%b(?:[ ][0-9]{4})?(?!L)                    # 5 January 2024
  | (?=(?:[0-9,/-]{1,12}[ ]){0,4}\*)(?:%b[ ]){4}%b          # 0 3 * * *
)""" % (_MONTH, _MONTH, _FIELD, _FIELD)
_PATTERN = rb"\^[^\s$]{1,80}\$"  # ^a+$
_VALUE = rb"""
    (?: (?:[<>=!~]=|[<>~^]|===)(?=v?[0-9])                  # >=1.2, ^3
      | (?<!L)(?:[-+~^!@\#$&./]|\*(?=[*./])){1,12}+(?=L)    # -1, --all, ../a, $5, *.py
      | (?<!L)(?<!:)::(?=[0-9A-Fa-f])                       # ::1
    )?+
    L++
    (?: (?: (?:[-+./:@~\#%\\]|\*(?=[*./])|(?<=[/*])\*){1,8}+  # a-b, a.b, a/b, a:b, a@b
          | (?<=[A-Za-z])'(?=[A-Za-z])                      # don't
          | (?<=[0-9]),(?=[0-9]{3}(?!L))                    # 1,000
          | (?<=[0-9*]),[<>=!~^]{1,3}+                      # >=1.2,<2
          | (?<=-[0-9]{2})[ ](?=[0-9]{2}:[0-9]{2})          # 2024-01-05 12:30
        )(?=L) L++
    )*+
    (?: (?<=[0-9])%(?!L) | [./]\*{1,2}+(?!L) | /(?!L) | [-+]{1,3}+(?!L) )?+  # 50%, a/*, c++
"""
_NUMBER = rb"""
    (?: (?<!L)(?<![\])"'])- )?+ (?: (?<!L)(?<![\]).])\. )?+
    (?: 0[xX]L++ | [0-9] (?: [eE][+-](?=[0-9]) | \.(?=[0-9]) | L )*+ )
"""
_RULE = rb"={3,}+ | -{3,}+ | ~{3,}+ | \^{3,}+ | \#{4,}+ | \*{4,}+"  # under a title
_REGEX = rb"(?<!L)(?<![\])<]) / (?![*/>\s]) (?: [^/\\\n]++ | \\. )++ / [a-z]*+"
_IMPORTED = rb"""
    (?:(?<=\bfrom[ ]) | (?<=\bimport[ ]) | (?<=\bpackage[ ]) | (?<=\bstatic[ ]) | (?<=\buse[ ]))
    \.{0,9}+ L++ (?: (?:\.|::)(?=L) L++ )++
"""
_QUOTED = rb"""(?<!L)(%b(["'`])) ( (?: [^"'`\\\n]++ | \\. | (?!\3)["'`] )*+ ) (\3)"""
_REMARK = rb"(%b) ([^\n]*)"
_OTHER = rb"\\\S | (?!L)\S"  # an escaped quote neither opens nor closes a string


def count_parts(text: bytes) -> Counter[bytes]:
    """Count how often each word and each sign occurs, including those inside values."""
    return Counter(PART.findall(text))


class Words:
    """How a kind of text is divided into tokens.

    Attributes:
        pattern: Matches a token outside of strings and comments, with `re.VERBOSE`.
    """

    def __init__(
        self, *kinds: bytes, prefix: bytes = b"", sign: bytes = rb"(?!)", longs: bytes = rb"(?!)"
    ) -> None:
        """Combine patterns of tokens; strings begin with *prefix*, and comments with *sign*.

        *longs* matches at least the strings and comments that span several lines.
        """
        self._longs = re.compile(longs, re.VERBOSE | re.DOTALL | re.MULTILINE)
        self.pattern = b"|".join((*kinds, _OTHER)).replace(b"L", WORD.pattern[:-1])
        outer = b"(\\s*+)(?: %b | %b | (%b) )" % (_QUOTED % prefix, _REMARK % sign, self.pattern)
        self._tokens = re.compile(outer.replace(b"L", WORD.pattern[:-1]), re.VERBOSE)

    def split(self, text: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the white space before each token, and the token.

        The last token is empty, with the white space at the end of the text before it.
        """
        inner = text.rstrip()
        space = b""
        for before, head, _, body, tail, sign, remark, word in self.read(inner):
            space += before
            if head and DIVIDED.search(body):
                yield space, head
                space = yield from TEXT._split_inner(body)
                yield space, tail
            elif sign:
                yield space, sign
                space = yield from TEXT._split_inner(remark)
                continue
            else:
                yield space, word or head + body + tail
            space = b""
        yield space + text[len(inner) :], b""

    def read(self, text: bytes) -> Iterator[tuple[bytes, ...]]:
        """Yield the parts of each string, comment or other token; those it does not have are empty.

        The parts are the white space before it; what a string begins with, the quote, the
        body and the end; what a comment begins with and the comment; and any other token.
        """
        for found in self._tokens.finditer(text):
            yield found.groups(b"")

    def _split_inner(self, text: bytes) -> Generator[tuple[bytes, bytes], None, bytes]:
        """Yield all tokens but the empty last one, and return the white space before that."""
        space = b""
        for space, word in self.split(text):
            if word:
                yield space, word
        return space

    def pieces(self, source: bytes) -> Iterator[tuple["Words", bytes]]:
        """Yield strings and comments of several lines, as text, and the source between them."""
        end = 0
        for found in self._longs.finditer(source):
            if b"\n" in found[0]:
                yield self, source[end : found.start()]
                yield TEXT, found[0]
                end = found.end()
        yield self, source[end:]

    def count(self, text: bytes) -> Counter[bytes]:
        """Count how often each token occurs."""
        return Counter(word for _, word in self.split(text) if word)


DIVIDED = re.compile(rb"""[\s"'`]|\{(?![0-9])""")
"""What divides a string into several tokens: white space, a quote, or a placeholder."""
_LONG_STRING = rb"""
    \"{3} (?: [^"\\] | \\. | "(?!"") )*+ \"{3} | '{3} (?: [^'\\] | \\. | '(?!'') )*+ '{3}
    | " (?: [^"\\\n] | \\. )*+ " | ' (?: [^'\\\n] | \\. )*+ ' | \#[^\n]*+
"""
_LONG_COMMENT = rb"^[ \t]*+/\* (?: [^*] | \*(?!/) )*+ \*/"
_PREFIX = rb"[bBcCfFrRuUtT]{0,2}"

TEXT = Words(_URL, _SPACED, _PATTERN, _VALUE, _RULE)
"""Data and text for people."""
SCRIPT = Words(_IMPORTED, _NUMBER, b"L+", prefix=_PREFIX, sign=rb"\#", longs=_LONG_STRING)
"""Source with comments that begin with `#`."""
CURLY = Words(
    _IMPORTED, _REGEX, _NUMBER, b"L+", prefix=_PREFIX, sign=rb"//|/\*", longs=_LONG_COMMENT
)
"""Source with comments that begin with `//` or `/*`."""
