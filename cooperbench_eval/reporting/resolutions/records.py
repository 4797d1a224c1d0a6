"""The record of a strategy's resolution of one conflict."""

from attrs import field, frozen

from cooperbench_eval.git.merging.conflicts import Conflict, LedgerRow, ResolutionKind
from cooperbench_eval.support.arguments import named_fields

__all__ = ["ConflictResolution", "ResolutionKind"]


@frozen(kw_only=True, field_transformer=named_fields)
class ConflictResolution:
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
    kind: ResolutionKind = field(converter=ResolutionKind)
    text: bytes | None = field(default=None, repr=False)
    together: tuple[int, ...] = field(converter=tuple[int, ...])
    lines_before: int = 0
    lines_after: int = 0
    is_exact: bool = True
    reason: str = ""
    ledger: LedgerRow | None = field(default=None, repr=False)
