"""Finds statements that a merge put into too many or too few blocks."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from attrs import frozen

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.strategies.structured.places import MOST_COPIES, Path, Places

_LEAST_ALIKE = 0.7


def find_misnested(known: Places, sides: Sequence[Places], now: Places) -> bytes:
    """Return a statement of the base that is not in the blocks into which the sides put it, if any.

    Merged may have headers that no version has, so the number of blocks is compared.
    """
    labels = {each for side in sides for each in side.labels.values()}
    versions = known, *sides, now
    for head in known.paths:
        if any(len(each.paths.get(head, ())) != 1 for each in versions):
            continue
        base, mine, other, merged = (each.blocks(head) for each in versions)
        if merged == mine == other:
            continue
        if any(label in labels for label in merged - (mine | other)):
            return head
        deeper = [side.total() - base.total() for side in (mine, other)]
        shared = [0]
        if min(deeper) > 0:
            new = mine - base, other - base
            shared = [min(*deeper, _count_alike(*new, nests=nests)) for nests in (False, True)]
        elif max(deeper) < 0:
            shared = [max(*deeper, -((base - mine) & (base - other)).total())]
        if base.total() + sum(deeper) - merged.total() not in range(shared[-1], shared[0] + 1):
            return head
    return b""


def _count_alike(one: Counter[bytes], other: Counter[bytes], *, nests: bool) -> int:
    """Return how many of some blocks occur in both, possibly with another condition or argument.

    If *nests*, conditions that are only similar do not count, since they may be nested.
    """
    left = list(other.elements())
    for label in one.elements():
        least = 1 if nests and label.split()[:1] == [b"if"] else _LEAST_ALIKE
        alike = (each for each in left if similarity(label.split(), each.split()) >= least)
        if (found := next(alike, None)) is not None:
            left.remove(found)
    return other.total() - len(left)


def find_both_versions(known: Places, sides: Sequence[Places], now: Places) -> bytes:
    """Return a statement that a merged function has in both sides' versions, if any."""
    one, other = sides
    mine, others = known.matched(one), known.matched(other)
    for path in mine.keys() & others.keys():
        old = known.head_at(path[-1])
        heads = one.head_at(mine[path][-1]), other.head_at(others[path][-1])
        is_new = heads[0] not in other.paths and heads[1] not in one.paths
        if old not in heads and is_new and {*heads} <= now.paths.keys():
            return heads[0]
    return b""


def find_removed(known: Places, sides: Sequence[Places], now: Places) -> bytes:
    """Return a statement that one side removed and that the other edited or moved, if any."""
    for one, other in (sides, sides[::-1]):
        mine, others = known.matched(one), known.matched(other)
        for path, place in others.items():
            if path in mine:
                continue
            (suite, i), new = path[-1], other.head_at(place[-1])
            statements = known.suites[suite]
            is_kept = len(place) == len(path) and new == statements[i]
            if is_kept:
                continue
            if len(place) > len(path) and now.is_empty(other.head_at(place[-2])):
                return new
            if new in now.paths and _only_removes(one, mine, path, len(statements)):
                return new
    return b""


def _only_removes(side: Places, mine: Mapping[Path, Path], path: Path, size: int) -> bool:
    """Whether a side put nothing in the place of a statement of the base that it removed.

    The statement is at *path* in a suite of the base with *size* statements.
    """
    suite, i = path[-1]
    before, after = (mine.get((*path[:-1], (suite, k))) for k in (i - 1, i + 1))
    if before is None and after is None:
        return False
    is_first = i == 0 and after is not None and after[-1][1] == 0
    is_last = i == size - 1 and before is not None
    if is_last and before is not None:
        return before[-1][1] == len(side.suites[before[-1][0]]) - 1
    if before is None or after is None:
        return is_first
    return (before[-1][0], before[-1][1] + 1) == after[-1]


_FOR_THE_REST = b"defer "
"""How a statement in Go begins that acts at the end of its function, so that no condition of the
other side may contain it."""


