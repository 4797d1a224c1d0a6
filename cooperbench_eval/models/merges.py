"""Conflicts, how they were resolved, and how they are measured."""

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Self

from attrs import field, fields, frozen

from cooperbench_eval.display.shown import Shown

__all__ = [
    "USAGE",
    "Conflict",
    "ConflictBlock",
    "ConflictDetails",
    "ConflictKind",
    "FileConflicts",
    "LedgerRow",
    "MergeStatus",
    "ModelUsage",
    "Replacement",
    "ResolutionKind",
    "Severity",
    "UsageTotals",
    "total_usage",
]


def _check_amount(_: object, attribute: Any, value: float | None) -> None:
    """Refuse numbers that JSON cannot hold, which a plug-in may have measured."""
    if value is not None and not 0 <= value < math.inf:
        raise ValueError(f"{attribute.name} is {value}")


class MergeStatus(StrEnum):
    """How a merge ended."""

    CLEAN = "clean"
    """No conflict was met."""
    RESOLVED = "resolved"
    """Conflicts were met and none is left."""
    CONFLICTED = "conflicts"
    """Some conflicts are left open."""
    FAILED = "failed"
    """The strategy could not do its work."""
    NOT_TRIED = "not_tried"
    """A side was missing, so there was nothing to merge."""


class ConflictKind(StrEnum):
    """Why the sides disagree at a place."""

    CONTENT = "content"
    """Both sides changed the same lines of a file."""
    ADD_ADD = "add/add"
    """Both sides added the file, with different lines."""
    BINARY = "binary"
    """Both sides changed a file that is not text."""
    MODIFY_DELETE = "modify/delete"
    """One side changed the file, the other deleted it."""
    MODE = "mode"
    """Both sides changed what may be done with the file, differently."""
    TYPE = "type"
    """The sides made different kinds of entry of one path."""
    FILE_DIRECTORY = "file/directory"
    """One side has a file where the other has a directory."""
    SUBMODULE = "submodule"
    """Both sides moved a submodule to different commits."""
    SYMLINK = "symlink"
    """Both sides pointed a symbolic link at different targets."""
    RENAME_RENAME = "rename/rename"
    """The sides renamed one file to different names."""
    RENAME_ADD = "rename/add"
    """Two different files ended at one name, at least one of them by renaming."""
    RENAME_DELETE = "rename/delete"
    """One side renamed the file, the other deleted it."""
    DIRECTORY_RENAME = "directory rename"
    """One side added to a directory which the other renamed."""


@frozen(kw_only=True)
class Conflict:
    """One place where the sides disagree.

    Where *kind* has lines of its own (`CONTENT`, `ADD_ADD`), the three texts are
    the lines of this place only; for other kinds they are whole contents. `None`
    stands for "no such entry on that side".

    Attributes:
        path: Where the conflict stands in the merged tree.
        kind: Why the sides disagree.
        base: The common ancestor's text. For one of several conflicts that git
            splits out of a larger region it is the part of the region's base
            that aligns with it.
        ours: Our text.
        theirs: Their text.
        line: Where the opening marker stands in the merged file, counted from
            1; `None` for a conflict without markers.
        newline: How the lines around end, for a text that must be ended.
    """

    path: str
    kind: ConflictKind = field(default=ConflictKind.CONTENT, converter=ConflictKind)
    base: bytes | None = field(repr=False)
    ours: bytes | None = field(repr=False)
    theirs: bytes | None = field(repr=False)
    line: int | None = None
    newline: bytes = field(default=b"\n", repr=False)

    @property
    def has_lines(self) -> bool:
        """Whether git shows this conflict between markers."""
        return self.line is not None


@frozen(kw_only=True)
class ConflictBlock:
    """The lines of a file that both sides changed, in one piece.

    Git splits a region that both sides changed at the lines which they happen to
    share, and so two new functions may become three conflicts. A block is the region
    as it was before, with the conflicts it became.

    Attributes:
        path: The file in the merged tree.
        base: The lines both started from.
        ours: Our lines.
        theirs: Their lines.
        newline: How the lines around end.
        conflicts: The open conflicts it became, in order.
        files: The whole file in base, ours and theirs.
    """

    path: str
    base: bytes = field(repr=False)
    ours: bytes = field(repr=False)
    theirs: bytes = field(repr=False)
    newline: bytes = field(default=b"\n", repr=False)
    conflicts: tuple[Conflict, ...] = field(repr=False)
    files: tuple[bytes, bytes, bytes] = field(repr=False)


class ResolutionKind(StrEnum):
    """What a strategy did about a conflict."""

    TEXT = "text"
    """It put a text in the conflict's place."""
    DELETED = "deleted"
    """It deleted the file."""
    OPEN = "open"
    """It left the conflict as the naive merge has it."""
    UNKNOWN = "unknown"
    """It is not known."""


@frozen(kw_only=True)
class Replacement:
    """What stands in a merged tree in the place of one or several conflicts.

    Attributes:
        kind: What the strategy did about them.
        together: The places of these conflicts among all conflicts of the naive merge,
            counted from 0. There are several if the strategy replaced them in one
            piece, or if the text could be divided between them in several ways.
        text: The text that replaced them and the settled lines between them; the
            contents of the whole file if the conflict has no lines of its own; `None`
            unless *kind* is `TEXT`.
        lines_before: How many settled lines before the first of them the text replaced
            as well.
        lines_after: How many settled lines after the last of them it replaced as well.
        is_exact: Whether the strategy changed nothing in the file outside of its
            conflicts. If it did, the place of the text is taken from a line diff.
        reason: Why *kind* is `UNKNOWN`; empty otherwise.
    """

    kind: ResolutionKind = field(converter=ResolutionKind)
    together: tuple[int, ...] = field(converter=tuple[int, ...])
    text: bytes | None = field(default=None, repr=False)
    lines_before: int = 0
    lines_after: int = 0
    is_exact: bool = True
    reason: str = ""


