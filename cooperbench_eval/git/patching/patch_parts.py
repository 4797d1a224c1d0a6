"""The records of a patch: its files and hunks, how these may be placed, and how they were."""

from collections.abc import Iterable
from enum import StrEnum

from attrs import evolve, field, frozen, validators

from cooperbench_eval.git.patching.binary import BinaryChange
from cooperbench_eval.git.trees.entries import FileMode
from cooperbench_eval.support.arguments import checked, checked_fields, named_fields


class FileChange(StrEnum):
    """How a patch changes one file."""

    MODIFY = "modify"
    """Changes contents or mode in place."""
    ADD = "add"
    """Creates the file."""
    DELETE = "delete"
    """Removes the file."""
    RENAME = "rename"
    """Moves the file; its contents may also change."""
    COPY = "copy"
    """Creates the file as a copy of another one; its contents may differ."""


@frozen(kw_only=True, field_transformer=named_fields)
class Hunk:
    """One run of changed lines with their context.

    Attributes:
        old_start: First line in the old file, counted from 1.
        new_start: First line in the new file, counted from 1.
        lines: The lines with their sign (a space, `+` or `-`) and their newline, which
            only a file's last line may lack.
        section: The text after the header's second `@@`, newline included.
        stated: The numbers of old and new lines in the header; `None` if they agree
            with *lines*.
        uncounted: Lines after *lines* that look like part of the hunk, although the
            header does not count them.
    """

    old_start: int
    new_start: int
    lines: tuple[bytes, ...] = field(converter=tuple[bytes, ...], repr=False)
    section: bytes = b"\n"
    stated: tuple[int, int] | None = None
    uncounted: tuple[bytes, ...] = field(default=(), converter=tuple[bytes, ...], repr=False)

    @property
    def old(self) -> list[bytes]:
        """The lines that the hunk expects to find, with context."""
        return [line[1:] for line in self.lines if line[:1] != b"+"]

    @property
    def new(self) -> list[bytes]:
        """The lines that the hunk leaves, with context."""
        return [line[1:] for line in self.lines if line[:1] != b"-"]

    @property
    def whole(self) -> "Hunk":
        """The hunk with its uncounted lines, whatever its header states."""
        return evolve(self, lines=self.lines + self.uncounted, stated=None, uncounted=())

    @property
    def without_blank_end(self) -> "Hunk":
        """The hunk without blank context at its end, which may not belong to it."""
        lines = list(self.lines)
        while lines[-1:] in ([b" \n"], [b" \r\n"]):
            lines.pop()
        return evolve(self, lines=tuple(lines))

    @property
    def reversed(self) -> "Hunk":
        """The hunk that undoes this one."""
        swapped = {b"+": b"-", b"-": b"+", b" ": b" "}
        lines = tuple(swapped[line[:1]] + line[1:] for line in self.lines)
        return evolve(self, old_start=self.new_start, new_start=self.old_start, lines=lines)


@frozen(kw_only=True, field_transformer=named_fields)
class FilePatch:
    """The changes of one file in a patch.

    Attributes:
        change: The kind of change.
        old_path: The file before the change; `None` for a new one. A header that is not
            git's does not distinguish a new file from an empty one, so an addition with
            an old path may also fill that file if it exists and is empty.
        new_path: The file after the change; `None` for a deleted one.
        old_mode: The mode before the change, if the patch states it.
        new_mode: The mode after the change, if the patch states it.
        old_id: The id of the blob before the change, possibly abbreviated.
        new_id: The id of the blob after the change, possibly abbreviated.
        hunks: The changed lines of a text file.
        binary: The new contents of a binary file, or a delta that gives them.
        lacks_contents: The patch only states that two binary files differ.
    """

    change: FileChange
    old_path: str | None
    new_path: str | None
    old_mode: FileMode | None = None
    new_mode: FileMode | None = None
    old_id: str | None = None
    new_id: str | None = None
    hunks: tuple[Hunk, ...] = field(default=(), converter=tuple[Hunk, ...])
    binary: BinaryChange | None = None
    lacks_contents: bool = False

    @property
    def path(self) -> str:
        """The file after the change, or the deleted file."""
        path = self.new_path if self.new_path is not None else self.old_path
        return path or ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that it names, old before new, without repetition."""
        both = (self.old_path, self.new_path)
        return tuple(dict.fromkeys(path for path in both if path is not None))


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


def _as_rungs(rungs: Rung | Iterable[Rung]) -> frozenset[Rung]:
    given = [rungs] if isinstance(rungs, str) else rungs
    return frozenset({Rung.EXACT, *map(Rung, given)})


@frozen(kw_only=True, field_transformer=checked_fields)
class ApplyPolicy:
    """Which ways of placing a hunk are allowed.

    The default is what CooperBench's evaluator does: `git apply --ignore-whitespace`, and if
    that fails `git apply --ignore-whitespace --3way`.

    Attributes:
        rungs: The allowed ways; `EXACT` is always allowed.
        partial: Apply the hunks that have a place and leave out the others, instead of
            refusing the whole patch.
        least_similarity: The share of a hunk's old lines, by characters, that must exist
            where `FUZZY` places it. All lines that the hunk removes must exist there in
            any case.

    Example:
        >>> ApplyPolicy(rungs=["offset", "recount"]).allows(Rung.RECOUNT)
        True
    """

    rungs: frozenset[Rung] = field(
        default=(Rung.EXACT, Rung.OFFSET, Rung.WHITESPACE, Rung.THREE_WAY), converter=_as_rungs
    )
    partial: bool = False
    least_similarity: float = field(
        default=0.75, validator=[validators.gt(0.5), validators.le(1.0)]
    )

    @checked
    def allows(self, rung: Rung) -> bool:
        """Whether a hunk may be placed in the way *rung*."""
        return rung in self.rungs
