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
    """Every change found its place."""
    PARTIAL = "partial"
    """Some change found no place and was left out, as the policy allows."""
    EMPTY = "empty"
    """The patch changes nothing."""
    FAILED = "failed"
    """Some change found no place, so none was made."""
    NOT_TRIED = "not_tried"
    """The pair was not evaluated, so this is not known."""


class Rung(StrEnum):
    """How a hunk was placed, from strict to lenient."""

    EXACT = "exact"
    """At the stated line, or shifted only by the hunks before it."""
    OFFSET = "offset"
    """Its lines stand elsewhere; the nearest place was taken."""
    WHITESPACE = "whitespace"
    """Its lines stand there but for runs of white space."""
    THREE_WAY = "three_way"
    """The file it was made from is known; what changed since was merged."""
    RECOUNT = "recount"
    """Its header miscounts its lines; they were counted anew."""
    FUZZY = "fuzzy"
    """Most of its lines stand there, and at no other place."""


@frozen(kw_only=True)
class HunkPlacement:
    """Where one change of a patch went.

    Attributes:
        path: The file; empty if the patch cannot be read.
        hunk: The hunk's number in its file, counted from 1; `None` for what
            concerns the file as a whole (creation, deletion, mode, binary).
        rung: How it was placed; `None` if it was not.
        offset: Lines between the stated place and the one taken.
        reason: Why it was refused; else empty.
        uncounted_lines: Changed lines directly after the hunk that its header does
            not count. They were not applied; `git apply` ignores them as well.
    """

    path: str
    hunk: int | None = None
    rung: Rung | None = None
    offset: int = 0
    reason: str = ""
    uncounted_lines: int = 0
