"""Which of a strategy's own words are about which conflict of the naive merge.

A later rung of a cascade may count lines in a file that an earlier one has changed, so
rows of a file are taken only where together they name each of its conflicts once.
"""

from collections import defaultdict
from collections.abc import Sequence

from cooperbench_eval.models import Conflict, LedgerRow

__all__ = ["match_ledger"]


def match_ledger(
    conflicts: Sequence[Conflict], ledger: Sequence[LedgerRow]
) -> dict[int, LedgerRow]:
    """Return the row of each conflict, by the conflict's place, as far as there is one."""
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
