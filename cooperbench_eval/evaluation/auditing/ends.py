"""Sets aside whether the last line of a file ends in a newline.

A line that is added after a last line without a newline changes that one too, but is not about it.
So all files get the newline before their lines are followed. Of a feature that changes nothing
else in a file, this module says what became of it.
"""

from collections.abc import Iterator, Mapping

from cooperbench_eval.evaluation.auditing.lines import closed_entry
from cooperbench_eval.evaluation.auditing.tracking import Tracking
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.reporting.audits import AuditedEntry, AuditedFile, EntryAspect, Fate

__all__ = ["audited_ends", "with_ends"]


def with_ends(
    base: Snapshot, sides: Mapping[int, Changes], merged: Changes
) -> tuple[Snapshot, dict[int, Changes], Changes]:
    """Return the base, the sides and the merged tree with a newline at the end of each text.

    Only files that a side or the merged tree changes get it.
    """
    every = {path for changes in (*sides.values(), merged) for path in changes}
    before = {path: entry for path in every if (entry := base.get(path))}
    after = {path: closed_entry(entry) for path, entry in before.items()}
    if ended := {path: entry for path, entry in after.items() if entry is not before[path]}:
        base = base.overlay(Changes(ended))

    def closed(changes: Changes) -> Changes:
        found = {path: entry and closed_entry(entry) for path, entry in changes.items()}
        return Changes({p: e for p, e in found.items() if e != after.get(p)})

    return base, {number: closed(each) for number, each in sides.items()}, closed(merged)


def audited_ends(
    base: Snapshot, number: int, side: Changes, tracking: Tracking, tree: Snapshot
) -> Iterator[AuditedFile]:
    """Yield the files in which a side changes only the newline at the end.

    Args:
        base: The tree from which the side starts.
        number: The side's number.
        side: What it changes.
        tracking: The merged tree with its sides, without such changes.
        tree: The merged tree.
    """
    for path, entry in side.items():
        old = base.get(path)
        if entry is None or old is None or entry == old or _is_more(old, entry):
            continue
        places = (file.path for file in tracking.files if file.base_path == path)
        place = path if tree.get(path) else next((p for p in places if tree.get(p)), None)
        merged = tree.get(place) if place else None
        is_kept = merged is not None and _is_ended(merged) is _is_ended(entry)
        fate = Fate.KEPT if is_kept else Fate.LOST
        yield AuditedFile(
            feature=number,
            path=path,
            merged_path=place,
            entries=[AuditedEntry(aspect=EntryAspect.END, fate=fate)],
        )


def _is_more(old: Entry, new: Entry) -> bool:
    """Whether a change of an entry is about more than the newline at its end."""
    return closed_entry(old) != closed_entry(new)


def _is_ended(entry: Entry) -> bool:
    return closed_entry(entry) is entry
