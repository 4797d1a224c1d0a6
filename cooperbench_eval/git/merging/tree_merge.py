"""Three-way merge of two overlays over one base, path by path.

Only touched paths are visited. Renames are found first, so that each path can then be
merged independently. If one side did not change a path, the path takes the other side's
entry. If both changed it, the contents are merged as text, and everything that cannot be
merged becomes a `Conflict` with its kind. At the path of an open conflict, the merged
overlay has the same entry that `git merge` leaves there.
"""

from cooperbench_eval.git.merging.applied_renames import carry_renames
from cooperbench_eval.git.merging.conflicts import Conflict, ConflictKind, whole_conflict
from cooperbench_eval.git.merging.entry_merge import (
    ContentMerge,
    MergeCache,
    OpenFile,
    Side,
    Slot,
    Slots,
    merge_entries,
)
from cooperbench_eval.git.merging.three_way_merge import Labels, Stage, ThreeWayMerge, by_place
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.objects import folders_above, folders_of
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, cache_of


def merge_changes(
    base: Snapshot,
    ours: Changes,
    theirs: Changes,
    labels: Labels | None = None,
) -> ThreeWayMerge:
    """Merge two overlays over *base* as `git merge` does; theirs is merged into ours.

    Line diffs and merged files are kept with the base, for other merges that share contents.
    Without *labels*, the sides are `ours` and `theirs` in markers.

    Raises:
        RepositoryError: A touched file of *base* cannot be read.
    """
    return Merger(base, ours, theirs, labels or Labels()).run()


def align_versions(base: Snapshot, ours: Changes, theirs: Changes) -> Slots:
    """Return base, ours and theirs of each path in the merged tree, after all renames."""
    return Merger(base, ours, theirs, Labels()).carry()


