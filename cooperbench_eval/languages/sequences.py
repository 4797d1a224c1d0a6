"""Merges what both sides insert at one place, as two sequences over an empty base.

What both insert is kept once. Each side's own elements stay between the same shared ones.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Generic, NamedTuple, TypeVar

from cooperbench_eval.git.merging.line_diff import Change, diff_lines

T = TypeVar("T")


class Run(NamedTuple, Generic[T]):
    """Elements that only one of two sequences has, and the one in both after them, if any."""

    first: Sequence[T]
    second: Sequence[T]
    shared: tuple[T, T] | None


def weave(
    first: Sequence[T],
    second: Sequence[T],
    name: Callable[[T], bytes],
    is_free: Callable[[T], bool] = lambda _: False,
) -> list[Run[T]] | None:
    """Divide two sequences at the elements that both have, as many as possible in order.

    Args:
        first: The sequence whose own elements come first.
        second: The other one.
        name: Returns the name of an element. Elements of the same name are equal; one
            whose name is empty equals no other.
        is_free: Whether an element may change its place among the others.

    Returns:
        The runs; `None` if both have the same elements in different orders that matter.
    """
    mine, other = list(map(name, first)), list(map(name, second))
    pairs = {i: j for i, j in _pairs(mine, other) if mine[i]}
    left: dict[bytes, list[int]] = {}
    for j in sorted(set(range(len(other))).difference(pairs.values())):
        left.setdefault(other[j], []).append(j)
    moved: dict[int, int] = {}
    for i, each in enumerate(mine):
        if each and i not in pairs and left.get(each):
            if not is_free(first[i]):
                return None
            moved[i] = left[each].pop(0)
    dropped = set(moved.values())
    runs: list[Run[T]] = []
    i = j = 0
    for place in (*sorted({**pairs, **moved}), len(first)):
        end = len(second) if place == len(first) else pairs.get(place, j)
        own = [second[k] for k in range(j, end) if k not in dropped]
        at = pairs.get(place, moved.get(place))
        runs.append(Run(first[i:place], own, None if at is None else (first[place], second[at])))
        i, j = place + 1, end + (place in pairs)
    return runs


def _pairs(mine: Sequence[bytes], other: Sequence[bytes]) -> list[tuple[int, int]]:
    """Match equal names in order."""
    found: list[tuple[int, int]] = []
    i = j = 0
    changes = diff_lines(mine, other) if not set(mine).isdisjoint(other) else ()
    if not changes and mine != other:
        return []
    for change in (*changes, Change(len(mine), len(mine), len(other), len(other))):
        found += zip(range(i, change.a_start), range(j, change.b_start), strict=True)
        i, j = change.a_end, change.b_end
    return found


_CONTINUING = frozenset(
    b"else elif elsif elseif except rescue finally ensure catch fi done esac".split()
)
"""Words at the start of a line that continues the statement before it."""
_CLOSING = (b")", b"]", b"}", b"{", b"</", b"\\end", b";;")
LEADING = (b"#", b"@", b"//", b"/*", b"--")
"""What a comment or an annotation begins with, which belongs to the line after it."""


def split_entries(
    lines: Sequence[T],
    depth: Callable[[T], int],
    text: Callable[[T], bytes],
    leading: tuple[bytes, ...] = LEADING,
) -> list[list[T]]:
    """Divide lines into statements or entries, by their indentation.

    An entry is one of the least indented lines, with the comments and annotations before
    it, and the lines after it that are indented more, close a bracket, or continue it.
    Comments at the end belong to the last entry. A table, which begins with `[`, ends at an
    empty line or at the next table.

    Args:
        lines: The lines.
        depth: Returns how deep a line is indented.
        text: Returns a line without white space around it.
        leading: What a comment or an annotation begins with.
    """
    texts = list(map(text, lines))
    least = min((depth(line) for line, each in zip(lines, texts, strict=True) if each), default=0)
    entries: list[list[T]] = []
    empty: list[T] = []
    before = b""
    for line, each in zip(lines, texts, strict=True):
        if not each:
            empty.append(line)
            continue
        is_in_table = before.startswith(b"[") and not empty and not each.startswith(b"[")
        begins = depth(line) <= least and not continues(each) and not is_in_table
        if not entries or (begins and not (leading and before.startswith(leading))):
            entries.append([])
        entries[-1] += [*empty, line]
        empty = []
        if begins:
            before = each
    if len(entries) > 1 and before.startswith(leading):
        empty = [*entries.pop(), *empty]
    return [*entries[:-1], [*entries[-1], *empty]] if entries else [empty]


_ITEM = re.compile(rb"\s*(?:[-*+]|\d+[.)]|:\w+ [^:]*:|\|) *[^\W_]")


def is_item(text: bytes) -> bool:
    """Whether some lines of prose are an item of a list, or a row of a table."""
    return bool(_ITEM.match(text))


def has_word(text: bytes) -> bool:
    """Whether a text has a letter or a digit."""
    return bool(_WORD.search(text))


_WORD = re.compile(rb"[A-Za-z0-9\x80-\xff]")


def weave_text(
    first: Sequence[T],
    second: Sequence[T],
    name: Callable[[T], bytes],
    is_item: Callable[[T], bool],
) -> list[Run[T]] | None:
    """Divide two insertions into prose, as `weave` does.

    A sentence may refer to the one before it. So only elements with which both begin, and
    items of a list, count as shared; if one side has nothing of its own, all elements do.
    """
    runs = weave(first, second, name)
    pairs = zip(map(name, first), map(name, second), strict=False)
    start = next((i for i, (one, other) in enumerate(pairs) if one != other), None)
    if start is None or (runs and not all(any(run[i] for run in runs) for i in (0, 1))):
        return runs
    if all(map(is_item, (*first[start:], *second[start:]))):
        return runs
    head = [Run[T]((), (), pair) for pair in zip(first[:start], second[:start], strict=True)]
    return [*head, Run(first[start:], second[start:], None)]


CLASHING = "both sides add the option %r, with the values %r and %r"


def clashing_options(
    mine: Sequence[bytes], other: Sequence[bytes]
) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield each option that is in both lists of arguments, with its two different values.

    A value follows its option, or an equal sign in it. The arguments may have quotes.
    """
    first, second = dict(_options(mine)), dict(_options(other))
    for option, value in first.items():
        if value and second.get(option, value) not in {value, b""}:
            yield option, value, second[option]


