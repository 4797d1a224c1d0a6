"""What a strategy put in the place of each conflict, told from the diffs of a report.

A report holds the naive merge and every strategy's as diffs against one base. Nothing
is guessed: where the diffs say too little, that is the answer. In the order in which
data goes:

- `records`: an answer, and the exception that says why there is none.
- `blocks`: a conflict between lines, as the naive merge shows it.
- `partial`: a file as far as diffs show it, as a text that can be compared.
- `occurrences`: where settled text stands in another, and whether it could stand
  elsewhere.
- `placing`: what stands in the places of a file's conflicts.
- `whole_files`: what a conflict of a file as a whole was answered with.
- `ledger`: which of the strategy's own words are about which conflict.
- `naive_merge`: all of it together, for each conflict of a report.
"""

from cooperbench_eval.reporting.resolutions.naive_merge import NaiveMerge
from cooperbench_eval.reporting.resolutions.records import ConflictResolution, ResolutionKind

__all__ = ["ConflictResolution", "NaiveMerge", "ResolutionKind"]
