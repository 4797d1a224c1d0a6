"""The order in which git visits the touched paths of three trees.

It decides which of several equal files is taken for a renamed one. Git reads the three
trees side by side. In each tree, a folder is sorted as if its name ended in a slash. Of
the next names of the three trees, git takes the first one, without a slash, and visits it
in all three trees at once. So `a/` usually comes after `a.b`, but before it if one of the
trees has no `a.b`.

Git looks last into folders that only one side changed, because it hopes that it can take such
a folder as a whole. It must look into it only if files that this side renamed may be there. If
that makes it read much more than before, it starts again with the renames that matter, and
then takes as a whole whatever these renames do not touch.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from cooperbench_eval.git.merging.directory_renames import growing_folders, order_by_hash
from cooperbench_eval.git.merging.entry_merge import Side, Slots
from cooperbench_eval.git.trees.objects import folders_above
from cooperbench_eval.git.trees.snapshot import Snapshot, names_in


def visit(base: Snapshot, slots: Slots) -> list[str]:
    """Return all touched paths in the order in which git visits them, before any rename."""
    names = _names_by_folder(slots)
    visited: list[str] = []
    pending = [""]
    while pending:
        path = pending.pop()
        if path in slots:
            visited.append(path)
        inside = [f"{path}/{name}" if path else name for name in _sorted(base, slots, names, path)]
        pending += reversed(inside)
    return visited


def _names_by_folder(paths: Iterable[str]) -> dict[str, set[str]]:
    """Map the root and each folder above one of the *paths* to its names that lead to a path."""
    names: dict[str, set[str]] = {}
    for path in paths:
        while path:
            folder, _, name = path.rpartition("/")
            names.setdefault(folder, set()).add(name)
            path = folder  # noqa: PLW2901 - upwards
    return names


def _sorted(base: Snapshot, slots: Slots, names: dict[str, set[str]], folder: str) -> Iterable[str]:
    touched = names.get(folder, set())
    prefix = f"{folder}/" if folder else ""
    ordered = sorted(touched)
    if not any(_has_rival(name, ordered) for name in touched if prefix + name in names):
        return ordered
    inside = names_in(base, folder)
    others = inside.keys() - touched
    trees = []
    for side in Side:
        files = {n for n in touched if _is_file(slots, prefix + n, side)}
        folders = {n for n in touched if slots.has_folder(base, prefix + n, side)}
        files |= {n for n in others if not inside[n]}
        folders |= {n for n in others if inside[n]}
        trees.append(sorted({*files, *(n + "/" for n in folders)}))
    return [name for name in _side_by_side(trees) if name in touched]


def _has_rival(folder: str, names: Sequence[str]) -> bool:
    """Whether one of the sorted *names* lies between *folder* and *folder* with a slash."""
    after = bisect_right(names, folder)
    return after < len(names) and names[after] < folder + "/"


def _is_file(slots: Slots, path: str, side: Side) -> bool:
    return path in slots and slots[path].versions[side] is not None


def _side_by_side(trees: Iterable[list[str]]) -> Iterator[str]:
    """Merge sorted lists; the next name is the first of the lists' heads."""
    rests = [[name.removesuffix("/") for name in reversed(tree)] for tree in trees]
    done: set[str] = set()
    while True:
        for rest in rests:
            while rest and rest[-1] in done:
                rest.pop()
        heads = [rest[-1] for rest in rests if rest]
        if not heads:
            return
        done.add(min(heads))
        yield min(heads)


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
    for folder, touched in _names_by_folder(slots).items():
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
    moving, busy = growing_folders(base, slots), slots.changed_by(side.other)
    found: dict[str, str] = {}
    for path in paths:
        for folder in folders_above(path):
            if folder not in busy:
                found[path] = folder
            if folder not in busy or folder in moving:
                break
    return found
