"""Says what became of each line that a side added or removed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby

from attrs import frozen

from cooperbench_eval.evaluation.auditing.counterparts import (
    Place,
    find_changes,
    find_moves,
    is_telling,
)
from cooperbench_eval.evaluation.auditing.expected import SideTree
from cooperbench_eval.evaluation.auditing.lines import ABSENT, inverse, runs_of
from cooperbench_eval.evaluation.auditing.tracking import TrackedFile, Tracking
from cooperbench_eval.reporting.audits import AuditedLines, Fate


@frozen
class LineFate:
    """What became of one line, and the file and line of the merged tree that has it."""

    fate: Fate
    in_conflict: bool = False
    place: Place | None = None


class Fates:
    """The fates of all lines in one merged tree."""

    def __init__(self, tracking: Tracking) -> None:
        self.tracking = tracking
        self._files: dict[tuple[int, str], TrackedFile | None] = {}

    @cached_property
    def moved_to(self) -> Mapping[Place, Place]:
        """The merged place of each expected line that was moved."""
        return find_moves(self.tracking.files)

    @cached_property
    def changed_to(self) -> Mapping[Place, Place]:
        """The merged place of each expected line that was changed."""
        return find_changes(self.tracking.files, self.moved_to)

    @cached_property
    def _explained(self) -> Collection[Place]:
        return {*self.moved_to.values(), *self.changed_to.values()}

    def file_of(self, side: SideTree, path: str) -> TrackedFile | None:
        """Return the file of the merged tree that corresponds to a side's file.

        If both sides renamed a file, two correspond to it, and the one that kept most is returned.
        """
        key = side.number, path
        if key not in self._files:
            found = [each for each in self.tracking.files if each.paths.get(side.number) == path]
            self._files[key] = max(found, key=_count_kept, default=None)
        return self._files[key]

    def added(self, side: SideTree, path: str) -> dict[int, LineFate]:
        """Return what became of each line that a side added to a file."""
        file = self.file_of(side, path)
        if file is None or file.expected is None:
            return dict.fromkeys(side.added(path), LineFate(Fate.SUPERSEDED))
        places = file.expected.places.get(side.number)
        if places is None:  # the sides have files of several kinds, of which one is kept
            return dict.fromkeys(side.added(path), LineFate(Fate.LOST, in_conflict=True))
        found = inverse(places, len(side.lines(path)))
        fates = {line: self._fate(file, found[line]) for line in side.added(path)}
        own = self._own(side, path)
        return fates | dict(_lost_with_others(fates, own, side.lines(path)))

    def _own(self, side: SideTree, path: str) -> Collection[int]:
        """Return the added lines that show whether a side's work is there.

        Those with few letters and digits do not, nor those that another side has at the place.
        """
        file = self.file_of(side, path)
        lines = side.lines(path)
        telling = [line for line in side.added(path) if is_telling(lines[line])]
        places = dict(file.expected.places) if file and file.expected else {}
        if side.number not in places:
            return telling
        found = inverse(places.pop(side.number), len(lines))
        return [
            line for line in telling if all(each[found[line]] == ABSENT for each in places.values())
        ]

    def _fate(self, file: TrackedFile, line: int) -> LineFate:
        expected = file.expected
        if expected is None or line == ABSENT:
            return LineFate(Fate.SUPERSEDED)
        disputed = expected.is_disputed or line in expected.disputed
        merged = file.merged_places[line]
        if merged != ABSENT:
            return LineFate(Fate.KEPT, disputed, (file, merged))
        if (file, line) in self.moved_to:
            return LineFate(Fate.MOVED, disputed, self.moved_to[file, line])
        if (file, line) in self.changed_to:
            return LineFate(Fate.CHANGED, disputed, self.changed_to[file, line])
        return LineFate(Fate.LOST, disputed)

    def removed(self, side: SideTree, path: str) -> dict[int, LineFate]:
        """Return what became of each removal: it is lost if the merged tree has the line."""
        file = self.file_of(side, path)
        if file is None:
            return dict.fromkeys(side.removed(path), LineFate(Fate.KEPT))
        back = {old: new for new, old in file.restored.items()}
        disputed = self._disputed_removals(side, path, file)
        return {
            line: LineFate(Fate.LOST, place=(file, back[line]))
            if line in back
            else disputed.get(line, LineFate(Fate.KEPT))
            for line in side.removed(path)
        }

    def _disputed_removals(
        self, side: SideTree, path: str, file: TrackedFile
    ) -> dict[int, LineFate]:
        """Return the removals of lines that another side has in a conflict with this one.

        If the merged tree has such a line, it may be there as the other side's work. So the
        removal is lost only if all lines that this side put in its place are lost.
        """
        merged = file.merged_places
        there = {
            old: merged[line]
            for line, old in enumerate(file.base_places)
            if old != ABSENT and merged[line] != ABSENT
        }
        wanted = [line for line in side.removed(path) if line in there]
        if not wanted:
            return {}
        added, own = self.added(side, path), {*self._own(side, path)}
        found: dict[int, LineFate] = {}
        for line in wanted:
            instead = side.put_for(path, line)
            fates = {added[n].fate for n in (own.intersection(instead) or instead)}
            fate = Fate.LOST if fates == {Fate.LOST} else Fate.SUPERSEDED
            found[line] = LineFate(fate, in_conflict=True, place=(file, there[line]))
        return found

    def unknown(self, file: TrackedFile) -> Iterator[int]:
        """Yield the merged lines of a file that belong to nobody."""
        return (line for line in file.foreign if (file, line) not in self._explained)

    def vanished(self, file: TrackedFile) -> Iterator[int]:
        """Yield the expected lines of the base that the merged tree lacks, and no side removes."""
        paths, sides = file.paths, self.tracking.sides
        if any(n not in paths and side.get(file.base_path) is None for n, side in sides.items()):
            return  # a side deleted the file
        removed = {line for n, path in paths.items() for line in sides[n].removed(path)}
        for line in file.missing:
            place, old = (file, line), file.base_places[line]
            is_there = place in self.moved_to or place in self.changed_to
            is_there = is_there or (file.base_path, old) in self._kept_of_base
            if not file.owners[line] and not is_there and old not in removed:
                yield line

    @cached_property
    def _kept_of_base(self) -> Collection[tuple[str, int]]:
        """The lines of the base that the merged tree has, by their files and places there."""
        found = set()
        for file in self.tracking.files:
            kept = (file.base_places[line] for line in file.expected_places if line != ABSENT)
            found |= {(file.base_path, old) for old in (*kept, *file.restored.values())}
        return found


def _count_kept(file: TrackedFile) -> int:
    return sum(place != ABSENT for place in file.expected_places)


def _lost_with_others(
    fates: Mapping[int, LineFate], own: Collection[int], lines: Sequence[bytes]
) -> Iterator[tuple[int, LineFate]]:
    """Yield the added lines that are lost together with a side's own lines around them.

    The merged tree has equal lines for other reasons: many texts have an empty one, and another
    side may have added the same. Lines that tell something are lost only with a block that
    consists mostly of the side's own.
    """
    own = {*own}
    for run in runs_of(fates):
        telling = [line for line in run if is_telling(lines[line])]
        known = own.intersection(telling)
        if {fates[line].fate for line in known} == {Fate.LOST}:
            is_whole = 2 * len(known) > len(telling)
            for line in run:
                if is_whole or line not in telling:
                    yield line, LineFate(Fate.LOST, fates[line].in_conflict)


def as_lines(fates: Mapping[int, LineFate], lines: Sequence[bytes]) -> Iterator[AuditedLines]:
    """Yield the fates of lines as records, with consecutive lines together."""

    def run_of(numbered: tuple[int, int]) -> tuple[object, ...]:
        number, line = numbered
        found = fates[line]
        file, there = found.place or (None, number)
        return line - number, found.fate, found.in_conflict, file, there - number

    for _, run in groupby(enumerate(fates), run_of):
        group = [line for _, line in run]
        first, last, found = group[0], group[-1], fates[group[0]]
        yield AuditedLines(
            fate=found.fate,
            first=first + 1,
            last=last + 1,
            text=b"".join(lines[first : last + 1]),
            in_conflict=found.in_conflict,
            merged_path=found.place[0].path if found.place else None,
            merged_line=found.place[1] + 1 if found.place else None,
        )