class Merger:
    """Merges two overlays over one base.

    `merge_base` has a subclass, which settles by other rules what remains open here.

    Attributes:
        is_virtual: Whether the result is only a base for another merge. Then nothing follows
            the renames of folders, and an edit can be lost, as in git.
    """

    is_virtual = False

    def __init__(self, base: Snapshot, ours: Changes, theirs: Changes, labels: Labels) -> None:
        """Prepare the merge."""
        self._base = base
        self._slots = Slots(base, _explicit(base, ours), _explicit(base, theirs))
        self._labels = labels
        self._cache = cache_of(base, MergeCache)
        self._entries: dict[str, Entry | None] = {}
        self._files: dict[str, OpenFile] = {}
        self._conflicts: list[Conflict] = []
        self._stages: list[Stage] = []
        self._folders: set[str] = set()

    def carry(self) -> Slots:
        """Carry all renames, and return base, ours and theirs of each path of the merged tree."""
        # A side that lacks no path of the base renamed nothing.
        if self._slots.lacking(Side.OURS) or self._slots.lacking(Side.THEIRS):
            carry_renames(self._base, self._slots, self.merge_contents, virtual=self.is_virtual)
        return self._slots

    def run(self) -> ThreeWayMerge:
        """Merge."""
        self.carry()
        # In reverse order: when a file is reached, it is already known whether a folder
        # of the same name still has entries.
        for path in sorted(self._slots, reverse=True):
            self._settle(path, self._slots[path])
        for path, kind in self._slots.disputes.items():
            self.conflict(path, kind, Slot([None] * 3, [path] * 3))
        return ThreeWayMerge(
            changes=Changes(self._entries),
            conflicts=tuple(sorted(self._conflicts, key=by_place)),
            stages=tuple(sorted(self._stages, key=lambda s: (s.path, s.number))),
            labels=self._labels,
            files=self._files,
            cache=self._cache.diffs,
        )

    def _settle(self, path: str, slot: Slot) -> None:
        base, ours, theirs = slot.versions
        if slot.is_gone:
            self._entries.setdefault(path, None)
            return
        if ours is None and theirs is None:
            self._entries.setdefault(path, None)
            if slot.kind:
                self.conflict(path, slot.kind, slot)
                if path not in self._folders:
                    self._list_stages(path, slot)
            return
        one_sided = slot.kind is None and (ours == theirs or base in (ours, theirs))
        result = ours if base == theirs else theirs
        if one_sided and result is None:
            self._entries.setdefault(path, None)
            return
        if path in self._folders:
            self._set_aside(path, slot)
        elif one_sided or (slot.agreed and slot.kind is None):
            self.put(path, slot.agreed or result)
        elif ours is None or theirs is None:
            self.put(path, self.one_sided(slot))
            if slot.inner:
                self._open_file(path, slot.inner, ConflictKind.CONTENT)
            self._leave_open(path, slot, slot.kind or ConflictKind.MODIFY_DELETE)
        else:
            self._merge_both(path, slot)

    def put(self, path: str, entry: Entry | None) -> None:
        """Give the merged tree an entry, or none, at a path."""
        self._entries[path] = entry
        if entry is not None:
            self._folders.update(folders_above(path))

    def one_sided(self, slot: Slot) -> Entry | None:
        """Return what stays of a file that one side changed or made and the other one lacks."""
        return slot.versions[Side.OURS] or slot.versions[Side.THEIRS]

    def merge_contents(self, slot: Slot, marker_size: int = 7) -> ContentMerge:
        """Merge the versions of a slot for which both sides have entries of the same kind."""
        base, ours, theirs = slot.versions
        if ours is None or theirs is None:  # pragma: no cover - the callers ensure it
            raise ValueError("a merge of contents needs a version on both sides")
        labels = self._labels.ours, self._labels.theirs
        if len(set(slot.names)) > 1:
            _, our_name, their_name = slot.names
            labels = f"{labels[0]}:{our_name}", f"{labels[1]}:{their_name}"
        return merge_entries(
            base, ours, theirs, labels=labels, marker_size=marker_size, cache=self._cache
        )

    def is_apart(self, slot: Slot) -> bool:
        """Whether the versions of both sides cannot even be put into one entry."""
        _, ours, theirs = slot.versions
        return bool(ours and theirs and _kind_of(ours) is not _kind_of(theirs))

    def _merge_both(self, path: str, slot: Slot) -> None:
        base, ours, theirs = slot.versions
        if slot.kind and (slot.is_replaced or slot.agreed):
            self.put(path, theirs if slot.is_replaced and base == ours else ours)
            self._leave_open(path, slot, slot.kind)
            return
        if self.is_apart(slot):
            self.separate(path, slot)
            return
        merge = self.merge_contents(slot)
        self.put(path, merge.entry)
        kind = _kind_of_conflict(slot, merge)
        if merge.text:
            self._open_file(path, merge, kind)
            self._list_stages(path, slot)
        elif slot.kind or not merge.is_clean:
            self._leave_open(path, slot, slot.kind or kind)

    def _open_file(self, path: str, merge: ContentMerge, kind: ConflictKind) -> None:
        if merge.text is None:
            return
        numbers = tuple(range(len(merge.text.conflicts)))
        file = OpenFile(path=path, merge=merge, text=merge.text, kind=kind, numbers=numbers)
        self._files[path] = file
        self._conflicts += file.conflicts

    def _set_aside(self, path: str, slot: Slot) -> None:
        """Give a file another name, because the other side made a folder of the same name."""
        self._entries[path] = None
        base, ours, theirs = slot.versions
        is_ours = not self._slots.has_folder(self._base, path, Side.OURS)
        side = Side.OURS if is_ours else Side.THEIRS
        aside = self._free_name(path, self._labels.of(side))
        differ = self.is_apart(slot)
        is_renamed = len(set(slot.names)) > 1
        if differ and base in {ours, theirs} and not is_renamed:  # one side changed it in place
            slot.versions = [None, None, None]
            slot.versions[side] = theirs if base == ours else ours
            self.put(aside, slot.versions[side])
        elif differ:
            self.separate(aside, slot)
            return
        elif ours is not None and theirs is not None:
            merge = self.merge_contents(slot)
            self.put(aside, merge.entry)
            if merge.is_clean:
                slot.versions = [None, None, None]
                slot.versions[side] = merge.entry
            else:
                self._open_file(aside, merge, ConflictKind.CONTENT)
        else:
            self.put(aside, self.one_sided(slot))
        self._leave_open(aside, slot, ConflictKind.FILE_DIRECTORY)

    def separate(self, path: str, slot: Slot) -> None:
        """Keep entries of two kinds: a file is renamed in favour of a link or submodule."""
        base = slot.versions[Side.BASE]
        self.conflict(path, ConflictKind.TYPE, slot)
        sides = [s for s in (Side.OURS, Side.THEIRS) if _is_file(slot.versions[s])]
        for side in sides or (Side.OURS, Side.THEIRS):
            entry = slot.versions[side]
            aside = self._free_name(path, self._labels.of(side))
            versions: list[Entry | None] = [None] * 3
            versions[side], slot.versions[side] = entry, None
            if base and entry and _kind_of(base) is _kind_of(entry):
                versions[Side.BASE], slot.versions[Side.BASE] = base, None
            self.put(aside, entry)
            self._list_stages(aside, Slot(versions, [path] * 3))
        left = slot.versions[Side.OURS] or slot.versions[Side.THEIRS]
        if base and left and _kind_of(base) is not _kind_of(left):
            slot.versions[Side.BASE] = None
        self._entries.setdefault(path, None)
        if left:
            self.put(path, left)
            self._list_stages(path, slot)

    def _leave_open(self, path: str, slot: Slot, kind: ConflictKind) -> None:
        if kind is not ConflictKind.RENAME_RENAME:  # that one is recorded at the old path
            self.conflict(path, kind, slot)
        self._list_stages(path, slot)

    def conflict(self, path: str, kind: ConflictKind, slot: Slot) -> None:
        """Record a conflict about all versions of a path."""
        self._conflicts.append(whole_conflict(path, kind, slot.versions))

    def _list_stages(self, path: str, slot: Slot) -> None:
        for side, entry in zip(Side, slot.versions, strict=True):
            if entry is not None:
                self._stages.append(Stage(path=path, number=side + 1, entry=entry))

    def _free_name(self, path: str, label: str) -> str:
        """Return `path~label`, with a number if that name is taken, as git does."""
        wanted = name = f"{path}~{label.replace('/', '_')}"
        number = 0
        while self._is_taken(name):
            name = f"{wanted}_{number}"
            number += 1
        return name

    def _is_taken(self, name: str) -> bool:
        """Whether *name* exists on a side or in the base, or was given to a renamed file."""
        inside = name + "/"
        return (
            name in self._slots
            or name in self._entries
            or self._base.get(name) is not None
            or self._base.is_directory(name)
            or any(path.startswith(inside) for path in self._slots)
        )


