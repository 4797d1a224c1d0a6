"""What a strategy made of each conflict of a pair."""

from collections import defaultdict
from collections.abc import Sequence

from attrs import asdict, field, frozen

from cooperbench_eval.git.merging.conflicts import (
    Conflict,
    LedgerRow,
    MergeStatus,
    Replacement,
    ResolutionKind,
)
from cooperbench_eval.reporting.identity import beginning_with
from cooperbench_eval.reporting.rows import Attempt


@frozen(kw_only=True, field_transformer=beginning_with("conflict", "kind", "text", "together"))
class ConflictResolution(Replacement):
    """A strategy's resolution of one conflict of the naive merge.

    Attributes:
        conflict: The conflict.
        kind: What the strategy did with it.
        text: The text that replaced it. For a conflict about a whole file, the contents
            of the file. `None` unless *kind* is `TEXT`.
        together: The indexes, among the report's conflicts, of all conflicts that *text*
            replaced, this one included. There are several if the strategy replaced them by one
            text, or if the text could be divided between them in several ways; *text*
            then also contains the settled lines between them.
        lines_before: How many settled lines before the first of them *text* also replaced.
        lines_after: How many settled lines after the last of them *text* also replaced.
        is_exact: Whether *text* is certain. It is uncertain if the strategy changed lines
            outside of conflicts, or if an indented copy of settled lines might be theirs.
        reason: Why it is not known what the strategy did; empty otherwise.
        ledger: The row of the strategy's ledger that is about this conflict; `None` if
            there is none, or if the rows of the file do not match its conflicts.
    """

    conflict: Conflict
    ledger: LedgerRow | None = field(default=None, repr=False)


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
