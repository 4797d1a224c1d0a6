"""Says why a merge by structure leaves conflicts open, for strategies that may do more."""

from collections.abc import Mapping

from cooperbench_eval.errors import StrategyFailedError
from cooperbench_eval.strategies.protocol import MergeInput
from cooperbench_eval.strategies.run import run_strategy
from cooperbench_eval.strategies.structured.strategy import StructuredStrategy


def why_not_structural(merge_input: MergeInput) -> Mapping[tuple[str, int | None], str]:
    """Return the reason for each conflict that `structured` leaves open, by path and line.

    A reason is left out if `structured` could not read the file, or if its text was rejected.
    """
    try:
        ledger = run_strategy(StructuredStrategy(), merge_input).ledger
    except StrategyFailedError:
        return {}
    lines: dict[str, list[int | None]] = {}
    for conflict in merge_input.conflicts:
        lines.setdefault(conflict.path, []).append(conflict.line)
    found: dict[tuple[str, int | None], str] = {}
    for row in ledger:
        if row.is_open and not row.is_provisional and row.line in lines[row.path]:
            start = lines[row.path].index(row.line)
            covered = lines[row.path][start : start + row.conflicts]
            found |= {(row.path, line): row.reason for line in covered}
    return found
