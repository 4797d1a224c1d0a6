"""Says what became of everything that one side did, file by file."""

from collections.abc import Iterator

from attrs import frozen

from cooperbench_eval.evaluation.auditing.definitions import DefinitionCache, definitions_of
from cooperbench_eval.evaluation.auditing.fates import Fates, LineFate, as_lines
from cooperbench_eval.evaluation.auditing.lines import ABSENT, inverse, lines_of
from cooperbench_eval.evaluation.auditing.side import SideTree
from cooperbench_eval.evaluation.auditing.tracking import TrackedFile, Tracking
from cooperbench_eval.git.trees.entries import Entry, FileMode, have_same_contents
from cooperbench_eval.git.trees.snapshot import cache_of
from cooperbench_eval.reporting.audits import AuditedEntry, AuditedFile, EntryAspect, Fate

__all__ = ["SideWork"]

_MODES = {FileMode.FILE, FileMode.EXECUTABLE}


@frozen(eq=False)
class SideWork:
    """The work of the sides in one merged tree.

    Attributes:
        tracking: The tree with its sides.
        fates: What became of their lines.
    """

    tracking: Tracking
    fates: Fates

    def files(self, side: SideTree) -> Iterator[AuditedFile]:
        """Yield what became of a side's work on each file."""
        renamed = set(side.renames.values())
        for path, entry in side.changes.items():
            old = self.tracking.base.get(path)
            if entry == old:
                continue
            if entry is not None:
                yield self._file(side, path, entry)
            elif path not in renamed or self._is_back(side, path):
                yield self._deleted(side, path)

    def _is_back(self, side: SideTree, path: str) -> bool:
        """Whether the merged tree has a renamed file at its old path too."""
        if self.tracking.merged.get(path) is None:
            return False
        new = next(new for new, old in side.renames.items() if old == path)
        file = self.fates.file_of(side, new)
        return file is not None and file.path != path

    def _file(self, side: SideTree, path: str, entry: Entry) -> AuditedFile:
        file = self.fates.file_of(side, path)
        old = self.tracking.base.get(side.base_path(path))
        merged = file.entry if file else None
        is_text = lines_of(entry) is not None
        added = self.fates.added(side, path) if is_text else {}
        removed = self.fates.removed(side, path) if is_text and lines_of(old) is not None else {}
        return AuditedFile(
            feature=side.number,
            path=path,
            merged_path=file.path if file and merged else None,
            added=as_lines(added, side.lines(path)),
            removed=as_lines(removed, lines_of(old) or ()),
            definitions=definitions_of(
                path,
                added,
                cache=cache_of(self.tracking.base, DefinitionCache),
                base=_source(old),
                side=_source(entry),
                others=[_source(each) for each in self._others(side, file)],
                merged=_source(merged),
            ),
            entries=self._entries(side, path, entry, file),
        )

    def _others(self, side: SideTree, file: TrackedFile | None) -> Iterator[Entry | None]:
        """Yield the versions of a file in the trees of the other sides."""
        paths = file.expected.paths if file and file.expected else {}
        for number, path in paths.items():
            if number != side.number:
                yield self.tracking.sides[number].get(path)

    def _entries(
        self, side: SideTree, path: str, entry: Entry, file: TrackedFile | None
    ) -> Iterator[AuditedEntry]:
        old = self.tracking.base.get(side.base_path(path))
        merged = file.entry if file else None
        if old is None:
            is_kept = merged is not None
            yield _entry(EntryAspect.FILE, Fate.KEPT if is_kept else Fate.LOST)
        if path in side.renames:
            yield _entry(EntryAspect.NAME, self._fate_of_name(side, path, file))
        if lines_of(entry) is None and not (old and have_same_contents(old, entry)):
            known = [old, *self._others(side, file)]
            yield _entry(EntryAspect.CONTENTS, _fate_of_contents(entry, merged, known))
        if old is not None and {old.mode, entry.mode} == _MODES:
            is_kept = merged is not None and merged.mode is entry.mode
            yield _entry(EntryAspect.MODE, Fate.KEPT if is_kept else Fate.LOST)

    def _fate_of_name(self, side: SideTree, path: str, file: TrackedFile | None) -> Fate:
        if file is None or file.entry is None or file.path == side.base_path(path):
            return Fate.LOST
        return Fate.KEPT if file.path == path else Fate.CHANGED

    def _deleted(self, side: SideTree, path: str) -> AuditedFile:
        """Return what became of a deletion."""
        old = lines_of(self.tracking.base.get(path)) or []
        file = next((each for each in self.tracking.files if each.path == path), None)
        merged = file.entry if file else None
        fate, removed = Fate.KEPT, dict.fromkeys(range(len(old)), LineFate(Fate.KEPT))
        if file is not None and merged is not None:
            # If another side has the file, it had work in it.
            is_wanted = bool(file.expected and file.expected.paths)
            is_wanted = is_wanted and merged != self.tracking.base.get(path)
            fate = Fate.SUPERSEDED if is_wanted else Fate.LOST
            for line, place in self._found(file, len(old)):
                removed[line] = LineFate(fate, is_wanted, (file, place))
        return AuditedFile(
            feature=side.number,
            path=path,
            merged_path=path if merged else None,
            removed=as_lines(removed, old),
            entries=[_entry(EntryAspect.DELETION, fate)],
        )

    def _found(self, file: TrackedFile, count: int) -> Iterator[tuple[int, int]]:
        """Yield the lines of the base's file that the merged file has, and where."""
        merged = file.merged_places
        places = inverse(file.base_places, count)
        for line, place in enumerate(places):
            if place != ABSENT and merged[place] != ABSENT:
                yield line, merged[place]


def _entry(aspect: EntryAspect, fate: Fate) -> AuditedEntry:
    return AuditedEntry(aspect=aspect, fate=fate)


def _fate_of_contents(entry: Entry, merged: Entry | None, known: list[Entry | None]) -> Fate:
    if merged is None:
        return Fate.LOST
    if merged.mode.is_regular == entry.mode.is_regular and have_same_contents(merged, entry):
        return Fate.KEPT
    return Fate.LOST if merged in known else Fate.CHANGED


def _source(entry: Entry | None) -> bytes | None:
    return entry.data if entry is not None and entry.mode.is_regular else None
