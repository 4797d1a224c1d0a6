"""What is told of one conflict, and the exception that says why it cannot be told."""

from enum import StrEnum

from attrs import field, frozen

from cooperbench_eval.models import Conflict, LedgerRow

__all__ = ["ConflictResolution", "ResolutionKind", "UndeterminedError"]


class UndeterminedError(Exception):
    """The diffs do not say it; the argument says why. It becomes an answer's reason."""


class ResolutionKind(StrEnum):
    """What became of one conflict under a strategy."""

    TEXT = "text"
    """A text took its place."""
    DELETED = "deleted"
    """The file it stood in is gone."""
    OPEN = "open"
    """It is as the naive merge left it."""
    UNKNOWN = "unknown"
    """It cannot be told."""


@frozen(kw_only=True)
class ConflictResolution:
    """What a strategy made of one conflict of the naive merge.

    Attributes:
        conflict: The conflict.
        kind: What became of it.
        text: What stands in its place, or the whole file where the conflict has no
            lines of its own; `None` unless *kind* is `TEXT`.
        together: The places among the report's conflicts of all that *text* stands
            for, this one included. More than one where the strategy resolved them in
            one piece, or where it cannot be told which part is whose; the settled
            lines between them are then in *text* as well.
        lines_before: How many settled lines before the first of them the strategy
            seems to have changed too, so that *text* stands for these as well.
        lines_after: Likewise behind the last of them.
        is_exact: Whether the file is the naive merge's but for its conflicts, as far as
            the diffs tell. Else settled lines seem to be changed too, so the place is
            uncertain: it is where lines of the base that were not changed say it is. In
            a file that repeats itself this may be so where none was changed.
        reason: Why it cannot be told; else empty.
        ledger: The strategy's own words on it, if it says any and they can be matched.
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
