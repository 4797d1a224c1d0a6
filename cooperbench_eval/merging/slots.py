"""Paths with their three versions, and what the merge must remember of each.

A slot holds what is at one path in base, ours and theirs. Renames move versions from
slot to slot; after that, each path can be merged independently.
"""

from collections.abc import Iterator
from enum import IntEnum

from attrs import define

from cooperbench_eval.merging.contents import ContentMerge
from cooperbench_eval.models import ConflictKind, Entry
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = ["Side", "Slot", "Slots"]


class Side(IntEnum):
    """Whose version of a path, numbered as git numbers its stages less one."""

    BASE = 0
    OURS = 1
    THEIRS = 2

    @property
    def other(self) -> "Side":
        """Theirs for ours, and the other way round."""
        return Side.THEIRS if self is Side.OURS else Side.OURS


@define
class Slot:
    """What is at one path, and which disagreement about it is already known.

    Attributes:
        versions: The entry in base, ours and theirs.
        names: The path each version came from, for the labels of markers.
        kind: A disagreement about the path itself, which a merge of contents cannot
            settle.
        inner: A merge of contents that a rename brought along already, where the
            path has no other version.
    """

    versions: list[Entry | None]
    names: list[str]
    kind: ConflictKind | None = None
    inner: ContentMerge | None = None

    @property
    def present(self) -> tuple[Side, ...]:
        """The sides that have the path."""
        return tuple(side for side in Side if self.versions[side] is not None)


class Slots:
    """The slots of all touched paths.

    Attributes:
        searched: The sides on which renames were looked for.
        disputes: Conflicts about paths that change nothing in the tree.
    """

    def __init__(self, base: Snapshot, ours: Changes, theirs: Changes) -> None:
        """Set up a slot for each path that a side touches."""
        self.searched: set[Side] = set()
        self.disputes: dict[str, ConflictKind] = {}
        self._slots: dict[str, Slot] = {}
        for path in ours.keys() | theirs.keys():
            old = base.get(path)
            versions = [old, ours.get(path, old), theirs.get(path, old)]
            self._slots[path] = Slot(versions, [path] * 3)

    def __getitem__(self, path: str) -> Slot:
        return self._slots[path]

    def __contains__(self, path: str) -> bool:
        return path in self._slots

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._slots))

    def claim(self, path: str) -> Slot:
        """Return the slot of *path*, an empty one if it is new."""
        return self._slots.setdefault(path, Slot([None] * 3, [path] * 3))

    def clear(self, path: str) -> None:
        """Settle *path* as gone."""
        self._slots[path] = Slot([None] * 3, [path] * 3)

    def lacks(self, side: Side) -> bool:
        """Whether *side* deleted anything, without which it renamed nothing."""
        return any(
            slot.versions[Side.BASE] is not None and slot.versions[side] is None
            for slot in self._slots.values()
        )

    def has(self, path: str, side: Side) -> bool:
        """Whether *side* has a file or a folder at *path*."""
        inside = path + "/"
        return any(
            slot.versions[side] is not None
            for place, slot in self._slots.items()
            if place == path or place.startswith(inside)
        )

    def relocate(self, old: str, new: str, side: Side) -> None:
        """Move one side's version along with a renamed folder; that is a conflict."""
        source, target = self._slots[old], self.claim(new)
        target.versions[side], source.versions[side] = source.versions[side], None
        target.names[side] = old
        target.kind = ConflictKind.DIRECTORY_RENAME

    def dispute(self, path: str, kind: ConflictKind) -> None:
        """Note a conflict about *path* that changes nothing in the tree."""
        self.disputes[path] = kind
