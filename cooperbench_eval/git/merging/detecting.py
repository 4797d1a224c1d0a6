"""Finds both sides' renames: which paths are searched, and which renames git keeps."""

from collections.abc import Callable, Collection, Mapping

from attrs import frozen

from cooperbench_eval.git.merging.deferring import starts_again
from cooperbench_eval.git.merging.directories import FolderVotes, renamed_away
from cooperbench_eval.git.merging.renames import find_renames
from cooperbench_eval.git.merging.slots import Side, Slots
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Snapshot

__all__ = ["detect_renames"]

_Noticed = Callable[[Side], list[str]]


def detect_renames(
    base: Snapshot, slots: Slots, noticed: _Noticed
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the new path of each file that ours renamed, and the same of theirs.

    Args:
        base: The common ancestor.
        slots: The versions of each path.
        noticed: Returns the touched paths in the order in which git visits them on a side.
    """
    relevant = {side: _Relevant.of(base, slots, side) for side in (Side.OURS, Side.THEIRS)}
    found = {side: _find(base, slots, side, relevant[side], noticed) for side in relevant}
    if any(found.values()) and starts_again(base, slots):
        slots.searched.clear()
        found = {
            side: {old: new for old, new in renames.items() if old in relevant[side].paths}
            for side, renames in found.items()
        }
    return found[Side.OURS], found[Side.THEIRS]


@frozen
class _Relevant:
    """The paths that a side lacks and whose rename could change the merge.

    Attributes:
        changed: Those that the other side changed.
        paths: These, and those in a folder that the side may have renamed.
    """

    changed: frozenset[str]
    paths: frozenset[str]

    @classmethod
    def of(cls, base: Snapshot, slots: Slots, side: Side) -> "_Relevant":
        lacking = slots.lacking(side)
        changed = frozenset(
            p for p in lacking if slots[p].versions[side.other] != slots[p].versions[Side.BASE]
        )
        folders = renamed_away(base, slots, side) if lacking else ()
        located = {p for p in lacking if any(p.startswith(folder + "/") for folder in folders)}
        return cls(changed, changed | located)


def _find(
    base: Snapshot, slots: Slots, side: Side, relevant: _Relevant, noticed: _Noticed
) -> dict[str, str]:
    if not relevant.paths:
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
        return votes.find_decided(renames, pending) - relevant.changed

    return find_renames(deleted, added, relevant.paths, votes.guess, find_decided)
