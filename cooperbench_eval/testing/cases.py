"""The input of a strategy in a check, its outcome, and how both are shown to a person."""

from collections.abc import Iterator

from attrs import evolve, frozen

from cooperbench_eval.git.merging.tree import merge_changes
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.strategies.protocol import FeatureContext, MergeInput, MergeOutcome
from cooperbench_eval.testing.records import BrokenError, Counterexample

__all__ = [
    "Fingerprint",
    "MergeCase",
    "broken",
    "difference",
    "fingerprint",
    "has_line_conflicts",
    "shown_bytes",
    "shown_changes",
    "shown_outcome",
]

_SHOWN_BYTES = 300
_SHOWN_PATHS = 12
_FEATURES = (FeatureContext(number=2, description="Add b."), FeatureContext(number=1))


@frozen(kw_only=True)
class MergeCase:
    """One input of a strategy: a base tree, two sides, and perhaps their descriptions."""

    base: Snapshot
    ours: Changes
    theirs: Changes
    is_described: bool = False

    @property
    def swapped(self) -> "MergeCase":
        """The same case with the sides swapped."""
        return evolve(self, ours=self.theirs, theirs=self.ours)

    def fresh_input(self) -> MergeInput:
        """Return a new input for a strategy, which shares no object with earlier inputs."""
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
        base = Changes(_entries_of(self.base))
        parts = (("base", base), ("ours", self.ours), ("theirs", self.theirs))
        return "\n".join(f"{name:<6} {line}" for name, side in parts for line in _rows(side))


def has_line_conflicts(given: MergeInput, path: str) -> bool:
    """Whether lines of the file at *path* conflict."""
    return any(conflict.has_lines for conflict in given.conflicts if conflict.path == path)


def broken(case: MergeCase, *, came: str | MergeOutcome, wanted: str) -> BrokenError:
    """Return the error for a law that is broken in *case*."""
    shown = came if isinstance(came, str) else shown_outcome(came, case.base)
    return BrokenError(Counterexample(given=str(case), came=shown, wanted=wanted))


# The facts that must be the same each time: first the outcome as shown to a person, then the
# facts that are not shown, which are the tree's id and the ledger.
Fingerprint = tuple[str, str]


def fingerprint(outcome: MergeOutcome, base: Snapshot) -> Fingerprint:
    """Return everything about *outcome* that must be the same each time."""
    details = [outcome.tree_id(base), *map(str, outcome.ledger)]
    return shown_outcome(outcome, base), "\n".join(details)


def difference(one: Fingerprint, other: Fingerprint) -> tuple[str, str] | None:
    """Return the first part of each that differs, if any."""
    return next((pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]), None)


def shown_outcome(outcome: MergeOutcome, base: Snapshot) -> str:
    """Show the merged tree and the open conflicts."""
    lines = [shown_changes(outcome.changes, base)]
    for conflict in outcome.conflicts:
        line = f", line {conflict.line}" if conflict.has_lines else ""
        lines.append(f"an open conflict ({conflict.kind.value}) in {conflict.path!r}{line}")
    if outcome.conflicts_met and not outcome.conflicts:
        lines.append("no open conflict")
    return "\n".join(lines)


def shown_changes(changes: Changes, base: Snapshot) -> str:
    """Show the effect of *changes* on the base, file by file."""
    return "\n".join(_rows(Changes(_entries_of(base.overlay(changes)))))


def shown_bytes(data: bytes) -> str:
    """Show *data*, without the middle if it is long."""
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
