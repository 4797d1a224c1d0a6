"""Directory renames: moves files that one side added to a folder the other side renamed.

A folder counts as renamed if a side left nothing in it and moved most of its files to
one other folder. Files that the other side adds to it are moved there too. Each of
them remains a conflict, as with git's default `merge.directoryRenames=conflict`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from cooperbench_eval.merging.hashorder import order_by_hash
from cooperbench_eval.merging.slots import Side, Slots
from cooperbench_eval.models import ConflictKind
from cooperbench_eval.objects import folders_above
from cooperbench_eval.snapshot import Snapshot

__all__ = ["follow_directory_renames", "guess_folders", "renamed_away"]


def renamed_away(base: Snapshot, slots: Slots, side: Side) -> frozenset[str]:
    """Return the folders that *side* emptied and to which the other side directly added a file."""
    folders = {
        path.rpartition("/")[0]
        for path in slots
        if slots[path].versions[Side.BASE] is None and slots[path].versions[side.other] is not None
    }
    return frozenset(f for f in folders if f and _is_removed(base, slots, side, f))


def _is_removed(base: Snapshot, slots: Slots, side: Side, folder: str) -> bool:
    inside = folder + "/"
    here = [path for path in slots if path.startswith(inside)]
    if any(slots[path].versions[side] is not None for path in here):
        return False
    if all(slots[path].versions[Side.BASE] is None for path in here):
        return False
    return all(path in slots for path in base.paths(folder))


def guess_folders(
    base: Snapshot, slots: Slots, side: Side, renames: Mapping[str, str]
) -> dict[str, str]:
    """Map each folder that *side* removed to where most of its files were renamed so far."""
    counts: dict[str, Counter[str]] = {}
    emptied = renamed_away(base, slots, side)
    for old, new in renames.items():
        for level, (old_folder, new_folder) in enumerate(_folder_pairs(old, new)):
            if not _is_removed(base, slots, side, old_folder):
                break
            if not level or old_folder in emptied:
                counts.setdefault(old_folder, Counter())[new_folder] += 1
    return {
        folder: max(order_by_hash(places), key=places.__getitem__)
        for folder, places in counts.items()
    }


def follow_directory_renames(
    base: Snapshot, slots: Slots, ours: Mapping[str, str], theirs: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Move files that one side added into folders that the other side renamed.

    Returns:
        Both sides' file renames, updated accordingly.
    """
    renames = {Side.OURS: dict(ours), Side.THEIRS: dict(theirs)}
    folders = {
        side: _folder_renames(slots, renames[side], renamed_away(base, slots, side))
        for side in renames
    }
    common = folders[Side.OURS].keys() & folders[Side.THEIRS].keys()
    for side in renames:
        folders[side] = {old: new for old, new in folders[side].items() if old not in common}
    for side, own in renames.items():
        if folders[side.other]:
            _take_along(base, slots, side, own, folders[side.other], folders[side])
    return renames[Side.OURS], renames[Side.THEIRS]


def _folder_renames(
    slots: Slots, renames: Mapping[str, str], emptied: frozenset[str]
) -> dict[str, str]:
    """Map each emptied folder to where most of its files went; a tie is a conflict."""
    counts: dict[str, Counter[str]] = {}
    for old, new in renames.items():
        for level, (old_folder, new_folder) in enumerate(_folder_pairs(old, new)):
            if old_folder not in emptied and not emptied.intersection(folders_above(old_folder)):
                break
            if not level or old_folder in emptied:
                counts.setdefault(old_folder, Counter())[new_folder] += 1
    found: dict[str, str] = {}
    for folder, places in counts.items():
        (place, most), *others = places.most_common(2)
        if others and others[0][1] == most:
            slots.dispute(folder, ConflictKind.DIRECTORY_RENAME)
        elif place != folder:
            found[folder] = place
    return found


def _folder_pairs(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Yield the old and the new folder of a file, then their parents while their names agree."""
    old_folder, new_folder = old.rpartition("/")[0], new.rpartition("/")[0]
    while old_folder:
        yield old_folder, new_folder
        old_folder, _, old_name = old_folder.rpartition("/")
        new_folder, _, new_name = new_folder.rpartition("/")
        if old_name != new_name:
            return


def _take_along(  # noqa: PLR0917 - the two sides' renames in full
    base: Snapshot,
    slots: Slots,
    side: Side,
    renames: dict[str, str],
    folders: Mapping[str, str],
    own_folders: Mapping[str, str],
) -> None:
    """Move the files that *side* added in *folders* to where the other side moved those folders."""
    sources = {new: old for old, new in renames.items()}
    wanted: dict[str, list[str]] = {}
    for path in list(slots):
        slot = slots[path]
        if slot.versions[Side.BASE] is not None or slot.versions[side] is None:
            continue
        folder = next(
            (above for above in reversed(list(folders_above(path))) if above in folders), None
        )
        if folder is None or folders[folder] in own_folders:
            continue
        place = folders[folder]
        rest = path[len(folder) + 1 :]
        wanted.setdefault(f"{place}/{rest}" if place else rest, []).append(path)
    for new, paths in sorted(wanted.items()):
        if len(paths) > 1 or _is_taken(base, slots, new, side):
            for path in paths:
                slots.dispute(path, ConflictKind.DIRECTORY_RENAME)
            continue
        (path,) = paths
        slots.relocate(path, new, side)
        if path in sources:
            renames[sources[path]] = new


def _is_taken(base: Snapshot, slots: Slots, path: str, side: Side) -> bool:
    """Whether *side* has a file or a folder at *path*, touched or not.

    If only one side touched a folder of the base, the folder counts as present even
    if that side emptied it, except where renames were searched on that side: git
    merges such a folder before it searches for renames.
    """
    if slots.has(path, side) or (path not in slots and base.get(path) is not None):
        return True
    if not base.is_directory(path):
        return False
    touched = [slots[p].versions for p in base.paths(path) if p in slots]
    untouched = len(touched) < len(base.paths(path))
    return untouched or any(
        all(versions[quiet] == versions[Side.BASE] for versions in touched)
        for quiet in (Side.OURS, Side.THEIRS)
        if quiet.other not in slots.searched
    )
