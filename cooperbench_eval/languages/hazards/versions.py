"""The versions of each file that a merge touches."""

import re
from collections import Counter
from collections.abc import Iterator
from enum import IntEnum
from functools import cached_property

from attrs import define, field, frozen

from cooperbench_eval.git.merging.line_diff import diff_lines, split_lines
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

LARGEST_BYTES = 500_000
"""Larger files are not read: they are generated, and would take seconds."""
_MOST_FILES = 2_000
_LEAST_ALIKE = 0.5
_WORD = re.compile(r"\w+")


class Version(IntEnum):
    """A version of a tree."""

    BASE = 0
    OURS = 1
    THEIRS = 2
    MERGED = 3


@frozen
class Side:
    """One side of a merge.

    Attributes:
        version: Ours or theirs.
        feature: The number of its feature.
    """

    version: Version
    feature: int

    def __str__(self) -> str:
        return f"feature {self.feature}"


@define(slots=False, eq=False)
class FileVersions:
    """The versions of one file.

    Attributes:
        path: The path in the merged tree, or in the base if the merge removes the file.
        contents: Base, ours, theirs and merged; `None` if the file is not in that tree.
    """

    path: str
    contents: tuple[bytes | None, bytes | None, bytes | None, bytes | None]

    @property
    def merged(self) -> bytes | None:
        """The contents in the merged tree."""
        return self.contents[Version.MERGED]

    @property
    def before(self) -> tuple[bytes, ...]:
        """The versions before the merge, without missing ones."""
        return tuple(each for each in self.contents[: Version.MERGED] if each is not None)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the merged file that are in lines that the base lacks."""
        base = set((self.contents[Version.BASE] or b"").split(b"\n"))
        new = b"\n".join(line for line in (self.merged or b"").split(b"\n") if line not in base)
        return frozenset(_WORD.findall(new.decode("utf-8", "replace")))

    def added_by(self, side: Side) -> frozenset[int]:
        """Return the lines of the merged file that only this side adds or changes."""
        return self._added[side.version - 1]

    @cached_property
    def _added(self) -> tuple[frozenset[int], frozenset[int]]:
        base, *sides = self.contents[: Version.MERGED]
        since_base = self._new_since(base)
        ours, theirs = (since_base if each == base else self._new_since(each) for each in sides)
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
        ours, theirs = (
            Side(version, feature)
            for version, feature in zip((Version.OURS, Version.THEIRS), features, strict=True)
        )
        return cls(base.overlay(merged), ours, theirs, files)

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
        ours, theirs = (_side(each, base, path, old) for each in changes)
        yield path, FileVersions(path, (found[old], ours, theirs, now))


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
