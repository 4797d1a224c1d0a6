"""Records of conflicts and their resolutions, and how conflicts are measured."""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

from attrs import field, frozen, validators

from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.support.arguments import checked, checked_fields, named_fields
from cooperbench_eval.support.rendering.shown import Shown


def _check_amount(_: object, attribute: Any, value: float | None) -> None:
    """Refuse negative, infinite and NaN values, which a plug-in may report."""
    if value is not None and not 0 <= value < math.inf:
        raise ValueError(f"{attribute.name} must be a finite number of at least 0, not {value}")


class MergeStatus(StrEnum):
    """How a merge ended."""

    CLEAN = "clean"
    """The merge had no conflict."""
    RESOLVED = "resolved"
    """The merge had conflicts, and all of them were resolved."""
    CONFLICTED = "conflicts"
    """Some conflicts are still open."""
    FAILED = "failed"
    """The strategy failed."""
    NOT_TRIED = "not_tried"
    """A side was missing, so there was nothing to merge."""


_WORST_FIRST = (MergeStatus.FAILED, MergeStatus.CONFLICTED, MergeStatus.RESOLVED)


def worst_end(statuses: Iterable[MergeStatus]) -> MergeStatus:
    """Return how several merges ended: as the one that ended worst."""
    found = set(statuses)
    return next((each for each in _WORST_FIRST if each in found), MergeStatus.CLEAN)


class ConflictKind(StrEnum):
    """Why the two sides conflict."""

    CONTENT = "content"
    """Both sides changed the same lines of a file."""
    ADD_ADD = "add/add"
    """Both sides added the file, with different lines."""
    BINARY = "binary"
    """Both sides changed a file that is not text."""
    MODIFY_DELETE = "modify/delete"
    """One side changed the file, the other deleted it."""
    MODE = "mode"
    """The sides set different modes (executable or not) for the file."""
    TYPE = "type"
    """The sides have different kinds of entry at the same path."""
    FILE_DIRECTORY = "file/directory"
    """One side has a file where the other has a directory."""
    SUBMODULE = "submodule"
    """Both sides moved a submodule to different commits."""
    SYMLINK = "symlink"
    """The sides gave a symbolic link different targets."""
    RENAME_RENAME = "rename/rename"
    """The sides renamed the same file to different names."""
    RENAME_ADD = "rename/add"
    """Two different files have the same new name, at least one of them by a rename."""
    RENAME_DELETE = "rename/delete"
    """One side renamed the file, the other deleted it."""
    DIRECTORY_RENAME = "directory rename"
    """One side added a file to a directory that the other side renamed."""


class _Lazy:
    __slots__ = ("_versions",)  # the entries of a whole conflict; their data is not read yet


@frozen(kw_only=True, field_transformer=named_fields)
class Conflict(_Lazy):
    """One conflict between the two sides of a merge.

    If the conflict is between lines (`CONTENT`, `ADD_ADD`), the three texts are only the
    lines in conflict. For other kinds they are whole contents, and `None` means that the
    version has no such entry.

    Attributes:
        path: The path of the conflict in the merged tree.
        kind: Why the sides conflict.
        base: The common ancestor's text. If git splits a larger region into several
            conflicts, this is the part of the region's base that corresponds to
            this conflict.
        ours: The text of ours.
        theirs: The text of theirs.
        line: The line of the opening marker in the merged file, counted from 1; `None`
            for a conflict without markers.
        newline: The line ending of the lines around it, for a text that needs one.
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

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Return a text that is not read yet."""
            if name in _TEXTS:
                entry = self._versions[_TEXTS.index(name)]
                return None if entry is None else entry.data
            raise AttributeError(name)


_TEXTS = ("base", "ours", "theirs")


def whole_conflict(path: str, kind: ConflictKind, versions: Sequence[Entry | None]) -> Conflict:
    """Return a conflict between the entries of base, ours and theirs.

    Git reports such a conflict without reading contents, so a text is read only when it is used.
    """
    conflict = Conflict.__new__(Conflict)
    known = {"path": path, "kind": kind, "line": None, "newline": b"\n"}
    for name, value in {**known, "_versions": tuple(versions)}.items():
        object.__setattr__(conflict, name, value)
    return conflict


_PROBLEMS = {
    ConflictKind.BINARY: "both sides change the file, which is not text",
    ConflictKind.MODIFY_DELETE: "{one} changes the file, {other} deletes it",
    ConflictKind.MODE: "the sides set different modes (executable or not)",
    ConflictKind.TYPE: "the sides have different kinds of entry here",
    ConflictKind.FILE_DIRECTORY: "{one} has a file here, {other} a directory",
    ConflictKind.SUBMODULE: "the sides move the submodule to different commits",
    ConflictKind.SYMLINK: "the sides give the symbolic link different targets",
    ConflictKind.RENAME_RENAME: "the sides rename the file to different names",
    ConflictKind.RENAME_ADD: "two different files would have this name",
    ConflictKind.RENAME_DELETE: "{one} renames the file, {other} deletes it",
    ConflictKind.DIRECTORY_RENAME: "{one} adds the file to a directory that {other} renames",
}


