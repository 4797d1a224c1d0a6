"""Whether and where a patch was applied."""

from enum import StrEnum

from attrs import frozen

__all__ = [
    "HunkPlacement",
    "PatchStatus",
    "Rung",
]


class PatchStatus(StrEnum):
    """Whether and where a patch was applied."""

    APPLIED = "applied"
    """Every change was applied."""
    PARTIAL = "partial"
    """Some changes could not be placed and were left out, as the policy allows."""
    EMPTY = "empty"
    """The patch changes nothing."""
    FAILED = "failed"
    """Some change could not be placed, so no change was applied."""
    NOT_TRIED = "not_tried"
    """The pair was not evaluated, so this is not known."""

    @property
    def is_usable(self) -> bool:
        """Whether the patch gives a side to merge."""
        return self in {PatchStatus.APPLIED, PatchStatus.PARTIAL}


class Rung(StrEnum):
    """How a hunk was placed, from strict to lenient."""

    EXACT = "exact"
    """At the stated line, or shifted only by the hunks before it."""
    OFFSET = "offset"
    """Its lines are elsewhere; the nearest place was used."""
    WHITESPACE = "whitespace"
    """Its lines are at the place that was used, with different runs of white space."""
    THREE_WAY = "three_way"
    """The file that the patch was made from is known, and later changes of it were merged."""
    RECOUNT = "recount"
    """Its header states wrong numbers of lines; the lines were counted again."""
    FUZZY = "fuzzy"
    """Most of its lines are at the place that was used, and no other place qualifies."""


@frozen(kw_only=True)
class HunkPlacement:
    """How one change of a patch was placed.

    Attributes:
        path: The file; empty if the patch cannot be read.
        hunk: The hunk's number in its file, counted from 1; `None` for a change of the
            file as a whole (creation, deletion, mode, binary).
        rung: How it was placed; `None` if it was not.
        offset: The number of lines from the stated place to the actual one.
        reason: Why it was refused; empty if it was not.
        uncounted_lines: Changed lines directly after the hunk that its header does
            not count. They were not applied; `git apply` ignores them as well.
    """

    path: str
    hunk: int | None = None
    rung: Rung | None = None
    offset: int = 0
    reason: str = ""
    uncounted_lines: int = 0
