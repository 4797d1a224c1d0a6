"""Finds where the statements of a function are, and how a side moved them."""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from attrs import frozen

from cooperbench_eval.git.merging.line_diff import Change, diff_lines
from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.tree import Construct, Mode, has_members, head_of
from cooperbench_eval.strategies.structured.rules.statements import PLACEHOLDERS
from cooperbench_eval.support.memo import WeighedMemo

MOST_COPIES = 50
"""The most copies of a statement that are compared; more show nothing."""
_LEAST_ALIKE = 0.5
_MOST_COMPARED = 400

Path = tuple[tuple[int, int], ...]
"""For each suite around a statement, outermost first: its number and the index in it."""


def _statements(function: Construct) -> Iterator[tuple[Construct, Path, bytes]]:
    """Yield each statement of a function, suite by suite, with its place and its suite's label.

    The label is the head of the statement that owns the suite; for a later clause, such as
    `else`, its head is added.
    """
    stack: list[tuple[Construct, Path, bytes]] = [(function, (), b"")]
    numbers = count()
    while stack:
        element, path, label = stack.pop()
        if element.kind != "suite":
            parts = filter(has_members, reversed(element.parts))
            stack += [(each, path, _label(element, each, label)) for each in parts]
            continue
        suite = next(numbers)
        for i, child in enumerate(element.parts):
            here = (*path, (suite, i))
            yield child, here, label
            if has_members(child):
                stack.append((child, here, b""))


def _label(parent: Construct, child: Construct, label: bytes) -> bytes:
    """Return the label of a suite in *parent*, or the start of the labels in a clause."""
    if child.kind == "suite":
        return b" ".join((label, head_of(parent)))
    is_later = parent.mode is Mode.MEMBERS and child is not parent.children[0]
    return head_of(parent) if is_later else label


