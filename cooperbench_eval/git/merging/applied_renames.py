"""Finds which renames of both sides matter, and applies them to the slots.

The rules are those of git's default merge. Git's notes on "directory renames" and "rename"
describe them, and its behaviour shows the rest. `renames` pairs the files.
"""

import functools
from collections.abc import Callable, Collection, Mapping

from cooperbench_eval.git.merging.conflicts import ConflictKind
from cooperbench_eval.git.merging.directory_renames import (
    FolderVotes,
    follow_directory_renames,
    renamed_away,
)
from cooperbench_eval.git.merging.entry_merge import ContentMerge, Side, Slot, Slots, same_kind
from cooperbench_eval.git.merging.renames import find_renames
from cooperbench_eval.git.merging.visiting import by_notice, starts_again
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Snapshot

_Noticed = Callable[[Side], list[str]]


def _detect_renames(
    base: Snapshot, slots: Slots, noticed: _Noticed
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the new path of each file that ours renamed, and the same of theirs.

    *noticed* returns the touched paths in the order in which git visits them on a side.
    """
    relevant = {side: _relevant(base, slots, side) for side in (Side.OURS, Side.THEIRS)}
    found = {side: _find(base, slots, side, relevant[side], noticed) for side in relevant}
    if any(found.values()) and starts_again(base, slots):
        slots.searched.clear()
        found = {
            side: {old: new for old, new in renames.items() if old in relevant[side][1]}
            for side, renames in found.items()
        }
    return found[Side.OURS], found[Side.THEIRS]


_Relevant = tuple[frozenset[str], frozenset[str]]
"""Paths that a side lacks and whose rename could change the merge.

The first are those that the other side changed. The second are these, and those in a folder
that the side may have renamed.
"""


def _relevant(base: Snapshot, slots: Slots, side: Side) -> _Relevant:
    lacking = slots.lacking(side)
    changed = frozenset(
        p for p in lacking if slots[p].versions[side.other] != slots[p].versions[Side.BASE]
    )
    folders = renamed_away(base, slots, side) if lacking else ()
    located = {p for p in lacking if any(p.startswith(folder + "/") for folder in folders)}
    return changed, changed | located


def _find(
    base: Snapshot, slots: Slots, side: Side, relevant: _Relevant, noticed: _Noticed
) -> dict[str, str]:
    changed, paths = relevant
    if not paths:
        return {}
    slots.searched.add(side)
    deleted: dict[str, Entry] = {}
    added: dict[str, Entry] = {}
    for path in noticed(side):
        was, now = slots[path].versions[Side.BASE], slots[path].versions[side]
        if was is not None and now is None:
            deleted[path] = was
        elif was is None and now is not None:
            added[path] = now
    votes = FolderVotes(base, slots, side)

    def find_decided(renames: Mapping[str, str], pending: Collection[str]) -> frozenset[str]:
        return votes.find_decided(renames, pending) - changed

    return find_renames(deleted, added, paths, votes.guess, find_decided)


# Merges the versions of a slot, with markers of a given size.
_Merge = Callable[[Slot, int], ContentMerge]

# The merge of a renamed file may end up inside another conflict, so it has longer markers.
_INNER_MARKERS = 8


def carry_renames(base: Snapshot, slots: Slots, merge: _Merge, *, virtual: bool = False) -> None:
    """Find both sides' renames and move versions to where they belong.

    *merge* merges the versions of a renamed file. With *virtual*, the result is only a base for
    another merge: see `Merger`.
    """
    noticed = functools.cache(functools.partial(by_notice, base, slots))
    ours, theirs = _detect_renames(base, slots, noticed)
    if not (ours or theirs):
        return
    if not virtual:
        added = {
            side: [path for path in noticed(side) if slots.is_added(path, side)]
            for side in (Side.OURS, Side.THEIRS)
        }
        ours, theirs = follow_directory_renames(base, slots, ours, theirs, added)
    for old in sorted(ours.keys() | theirs.keys()):
        if old not in theirs:
            _carry_one(slots, Side.OURS, old, ours[old], merge, virtual=virtual)
        elif old not in ours:
            _carry_one(slots, Side.THEIRS, old, theirs[old], merge, virtual=virtual)
        elif ours[old] == theirs[old]:
            slots[ours[old]].versions[Side.BASE] = slots[old].versions[Side.BASE]
            slots[old].is_gone = True
        else:
            _part_ways(slots, old, ours[old], theirs[old], merge)


def _carry_one(
    slots: Slots, side: Side, old: str, new: str, merge: _Merge, *, virtual: bool
) -> None:
    source, target, other = slots[old], slots.claim(new), side.other
    elsewhere = source.versions[other]
    if old == new and elsewhere is None:  # a directory rename moved back what the other deleted
        return
    moved, present = target.versions[side], target.versions[other]
    changes_type = (
        elsewhere is not None
        and moved is not None
        and elsewhere.mode.is_regular != moved.mode.is_regular
    )
    if changes_type:
        # The other side turned the old path into another kind of entry, which stays there.
        _take_base(target, source, old)
        if present is None:
            target.kind = ConflictKind.MODIFY_DELETE
        elif moved is not None and not same_kind(moved, present):
            target.kind = ConflictKind.TYPE  # even if the other entry equals the base's
        source.versions[Side.BASE] = None
        return
    if present is not None:
        _collide(slots, side, old, new, merge, virtual=virtual)
    else:
        _take_base(target, source, old)
        target.versions[other] = elsewhere
        target.names[other] = old
        if elsewhere is None:
            target.kind = ConflictKind.RENAME_DELETE
        elif moved is not None and not same_kind(moved, elsewhere):
            target.kind = ConflictKind.TYPE
    if elsewhere is None and source.versions[side] is not None:
        # A directory rename moved another file here. Git crashes.
        source.versions[Side.BASE] = None
    else:
        source.is_gone = True


def _collide(slots: Slots, side: Side, old: str, new: str, merge: _Merge, *, virtual: bool) -> None:
    """Apply a rename to a name at which the other side has a file, too."""
    source, target = slots[old], slots[new]
    if source.versions[side.other] is None:
        target.kind = ConflictKind.RENAME_DELETE
        return
    moved, present = target.versions[side], target.versions[side.other]
    merged = merge(_inner_slot(source, side, moved, new, old), _INNER_MARKERS)
    target.versions[side] = merged.entry
    is_kept = merged.is_clean and present == moved and not virtual  # git loses such an edit
    if target.agreed and (side is Side.OURS or is_kept):
        target.agreed = merged.entry


def _take_base(target: Slot, source: Slot, old: str) -> None:
    target.versions[Side.BASE] = source.versions[Side.BASE]
    target.names[Side.BASE] = old


def _inner_slot(source: Slot, side: Side, moved: Entry | None, new: str, old: str) -> Slot:
    """Return a slot with the renamed file and the other versions of its old path.

    These versions are merged first. The result then conflicts with the other file of the new name.
    """
    versions = list(source.versions)
    names = [old, old, old]
    versions[side], names[side] = moved, new
    return Slot(versions, names)


def _part_ways(slots: Slots, old: str, ours: str, theirs: str, merge: _Merge) -> None:
    """Apply two renames of *old* to different names: its merged contents are put at both.

    If they cannot be merged, such as binary contents, each side's version stays at its new name.
    """
    source = slots[old]
    first, second = slots[ours], slots[theirs]
    inner = Slot(
        [source.versions[Side.BASE], first.versions[Side.OURS], second.versions[Side.THEIRS]],
        [old, ours, theirs],
    )
    merged = merge(inner, _INNER_MARKERS)
    is_kept = not merged.is_clean and merged.entry == inner.versions[Side.OURS]
    for target, side in ((first, Side.OURS), (second, Side.THEIRS)):
        target.versions[side] = inner.versions[side] if is_kept else merged.entry
        target.inner = merged
        target.kind = ConflictKind.RENAME_RENAME
    source.kind = ConflictKind.RENAME_RENAME
    if source.versions[Side.OURS] or source.versions[Side.THEIRS]:
        # A directory rename moved a file here, so the slot is not that of a renamed file.
        slots.dispute(old, ConflictKind.RENAME_RENAME)
