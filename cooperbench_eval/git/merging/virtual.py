"""The merge of two merge bases into a virtual one, as `git merge` makes it.

If two commits have several merge bases, git merges these first and uses the result as the
base. Such a merge always gives a tree: text conflicts stay in it between markers, and
special rules settle everything else, mostly in favour of the base. The rules are those that
`git merge-tree` shows.
"""

from attrs import evolve

from cooperbench_eval.git.merging.contents import ContentMerge
from cooperbench_eval.git.merging.records import ConflictKind
from cooperbench_eval.git.merging.result import Labels
from cooperbench_eval.git.merging.slots import Side, Slot
from cooperbench_eval.git.merging.tree import Merger
from cooperbench_eval.git.trees.entries import Entry, with_mode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

__all__ = ["merge_virtually"]

_LABELS = Labels(ours="Temporary merge branch 1", theirs="Temporary merge branch 2")
_LONGER = 2  # characters of a marker, for each level


def merge_virtually(base: Snapshot, ours: Changes, theirs: Changes, level: int) -> Changes:
    """Merge two overlays over *base* into the tree of a virtual merge base.

    Args:
        base: The base of the two merge bases, which may be virtual too.
        ours: What the first merge base changes in it.
        theirs: What the second one changes.
        level: 1 for the base of a real merge, 2 for the base of such a base, and so on.
            Each level makes markers two characters longer.

    Raises:
        RepositoryError: A touched file cannot be read.
    """
    return _VirtualMerger(base, ours, theirs, level).run().changes


class _VirtualMerger(Merger):
    is_virtual = True

    def __init__(self, base: Snapshot, ours: Changes, theirs: Changes, level: int) -> None:
        super().__init__(base, ours, theirs, _LABELS)
        self._longer = _LONGER * level

    def merge_contents(self, slot: Slot, marker_size: int = 7) -> ContentMerge:
        merge = super().merge_contents(slot, marker_size + self._longer)
        if not merge.unmergeable:
            return merge
        base = slot.versions[Side.BASE]
        if base is None or not base.mode.is_regular:
            base = Entry(b"")
        return evolve(merge, entry=with_mode(base, merge.entry.mode))

    def is_apart(self, slot: Slot) -> bool:
        base, ours, theirs = slot.versions
        is_link = ours is not None and not ours.mode.is_regular
        return super().is_apart(slot) or (is_link and ours != theirs and base not in {ours, theirs})

    def one_sided(self, slot: Slot) -> Entry | None:
        return slot.versions[Side.BASE] or super().one_sided(slot)

    def separate(self, path: str, slot: Slot) -> None:
        self.put(path, slot.versions[Side.BASE])
        self.conflict(path, ConflictKind.TYPE, slot)
