"""Directory renames: moves files that one side added to a folder the other side renamed.

A folder counts as renamed if a side left nothing in it and moved most of its files to
one other folder. Files that the other side adds to it are moved there too. Each of
them remains a conflict, as with git's default `merge.directoryRenames=conflict`.

Git keeps folders in hash tables and walks through these. The order of the walk decides
between equally good renames, so a merge that matches git's needs the same order.
"""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

from attrs import frozen

from cooperbench_eval.git.merging.conflicts import ConflictKind
from cooperbench_eval.git.merging.entry_merge import Side, Slots
from cooperbench_eval.git.trees.objects import encode_path, folders_above, folders_of
from cooperbench_eval.git.trees.snapshot import Snapshot

_SMALLEST_TABLE = 64  # buckets
_GROWTH = 4  # the factor by which a table grows
_MOST_FULL = 0.8  # names per bucket; with more, the table grows


def order_by_hash(names: Iterable[str]) -> list[str]:
    """Return *names*, which are added in this order, as git's hash table lists them.

    The buckets come in order. In each bucket, the last name comes first. When the table
    grows, the names are moved in the order in which they are listed.
    """
    buckets: list[list[str]] = [[] for _ in range(_SMALLEST_TABLE)]
    for count, name in enumerate(dict.fromkeys(names), start=1):
        _add(buckets, name)
        if count > len(buckets) * _MOST_FULL:
            larger: list[list[str]] = [[] for _ in range(len(buckets) * _GROWTH)]
            for each in _listed(buckets):
                _add(larger, each)
            buckets = larger
    return _listed(buckets)


def _add(buckets: list[list[str]], name: str) -> None:
    buckets[_hash(name) % len(buckets)].append(name)


def _listed(buckets: Iterable[list[str]]) -> list[str]:
    return [name for bucket in buckets for name in reversed(bucket)]


def _hash(name: str) -> int:
    """Return the 32-bit FNV-1 hash of a name."""
    value = 0x811C9DC5
    for byte in encode_path(name):
        value = (value * 0x01000193 & 0xFFFFFFFF) ^ byte
    return value


def renamed_away(base: Snapshot, slots: Slots, side: Side) -> frozenset[str]:
    """Return the folders that *side* emptied and to which the other side directly added a file."""
    folders = {
        path.rpartition("/")[0]
        for path in slots
        if slots[path].versions[Side.BASE] is None and slots[path].versions[side.other] is not None
    }
    return frozenset(f for f in folders if f and _is_removed(base, slots, side, f))


def growing_folders(base: Snapshot, slots: Slots) -> frozenset[str]:
    """Return the folders to which one side directly added a file, and which the other side emptied.

    The other side may also have emptied only a folder above.
    """
    return frozenset(
        path.rpartition("/")[0]
        for path in slots
        if len(slots[path].present) == 1 and slots[path].present != (Side.BASE,)
        for side in slots[path].present
        if any(_is_removed(base, slots, side.other, above) for above in folders_above(path))
    )


def _is_removed(base: Snapshot, slots: Slots, side: Side, folder: str) -> bool:
    return slots.has_folder(base, folder, Side.BASE) and not slots.has_folder(base, folder, side)


class FolderVotes:
    """Counts where a side moved its files, to tell where it moved their folders.

    All questions are about the trees before any rename is applied.
    """

    def __init__(self, base: Snapshot, slots: Slots, side: Side) -> None:
        self._base, self._slots, self._side = base, slots, side
        self._emptied = renamed_away(base, slots, side)

    def guess(self, renames: Mapping[str, str]) -> dict[str, str]:
        """Map each folder that the side removed to where most of its files went so far."""
        return {
            folder: max(order_by_hash(places), key=places.__getitem__)
            for folder, places in _count_moves(renames, self._emptied, self._is_removed).items()
        }

    def find_decided(self, renames: Mapping[str, str], pending: Collection[str]) -> frozenset[str]:
        """Return the *pending* paths that cannot change where any folder went.

        A folder is decided if its most frequent new place got more files than the second
        one and all of the pending files together.
        """
        counts = _count_moves(renames, self._emptied, self._is_removed)
        open_ = Counter(folder for path in pending for folder in self._counted_folders(path))
        undecided = {
            folder
            for folder in self._emptied
            if not _has_majority(counts.get(folder, Counter()), open_[folder])
        }
        return frozenset(
            path for path in pending if undecided.isdisjoint(self._counted_folders(path))
        )

    def _counted_folders(self, path: str) -> Iterator[str]:
        """Yield the folders above *path*, innermost first, as far as their moves matter."""
        for folder in reversed([*folders_above(path)]):
            if folder not in self._emptied and self._emptied.isdisjoint(folders_above(folder)):
                return
            yield folder

    def _is_removed(self, folder: str) -> bool:
        return _is_removed(self._base, self._slots, self._side, folder)


def _count_moves(
    renames: Mapping[str, str], emptied: Container[str], is_counted: Callable[[str], bool]
) -> dict[str, Counter[str]]:
    """Count where files of each folder went; above a folder that does not count, none does."""
    counts: dict[str, Counter[str]] = {}
    for old, new in renames.items():
        for level, (old_folder, new_folder) in enumerate(_folder_pairs(old, new)):
            if not is_counted(old_folder):
                break
            if not level or old_folder in emptied:
                counts.setdefault(old_folder, Counter())[new_folder] += 1
    return counts


