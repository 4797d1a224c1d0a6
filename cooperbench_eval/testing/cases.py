"""What a strategy is asked in a check, and how that is told to a person."""

from collections.abc import Iterator

from attrs import evolve, frozen

from cooperbench_eval.merging.tree import merge_changes
from cooperbench_eval.models import Entry, FileMode
from cooperbench_eval.snapshot import Changes, Snapshot
from cooperbench_eval.strategies.protocol import FeatureContext, MergeInput

__all__ = ["MergeCase", "has_line_conflicts", "shown_bytes", "shown_changes"]

_SHOWN_BYTES = 300
_SHOWN_PATHS = 12
_FEATURES = (FeatureContext(number=2, description="Add b."), FeatureContext(number=1))


@frozen(kw_only=True)
class MergeCase:
    """One question to a strategy: a base tree and two sides.

    Attributes:
        base: The common ancestor.
        ours: The side that is merged into.
        theirs: The side that is merged.
        is_described: Whether the strategy is told of the sides' features.
    """

    base: Snapshot
    ours: Changes
    theirs: Changes
    is_described: bool = False

    @property
    def swapped(self) -> "MergeCase":
        """The same with the sides in each other's place."""
        return evolve(self, ours=self.theirs, theirs=self.ours)

    def fresh_input(self) -> MergeInput:
        """Make what a strategy is given, of which nothing was used before."""
        base = Snapshot.from_files(_entries_of(self.base))
        ours, theirs = Changes(dict(self.ours)), Changes(dict(self.theirs))
        return MergeInput(
            base=base,
            ours=ours,
            theirs=theirs,
            merge=merge_changes(base, ours, theirs),
            ours_feature=_FEATURES[0] if self.is_described else None,
            theirs_feature=_FEATURES[1] if self.is_described else None,
        )

    def __str__(self) -> str:
        """Tell each version of each file."""
        base = Changes(_entries_of(self.base))
        parts = (("base", base), ("ours", self.ours), ("theirs", self.theirs))
        return "\n".join(f"{name:<6} {line}" for name, side in parts for line in _rows(side))


def has_line_conflicts(given: MergeInput, path: str) -> bool:
    """Whether lines of the file at *path* conflict."""
    return any(conflict.has_lines for conflict in given.conflicts if conflict.path == path)


def shown_changes(changes: Changes, base: Snapshot) -> str:
    """Tell what a base tree becomes with *changes*, file by file."""
    return "\n".join(_rows(Changes(_entries_of(base.overlay(changes)))))


def shown_bytes(data: bytes) -> str:
    """Tell *data*, without the middle if it is long."""
    if len(data) <= _SHOWN_BYTES:
        return repr(data)
    half = _SHOWN_BYTES // 2
    return f"{data[:half]!r} … {data[-half:]!r} ({len(data):,} bytes)"


def _entries_of(tree: Snapshot) -> dict[str, Entry]:
    found = ((path, tree.get(path)) for path in tree.paths())
    return {path: entry for path, entry in found if entry is not None}


def _rows(changes: Changes) -> Iterator[str]:
    if not changes:
        yield "(nothing)"
    for number, (path, entry) in enumerate(changes.items()):
        if number == _SHOWN_PATHS:
            yield f"… and {len(changes) - number:,} more"
            return
        if entry is None:
            yield f"{path!r}: deleted"
            continue
        mode = "" if entry.mode is FileMode.FILE else f" ({entry.mode.name.lower()})"
        yield f"{path!r}{mode}: {shown_bytes(entry.data)}"