_STRUCTURAL = {
    FileMode.SYMLINK: ConflictKind.SYMLINK,
    FileMode.SUBMODULE: ConflictKind.SUBMODULE,
}


def _kind_of(entry: Entry) -> FileMode:
    return FileMode.FILE if entry.mode.is_regular else entry.mode


def _is_file(entry: Entry | None) -> bool:
    return entry is not None and entry.mode.is_regular


def _kind_of_conflict(slot: Slot, merge: ContentMerge) -> ConflictKind:
    if merge.text:
        return ConflictKind.CONTENT if slot.versions[Side.BASE] else ConflictKind.ADD_ADD
    if merge.unmergeable:
        return _STRUCTURAL.get(merge.entry.mode, ConflictKind.BINARY)
    return ConflictKind.MODE


def _explicit(base: Snapshot, changes: Changes) -> Changes:
    """Add the deletions that an overlay's entries imply."""
    implied: dict[str, Entry | None] = {}
    added = [path for path, entry in changes.items() if entry and base.get(path) is None]
    for path in added:
        if base.is_directory(path):
            implied.update(dict.fromkeys(base.paths(path)))
    for folder in folders_of(added):
        if base.get(folder) is not None:
            implied[folder] = None
    return Changes({**implied, **changes}) if implied else changes
