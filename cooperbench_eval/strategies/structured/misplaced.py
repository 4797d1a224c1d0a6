"""Finds statements that a merge put beside the wrong neighbours.

A side's new statement stands between two statements that were there before. In the
merged function it must still follow the one and precede the other, in the same block or
in a block that the other side put around either. If it does not, the merge took two
different blocks for one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import count
from typing import NamedTuple

from attrs import frozen

from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    excerpt,
    functions_changed_by_both,
    head_of,
)
from cooperbench_eval.support.memo import WeighedMemo

_MOST_COPIES = 50
"""The most copies of a statement that are looked at; more of them show nothing."""


def find_misplaced(versions: Sequence[Construct], merged: Element) -> str:
    """Return which statement is beside the wrong neighbours or repeated; empty if none is.

    A statement that both sides add to one suite must not occur in it more often than in
    either of them.
    """
    for name, before, sides, function in functions_changed_by_both(versions, merged):
        known, now = _Places.of(before), _Places.of(function)
        for side in sides:
            for head, neighbours in known.neighbours(_Places.of(side)):
                if not now.has_between(head, neighbours):
                    return f"{_shown(name, side, head)} would be in another block"
        added = [places.counts - known.counts for places in map(_Places.of, sides)]
        for place in added[0] & added[1]:
            if place[1].startswith((b"import ", b"from ")):
                continue  # a second import changes nothing
            if now.counts[place] - known.counts[place] > max(each[place] for each in added):
                shown = _shown(name, sides[0], place[1])
                return f"{shown} would occur twice, because both sides add it"
    return ""


def _shown(name: bytes, function: Construct, head: bytes) -> str:
    """Show a statement of a function, which goes by its head."""
    suites = (each for each in function.walk() if each.kind == "suite")
    members = (each for suite in suites for each in suite.children if isinstance(each, Construct))
    shown = next((excerpt(each) for each in members if head_of(each) == head), "")
    return f"in {name.decode('utf-8', 'replace')!r}, {shown!r}"


_Path = tuple[tuple[int, int], ...]
"""For each suite around a statement, outermost first: its number, and the index in it."""


def _statements(function: Construct) -> Iterator[tuple[bytes, _Path]]:
    """Yield the head and the place of each statement of a function, suite by suite."""
    stack: list[tuple[Element, _Path]] = [(function, ())]
    numbers = count()
    while stack:
        element, path = stack.pop()
        if element.kind != "suite":
            stack += [(child, path) for child in reversed(element.children) if child.children]
            continue
        suite = next(numbers)
        for i, child in enumerate(element.children):
            if isinstance(child, Construct):
                here = (*path, (suite, i))
                yield head_of(child), here
                stack.append((child, here))


@frozen
class _Places:
    """Where the statements of a function are, by their words, and how often in each suite."""

    paths: dict[bytes, list[_Path]]
    suites: dict[int, list[bytes]]
    counts: Counter[tuple[tuple[bytes, ...], bytes]]

    @classmethod
    def of(cls, function: Construct) -> "_Places":
        """Find the places in a function; merges of other blocks ask for the same versions."""
        found = _known.get(function.plain)
        if found is None:
            found = _known.keep(function.plain, cls._find(function), size=len(function.plain))
        return found

    @classmethod
    def _find(cls, function: Construct) -> "_Places":
        paths: dict[bytes, list[_Path]] = defaultdict(list)
        suites: dict[int, list[bytes]] = defaultdict(list)
        for head, path in _statements(function):
            paths[head].append(path)
            suites[path[-1][0]].append(head)
        heads = {path[-1]: head for head, places in paths.items() for path in places}
        counts = Counter(
            (tuple(heads[each] for each in path[:-1]), head)
            for head, places in paths.items()
            for path in places
        )
        return cls(dict(paths), dict(suites), counts)

    def neighbours(self, side: "_Places") -> Iterator[tuple[bytes, "_Neighbours"]]:
        """Yield each statement that is new in a side, and its unchanged neighbours."""
        for heads in side.suites.values():
            there = set(heads)
            marks = [head if len(self.paths.get(head, ())) == 1 else b"" for head in heads]
            before, after = _last_marks(marks), _last_marks(marks[::-1])[::-1]
            for head, first, last in zip(heads, before, after, strict=True):
                if head not in self.paths:
                    is_edited = not there.issuperset(self._between(first, last))
                    yield head, _Neighbours(first, last, is_edited=is_edited)

    def _between(self, first: bytes, last: bytes) -> Sequence[bytes]:
        """Return the statements between two of one suite; empty stands for its start or end."""
        ends = [self.paths[each][0][-1] for each in (first, last) if each]
        if not ends or ends[0][0] != ends[-1][0]:
            return ()
        start, end = (ends[0][1] + 1 if first else 0), (ends[-1][1] if last else None)
        return self.suites[ends[0][0]][start:end]

    def has_between(self, head: bytes, neighbours: "_Neighbours") -> bool:
        """Whether a statement is between its neighbours, as far as they are left."""
        here, first, last = (
            self.paths.get(each, []) for each in (head, neighbours.before, neighbours.after)
        )
        if not here or max(map(len, (here, first, last))) > _MOST_COPIES:
            return True
        for path in here:
            sides = [[_relation(each, path) for each in first if each < path]] if first else []
            sides += [[_relation(each, path) for each in last if path < each]] if last else []
            best = [max(each, default=_Relation.ELSEWHERE) for each in sides]
            least = _Relation.AROUND if neighbours.is_edited else _Relation.BESIDE
            if not best or (min(best) > _Relation.ELSEWHERE and max(best) >= least):
                return True
        return False


_known = WeighedMemo[bytes, _Places](max_bytes=1 << 20)


class _Neighbours(NamedTuple):
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


def _relation(neighbour: _Path, statement: _Path) -> _Relation:
    if statement[-1][0] in dict(neighbour):
        return _Relation.BESIDE
    return _Relation.AROUND if neighbour[-1][0] in dict(statement) else _Relation.ELSEWHERE


def _last_marks(marks: Sequence[bytes]) -> list[bytes]:
    """Return the last mark before each place; empty if there is none."""
    found = [b""]
    for mark in marks[:-1]:
        found.append(mark or found[-1])
    return found[: len(marks)]
