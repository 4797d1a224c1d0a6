"""What a strategy put in the place of each conflict, told from the diffs of a report.

A report holds the naive merge and every strategy's as diffs against one base. What
stands there in place of a conflict between lines, `placing` finds; a conflict of a
file as a whole is answered by the file. Nothing is guessed: where the diffs say too
little, that is the answer.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum

from attrs import evolve, field, frozen

from cooperbench_eval.errors import PatchError
from cooperbench_eval.models import Conflict, Entry, FileMode, LedgerRow, MergeStatus
from cooperbench_eval.patching import FileChange, FilePatch, Patch
from cooperbench_eval.reporting.placing import Block, Place, Untold, contents_of, find_places
from cooperbench_eval.reporting.rows import Attempt

__all__ = ["ConflictResolution", "ResolutionKind", "find_resolutions"]


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
            changed too, so that *text* stands for these as well.
        lines_after: Likewise behind the last of them.
        is_exact: Whether the file is the naive merge's but for its conflicts, as far as
            the diffs tell. Else settled lines were changed too, and the place is where
            lines of the base that were not changed say it is.
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


def find_resolutions(
    conflicts: Sequence[Conflict], naive: bytes | None, attempt: Attempt
) -> tuple[ConflictResolution, ...]:
    """Tell what became of each of *conflicts*, in their order.

    Args:
        conflicts: The conflicts of the naive merge.
        naive: That merge as a diff against the base, conflicts as markers.
        attempt: The strategy's row.
    """
    told = _Telling(conflicts, attempt)
    try:
        found = told.tell(*_diffs(naive, attempt))
    except Untold as exc:
        found = {i: told.unknown(i, str(exc)) for i in range(len(conflicts))}
    rows = _match_ledger(conflicts, attempt.ledger)
    return tuple(evolve(found[i], ledger=rows.get(i)) for i in range(len(conflicts)))


_Files = Mapping[str, Sequence[FilePatch]]


def _diffs(naive: bytes | None, attempt: Attempt) -> tuple[_Files, _Files]:
    if attempt.status is MergeStatus.FAILED:
        raise Untold("the strategy failed")
    if naive is None or attempt.diff is None:
        raise Untold("the report has no diff of the merge")
    before = _by_file(naive)
    return before, before if attempt.diff == naive else _by_file(attempt.diff)


def _by_file(diff: bytes) -> _Files:
    try:
        patch = Patch.parse(diff)
    except PatchError as exc:
        raise Untold(f"a diff in the report cannot be read ({exc.reason})") from exc
    files = defaultdict(list)
    for file in patch.files:
        files[file.path].append(file)
    return dict(files)


class _Telling:
    """The telling of all conflicts under one strategy."""

    def __init__(self, conflicts: Sequence[Conflict], attempt: Attempt) -> None:
        self._conflicts = conflicts
        left = attempt.conflict_details.files if attempt.conflict_details else ()
        self._left = Counter({file.path: file.sections for file in left})

    def tell(self, before: _Files, after: _Files) -> dict[int, ConflictResolution]:
        """Tell each conflict, by its place, from the files of both diffs."""
        by_path = defaultdict(list)
        for i, conflict in enumerate(self._conflicts):
            by_path[conflict.path].append(i)
        found: dict[int, ConflictResolution] = {}
        for path, numbers in by_path.items():
            files = before.get(path, ()), after.get(path, ())
            with_lines = [i for i in numbers if self._conflicts[i].has_lines]
            found |= self._tell_lines(with_lines, *files, may_be_open=self._left[path] > 0)
            still = sum(found[i].kind is ResolutionKind.OPEN for i in with_lines)
            for i in numbers:
                if i not in found:
                    found[i] = self._tell_file(i, *files, is_open=self._left[path] > still)
        return found

    def unknown(self, i: int, reason: str) -> ConflictResolution:
        """Say that the conflict at place *i* cannot be told."""
        unknown = ResolutionKind.UNKNOWN
        return ConflictResolution(
            conflict=self._conflicts[i], kind=unknown, together=(i,), reason=reason
        )

    def _tell_lines(
        self,
        numbers: Sequence[int],
        before: Sequence[FilePatch],
        after: Sequence[FilePatch],
        *,
        may_be_open: bool,
    ) -> dict[int, ConflictResolution]:
        """Tell the conflicts between the lines of one file."""
        blocks = [Block.of(self._conflicts[i]) for i in numbers]
        try:
            places = find_places(blocks, before, after)
        except Untold as exc:
            return {i: self.unknown(i, str(exc)) for i in numbers}
        told = {}
        for i, place in zip(numbers, places, strict=True):
            if place is None:
                told[i] = self._deleted(i, together=numbers)
            elif may_be_open and place.is_as_before:
                told[i] = self._open(i)
            else:
                told[i] = self._text(i, place, together=[numbers[each] for each in place.blocks])
        return told

    def _deleted(self, i: int, together: Sequence[int]) -> ConflictResolution:
        deleted = ResolutionKind.DELETED
        return ConflictResolution(conflict=self._conflicts[i], kind=deleted, together=together)

    def _open(self, i: int) -> ConflictResolution:
        is_open = ResolutionKind.OPEN
        return ConflictResolution(conflict=self._conflicts[i], kind=is_open, together=(i,))

    def _text(self, i: int, place: Place, together: Sequence[int]) -> ConflictResolution:
        return ConflictResolution(
            conflict=self._conflicts[i],
            kind=ResolutionKind.TEXT,
            text=place.text,
            together=together,
            lines_before=place.lines_before,
            lines_after=place.lines_after,
            is_exact=place.is_exact,
        )

    def _tell_file(
        self, i: int, before: Sequence[FilePatch], after: Sequence[FilePatch], *, is_open: bool
    ) -> ConflictResolution:
        """Tell a conflict that is of a file as a whole."""
        if is_open:
            return self._open(i)
        try:
            text = _text_of_file(self._conflicts[i], before, after)
        except Untold as exc:
            return self.unknown(i, str(exc))
        if text is None:
            return self._deleted(i, together=(i,))
        kind = ResolutionKind.TEXT
        return ConflictResolution(conflict=self._conflicts[i], kind=kind, text=text, together=(i,))


def _text_of_file(
    conflict: Conflict, before: Sequence[FilePatch], after: Sequence[FilePatch]
) -> bytes | None:
    """Return the contents of the conflict's file as the strategy has it, `None` if gone.

    A diff shows no file as a whole, but it names the blobs, and the versions of the
    conflict are whole contents.
    """
    if not after:  # as the base has it
        if any(file.change is FileChange.ADD for file in before):
            return None
        ids = {file.old_id for file in before} - {None}
        if conflict.base is not None and ids <= {_blob_id(conflict.base)}:
            return conflict.base
        raise Untold("the file is as the base has it, which the report does not show")
    last = after[-1]
    if last.change is FileChange.DELETE:
        return None
    versions = [
        text for text in (conflict.ours, conflict.theirs, conflict.base) if text is not None
    ]
    by_id = {_blob_id(text): text for text in versions}
    if last.new_id in by_id:
        return by_id[last.new_id]
    old = by_id.get(last.old_id or "")
    return contents_of(last, old if old is not None else conflict.base)


def _blob_id(text: bytes) -> str:
    return Entry(text, FileMode.FILE).id


def _match_ledger(
    conflicts: Sequence[Conflict], ledger: Sequence[LedgerRow]
) -> dict[int, LedgerRow]:
    """Say which row is of which conflict.

    A later rung of a cascade may count lines in a file that an earlier one has changed,
    so rows of a file are taken only where together they name each of its conflicts once.
    """
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