@frozen(eq=False)
class Nesting:
    """Where one side's new statements belong, given the blocks that the other side added.

    Attributes:
        known: The words of the base.
        side: The side whose new statements are checked.
        new: Its new statements.
        inside: For each place in the side, the statements of the base there or deeper.
        owners: The place in the base of each of its statements, by the place in the side.
        replaced: For each statement that the side removed, by its place in the base, in how many
            more blocks it is in the other side, if known.
        foreign: The labels of the other side's new blocks that contain nothing of the base.
    """

    known: AbstractSet[bytes]
    side: Places
    new: Sequence[bytes]
    inside: Mapping[tuple[int, int], Sequence["_Wrapped"]]
    owners: Mapping[Path, Path]
    replaced: Mapping[tuple[int, int], Sequence[int]]
    foreign: AbstractSet[bytes]

    @classmethod
    def of(cls, known: Places, side: Places, other: Places) -> "Nesting":
        """Compare a side's statements with those of the base and of the other side."""
        mine, others = known.matched(side), known.matched(other)
        inside: dict[tuple[int, int], list[_Wrapped]] = defaultdict(list)
        for path, place in mine.items():
            if (there := others.get(path)) is not None:
                found = _Wrapped(
                    len(place), len(there) - len(path), tuple(k for k, _ in there), path[-1]
                )
                for each in place:
                    inside[each].append(found)
        gone = (path for paths in known.paths.values() for path in paths if path not in mine)
        replaced = {
            path[-1]: [len(others[path]) - len(path)] if path in others else [] for path in gone
        }
        old = set(mine.values())
        new = [
            head
            for head, paths in side.paths.items()
            if len(paths) == 1
            and not (head in known.paths or head in other.paths or paths[0] in old)
        ]
        words = {word for head in known.paths for word in head.split()}
        around = {other.labels[suite] for path in others.values() for suite, _ in path[1:]}
        foreign = set(other.labels.values()).difference(
            around, known.labels.values(), side.labels.values()
        )
        owners = {place: path for path, place in mine.items()}
        return cls(words, side, new, inside, owners, replaced, foreign)

    def misplaced_in(self, now: Places, kept: Mapping[Path, Path]) -> bytes:
        """Return a new statement that is in too many or too few blocks of a merged function.

        It must be in the blocks that the other side put around the statements before and after
        it, where the start and the end of its suite count as statements. It may also be in a block
        that gives a value to a name that it uses.
        """
        for head in self.new:
            if len(now.paths.get(head, ())) != 1:
                continue
            path = self.side.paths[head][0]
            if self._is_elsewhere(path, now, now.paths[head][0], kept):
                return head
            extra = len(now.paths[head][0]) - len(path)
            least, most = self._allowed(path)
            if path[-1] in self.inside:
                continue  # what it contains is checked instead
            if head.startswith(_FOR_THE_REST):
                most = 0
            is_wrong = extra < least or extra > most or self._is_foreign(head, now)
            if is_wrong and (extra < least or not self._needs_block(head, now)):
                return head
        return b""

    def _is_elsewhere(
        self, path: Path, now: Places, merged: Path, kept: Mapping[Path, Path]
    ) -> bool:
        """Whether a statement is outside the base's statement into which its side put it.

        *path* is its place in the side, *merged* its place in the merged function *now*, and
        *kept* has the places of the base's statements there. If the other side edited the base's
        statement, the answer is no, since it cannot be found.
        """
        owner = path[:-1]
        around = kept.get(self.owners.get(owner, ()))
        if around is None or now.head_at(around[-1]) != self.side.head_at(owner[-1]):
            return False
        return merged[: len(around)] != around

    def _is_foreign(self, head: bytes, now: Places) -> bool:
        """Whether a statement is in a new block of the other side without any old statement."""
        return not self.foreign.isdisjoint(now.blocks(head) - self.side.blocks(head))

    def _needs_block(self, head: bytes, now: Places) -> bool:
        """Whether a statement uses a new name that is set by a block added around it."""
        added = now.blocks(head) - self.side.blocks(head)
        suites = [suite for suite, _ in now.paths[head][0][1:] if now.labels[suite] in added]
        inside = (each for suite in suites for each in now.suites[suite] if each != head)
        setting = (*added, *inside)
        used = set(self.side.words_in(head)) - self.known
        return any(map(used.intersection, map(_set_in, setting)))

    def _allowed(self, path: Path) -> tuple[int, int]:
        """Return how many more blocks a new statement must be in at least and at most."""
        while len(path) > 1 and path[-2] not in self.inside:
            path = path[:-1]
        suite, i = path[-1]
        around = range(i - 1, -1, -1), range(i + 1, len(self.side.suites[suite]))
        ends = [
            next((min(self.inside[suite, k]) for k in at if (suite, k) in self.inside), None)
            for at in around
        ]
        first, last = ends
        deeper = [each.deeper for each in ends if each]
        if first and last:
            is_one = first.suites[-1] in last.suites or last.suites[-1] in first.suites
            least = min(deeper) if is_one else -MOST_COPIES
            beside = self._replaced_beside(first, None) or self._replaced_beside(None, last)
            return least, max([min(deeper), *(beside or ())])
        beside = self._replaced_beside(first, last)
        if beside is not None:
            deeper += beside
        elif len(path) == 1:
            deeper.append(0)
        elif (parent := min(self.inside[path[-2]])).depth == len(path) - 1:
            deeper.append(parent.deeper)
        return -MOST_COPIES, min(deeper, default=MOST_COPIES)

    def _replaced_beside(
        self, first: "_Wrapped | None", last: "_Wrapped | None"
    ) -> Sequence[int] | None:
        """Return what became of the base's statement whose place a new one may have taken.

        It is before the *last* or after the *first* of the statements around. `None` means that
        the side removed none there.
        """
        if first is None and last is None:
            return [] if self.replaced else None
        (suite, i), step = (first.place, 1) if first else (last.place, -1) if last else ((0, 0), 0)
        return self.replaced.get((suite, i + step))


class _Wrapped(NamedTuple):
    """A statement of the base: its depth in one side, and what the other side did to it.

    Attributes:
        depth: In how many suites it is in one side.
        deeper: In how many more blocks it is in the other side than in the base.
        suites: The suites around it in the other side, outermost first.
        place: Its place in the base.
    """

    depth: int
    deeper: int
    suites: tuple[int, ...]
    place: tuple[int, int]


def _set_in(head: bytes) -> set[bytes]:
    """Return the names that a statement or the header of a block may set."""
    words = head.split()
    pairs = zip(words, words[1:], [*words[2:], b""], strict=False)
    signs = {b"as", b":=", b"=", b"in", b"of"}
    return {name for one, sign, other in pairs if sign in signs for name in (one, other)}
