"""One side of a merge: its files, and which of their lines the base has."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from cooperbench_eval.evaluation.auditing.lines import ABSENT, inverse, lines_of, map_lines
from cooperbench_eval.git.merging.renames import find_renames
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

__all__ = ["SideTree", "renamed_files"]

_MOST_COMPARISONS = 100_000
"""If files could be renamed in more ways, only equal files and equal names are paired."""


class SideTree:
    """What a feature changes in the base, with the lines of its files.

    Attributes:
        number: The feature's number.
        changes: What it changes.
    """

    def __init__(
        self, base: Snapshot, number: int, changes: Changes, *, as_blame: bool = False
    ) -> None:
        """Prepare to diff files as `git diff` does, or as `git blame` does."""
        self._as_blame = as_blame
        self.number = number
        self.changes = changes
        self._base = base
        self._lines: dict[str, list[bytes] | None] = {}
        self._places: dict[str, list[int]] = {}

    def get(self, path: str) -> Entry | None:
        """Return the entry at *path* in the side's tree."""
        if path in self.changes:
            return self.changes[path]
        return self._base.get(path)

    def lines(self, path: str) -> Sequence[bytes]:
        """Return the lines of a text file; none for anything else."""
        if path not in self._lines:
            self._lines[path] = lines_of(self.get(path))
        return self._lines[path] or ()

    @cached_property
    def renames(self) -> Mapping[str, str]:
        """The path in the base of each file that the side renamed."""
        was = {p: self._base.get(p) for p in self.changes}
        return renamed_files(
            {p: e for p, e in was.items() if e and self.changes[p] is None},
            {p: e for p, e in self.changes.items() if e and was[p] is None},
        )

    def base_path(self, path: str) -> str:
        """Return the path in the base of the side's file at *path*."""
        return self.renames.get(path, path)

    def base_places(self, path: str) -> Sequence[int]:
        """Return for each line of a file its place in the base's file."""
        if path not in self._places:
            lines = self.lines(path)
            old = self._base.get(self.base_path(path))
            if old is not None and old == self.get(path):
                self._places[path] = list(range(len(lines)))
            else:
                self._places[path] = map_lines(lines_of(old) or (), lines, as_blame=self._as_blame)
        return self._places[path]

    def added(self, path: str) -> Iterator[int]:
        """Yield the lines of a file that the base lacks, counted from 0."""
        places = self.base_places(path)
        return (line for line, place in enumerate(places) if place == ABSENT)

    def removed(self, path: str) -> Iterator[int]:
        """Yield the lines of the base's file that the side's file at *path* lacks."""
        old = lines_of(self._base.get(self.base_path(path))) or ()
        found = inverse(self.base_places(path), len(old))
        return (line for line, place in enumerate(found) if place == ABSENT)

    def put_for(self, path: str, removed: int) -> Iterator[int]:
        """Yield the lines that the side put in the place of a removed line of the base."""
        places = self.base_places(path)
        before = bisect_left([each for each in places if each != ABSENT], removed)
        kept = [line for line, place in enumerate(places) if place != ABSENT]
        start = kept[before - 1] + 1 if before else 0
        end = kept[before] if before < len(kept) else len(places)
        yield from range(start, end)


def renamed_files(deleted: Mapping[str, Entry], added: Mapping[str, Entry]) -> dict[str, str]:
    """Return the deleted path of each added file that is a renamed one."""

    def find_decided(_: Mapping[str, str], pending: Collection[str]) -> Collection[str]:
        return pending if len(pending) * len(added) > _MOST_COMPARISONS else ()

    found = find_renames(deleted, added, frozenset(deleted), find_decided=find_decided)
    return {new: old for old, new in found.items()}