@frozen(kw_only=True)
class LedgerRow:
    """What became of one conflict, or of the conflicts of one block.

    Attributes:
        path: The file.
        line: Where its first opening marker stood in git's merged file.
        conflicts: How many of git's conflicts it is.
        shape: What either side did, such as `insert/insert` or `edit/delete`.
        strategy: Which strategy of a cascade it was; empty outside of one.
        rule: What resolved it; empty if it is open.
        reason: Why it is open; empty if it is resolved.
        ours_kept: The share of the tokens that ours added which the resolution has,
            from 0 to 1; `None` if it is open or that was not measured.
        theirs_kept: The same share for theirs.
        attempts: How often a model was asked; `None` if none was.
        invented_lines: Lines of a model's answer that occur in no version.
    """

    path: str
    line: int | None = None
    conflicts: int = 1
    shape: str = ""
    strategy: str = ""
    rule: str = ""
    reason: str = ""
    ours_kept: float | None = field(default=None, validator=_check_amount)
    theirs_kept: float | None = field(default=None, validator=_check_amount)
    attempts: int | None = None
    invented_lines: int | None = None

    @classmethod
    def left_open(cls, conflict: Conflict, reason: str) -> Self:
        """Make the row of a conflict that stays open."""
        kind = conflict.kind.value
        return cls(path=conflict.path, line=conflict.line, shape=kind, reason=reason)

    @property
    def is_open(self) -> bool:
        """Whether it stays open."""
        return not self.rule


@frozen(kw_only=True)
class ModelUsage:
    """What one model was asked in one merge, and what that cost.

    Attributes:
        model: The model, as the provider names it.
        prompt_version: Which texts it was asked with.
        requests: How often it was asked, answered or not.
        prompt_tokens: Tokens read, cached ones included.
        completion_tokens: Tokens written.
        cached_tokens: Tokens read that the provider had in its cache.
        cost_usd: What it cost; `None` if no price is known.
        latency_seconds: How long the answers took, added up.
    """

    model: str = ""
    prompt_version: str = ""
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = field(default=None, validator=_check_amount)
    latency_seconds: float = field(default=0.0, validator=_check_amount)


@frozen(kw_only=True)
class UsageTotals:
    """What requests to models add up to.

    Attributes:
        requests: How many requests were made, answered or not.
        unpriced_requests: How many of them have no known price.
        prompt_tokens: Tokens that the models read.
        completion_tokens: Tokens that they wrote.
        cost_usd: What the requests with a known price cost; `None` if there were
            requests and none has a known price.
    """

    requests: int = 0
    unpriced_requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: "UsageTotals") -> "UsageTotals":
        """Add the totals of more requests."""
        amounts = (other.requests, other.prompt_tokens, other.completion_tokens, other.cost_usd)
        if not any(amounts):
            return self
        requests = self.requests + other.requests
        unpriced = self.unpriced_requests + other.unpriced_requests
        cost = (self.cost_usd or 0.0) + (other.cost_usd or 0.0)
        return UsageTotals(
            requests=requests,
            unpriced_requests=unpriced,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost_usd=None if requests and requests == unpriced else cost,
        )


USAGE = tuple(each.name for each in fields(UsageTotals))
"""The names under which the use of models is reported."""


def total_usage(usage: Iterable[ModelUsage]) -> UsageTotals:
    """Add up what each model was asked in one merge."""
    usage = tuple(usage)
    requests = sum(each.requests for each in usage)
    unpriced = sum(each.requests for each in usage if each.cost_usd is None)
    cost = sum(each.cost_usd for each in usage if each.cost_usd is not None)
    return UsageTotals(
        requests=requests,
        unpriced_requests=unpriced,
        prompt_tokens=sum(each.prompt_tokens for each in usage),
        completion_tokens=sum(each.completion_tokens for each in usage),
        cost_usd=None if requests and requests == unpriced else float(cost),
    )


class Severity(StrEnum):
    """A conflict score in one word."""

    NONE = "NONE"
    """The score is 0."""
    LOW = "LOW"
    """At most 20."""
    MEDIUM = "MEDIUM"
    """At most 50."""
    HIGH = "HIGH"
    """At most 100."""
    CRITICAL = "CRITICAL"
    """Above 100."""


@frozen(kw_only=True)
class FileConflicts:
    """The measured conflicts of one file.

    Attributes:
        path: The file.
        sections: Conflict regions, plus one for each conflict without lines.
        lines: Lines of both sides between the markers, markers not counted.
        score: The two, weighed.
    """

    path: str
    sections: int
    lines: int
    score: int


@frozen(kw_only=True)
class ConflictDetails(Shown):
    """Measured conflicts of a merge; sums over its files.

    Attributes:
        conflict_sections: Conflict regions that `git merge` leaves, plus one for
            each conflict without lines of its own.
        conflict_lines: Lines of both sides between the markers.
        conflict_score: The two, weighed.
        severity: The score in one word.
        files: The same for each file, by path.
    """

    _view = "cooperbench_eval.views.pairs:details_view"

    conflict_sections: int
    conflict_lines: int
    conflict_score: int
    severity: Severity = field(converter=Severity)
    files: tuple[FileConflicts, ...] = field(default=(), converter=tuple[FileConflicts, ...])

    @property
    def avg_lines_per_conflict(self) -> float:
        """Lines for each section; 0.0 if there is no section."""
        if not self.conflict_sections:
            return 0.0
        return self.conflict_lines / self.conflict_sections
