"""Compares values and items of data files, and refuses what must not be combined."""

import re
from collections.abc import Mapping, Sequence

from cooperbench_eval.git.merging.line_diff import diff_lines
from cooperbench_eval.languages.readers.data import NUMBER, package_name
from cooperbench_eval.languages.readers.yaml import unquoted
from cooperbench_eval.languages.sequences import CLASHING, clashing_options
from cooperbench_eval.languages.tree import (
    DATA,
    Construct,
    DisagreementError,
    Element,
    Elements,
    Token,
    excerpt,
    one_line,
)


def split_comments(construct: Construct) -> tuple[Elements, Elements, Elements]:
    """Separate the comments at both ends of a construct's children."""
    children = construct.children
    end = len(children) - (construct.kind == DATA)
    start = 0
    while start < end and children[start].kind == "comment":
        start += 1
    stop = end
    while stop > start and children[stop - 1].kind == "comment":
        stop -= 1
    return children[:start], children[start:stop], children[stop:]


def words_of(element: Element) -> tuple[bytes, ...]:
    """Return the words of an element, with strings as if they had no quotes."""
    return tuple(map(_value, element.words()))


def _value(word: bytes) -> bytes:
    bare = unquoted(word)
    if bare == word or b"\\" in bare:
        return word
    return b'"%s"' % bare if _TYPED.fullmatch(bare[:_MOST_TYPED]) else bare


_TYPED = re.compile(
    rb"[-+.\d][\d_]*\.?\d*(?:e[-+]?\d+)?|0[box]\w+|[-+.\d:TZ ]*\d[-:]\d[-+.\d:TZ ]*"
    rb"|[-+]?\.?(?:inf|nan)|~?|true|false|null|yes|no|on|off|[yn]",
    re.IGNORECASE,
)
"""Matches text that is not a string unless it is quoted."""
_MOST_TYPED = 64
"""The most bytes of a value that are matched, which takes quadratic time."""


def bare_words(element: Element) -> tuple[bytes, ...]:
    """Return the words of an item without the comments around it."""
    if isinstance(element, Token):
        return words_of(element)
    return tuple(word for each in split_comments(element)[1] for word in words_of(each))


def letters(item: Element) -> bytes:
    """Return the sort key of an item of one word; empty for others."""
    return unquoted(argument(item)).lower()


def _item_name(item: Element) -> bytes:
    """Return the name of an item; a single word counts as a package."""
    return item.key or package_name(unquoted(argument(item)))


def argument(item: Element) -> bytes:
    """Return the only word of an item; empty if it has several."""
    words = [word for word in item.words() if word != b"-"]
    return words[0] if len(words) == 1 else b""


def has_place(item: Element) -> bool:
    """Whether an item is a number or an option, so that its place may matter."""
    word = argument(item)
    return unquoted(word).startswith(b"-") or bool(NUMBER.fullmatch(word))


def check_versions(ours: Sequence[Element], theirs: Sequence[Element]) -> None:
    """Refuse two versions of one item, or two values of one option.

    Raises:
        DisagreementError: There are such versions or values.
    """
    words = {bare_words(each): words_of(each) for each in ours}
    names = {*map(_item_name, ours)} - {b""}
    for each in theirs:
        known = words.get(bare_words(each))
        if known != words_of(each) if known else _item_name(each) in names:
            raise DisagreementError(f"both sides insert their own version of {excerpt(each)!r}")
    for clash in clashing_options(*(list(map(argument, side)) for side in (ours, theirs))):
        raise DisagreementError(CLASHING % tuple(map(one_line, clash)))


_ORIGINS = frozenset(b"git image newName registry repo repository url".split())
_REVISIONS = frozenset(b"branch checksum digest hash newTag ref rev sha sha256 tag".split())
"""The keys that name a revision at an origin."""


def check_revision(
    base: Mapping[bytes, Element], ours: Mapping[bytes, Element], theirs: Mapping[bytes, Element]
) -> None:
    """Refuse one side's new origin together with the other side's own new revision.

    Raises:
        DisagreementError: There are such changes.
    """
    scalars = {
        key: words_of(old)
        for key, old in base.items()
        if not any(part.children for part in old.children)
    }
    mine, other = (
        {key for key, old in scalars.items() if key in side and words_of(side[key]) != old}
        for side in (ours, theirs)
    )
    alike = {key for key in mine & other if words_of(ours[key]) == words_of(theirs[key])}
    for one, two in ((mine - other, other - alike), (other - mine, mine - alike)):
        if one & _ORIGINS and two & _REVISIONS:
            origin, revision = min(one & _ORIGINS).decode(), min(two & _REVISIONS).decode()
            raise DisagreementError(
                f"one side changes {origin!r}, the other {revision!r} of the same thing"
            )


def has_edits(base: Sequence[bytes], side: Sequence[bytes], other: Sequence[bytes]) -> bool:
    """Whether a side made every edit that the other made to the words of a value.

    If both sides raise a version, the higher one has all edits of the lower one.
    """
    if _is_raised(*(_VERSION.fullmatch(b" ".join(words)) for words in (base, side, other))):
        return True
    before, *sides = (
        [word for each in words for word in _WORD.findall(each)] for words in (base, side, other)
    )
    mine, there = (
        {
            (each.a_start, each.a_end, *words[each.b_start : each.b_end])
            for each in diff_lines(before, words)
        }
        for words in sides
    )
    return there <= mine


_WORD = re.compile(rb"\s+|[^\s]+")
_Version = re.Match[bytes] | None


def _is_raised(base: _Version, side: _Version, other: _Version) -> bool:
    """Whether both sides raise a version, and a side's is higher."""
    if not (base and side and other) or len({each["text"] for each in (base, side, other)}) > 1:
        return False
    before, mine, there = (
        [int(number) for number in each["numbers"].split(b".")] for each in (base, side, other)
    )
    return before <= there < mine


_VERSION = re.compile(
    rb"""
    (?P<text>(?:[^\s<!]{0,80}[^\s\w.<!])?v?)
    (?P<numbers>(?:(?<=[v^~@])|(?<=[=>~]=))\d{1,9}(?:\.\d{1,9}){1,5}|\d{1,9}(?:\.\d{1,9}){2})
    (?:[-.]?(?:a|b|rc|alpha|beta|dev|pre|next|experimental|canary|snapshot)[-.\d]{0,20})?
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Matches a version: three numbers, or several after an operator, and the text before them."""
