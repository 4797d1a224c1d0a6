"""What a strategy put in the place of each conflict, told from the diffs of a report.

A report holds the naive merge and every strategy's as diffs against one base. What
stands there in place of a conflict between lines, `placing` finds; a conflict of a
file as a whole is answered by the file. Nothing is guessed: where the diffs say too
little, that is the answer.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from attrs import evolve, field, frozen

from cooperbench_eval.errors import PatchError
from cooperbench_eval.models import Conflict, ConflictKind, Entry, FileMode, LedgerRow, MergeStatus
from cooperbench_eval.patching import FileChange, FilePatch, Patch
from cooperbench_eval.reporting.placing import (
    Block,
    Place,
    Untold,
    contents_of,
    find_places,
    old_contents_of,
)
from cooperbench_eval.reporting.rows import Attempt

__all__ = ["ConflictResolution", "NaiveMerge", "ResolutionKind"]


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


_Files = Mapping[str, Sequence[FilePatch]]
_Places = Sequence[Place | None]


class NaiveMerge:
    """A naive merge with its conflicts, to tell what strategies made of these.

    What it finds out it keeps, as strategies often agree.

    Args:
        conflicts: The conflicts.
        diff: The merge as a diff against the base, conflicts as markers.
    """

    def __init__(self, conflicts: Sequence[Conflict], diff: bytes | None) -> None:
        self._conflicts = conflicts
        self._diff = diff
        self._by_path: defaultdict[str, list[int]] = defaultdict(list)
        for i, conflict in enumerate(conflicts):
            self._by_path[conflict.path].append(i)
        self._files: dict[bytes, _Files | Untold] = {}
        self._places: dict[tuple[bytes, str], _Places | Untold] = {}

    def resolutions(self, attempt: Attempt) -> tuple[ConflictResolution, ...]:
        """Tell what became of each conflict, in their order.

        Args:
            attempt: The strategy's row.
        """
        try:
            found = self._tell(attempt)
        except Untold as exc:
            found = {i: self._unknown(i, str(exc)) for i in range(len(self._conflicts))}
        rows = _match_ledger(self._conflicts, attempt.ledger)
        return tuple(evolve(found[i], ledger=rows.get(i)) for i in range(len(self._conflicts)))

    def _tell(self, attempt: Attempt) -> dict[int, ConflictResolution]:
        """Tell each conflict by its place."""
        if attempt.status is MergeStatus.FAILED:
            raise Untold("the strategy failed")
        if self._diff is None or attempt.diff is None:
            raise Untold("the report has no diff of the merge")
        before, after = self._files_of(self._diff), self._files_of(attempt.diff)
        details = attempt.conflict_details
        left = Counter({file.path: file.sections for file in details.files} if details else {})
        found: dict[int, ConflictResolution] = {}
        for path, numbers in self._by_path.items():
            found |= self._tell_lines(attempt.diff, path, may_be_open=left[path] > 0)
            still = sum(i in found and found[i].kind is ResolutionKind.OPEN for i in numbers)
            files = before.get(path, ()), after.get(path, ())
            for i in numbers:
                if i not in found:
                    found[i] = self._tell_file(i, *files, is_open=left[path] > still)
        return found

    def _files_of(self, diff: bytes) -> _Files:
        if diff not in self._files:
            try:
                self._files[diff] = _by_file(diff)
            except Untold as exc:
                self._files[diff] = exc
        return _or_raise(self._files[diff])

    def _places_in(self, diff: bytes, path: str, numbers: Sequence[int]) -> _Places:
        if (diff, path) not in self._places:
            blocks = [Block.of(self._conflicts[i]) for i in numbers]
            try:
                before, after = (
                    self._files_of(each).get(path, ()) for each in (self._diff or b"", diff)
                )
                self._places[diff, path] = find_places(blocks, before, after)
            except Untold as exc:
                self._places[diff, path] = exc
        return _or_raise(self._places[diff, path])

    def _unknown(self, i: int, reason: str) -> ConflictResolution:
        """Say that the conflict at place *i* cannot be told."""
        unknown = ResolutionKind.UNKNOWN
        return ConflictResolution(
            conflict=self._conflicts[i], kind=unknown, together=(i,), reason=reason
        )

    def _tell_lines(
        self, diff: bytes, path: str, *, may_be_open: bool
    ) -> dict[int, ConflictResolution]:
        """Tell the conflicts between the lines of one file."""
        numbers = [i for i in self._by_path[path] if self._conflicts[i].has_lines]
        try:
            places = self._places_in(diff, path, numbers)
        except Untold as exc:
            return {i: self._unknown(i, str(exc)) for i in numbers}
        told = {}
        for i, place in zip(numbers, places, strict=True):
            if place is None:
                told[i] = self._deleted(i, together=numbers)
            elif may_be_open and place.is_as_before:
                told[i] = evolve(self._open(i), is_exact=place.is_exact)
            else:
                told[i] = self._placed(i, place, together=[numbers[each] for each in place.blocks])
        return told

    def _deleted(self, i: int, together: Sequence[int]) -> ConflictResolution:
        deleted = ResolutionKind.DELETED
        return ConflictResolution(conflict=self._conflicts[i], kind=deleted, together=together)

    def _open(self, i: int) -> ConflictResolution:
        is_open = ResolutionKind.OPEN
        return ConflictResolution(conflict=self._conflicts[i], kind=is_open, together=(i,))

    def _placed(self, i: int, place: Place, together: Sequence[int]) -> ConflictResolution:
        """Tell a conflict by what stands in its place."""
        is_known = place.text is not None
        return ConflictResolution(
            conflict=self._conflicts[i],
            kind=ResolutionKind.TEXT if is_known else ResolutionKind.UNKNOWN,
            text=place.text,
            together=together,
            lines_before=place.lines_before,
            lines_after=place.lines_after,
            is_exact=place.is_exact,
            reason="" if is_known else "it holds lines of the base that no diff shows",
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
            return self._unknown(i, str(exc))
        if text is None:
            return self._deleted(i, together=(i,))
        kind = ResolutionKind.TEXT
        return ConflictResolution(conflict=self._conflicts[i], kind=kind, text=text, together=(i,))


_Found = TypeVar("_Found")


def _or_raise(found: _Found | Untold) -> _Found:
    if isinstance(found, Untold):
        raise found
    return found


def _by_file(diff: bytes) -> _Files:
    try:
        patch = Patch.parse(diff)
    except PatchError as exc:
        raise Untold(f"a diff in the report cannot be read ({exc.reason})") from exc
    files = defaultdict(list)
    for file in patch.files:
        files[file.path].append(file)
    return dict(files)


def _text_of_file(
    conflict: Conflict, before: Sequence[FilePatch], after: Sequence[FilePatch]
) -> bytes | None:
    """Return the contents of the conflict's file as the strategy has it, `None` if gone.

    A diff shows no file as a whole, but it names the blob that it starts from, and the
    versions of the conflict are whole contents.
    """
    if not after:  # as the base has it
        if before and before[0].change is FileChange.DELETE:
            return old_contents_of(before[0])
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
    if last.old_id is None and conflict.kind not in _MOVED:  # another mode, the same contents
        return contents_of(last, conflict.base)
    return contents_of(last, by_id.get(last.old_id or ""))


# Their base may have stood elsewhere.
_MOVED = frozenset(
    {
        ConflictKind.RENAME_RENAME,
        ConflictKind.RENAME_ADD,
        ConflictKind.RENAME_DELETE,
        ConflictKind.DIRECTORY_RENAME,
    }
)


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
