"""What a strategy made of each conflict of a report.

What stands there in place of a conflict between lines, `placing` finds; a conflict of a
file as a whole is answered by the file. Whether a conflict is open still, no text says,
as an answer may look like markers: the strategy's row counts those of each file.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache

from attrs import evolve

from cooperbench_eval.errors import PatchError
from cooperbench_eval.models import Conflict, MergeStatus
from cooperbench_eval.patching import FilePatch, Patch
from cooperbench_eval.reporting.resolutions.blocks import Block
from cooperbench_eval.reporting.resolutions.ledger import match_ledger
from cooperbench_eval.reporting.resolutions.placing import Place, find_places
from cooperbench_eval.reporting.resolutions.records import (
    ConflictResolution,
    ResolutionKind,
    UndeterminedError,
)
from cooperbench_eval.reporting.resolutions.whole_files import contents_after
from cooperbench_eval.reporting.rows import Attempt

__all__ = ["NaiveMerge"]


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
        self._files_in = cache(_files_in)
        self._places: dict[tuple[bytes, str], Sequence[Place | None]] = {}

    def resolutions(self, attempt: Attempt) -> tuple[ConflictResolution, ...]:
        """Tell what became of each conflict, in their order.

        Args:
            attempt: The strategy's row.
        """
        try:
            found = self._tell(attempt)
        except UndeterminedError as exc:
            found = {i: self._unknown(i, str(exc)) for i in range(len(self._conflicts))}
        rows = match_ledger(self._conflicts, attempt.ledger)
        return tuple(evolve(found[i], ledger=rows.get(i)) for i in range(len(self._conflicts)))

    def _tell(self, attempt: Attempt) -> dict[int, ConflictResolution]:
        """Tell each conflict by its place."""
        if attempt.status is MergeStatus.FAILED:
            raise UndeterminedError("the strategy failed")
        if self._diff is None or attempt.diff is None:
            raise UndeterminedError("the report has no diff of the merge")
        before, after = self._files_in(self._diff), self._files_in(attempt.diff)
        details = attempt.conflict_details
        left = Counter({file.path: file.sections for file in details.files} if details else {})
        found: dict[int, ConflictResolution] = {}
        for path, numbers in self._by_path.items():
            found |= self._tell_lines(self._diff, attempt.diff, path, may_be_open=left[path] > 0)
            still = sum(i in found and found[i].kind is ResolutionKind.OPEN for i in numbers)
            files = before.get(path, ()), after.get(path, ())
            for i in numbers:
                if i not in found:
                    found[i] = self._tell_file(i, *files, is_open=left[path] > still)
        return found

    def _lined(self, path: str) -> list[int]:
        """List the conflicts between the lines of one file."""
        return [i for i in self._by_path[path] if self._conflicts[i].has_lines]

    def _places_in(self, before: bytes, after: bytes, path: str) -> Sequence[Place | None]:
        if (after, path) not in self._places:
            blocks = [Block.of(self._conflicts[i]) for i in self._lined(path)]
            files = (self._files_in(diff).get(path, ()) for diff in (before, after))
            self._places[after, path] = find_places(blocks, *files)
        return self._places[after, path]

    def _tell_lines(
        self, before: bytes, after: bytes, path: str, *, may_be_open: bool
    ) -> dict[int, ConflictResolution]:
        """Tell the conflicts between the lines of one file."""
        numbers = self._lined(path)
        try:
            places = self._places_in(before, after, path)
        except UndeterminedError as exc:
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

    def _tell_file(
        self, i: int, before: Sequence[FilePatch], after: Sequence[FilePatch], *, is_open: bool
    ) -> ConflictResolution:
        """Tell a conflict that is of a file as a whole."""
        if is_open:
            return self._open(i)
        conflict, kind = self._conflicts[i], ResolutionKind.TEXT
        try:
            text = contents_after(conflict, before, after)
        except UndeterminedError as exc:
            return self._unknown(i, str(exc))
        if text is None:
            return self._deleted(i, together=(i,))
        return ConflictResolution(conflict=conflict, kind=kind, text=text, together=(i,))

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

    def _unknown(self, i: int, reason: str) -> ConflictResolution:
        conflict, kind = self._conflicts[i], ResolutionKind.UNKNOWN
        return ConflictResolution(conflict=conflict, kind=kind, together=(i,), reason=reason)

    def _deleted(self, i: int, together: Sequence[int]) -> ConflictResolution:
        conflict, kind = self._conflicts[i], ResolutionKind.DELETED
        return ConflictResolution(conflict=conflict, kind=kind, together=together)

    def _open(self, i: int) -> ConflictResolution:
        conflict, kind = self._conflicts[i], ResolutionKind.OPEN
        return ConflictResolution(conflict=conflict, kind=kind, together=(i,))


def _files_in(diff: bytes) -> Mapping[str, Sequence[FilePatch]]:
    """Read a diff, by path.

    Raises:
        UndeterminedError: It cannot be read.
    """
    try:
        patch = Patch.parse(diff)
    except PatchError as exc:
        problem = f"a diff in the report cannot be read ({exc.reason})"
        raise UndeterminedError(problem) from exc
    files = defaultdict(list)
    for file in patch.files:
        files[file.path].append(file)
    return dict(files)