def _has_majority(places: Counter[str], pending: int) -> bool:
    (_, first), (_, second) = [*places.most_common(2), ("", 0), ("", 0)][:2]
    return first > second + pending


def follow_directory_renames(
    base: Snapshot,
    slots: Slots,
    ours: Mapping[str, str],
    theirs: Mapping[str, str],
    added: Mapping[Side, Sequence[str]],
) -> tuple[dict[str, str], dict[str, str]]:
    """Move files that one side added into folders that the other side renamed.

    *added* has the paths that each side added, in the order in which git visits them. Return both
    sides' file renames, updated accordingly.
    """
    renames = {Side.OURS: dict(ours), Side.THEIRS: dict(theirs)}
    folders = {
        side: _folder_renames(slots, renames[side], renamed_away(base, slots, side))
        for side in renames
    }
    common = folders[Side.OURS].keys() & folders[Side.THEIRS].keys()
    for side in renames:
        folders[side] = {old: new for old, new in folders[side].items() if old not in common}
    moves = {side: _moves(added[side], folders[side.other]) for side in renames}
    places = {move.new for found in moves.values() for move in found}
    whole = _taken_whole(base, slots, places, renames)
    for side, own in renames.items():
        # A file stays where it is if a file of the other side would move to the same name.
        arriving = {move.new for move in moves[side.other]}
        moving = {
            move.path
            for move in moves[side]
            if move.path not in arriving and move.place not in folders[side]
        }
        _take_along(base, slots, side, own, moves[side], moving, whole)
    return renames[Side.OURS], renames[Side.THEIRS]


def _folder_renames(
    slots: Slots, renames: Mapping[str, str], emptied: frozenset[str]
) -> dict[str, str]:
    """Map each emptied folder to where most of its files went; a tie is a conflict."""

    def is_inside(folder: str) -> bool:
        return folder in emptied or not emptied.isdisjoint(folders_above(folder))

    found: dict[str, str] = {}
    for folder, places in _count_moves(renames, emptied, is_inside).items():
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


@frozen
class _Move:
    """A file of one side that follows a folder to its new *place*."""

    path: str
    place: str
    new: str


def _moves(added: Iterable[str], folders: Mapping[str, str]) -> list[_Move]:
    """Return where the *added* files would go that are in *folders*."""
    moves = []
    for path in added:
        inner = next((above for above in reversed([*folders_above(path)]) if above in folders), "")
        if inner:
            place, rest = folders[inner], path[len(inner) + 1 :]
            moves.append(_Move(path, place, f"{place}/{rest}" if place else rest))
    return moves


def _take_along(  # noqa: PLR0917 - a side's renames and moves
    base: Snapshot,
    slots: Slots,
    side: Side,
    renames: dict[str, str],
    moves: Sequence[_Move],
    moving: Container[str],
    whole: Container[str],
) -> None:
    """Move the files of *side* at the paths *moving*, unless two meet or the place is taken."""
    sources = {new: old for old, new in renames.items()}
    arrivals = Counter(move.new for move in moves)
    for move in moves:
        if move.path not in moving:
            continue
        is_taken = move.new in whole or _is_taken(base, slots, move.new, side)
        if is_taken or arrivals[move.new] > 1:
            slots.dispute(move.path, ConflictKind.DIRECTORY_RENAME)
            continue
        _note_new_folders(base, slots, move.new, side)
        slots.relocate(move.path, move.new, side)
        if move.path in sources:
            renames[sources[move.path]] = move.new


def _is_taken(base: Snapshot, slots: Slots, path: str, side: Side) -> bool:
    """Whether *side* has a file at *path*, or had a folder there, touched or not.

    The moves of this step count, except that they do not empty or fill a folder that was in
    one of the trees.
    """
    if slots[path].versions[side] if path in slots else base.get(path):
        return True
    return slots.has_folder(base, path, side) or slots.new_folders.get(path) is side


def _taken_whole(
    base: Snapshot, slots: Slots, paths: Collection[str], renames: Mapping[Side, Mapping[str, str]]
) -> frozenset[str]:
    """Return those of the *paths* at which git took a folder as a whole, before any move.

    Only one side touched it, and git neither searched for renames of this side nor knows
    one that leads there. Such a folder counts as present on both sides, even if it is empty.
    Git knows nothing of the folders inside it.
    """
    if not paths:
        return frozenset()
    growing = growing_folders(base, slots)
    found: set[str] = set()
    for changing in {Side.OURS, Side.THEIRS} - slots.searched:
        busy = folders_of(renames[changing].values()) | slots.changed_by(changing.other) | {""}
        found.update(p for p in paths if p not in busy and p.rpartition("/")[0] in busy)
    return frozenset(
        path
        for path in found
        if growing.isdisjoint([path, *folders_above(path)])
        and any(slots.has_folder(base, path, side) for side in Side)
    )


def _note_new_folders(base: Snapshot, slots: Slots, path: str, side: Side) -> None:
    """Remember which folders above *path* are in none of the trees, and get a file of *side*."""
    for folder in folders_above(path):
        if folder not in slots and not any(slots.has_folder(base, folder, each) for each in Side):
            slots.new_folders.setdefault(folder, side)
