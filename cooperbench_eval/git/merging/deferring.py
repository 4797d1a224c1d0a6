"""Folders that git looks into last: those that only one side changed.

Git hopes that it can take such a folder as a whole. It must look into it only if files that
this side renamed may be there. If that makes it read much more than before, it starts again
with the renames that matter, and then takes as a whole whatever these renames do not touch.
"""

from collections.abc import Iterable

from cooperbench_eval.git.merging.directories import growing_folders
from cooperbench_eval.git.merging.hashorder import order_by_hash
from cooperbench_eval.git.merging.slots import Side, Slots
from cooperbench_eval.git.merging.visiting import names_by_folder, visit
from cooperbench_eval.git.trees.objects import folders_above
from cooperbench_eval.git.trees.snapshot import Snapshot, names_in

__all__ = ["by_notice", "starts_again"]

_MUCH_MORE = 3  # times as many names


def by_notice(base: Snapshot, slots: Slots, side: Side) -> list[str]:
    """Sort the touched paths in the order in which git visits them to find renames of *side*.

    The order decides which of several files with equal contents is paired. Deferred
    folders come last, in the order of git's hash table of their names.
    """
    visited = visit(base, slots)
    deferred = _deferred(base, slots, side, visited)
    places = {folder: place for place, folder in enumerate(order_by_hash(deferred.values()))}
    return sorted(visited, key=lambda path: places.get(deferred.get(path, ""), -1))


def starts_again(base: Snapshot, slots: Slots) -> bool:
    """Whether git starts again after the search for renames.

    It compares the number of names in all folders that it read with the number before it
    read the deferred ones.
    """
    deferred = {
        side: frozenset(_deferred(base, slots, side, slots).values())
        for side in (Side.OURS, Side.THEIRS)
    }
    before = after = 0
    for folder, touched in names_by_folder(slots).items():
        count = len(names_in(base, folder).keys() | touched)
        places = {folder, *folders_above(folder)}
        side = next((each for each in deferred if not deferred[each].isdisjoint(places)), None)
        if side is None:
            before += count
        if side is None or side in slots.searched:
            after += count
    return after // before >= _MUCH_MORE


def _deferred(base: Snapshot, slots: Slots, side: Side, paths: Iterable[str]) -> dict[str, str]:
    """Map those of the *paths* that are in a deferred folder to this folder.

    A folder is deferred if the other side did not change it, unless it is inside one that
    may have been renamed.
    """
    other = side.other
    moving = growing_folders(base, slots)
    busy: set[str] = set()
    for path in slots:
        if slots[path].versions[other] != slots[path].versions[Side.BASE]:
            busy.update(folders_above(path))
            busy.add(path)
    found: dict[str, str] = {}
    for path in paths:
        for folder in folders_above(path):
            if folder not in busy:
                found[path] = folder
            if folder not in busy or folder in moving:
                break
    return found