def _options(arguments: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    words = [each.strip(b"\"'`") for each in arguments]
    for word, following in pairwise((*words, b"")):
        option, is_joined, value = word.partition(b"=")
        if _OPTION.match(option):
            separate = b"" if _OPTION.match(following) else following
            yield option, value if is_joined else separate


_OPTION = re.compile(rb"--?[A-Za-z]")


def continues(line: bytes) -> bool:
    """Whether a line, which is not empty, continues or closes the statement before it."""
    word = line.split(None, 1)[0].rstrip(b":{(;").lower()
    return line.startswith(_CLOSING) or word in _CONTINUING or word.startswith(b"end")


def join_lines(ours: bytes, theirs: bytes) -> bytes | None:
    """Return the lines of ours and theirs; entries that both have are kept once.

    Returns:
        The lines; `None` if both have the same entries in different orders.
    """
    lines = (each.splitlines(keepends=True) for each in (ours, theirs))
    first, second = (split_entries(each, _depth, bytes.strip, leading=()) for each in lines)
    runs = weave_text(first, second, _stripped, lambda entry: is_item(_stripped(entry)))
    if runs is None:
        return None
    parts = (each for run in runs for each in (*run.first, *run.second, *(run.shared or ())[:1]))
    return b"".join(chain.from_iterable(parts))


def _stripped(entry: Sequence[bytes]) -> bytes:
    return b"".join(entry).strip()


def _depth(line: bytes) -> int:
    return len(line) - len(line.lstrip())