def why_whole(conflict: Conflict) -> str:
    """Say why the sides conflict in a file as a whole."""
    one, other = ("ours", "theirs") if conflict.theirs is None else ("theirs", "ours")
    return _PROBLEMS.get(conflict.kind, "it has no lines").format(one=one, other=other)


@frozen(kw_only=True)
class ConflictBlock:
    """A region of a file that both sides changed, before git split it.

    Git splits such a region at lines that both sides have, often by chance. So two new
    functions may become three conflicts. A block is the whole region, with the conflicts
    into which it was split.

    Attributes:
        path: The file in the merged tree.
        base: The lines of the base.
        ours: The lines of ours.
        theirs: The lines of theirs.
        newline: The line ending of the lines around it.
        conflicts: The open conflicts into which it was split, in order.
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
    """What a strategy did with a conflict."""

    TEXT = "text"
    """It replaced the conflict by a text."""
    DELETED = "deleted"
    """It deleted the file."""
    OPEN = "open"
    """It left the conflict open, as in the naive merge."""
    UNKNOWN = "unknown"
    """The resolution is not known."""


@frozen(kw_only=True, field_transformer=named_fields)
class Replacement:
    """What a merged tree has in the place of one conflict, or of several.

    Attributes:
        kind: What the strategy did with the conflicts.
        together: The indexes of these conflicts among all conflicts of the naive merge,
            counted from 0. There are several if the strategy replaced them by one text,
            or if the text could be divided between them in several ways.
        text: The text that replaced them and the settled lines between them. For a
            conflict about a whole file, the contents of the file. `None` unless *kind*
            is `TEXT`.
        lines_before: How many settled lines before the first conflict the text also replaced.
        lines_after: How many settled lines after the last conflict the text also replaced.
        is_exact: Whether the text is certain. It is uncertain if the strategy changed lines
            outside of conflicts, or if an indented copy of settled lines might be theirs.
        reason: Why *kind* is `UNKNOWN`; empty otherwise.
    """

    kind: ResolutionKind = field(converter=ResolutionKind)
    together: tuple[int, ...] = field(converter=tuple[int, ...])
    text: bytes | None = field(default=None, repr=False)
    lines_before: int = 0
    lines_after: int = 0
    is_exact: bool = True
    reason: str = ""


@frozen(kw_only=True, field_transformer=named_fields)
class LedgerRow:
    """The resolution of one conflict, or of the conflicts of one block.

    Attributes:
        path: The file.
        line: The line of its first opening marker in git's merged file.
        conflicts: The number of git's conflicts that this row covers.
        shape: What each side did, such as `insert/insert` or `edit/delete`.
        strategy: The member of a cascade that resolved the conflict, or that gave the reason;
            empty outside of a cascade.
        rule: The rule that resolved it; empty if it is open.
        reason: Why it is open; empty if it is resolved.
        is_binding: Whether the reason holds for any text with both sides' changes, because the
            changes work against each other. A cascade then leaves all open conflicts of the
            file open, without asking later members about them.
        is_provisional: Whether another strategy may know a better reason: this one could not read
            the file, or its text was rejected. A cascade prefers the reason of a later member.
        ours_line: The line of ours at which an open conflict begins, counted from 1; `None` if
            it is resolved or has no lines.
        theirs_line: The same line of theirs.
        ours_kept: The share (0 to 1) of the tokens added by ours that the resolution
            keeps; `None` if it is open, or if the share was not measured.
        theirs_kept: The same share for theirs.
        attempts: How often a model was asked; `None` if no model was asked.
        invented_lines: The number of lines of a model's answer that occur in no version.
        features: The numbers of the features that the conflict is between; the last one was
            being merged into the others. Empty outside of an evaluation.
    """

    path: str
    line: int | None = None
    conflicts: int = 1
    shape: str = ""
    strategy: str = ""
    rule: str = ""
    reason: str = ""
    is_binding: bool = False
    is_provisional: bool = False
    ours_line: int | None = None
    theirs_line: int | None = None
    ours_kept: float | None = field(default=None, validator=_check_amount)
    theirs_kept: float | None = field(default=None, validator=_check_amount)
    attempts: int | None = None
    invented_lines: int | None = None
    features: tuple[int, ...] = field(default=(), converter=tuple[int, ...])

    @classmethod
    @checked
    def left_open(cls, conflict: Conflict, reason: str) -> Self:
        """Make the row of a conflict that stays open."""
        kind = conflict.kind.value
        return cls(path=conflict.path, line=conflict.line, shape=kind, reason=reason)

    @property
    def is_open(self) -> bool:
        """Whether it stays open."""
        return not self.rule


@frozen(kw_only=True, field_transformer=named_fields)
class ModelUsage:
    """The requests to one model in one merge, and their cost.

    Attributes:
        model: The model, as the provider names it.
        prompt_version: The version of the prompts.
        requests: The number of requests, answered or not.
        prompt_tokens: The number of tokens read, cached ones included.
        completion_tokens: The number of tokens written.
        cached_tokens: The number of tokens read that the provider had in its cache.
        cost_usd: The cost; `None` if no price is known.
        latency_seconds: The sum of the times that the answers took.
    """

    model: str = ""
    prompt_version: str = ""
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = field(default=None, validator=_check_amount)
    latency_seconds: float = field(default=0.0, validator=_check_amount)


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
        sections: The number of conflict regions, plus one for each conflict without lines.
        lines: The number of lines of both sides between the markers.
        score: The weighted sum of sections and lines.
    """

    path: str
    sections: int
    lines: int
    score: int


