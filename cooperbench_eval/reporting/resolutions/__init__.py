"""The resolution of each conflict by a strategy, read from a report."""

from collections import defaultdict
from collections.abc import Sequence

from attrs import asdict

from cooperbench_eval.git.merging.conflicts import Conflict, LedgerRow, MergeStatus, Replacement
from cooperbench_eval.reporting.resolutions.records import ConflictResolution, ResolutionKind
from cooperbench_eval.reporting.rows import Attempt

__all__ = ["ConflictResolution", "ResolutionKind", "read_resolutions"]


def read_resolutions(
    conflicts: Sequence[Conflict], attempt: Attempt
) -> tuple[ConflictResolution, ...]:
    """Return a strategy's resolution of each of the naive merge's *conflicts*, in order."""
    recorded = {i: each for each in attempt.replacements for i in each.together}
    reason = "the report was written by an earlier version, which did not record resolutions"
    if attempt.replacements:
        reason = "the report does not record it"
    if attempt.status is MergeStatus.FAILED:
        reason = "the strategy failed"
    rows = _match_ledger(conflicts, attempt.ledger)
    found = []
    for i, conflict in enumerate(conflicts):
        unknown = Replacement(kind=ResolutionKind.UNKNOWN, together=(i,), reason=reason)
        values = asdict(recorded.get(i, unknown), recurse=False)
        found.append(ConflictResolution(conflict=conflict, ledger=rows.get(i), **values))
    return tuple(found)


def _match_ledger(
    conflicts: Sequence[Conflict], ledger: Sequence[LedgerRow]
) -> dict[int, LedgerRow]:
    """Return the ledger's row for each conflict, by the conflict's index.

    The line numbers of a later member of a cascade may be those of a file that an
    earlier member changed. The rows of a file are therefore used only if together they
    name each of its conflicts once.
    """
    matched: dict[int, LedgerRow] = {}
    places: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for i, conflict in enumerate(conflicts):
        places[conflict.path, conflict.has_lines].append(i)
    for (path, has_lines), numbers in places.items():
        rows = [row for row in ledger if row.path == path and (row.line is not None) == has_lines]
        at = {conflicts[i].line: place for place, i in enumerate(numbers)}
        named = [
            (place, row)
            for row in rows
            if row.line in at
            for place in range(at[row.line], min(at[row.line] + row.conflicts, len(numbers)))
        ]
        if sorted(place for place, _ in named) == list(range(len(numbers))):
            matched |= {numbers[place]: row for place, row in named}
    return matched
