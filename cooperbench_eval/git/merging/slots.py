"""Paths with their three versions, and the known conflicts about each.

A slot holds the entries at one path in base, ours and theirs. Renames move versions
from slot to slot. After that, each path can be merged independently.
"""

from collections.abc import Iterator
from enum import IntEnum

from attrs import define

from cooperbench_eval.git.merging.conflicts import ConflictKind
from cooperbench_eval.git.merging.entry_merge import ContentMerge
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.objects import folders_of
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, walk


class Side(IntEnum):
    """A version of a path: base, ours or theirs. The value is git's stage number minus one."""

    BASE = 0
    OURS = 1
    THEIRS = 2

    @property
    def other(self) -> "Side":
        """Theirs for ours, and ours for theirs."""
        return Side.THEIRS if self is Side.OURS else Side.OURS


@define
class Slot:
    """The entries at one path, and the conflict about it that is already known.

    Attributes:
        versions: The entry in base, ours and theirs.
        names: The original path of each version, for the labels of markers.
        kind: A conflict about the path itself, which a merge of contents cannot settle.
        inner: The contents that were already merged for a rename, if the other side has
            no version at this path.
        agreed: The merged entry, if both sides made the same new file here. Git does not
            merge versions that renames move here; it takes ours.
        is_replaced: A directory rename moved a file of one side here, and the other side
            kept the base's file. Git then takes the moved file.
        is_gone: The file of the base has another path now, and the merge has nothing at this
            one. As in git, even a file that a directory rename moved here is lost.
    """

    versions: list[Entry | None]
    names: list[str]
    kind: ConflictKind | None = None
    inner: ContentMerge | None = None
    agreed: Entry | None = None
    is_replaced: bool = False
    is_gone: bool = False

    @property
    def present(self) -> tuple[Side, ...]:
        """The versions (base, ours, theirs) that exist."""
        return tuple(side for side in Side if self.versions[side] is not None)


class Slots:
    """The slots of all touched paths.

    Attributes:
        searched: The sides on which renames were searched.
        new_folders: The folders that exist only because a directory rename moved files there,
            and the side whose file came first.
        disputes: Conflicts that do not change the merged tree, by path.
    """

    def __init__(self, base: Snapshot, ours: Changes, theirs: Changes) -> None:
        """Make a slot for each path that a side touches."""
        self.searched: set[Side] = set()
        self.new_folders: dict[str, Side] = {}
        self.disputes: dict[str, ConflictKind] = {}
        self._slots: dict[str, Slot] = {}
        for path in ours.keys() | theirs.keys():
            old = base.get(path)
            mine, yours = ours.get(path, old), theirs.get(path, old)
            agreed = mine if old is None and mine == yours else None
            self._slots[path] = Slot([old, mine, yours], [path] * 3, agreed=agreed)
        self._touched = frozenset(self._slots)
        self._untouched: dict[str, bool] = {}  # whether a folder has untouched entries
        self._sides = {Side.OURS: ours, Side.THEIRS: theirs}
        self._folders: dict[Side, set[str]] = {}  # above the touched paths that a side has

    def __getitem__(self, path: str) -> Slot:
        return self._slots[path]

    def __contains__(self, path: str) -> bool:
        return path in self._slots

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._slots))

    def claim(self, path: str) -> Slot:
        """Return the slot of *path*, after creating an empty one if it is new."""
        return self._slots.setdefault(path, Slot([None] * 3, [path] * 3))

    def lacking(self, side: Side) -> list[str]:
        """Return the paths of the base that *side* lacks. If there are none, it renamed nothing."""
        return [
            path
            for path, slot in self._slots.items()
            if slot.versions[side] is None and slot.versions[Side.BASE] is not None
        ]

    def changed_by(self, side: Side) -> set[str]:
        """Return the paths that *side* changed, and the folders above them."""
        paths = [p for p, s in self._slots.items() if s.versions[side] != s.versions[Side.BASE]]
        return folders_of(paths).union(paths)

    def is_added(self, path: str, side: Side) -> bool:
        """Whether *side* has an entry at *path*, and the base has none."""
        versions = self._slots[path].versions
        return versions[Side.BASE] is None and versions[side] is not None

    def has_folder(self, base: Snapshot, path: str, side: Side) -> bool:
        """Whether *side* had a folder at *path* before any rename."""
        if side not in self._folders:
            own = self._sides.get(side, Changes())
            self._folders[side] = folders_of(
                p for p in self._touched if own.get(p, base.get(p)) is not None
            )
        if path in self._folders[side]:
            return True
        if path not in self._untouched:
            self._untouched[path] = any(each not in self._touched for each in walk(base, path))
        return self._untouched[path]

    def relocate(self, old: str, new: str, side: Side) -> None:
        """Move one side's version to where the other side renamed its folder: a conflict."""
        source, target = self._slots[old], self.claim(new)
        target.versions[side], source.versions[side] = source.versions[side], None
        target.names[side] = old
        target.kind = ConflictKind.DIRECTORY_RENAME
        old_entry = target.versions[Side.BASE]
        target.is_replaced = old_entry is not None and old_entry == target.versions[side.other]

    def dispute(self, path: str, kind: ConflictKind) -> None:
        """Record a conflict about *path*. The merged tree stays as it is."""
        self.disputes[path] = kind