@frozen(eq=False)
class Places:
    """Where the statements of a function are, by their words, and how often in each suite.

    Attributes:
        labels: What each suite belongs to.
    """

    paths: dict[bytes, list[Path]]
    suites: dict[int, list[bytes]]
    elements: dict[Path, Construct]
    labels: dict[int, bytes]
    counts: Counter[tuple[tuple[bytes, ...], bytes]]

    @classmethod
    def of(cls, function: Construct) -> "Places":
        """Find the places in a function, which are remembered for its other blocks."""
        found = _known.get(function.plain)
        if found is None:
            found = _known.keep(function.plain, cls._find(function), size=len(function.plain))
        return found

    @classmethod
    def _find(cls, function: Construct) -> "Places":
        paths: dict[bytes, list[Path]] = defaultdict(list)
        suites: dict[int, list[bytes]] = defaultdict(list)
        labels: dict[int, bytes] = {}
        elements: dict[Path, Construct] = {}
        for element, path, label in _statements(function):
            head = head_of(element)
            elements[path] = element
            paths[head].append(path)
            suites[path[-1][0]].append(head)
            labels[path[-1][0]] = label
        heads = {path[-1]: head for head, places in paths.items() for path in places}
        counts = Counter(
            (tuple(heads[each] for each in path[:-1]), head)
            for head, places in paths.items()
            for path in places
        )
        return cls(dict(paths), dict(suites), elements, labels, counts)

    def blocks(self, head: bytes) -> Counter[bytes]:
        """Return the labels of the suites around a statement, except the function's own."""
        return Counter(self.labels[suite] for suite, _ in self.paths[head][0][1:])

    def head_at(self, place: tuple[int, int]) -> bytes:
        """Return the head of the statement at an index of a suite."""
        return self.suites[place[0]][place[1]]

    def is_block(self, path: Path) -> bool:
        """Whether a statement contains others."""
        element = self.elements[path]
        return has_members(element) and any(each.kind == "suite" for each in element.walk())

    def is_empty(self, head: bytes) -> bool:
        """Whether a statement is there and empty."""
        places = {paths[0] for each, paths in self.paths.items() if each not in PLACEHOLDERS}
        found = self.paths.get(head, ())
        return len(found) == 1 and not any(
            len(path) > len(found[0]) and path[: len(found[0])] == found[0] for path in places
        )

    def words_in(self, head: bytes) -> Iterator[bytes]:
        """Yield the words of a statement and of what it contains."""
        place = self.paths[head][0]
        for each, paths in self.paths.items():
            if any(path[: len(place)] == place for path in paths):
                yield from each.split()

    def matched(self, side: "Places") -> Mapping[Path, Path]:
        """Return where statements are in a side, even if the side moved or edited them."""
        return _matched(self, side)

    def _match(self, side: "Places") -> Mapping[Path, Path]:
        before, after = sorted(self.elements), sorted(side.elements)
        heads = [self.head_at(path[-1]) for path in before]
        new = [side.head_at(path[-1]) for path in after]
        found: dict[Path, Path] = {}
        at = 0
        for change in (*diff_lines(heads, new), Change(len(heads), len(heads), len(new), len(new))):
            shift = change.b_start - change.a_start
            found |= {before[i]: after[i + shift] for i in range(at, change.a_start)}
            at = change.a_end
        gone = [path for path in before if path not in found]
        taken = set(found.values())
        added = [path for path in after if path not in taken]
        found |= self._moved(side, gone, added)
        return found

    def edited_from(self, side: "Places", head: bytes) -> bytes:
        """Return the statement that became a side's statement; empty if it is a new one."""
        found = (old for old, new in self.matched(side).items() if side.head_at(new[-1]) == head)
        return next((self.head_at(old[-1]) for old in found), b"")

    def _moved(
        self, side: "Places", gone: Sequence[Path], added: Sequence[Path]
    ) -> Iterator[tuple[Path, Path]]:
        """Yield the statements that a side moved or edited, with their places there."""
        free = dict.fromkeys(added)
        for old in gone:
            head = self.head_at(old[-1])
            there = side.paths.get(head, ())
            if len(self.paths[head]) == len(there) == 1 and there[0] in free:
                del free[there[0]]
                yield old, there[0]
            elif len(gone) * len(added) <= _MOST_COMPARED:
                before, is_block = self.elements[old], self.is_block(old)
                rated = [
                    (similarity(before.words(), after.words()), after.kind == before.kind, each)
                    for each in free
                    if side.is_block(each) == is_block and (after := side.elements[each])
                ]
                # A block around another has nearly the same words, but is of another kind.
                alike = [
                    (is_same, rate, each) for rate, is_same, each in rated if rate >= _LEAST_ALIKE
                ]
                if alike:
                    *_, place = max(alike)
                    del free[place]
                    yield old, place

    def gaps(self, side: "Places") -> Iterator[tuple[bytes, int]]:
        """Yield each new statement of a side, and how many old statements precede it."""
        kept = sorted(self.matched(side).values())
        for head, paths in side.paths.items():
            if head not in self.paths:
                yield from ((head, bisect(kept, path)) for path in paths)

    def neighbours(self, side: "Places") -> Iterator[tuple[bytes, "Neighbours"]]:
        """Yield each statement that is new in a side, and its unchanged neighbours."""
        for heads in side.suites.values():
            there = set(heads)
            marks = [head if len(self.paths.get(head, ())) == 1 else b"" for head in heads]
            before, after = _last_marks(marks), _last_marks(marks[::-1])[::-1]
            for head, first, last in zip(heads, before, after, strict=True):
                if head not in self.paths:
                    is_edited = not there.issuperset(self._between(first, last))
                    yield head, Neighbours(first, last, is_edited=is_edited)

    def _between(self, first: bytes, last: bytes) -> Sequence[bytes]:
        """Return the statements between two in a suite; an empty one is its start or end."""
        ends = [self.paths[each][0][-1] for each in (first, last) if each]
        if not ends or ends[0][0] != ends[-1][0]:
            return ()
        start, end = (ends[0][1] + 1 if first else 0), (ends[-1][1] if last else None)
        return self.suites[ends[0][0]][start:end]

    def has_between(self, head: bytes, neighbours: "Neighbours") -> bool:
        """Whether a statement is between those neighbours that still exist."""
        here, first, last = (
            self.paths.get(each, []) for each in (head, neighbours.before, neighbours.after)
        )
        if not here or max(map(len, (here, first, last))) > MOST_COPIES:
            return True
        for path in here:
            sides = [[_relation(each, path) for each in first if each < path]] if first else []
            sides += [[_relation(each, path) for each in last if path < each]] if last else []
            best = [max(each, default=_Relation.ELSEWHERE) for each in sides]
            least = _Relation.AROUND if neighbours.is_edited else _Relation.BESIDE
            if not best or (min(best) > _Relation.ELSEWHERE and max(best) >= least):
                return True
        return False


_matched = lru_cache(maxsize=8)(Places._match)  # noqa: SLF001 - of this module
_known = WeighedMemo[bytes, Places](max_bytes=1 << 21)


class Neighbours(NamedTuple):
    """The unchanged statements before and after a new one in its suite; empty if none.

    Attributes:
        before: The words of the one before it.
        after: The words of the one after it.
        is_edited: Whether a statement between them is gone, which it may replace or contain.
    """

    before: bytes
    after: bytes
    is_edited: bool


class _Relation(IntEnum):
    """Where a neighbour of a statement is."""

    ELSEWHERE = 0
    """In a block that does not contain the statement."""
    AROUND = 1
    """In a block around the statement's own."""
    BESIDE = 2
    """In the statement's own block, or deeper in it."""


def _relation(neighbour: Path, statement: Path) -> _Relation:
    if neighbour[: len(statement)] == statement:
        return _Relation.ELSEWHERE  # in the statement itself
    if statement[-1][0] in dict(neighbour):
        return _Relation.BESIDE
    return _Relation.AROUND if neighbour[-1][0] in dict(statement) else _Relation.ELSEWHERE


def _last_marks(marks: Sequence[bytes]) -> list[bytes]:
    """Return the last mark before each place; empty if there is none."""
    found = [b""]
    for mark in marks[:-1]:
        found.append(mark or found[-1])
    return found[: len(marks)]
