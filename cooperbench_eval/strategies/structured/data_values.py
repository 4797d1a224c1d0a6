"""Compares values and items of data files, and refuses what must not be combined."""

import re
from collections.abc import Mapping, Sequence

from cooperbench_eval.git.merging.line_diff import diff_lines
from cooperbench_eval.languages.readers.data import LINES, NUMBER, package_name
from cooperbench_eval.languages.readers.yaml import unquoted
from cooperbench_eval.languages.sequences import CLASHING, clashing_options
from cooperbench_eval.languages.tree import (
    DATA,
    Construct,
    DisagreementError,
    Element,
    Elements,
    StructureError,
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
    scalars = {key: words_of(old) for key, old in base.items() if _scalar(old)}
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


def check_renamed(
    base: Mapping[bytes, Element], ours: Mapping[bytes, Element], theirs: Mapping[bytes, Element]
) -> None:
    """Refuse two new keys for one value.

    Raises:
        DisagreementError: Each side gives an entry another key.
    """
    for old in base.keys() - ours.keys() - theirs.keys():
        value = words_of(base[old])[1:]
        mine, other = (
            [key for key in side.keys() - base.keys() if words_of(side[key])[1:] == value]
            for side in (ours, theirs)
        )
        if mine and other and set(mine).isdisjoint(other):
            raise DisagreementError.at(base[old])


_CHECKSUM = re.compile(
    rb"(?i)(?<![a-z-])(checksums?|digest|hash(es)?|integrity|resolved|rev|sha(\d{3})?)\W{0,2}[:=]"
)
"""Matches a key whose value belongs to one version only."""
_COUNTED = re.compile(rb"(.*([-_.]|[a-z](?=[A-Z])))?(?i:address|cidr|date|host|id|ip|serial)s? \d")
"""Matches a key before numbers that are not a version."""
_RANGE = re.compile(rb"(?P<name>\S{0,80}\w[:@=])?(?:[v^~=<>]+ ?\d|\d+\.)[\w.*^~=<>|, +-]*|\*")
"""Matches versions of a package, and its name."""


def check_raised(
    base: Mapping[bytes, Element], ours: Mapping[bytes, Element], theirs: Mapping[bytes, Element]
) -> None:
    """Refuse a version that both sides raise if the rest may not go with the higher one.

    Raises:
        StructureError: There is such a version, so that no block can be merged alone.
    """
    for high, low in ((ours, theirs), (theirs, ours)):
        entries = {key: (base.get(key), high.get(key), low.get(key)) for key in {**base, **low}}
        raised = [key for key, each in entries.items() if _is_raised(*map(_scalar, each))]
        bound = [key for key, each in entries.items() if raised and _is_bound(*each)]
        for key in raised:
            if (others := [each for each in bound if each != key]) or _is_counted(base[key]):
                name, *_, other = (each.decode("utf-8", "replace") for each in (key, key, *others))
                raise StructureError(f"both sides raise {name!r}, maybe wrongly for {other!r}")


def _is_bound(base: Element | None, high: Element | None, low: Element | None) -> bool:
    """Whether an entry is a checksum that *high* leaves, or a scalar that *low* changes."""
    before, mine, there = (words_of(each) if each else () for each in (base, high, low))
    if any(_CHECKSUM.search(each.plain) for each in (base, high, low) if each):
        return before == mine or there not in (before, mine)
    edits = [each for each in (base, low) if each and there not in (before, mine)]
    found = [not _is_counted(each) and _RANGE.fullmatch(_scalar(each)) for each in edits]
    names = {each["name"] for each in found if each}
    return any(map(_scalar, edits)) and (not all(found) or len(names) > 1)


def _is_counted(entry: Element) -> bool:
    return bool(_COUNTED.match(entry.key + b" " + _scalar(entry)))


def _scalar(entry: Element | None) -> bytes:
    """Return an entry's scalar; empty for others. A number in quotes counts as a version."""
    parts = split_comments(entry)[1] if isinstance(entry, Construct) else ()
    *_, value = Token(b"", b""), *parts
    words = b" ".join(words_of(value)) if value.kind == LINES or not value.children else b""
    return b"v" + words[1:-1] if words.startswith(b'"') else words


def has_edits(base: Sequence[bytes], side: Sequence[bytes], other: Sequence[bytes]) -> bool:
    """Whether a side made every edit that the other made to the words of a value.

    If both sides raise a version, the higher one has all edits of the lower one.
    """
    if _is_raised(*map(b" ".join, (base, side, other))):
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


def _is_raised(*values: bytes) -> bool:
    """Whether both sides raise a version of the base, and the first side's is higher."""
    base, side, other = map(_VERSION.fullmatch, values)
    if not (base and side and other) or len({each["text"] for each in (base, side, other)}) > 1:
        return False
    versions = [each["numbers"] for each in (base, side, other)]
    before, mine, there = ([int(number) for number in each.split(b".")] for each in versions)
    is_lowered = other["stage"] and not base["stage"] and there == before
    return before <= there < mine and not is_lowered


_VERSION = re.compile(
    rb"""
    (?!(?:19\d\d|20\d\d|2100)\.(?:0?[1-9]|1[0-2])\.(?:0?[1-9]|[12]\d|3[01])\b)
    (?P<text>(?:[^\s<!]{0,80}[^\s\w.<!])?v?)
    (?P<numbers>(?:(?<=[v^@])|(?<=[=>~]=))\d{1,9}(?:\.\d{1,9}){1,5}|\d{1,9}(?:\.\d{1,9}){2})
    (?P<stage>[-.]?(?:a|b|rc|alpha|beta|dev|pre|next|experimental|canary|snapshot)[-.\d]{0,20})?
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Matches three numbers that are not a date, or several after an operator, and what precedes."""