@frozen(kw_only=True, field_transformer=named_fields)
class ConflictDetails(Shown):
    """The measured conflicts of a merge; the numbers are sums over its files.

    Attributes:
        conflict_sections: The number of conflict regions that `git merge` leaves, plus
            one for each conflict without lines.
        conflict_lines: The number of lines of both sides between the markers.
        conflict_score: The weighted sum of sections and lines.
        severity: The score in one word.
        files: The same numbers for each file, by path.
    """

    conflict_sections: int
    conflict_lines: int
    conflict_score: int
    severity: Severity = field(converter=Severity)
    files: tuple[FileConflicts, ...] = field(default=(), converter=tuple[FileConflicts, ...])

    @property
    def avg_lines_per_conflict(self) -> float:
        """The average number of lines of a section; 0.0 if there is no section."""
        if not self.conflict_sections:
            return 0.0
        return self.conflict_lines / self.conflict_sections


# Upper bounds, inclusive, of the severities below CRITICAL.
_SEVERITIES = (
    (0, Severity.NONE),
    (20, Severity.LOW),
    (50, Severity.MEDIUM),
    (100, Severity.HIGH),
)


@frozen(kw_only=True, field_transformer=checked_fields)
class ConflictScorer:
    r"""Measures the size of the conflicts between two sides.

    The score is `sections * per_section + lines * per_line`. The formula and the default
    weights are those of CooperBench's evaluation page.

    Attributes:
        per_section: The cost of each conflict region, and of each conflict without lines.
        per_line: The cost of each line between the markers, on either side.

    Example:
        >>> clash = Conflict(path="app.py", base=b"", ours=b"a = 1\n", theirs=b"a = 2\n", line=1)
        >>> ConflictScorer().score([clash]).conflict_score
        24
    """

    per_section: int = field(default=20, validator=validators.ge(0))
    per_line: int = field(default=2, validator=validators.ge(0))

    @checked
    def score(self, conflicts: Iterable[Conflict]) -> ConflictDetails:
        """Measure *conflicts*, such as those that a merge left open.

        Without conflicts, the score is 0. Another conflict never lowers it. Test results
        do not affect it.
        """
        by_path = sorted(conflicts, key=attrgetter("path"))
        return summed(
            self._file(path, tuple(group)) for path, group in groupby(by_path, attrgetter("path"))
        )

    def _file(self, path: str, conflicts: tuple[Conflict, ...]) -> FileConflicts:
        lines = sum(
            _count_lines(side)
            for conflict in conflicts
            if conflict.has_lines
            for side in (conflict.ours, conflict.theirs)
        )
        return weighed(self, path, len(conflicts), lines)


def weighed(scorer: ConflictScorer, path: str, sections: int, lines: int) -> FileConflicts:
    """Return the measures of a file with these numbers of sections and lines."""
    score = sections * scorer.per_section + lines * scorer.per_line
    return FileConflicts(path=path, sections=sections, lines=lines, score=score)


def summed(files: Iterable[FileConflicts]) -> ConflictDetails:
    """Return the measures of all files."""
    files = tuple(files)
    score = sum(file.score for file in files)
    return ConflictDetails(
        conflict_sections=sum(file.sections for file in files),
        conflict_lines=sum(file.lines for file in files),
        conflict_score=score,
        severity=_severity(score),
        files=files,
    )


def _count_lines(text: bytes | None) -> int:
    """Count lines, including a last one without a newline."""
    if not text:
        return 0
    return text.count(b"\n") + (not text.endswith(b"\n"))


def _severity(score: int) -> Severity:
    for bound, severity in _SEVERITIES:
        if score <= bound:
            return severity
    return Severity.CRITICAL
