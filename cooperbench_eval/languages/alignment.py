"""Matches the children of two versions of a construct."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from cooperbench_eval.git.merging.line_diff import Change, diff_lines
from cooperbench_eval.languages.tree import Construct, Element, Elements, Mode, has_suite, head_of
from cooperbench_eval.support.memo import Memo

_NAMING = re.compile(rb"[\w\x80-\xff\"'`]")
_MOST_COMPARED = 40
"""The most children of either version that are compared pairwise."""
_LEAST_ALIKE = 0.5
_LEAST_RENAMED = 0.7
_NAMESAKE = 10.0
_LEAST_KEPT = 0.8
_MORE_ALIKE = 4
"""How many times likelier a statement is another's edit if it has all of the other's words."""
_LEAST_NESTED = 12
_LEAST_HEAD = 4


Places = Sequence[int | None]


def align(base: Elements, side: Elements, mode: Mode) -> Places:
    """Match each child of *base* with the child of *side* that it became, in order.

    Equal children are matched first. Between them, children of the same kind and name
    are matched, then children of the same kind that share at least half of their words.

    Args:
        base: The children of the base.
        side: The children of a side.
        mode: The relation of the children: they have names only in lists and suites.

    Returns:
        The index in *side* of each child of *base*; `None` if it was removed.
    """
    start, end = _shared_ends(base, side)
    if start + end in {len(base), len(side)}:
        return _aligned(base, side, mode, (start, end))
    key = id(base), id(side), mode
    return _KNOWN.recall(key, lambda: (base, side, _aligned(base, side, mode, (start, end))))[2]


# The merges in both orders and the judge align the same children, which are kept so that no
# others get their ids.
_KNOWN = Memo[tuple[int, int, Mode], tuple[Elements, Elements, Places]](size=256)


def _aligned(base: Elements, side: Elements, mode: Mode, ends: tuple[int, int]) -> Places:
    """Align children that are equal at the *ends*."""
    start, end = ends
    places: list[int | None] = [*range(start), *[None] * (len(base) - start)]
    for i in range(1, end + 1):
        places[-i] = len(side) - i
    rows, columns = range(start, len(base) - end), range(start, len(side) - end)
    i, j = start, start
    changes = _diff([base[i].plain for i in rows], [side[j].plain for j in columns])
    for change in changes:
        for step in range(start + change.a_start - i):
            places[i + step] = j + step
        i, j = start + change.a_end, start + change.b_end
        gap = range(start + change.a_start, i), range(start + change.b_start, j)
        for here, there in _match(base, side, gap, mode):
            places[here] = there
    for step in range(rows.stop - i):
        places[i + step] = j + step
    return places


def _shared_ends(base: Sequence[Element], side: Sequence[Element]) -> tuple[int, int]:
    most = min(len(base), len(side))
    start = 0
    while start < most and base[start].plain == side[start].plain:
        start += 1
    end = 0
    while end < most - start and base[-1 - end].plain == side[-1 - end].plain:
        end += 1
    return start, end


def _diff(base: Sequence[bytes], side: Sequence[bytes]) -> Sequence[Change]:
    if not set(base).isdisjoint(side):
        return diff_lines(base, side)
    return [Change(0, len(base), 0, len(side))] if base or side else []


def similarity(one: Sequence[bytes], other: Sequence[bytes]) -> float:
    """Return the share of equal words in both, from 0 to 1 (Dice's coefficient)."""
    return _likeness_of_words(_Words.of(one), _Words.of(other))


class _Words(NamedTuple):
    """Words, and how often each occurs."""

    size: int
    counts: Counter[bytes]

    @classmethod
    def of(cls, words: Sequence[bytes]) -> "_Words":
        return cls(len(words), Counter(words))

    def shared(self, other: "_Words") -> int:
        """Return how many words both have."""
        count = other.counts.get
        return sum([min(number, count(word, 0)) for word, number in self.counts.items()])


def _likeness_of_words(one: _Words, other: _Words) -> float:
    size = one.size + other.size
    return 2 * one.shared(other) / size if size else 1.0


def _share(one: _Words, other: _Words) -> float:
    """Return the share of the shorter one's words that the longer one has."""
    return one.shared(other) / (min(one.size, other.size) or 1)


class _Child:
    """A child that is compared with several others."""

    def __init__(self, element: Element) -> None:
        self.element = element

    @cached_property
    def words(self) -> _Words:
        return _Words.of(self.element.words())

    def shares_name(self, other: "_Child") -> bool:
        """Whether both have a word besides signs: `a()` and `b()` have only brackets in common."""
        return any(_NAMING.match(word) and word in other.words.counts for word in self.words.counts)


def _match(
    base: Sequence[Element], side: Sequence[Element], gap: tuple[range, range], mode: Mode
) -> list[tuple[int, int]]:
    """Match edited children in order, with the greatest possible sum of likenesses."""
    rows, columns = gap
    if not rows or not columns:
        return []
    if len(rows) == len(columns) == 1 and _are_namesakes(base[rows[0]], side[columns[0]]):
        return [] if _is_only_name(base[rows[0]]) else [(rows[0], columns[0])]
    if len(rows) > _MOST_COMPARED or len(columns) > _MOST_COMPARED:
        return _match_by_name(base, side, gap)
    inserted = [side[j] for j in columns] if mode is Mode.MEMBERS else []
    nested = [_is_nested(base[i], inserted) for i in rows]
    old, new = [_Child(base[i]) for i in rows], [_Child(side[j]) for j in columns]
    likeness = [
        [0.0 if is_nested else _likeness(one, other, mode) for other in new]
        for one, is_nested in zip(old, nested, strict=True)
    ]
    _drop_renames(likeness, (base, side), (old, new))
    best = [[0.0] * (len(columns) + 1) for _ in range(len(rows) + 1)]
    for i in reversed(range(len(rows))):
        for j in reversed(range(len(columns))):
            best[i][j] = max(
                best[i + 1][j],
                best[i][j + 1],
                likeness[i][j] and likeness[i][j] + best[i + 1][j + 1],
            )
    pairs = []
    i = j = 0
    while i < len(rows) and j < len(columns):
        if likeness[i][j] and best[i][j] == likeness[i][j] + best[i + 1][j + 1]:
            pairs.append((rows[i], columns[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _match_by_name(
    base: Sequence[Element], side: Sequence[Element], gap: tuple[range, range]
) -> list[tuple[int, int]]:
    """Match children with the same name in order, where pairwise comparison costs too much."""
    rows, columns = gap
    old = [_name(base[i]) or b"%d of base" % i for i in rows]
    new = [_name(side[j]) or b"%d of side" % j for j in columns]
    pairs: list[tuple[int, int]] = []
    i = j = 0
    for change in (*_diff(old, new), Change(len(old), len(old), len(new), len(new))):
        pairs += zip(rows[i : change.a_start], columns[j : change.b_start], strict=True)
        i, j = change.a_end, change.b_end
    return pairs


def _name(element: Element) -> bytes:
    return b"%s %s" % (element.kind.encode(), element.key) if element.key else b""


def _is_nested(element: Element, inserted: Sequence[Element]) -> bool:
    """Whether an inserted statement contains *element*, which then must stay unmatched."""
    words = _words(element)
    return len(words) >= _LEAST_NESTED and any(
        not _are_namesakes(element, each) and _words(each).find(words, 1) > 0 for each in inserted
    )


def _are_namesakes(one: Element, other: Element) -> bool:
    return bool(one.key) and (one.kind, one.key) == (other.kind, other.key)


def _is_only_name(element: Element) -> bool:
    """Whether a member consists of its name, so that another name makes it another member.

    An example is the path of an import in Go.
    """
    return element.kind == "spec" and element.key == b" ".join(element.words())


def _words(element: Element) -> bytes:
    """Join the words of a statement so that a search finds whole words only."""
    return b" ".join([b"", *element.words(), b""])


def _likeness(one: _Child, other: _Child, mode: Mode) -> float:
    """Return how likely it is that *one* became *other*; 0 if it is impossible."""
    old, new = one.element, other.element
    if old.kind != new.kind or _is_only_name(old):
        return 0.0
    if not isinstance(old, Construct) or not isinstance(new, Construct):
        return float(old.kind == "text")
    if mode is Mode.SEQUENCE:
        return 1.0
    alike, share = _likeness_of_words(one.words, other.words), _share(one.words, other.words)
    # An edit that only adds or only removes words is likelier than one that replaces some.
    likely = 1 - (1 - alike) / _MORE_ALIKE if share == 1 else alike
    if old.key and old.key == new.key:
        return _NAMESAKE + likely
    if (old.mode is Mode.MEMBERS or has_suite(old)) and (
        share >= _LEAST_KEPT or _has_head_of(old, new)
    ):
        return max(alike, _LEAST_ALIKE)
    least = _LEAST_RENAMED if old.kind in _NAMED else _LEAST_ALIKE
    is_alike = alike >= least and (mode is not Mode.MEMBERS or one.shares_name(other))
    return is_alike * likely


def _has_head_of(old: Construct, new: Construct) -> bool:
    """Whether both have the same head of several words, such as `for x in y`."""
    head = head_of(old)
    return head == head_of(new) and head.count(b" ") + 1 >= _LEAST_HEAD


def _drop_renames(
    likeness: list[list[float]],
    versions: tuple[Sequence[Element], Sequence[Element]],
    children: tuple[Sequence[_Child], Sequence[_Child]],
) -> None:
    """Drop each likeness of two definitions of which one did not become the other.

    A definition got another name only if its old name is gone, its new name is new, and
    at least half of its body is left, counted in whole statements. Otherwise one
    definition was removed and another one added.
    """
    names: list[set[bytes]] = []
    for i, one in enumerate(children[0]):
        for j, other in enumerate(children[1]):
            old, new = one.element, other.element
            if not likeness[i][j] or old.kind not in _DEFINING or old.key == new.key:
                continue
            names = names or [{_name(each) for each in version} for version in versions]
            if _name(old) in names[1] or _name(new) in names[0] or not _keeps_body(old, new):
                likeness[i][j] = 0.0


def _keeps_body(old: Element, new: Element) -> bool:
    before, after = _body(old), _body(new)
    kept = sum(min(count, after[each]) * len(each) for each, count in before.items())
    return 2 * kept >= sum(count * len(each) for each, count in before.items())


def _body(element: Element) -> Counter[bytes]:
    """Count the statements without suites that are in a definition."""
    return Counter(
        child.plain
        for found in element.walk()
        if found.kind == "suite"
        for child in found.children
        if isinstance(child, Construct) and child.mode is not Mode.MEMBERS
    )


_NAMED = frozenset({"def", "class", "import"})
_DEFINING = frozenset({"class", "def", "enum", "interface", "struct", "type"})
