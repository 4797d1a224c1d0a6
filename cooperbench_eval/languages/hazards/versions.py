"""The versions of each file that a merge touches, and what each side did to it.

The first version is the base, then comes one for each side; the last one is the merged tree.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from attrs import define, field, frozen

from cooperbench_eval.git.merging.line_diff import diff_lines, split_lines
from cooperbench_eval.git.merging.renames import find_renames
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.files import is_code

LARGEST_BYTES = 500_000
"""Larger files are not read: they are usually generated, and take seconds."""
_MOST_FILES = 2_000
_PAIR = 2
_WORD = re.compile(r"\w+")


BASE = 0
"""The index of the base among the versions of a file."""
MERGED = -1
"""The index of the merged tree among the versions of a file."""


@frozen
class Side:
    """One side of a merge.

    Attributes:
        version: Its index among the versions of a file.
        feature: The number of its feature.
        name: What messages call it; empty for its feature.
    """

    version: int
    feature: int
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"feature {self.feature}"


@define(slots=False, eq=False)
class FileVersions:
    """The versions of one file.

    Attributes:
        path: The path in the merged tree, or in the base if the merge removes the file.
        entries: The file in each version; `None` if it is not in that tree.
    """

    path: str
    entries: tuple[Entry | None, ...]

    @cached_property
    def contents(self) -> tuple[bytes | None, ...]:
        """The contents in each version; `None` if the file is absent or too large."""
        data = [None if each is None else each.data for each in self.entries]
        return tuple(None if each is None or len(each) > LARGEST_BYTES else each for each in data)

    @property
    def merged(self) -> bytes | None:
        """The contents in the merged tree."""
        return self.contents[MERGED]

    @property
    def before(self) -> tuple[bytes, ...]:
        """The versions before the merge, without missing ones."""
        return tuple(each for each in self.contents[:MERGED] if each is not None)

    @property
    def is_mixed(self) -> bool:
        """Whether the merged file differs from all versions before the merge."""
        return self.entries[MERGED] not in (None, *self.entries[:MERGED])

    def is_changed_by(self, side: Side) -> bool:
        """Whether a side changes, adds or removes the file."""
        return self.entries[side.version] != self.entries[BASE]

    def new_lines(self, version: int) -> list[bytes]:
        """Return the lines that a version has and the base lacks."""
        text = self.contents[version] or b""
        return [line for line in text.split(b"\n") if line not in self._base_lines]

    @cached_property
    def _base_lines(self) -> frozenset[bytes]:
        return frozenset((self.contents[BASE] or b"").split(b"\n"))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words in those lines of the merged file that the base lacks."""
        new = b"\n".join(self.new_lines(MERGED))
        return frozenset(_WORD.findall(new.decode("utf-8", "replace")))

    def added_by(self, side: Side) -> frozenset[int]:
        """Return the lines of the merged file that only this side adds or changes."""
        return self._added[side.version - 1]

    @cached_property
    def _added(self) -> tuple[frozenset[int], ...]:
        base, *sides = self.contents[:MERGED]
        since_base = self._new_since(base)
        since = [since_base if each == base else self._new_since(each) for each in sides]
        return tuple(
            since_base.intersection(*since[:place], *since[place + 1 :]) - own
            for place, own in enumerate(since)
        )

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
        base: The tree from which all sides start.
        tree: The merged tree.
        sides: The sides.
        files: The files that the merge or a side changes, by path.
    """

    base: Snapshot
    tree: Snapshot
    sides: tuple[Side, ...]
    files: dict[str, FileVersions] = field(repr=False)

    @classmethod
    def of(
        cls,
        base: Snapshot,
        sides: Mapping[int, Changes],
        merged: Changes,
        names: Mapping[int, str] | None = None,
    ) -> "Merged":
        """Collect the versions of each file that the merge or a side changes.

        *names* are what messages call the sides, instead of the features' numbers.
        """
        files = dict(_files(base, tuple(sides.values()), merged))
        found = (
            Side(version, feature, (names or {}).get(feature, ""))
            for version, feature in enumerate(sides, 1)
        )
        return cls(base, base.overlay(merged), tuple(found), files)

    @property
    def each_side(self) -> Iterator[tuple[Side, tuple[Side, ...]]]:
        """Each side, with the others."""
        for side in self.sides:
            yield side, tuple(each for each in self.sides if each is not side)

    def features_in(self, paths: Collection[str]) -> tuple[int, ...]:
        """Return the features that change any of the files, in ascending order.

        If fewer than two do, the hazard involves all features.
        """
        files = [file for path in paths if (file := self.files.get(path))]
        found = [
            side.feature for side in self.sides if any(each.is_changed_by(side) for each in files)
        ]
        return tuple(sorted(found if len(found) > 1 else (side.feature for side in self.sides)))

    # --- words for messages ---

    @property
    def with_all(self) -> str:
        """Words for the tree of all features, such as `with both`."""
        return "with both" if len(self.sides) == _PAIR else "with all"

    def alone(self, many: str, one: str) -> str:
        """Say what each feature alone does; *many* and *one* are the verb, plural and singular."""
        if len(self.sides) != _PAIR:
            return f"each feature alone {one}"
        return f"{' alone and '.join(self._names)} alone {many}"

    @property
    def with_each(self) -> str:
        """Words for the trees of single features, such as `with each feature alone`."""
        if len(self.sides) != _PAIR:
            return "with each feature alone"
        return f"with {' alone and with '.join(self._names)} alone"

    @property
    def _names(self) -> list[str]:
        return [str(each) for each in sorted(self.sides, key=lambda side: side.feature)]


def _files(
    base: Snapshot, sides: Sequence[Changes], merged: Changes
) -> Iterator[tuple[str, FileVersions]]:
    paths = sorted({*merged}.union(*sides))[:_MOST_FILES]
    before = {path: _regular(base.get(path)) for path in paths}
    now = {path: _regular(merged.get(path, before[path])) for path in paths}
    code = [*filter(is_code, paths)]
    gone = {path: was for path in code if (was := before[path]) and now[path] is None}
    new = {path: entry for path in code if (entry := now[path]) and before[path] is None}
    old_names = {path: old for old, path in find_renames(gone, new, frozenset(gone)).items()}
    for path in paths:
        old = old_names.get(path, path)
        own = (_side(each, base, path, old) for each in sides)
        yield path, FileVersions(path, (before[old], *own, now[path]))


def _side(changes: Changes, base: Snapshot, path: str, old: str) -> Entry | None:
    """Return a side's version of a file, which may have its old name there."""
    entries = (changes[each] if each in changes else base.get(each) for each in (path, old))
    return next(filter(None, map(_regular, entries)), None)


def _regular(entry: Entry | None) -> Entry | None:
    return entry if entry and entry.mode.is_regular else None
