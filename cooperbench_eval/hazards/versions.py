"""The versions of each file that a merge touches."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from attrs import define, field, frozen

from cooperbench_eval.merging.linediff import diff_lines, split_lines
from cooperbench_eval.models import Entry
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = ["FileVersions", "Merged", "Side"]

LARGEST_BYTES = 1_000_000
"""Larger files are not read: they are generated, and would take seconds."""
_MOST_FILES = 2_000
_LEAST_ALIKE = 0.5


@frozen
class Side:
    """One side of a merge.

    Attributes:
        index: 0 for ours, 1 for theirs.
        feature: The number of its feature.
    """

    index: int
    feature: int

    def __str__(self) -> str:
        return f"feature {self.feature}"


@define(slots=False, eq=False)
class FileVersions:
    """The versions of one file; a version is `None` if the file is not in that tree.

    Attributes:
        path: The path in the merged tree, or in the base if the merge removes the file.
        base: The contents in the base.
        sides: The contents in ours and in theirs.
        merged: The contents in the merged tree.
    """

    path: str
    base: bytes | None
    sides: tuple[bytes | None, bytes | None]
    merged: bytes | None

    @property
    def before(self) -> tuple[bytes, ...]:
        """The versions before the merge, without missing ones."""
        return tuple(each for each in (self.base, *self.sides) if each is not None)

    def added_by(self, side: Side) -> frozenset[int]:
        """Return the lines of the merged file that only this side adds or changes."""
        return self._added[side.index]

    @cached_property
    def _added(self) -> tuple[frozenset[int], frozenset[int]]:
        since_base = self._new_since(self.base)
        ours, theirs = (
            since_base if each == self.base else self._new_since(each) for each in self.sides
        )
        return since_base & theirs - ours, since_base & ours - theirs

    def _new_since(self, old: bytes | None) -> frozenset[int]:
        if self.merged is None or old == self.merged:
            return frozenset()
        lines = split_lines(self.merged)
        if old is None:
            return frozenset(range(1, len(lines) + 1))
        changes = diff_lines(split_lines(old), lines)
        return frozenset(n + 1 for each in changes for n in range(each.b_start, each.b_end))


@frozen(eq=False)
class Merged:
    """A merged tree with what it was made from.

    Attributes:
        tree: The merged tree.
        ours: The side that theirs was merged into.
        theirs: The other side.
        files: The files that the merge changes, by path; the others are never read.
    """

    tree: Snapshot
    ours: Side
    theirs: Side
    files: dict[str, FileVersions] = field(repr=False)

    @classmethod
    def of(
        cls,
        base: Snapshot,
        changes: tuple[Changes, Changes],
        merged: Changes,
        features: tuple[int, int],
    ) -> "Merged":
        """Collect the versions of each file that the merge changes."""
        files = dict(_files(base, changes, merged))
        return cls(base.overlay(merged), Side(0, features[0]), Side(1, features[1]), files)

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of both features, in ascending order."""
        first, second = sorted((self.ours.feature, self.theirs.feature))
        return first, second

    @property
    def each_side(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """Each side with the other one."""
        return (self.ours, self.theirs), (self.theirs, self.ours)


def _files(
    base: Snapshot, changes: tuple[Changes, Changes], merged: Changes
) -> Iterator[tuple[str, FileVersions]]:
    paths = sorted({*changes[0], *changes[1], *merged})[:_MOST_FILES]
    found = {path: _text(base.get(path)) for path in paths}
    gone = {p: text for p, text in found.items() if text and p in merged and merged[p] is None}
    for path in paths:
        now = _text(merged.get(path, base.get(path)))
        old = path
        if now is not None and found[path] is None:
            old = _renamed_from(now, path, gone)
        sides = [_side(each, base, path, old) for each in changes]
        if now != found[path] or any(each != now for each in sides):
            yield path, FileVersions(path, found[old], (sides[0], sides[1]), now)


def _side(changes: Changes, base: Snapshot, path: str, old: str) -> bytes | None:
    """Return a side's version of a file, which may have its old name there."""
    for name in (path, old):
        text = _text(changes[name] if name in changes else base.get(name))
        if text is not None:
            return text
    return None


def _text(entry: Entry | None) -> bytes | None:
    if entry is None or not entry.mode.is_regular or len(entry.data) > LARGEST_BYTES:
        return None
    return entry.data


def _renamed_from(now: bytes, path: str, gone: dict[str, bytes]) -> str:
    """Return the removed file from which a new one was probably renamed, or its own path."""
    best, score = path, _LEAST_ALIKE
    lines = Counter(now.split(b"\n"))
    for old, text in gone.items():
        if old.rpartition(".")[2] != path.rpartition(".")[2]:
            continue
        before = Counter(text.split(b"\n"))
        alike = (lines & before).total() / max(lines.total(), before.total())
        if alike > score:
            best, score = old, alike
    return best
