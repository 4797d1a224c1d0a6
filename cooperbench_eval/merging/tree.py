"""Three-way merge of two overlays over one base, path by path.

Only touched paths are visited. A path that one side left alone takes the other
side's entry; where both changed it, contents are merged as text, and whatever
cannot be merged becomes a `Conflict` with its kind. What stands at an open
conflict's path in the merged overlay is what `git merge` leaves there.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from attrs import evolve, field, frozen

from cooperbench_eval.merging.text import TextMerge, merge_text
from cooperbench_eval.models import Conflict, ConflictKind, Entry, FileMode
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = ["Labels", "ThreeWayMerge", "merge_changes"]

_BINARY_PROBE = 8000  # bytes that git looks at to tell text from binary


@frozen(kw_only=True)
class Labels:
    """What the sides are called in conflict markers and in names set aside."""

    ours: str = "ours"
    theirs: str = "theirs"


@frozen(kw_only=True)
class _FileMerge:
    """A file with open conflicts: its chunks, and the entry's mode."""

    merge: TextMerge
    mode: FileMode
    kind: ConflictKind


@frozen(kw_only=True)
class ThreeWayMerge:
    """A finished three-way merge, before any strategy.

    Attributes:
        changes: The merged overlay; open conflicts stand in it as git's markers,
            or as the side that git keeps.
        conflicts: The open conflicts, by path, in the order of the file.
        labels: What the sides are called in the markers.
    """

    changes: Changes
    conflicts: tuple[Conflict, ...]
    labels: Labels = field(factory=Labels)
    _files: Mapping[str, _FileMerge] = field(factory=dict, repr=False)

    def resolve(self, answer: Callable[[Conflict], bytes | None]) -> "ThreeWayMerge":
        """Ask *answer* for each open conflict's text and put it in its place.

        `None` leaves a conflict open. Asked are conflicts between lines, and
        those in which a whole file's contents can be the answer (binary,
        modify/delete); other kinds stay open. Bytes outside of conflicts are not
        touched.
        """
        entries = dict(self.changes)
        files: dict[str, _FileMerge] = {}
        left: list[Conflict] = []
        texts: dict[str, list[bytes | None]] = {}
        for conflict in self.conflicts:
            if conflict.has_lines:
                texts.setdefault(conflict.path, []).append(answer(conflict))
                continue
            text = answer(conflict) if conflict.kind in _WHOLE_FILE else None
            if text is None:
                left.append(conflict)
            else:
                entries[conflict.path] = Entry(text, _mode_at(entries, conflict.path))
        for path, answers in texts.items():
            merge = _answered(self._files[path].merge, answers)
            file = evolve(self._files[path], merge=merge)
            entries[path] = Entry(_render(merge, self.labels), file.mode)
            if merge.conflicts:
                files[path] = file
                left += _conflicts_in(path, file)
        ordered = tuple(sorted(left, key=_place))
        return evolve(self, changes=Changes(entries), conflicts=ordered, files=files)


_WHOLE_FILE = frozenset({ConflictKind.BINARY, ConflictKind.MODIFY_DELETE})


def merge_changes(
    base: Snapshot, ours: Changes, theirs: Changes, labels: Labels | None = None
) -> ThreeWayMerge:
    """Merge two overlays over *base* as `git merge` does.

    Raises:
        RepositoryError: A touched file of *base* cannot be read.
    """
    ours, theirs = _explicit(base, ours), _explicit(base, theirs)
    work = _Merger(base, labels or Labels(), taken=ours.keys() | theirs.keys())
    for path in sorted(ours.keys() | theirs.keys()):
        old = base.get(path)
        work.merge(path, old, ours.get(path, old), theirs.get(path, old))
    work.set_files_aside(ours)
    return work.finished()


class _Merger:
    """Collects the merged entries and conflicts of one merge."""

    def __init__(self, base: Snapshot, labels: Labels, taken: AbstractSet[str]) -> None:
        self._base = base
        self._labels = labels
        self._taken = taken
        self._entries: dict[str, Entry | None] = {}
        self._files: dict[str, _FileMerge] = {}
        self._conflicts: list[Conflict] = []

    def finished(self) -> ThreeWayMerge:
        return ThreeWayMerge(
            changes=Changes(self._entries),
            conflicts=tuple(sorted(self._conflicts, key=_place)),
            labels=self._labels,
            files=self._files,
        )

    def merge(
        self, path: str, base: Entry | None, ours: Entry | None, theirs: Entry | None
    ) -> None:
        if theirs in (ours, base):
            self._entries[path] = ours
        elif ours == base:
            self._entries[path] = theirs
        elif ours is None or theirs is None:
            self._entries[path] = ours or theirs
            self._conflict(path, ConflictKind.MODIFY_DELETE, base, ours, theirs)
        elif ours.mode.is_regular and theirs.mode.is_regular:
            self._merge_files(path, base, ours, theirs)
        elif ours.mode is not theirs.mode:
            self._part_types(path, ours, theirs)
            self._conflict(path, ConflictKind.TYPE, base, ours, theirs)
        else:
            kind = ConflictKind.SYMLINK
            if ours.mode is FileMode.SUBMODULE:
                kind = ConflictKind.SUBMODULE
            self._entries[path] = ours
            self._conflict(path, kind, base, ours, theirs)

    def _part_types(self, path: str, ours: Entry, theirs: Entry) -> None:
        """Give two kinds of entry a name each: git sets the regular file aside, or both."""
        neither = not (ours.mode.is_regular or theirs.mode.is_regular)
        self._entries[path] = None
        for entry, label in ((ours, self._labels.ours), (theirs, self._labels.theirs)):
            aside = entry.mode.is_regular or neither
            self._entries[self._free_name(path, label) if aside else path] = entry

    def _merge_files(self, path: str, base: Entry | None, ours: Entry, theirs: Entry) -> None:
        old = base if base and base.mode.is_regular else None
        mode = self._merge_mode(path, old, ours, theirs)
        if ours.data == theirs.data or (old and theirs.data == old.data):
            self._entries[path] = Entry(ours.data, mode)
        elif old and ours.data == old.data:
            self._entries[path] = Entry(theirs.data, mode)
        elif _is_binary(ours) or _is_binary(theirs) or (old and _is_binary(old)):
            self._entries[path] = Entry(ours.data, mode)
            self._conflict(path, ConflictKind.BINARY, old, ours, theirs)
        else:
            merge = merge_text(old.data if old else b"", ours.data, theirs.data)
            self._entries[path] = Entry(_render(merge, self._labels), mode)
            if merge.conflicts:
                kind = ConflictKind.CONTENT if old else ConflictKind.ADD_ADD
                file = _FileMerge(merge=merge, mode=mode, kind=kind)
                self._files[path] = file
                self._conflicts += _conflicts_in(path, file)

    def _merge_mode(self, path: str, old: Entry | None, ours: Entry, theirs: Entry) -> FileMode:
        if old and ours.mode is old.mode:
            return theirs.mode
        if ours.mode is not theirs.mode and not (old and theirs.mode is old.mode):
            self._conflict(path, ConflictKind.MODE, old, ours, theirs)
        return ours.mode

    def _conflict(
        self,
        path: str,
        kind: ConflictKind,
        base: Entry | None,
        ours: Entry | None,
        theirs: Entry | None,
    ) -> None:
        texts = [entry.data if entry else None for entry in (base, ours, theirs)]
        self._conflicts.append(
            Conflict(path=path, kind=kind, base=texts[0], ours=texts[1], theirs=texts[2])
        )

    def set_files_aside(self, ours: Changes) -> None:
        """Move files out of the way of folders that the other side made."""
        standing = {path for path, entry in self._entries.items() if entry is not None}
        folders = {path[:at] for path in standing for at, char in enumerate(path) if char == "/"}
        for path in sorted(standing & folders):
            entry = self._entries[path]
            is_ours = ours.get(path) is not None
            label = self._labels.ours if is_ours else self._labels.theirs
            aside = self._free_name(path, label)
            self._entries[aside] = entry
            self._entries[path] = None
            # Such as modify/delete: where the file stands is where it can be answered.
            self._conflicts = [
                evolve(c, path=aside) if c.path == path else c for c in self._conflicts
            ]
            sides = (entry, None) if is_ours else (None, entry)
            self._conflict(aside, ConflictKind.FILE_DIRECTORY, None, *sides)

    def _free_name(self, path: str, label: str) -> str:
        """Return `path~label`, numbered where that is taken, as git names it."""
        wanted = name = f"{path}~{label.replace('/', '_')}"
        number = 0
        while self._is_taken(name):
            name = f"{wanted}_{number}"
            number += 1
        return name

    def _is_taken(self, name: str) -> bool:
        """Whether a side, the base or a name set aside before stands there."""
        return (
            name in self._taken
            or name in self._entries
            or self._base.get(name) is not None
            or self._base.is_directory(name)
            or any(path.startswith(f"{name}/") for path in self._taken)
        )


def _explicit(base: Snapshot, changes: Changes) -> Changes:
    """Spell out the deletions that an overlay's entries imply."""
    implied: dict[str, Entry | None] = {}
    for path, entry in changes.items():
        if entry is None:
            continue
        if base.is_directory(path):
            implied.update(dict.fromkeys(base.paths(path)))
        for at, char in enumerate(path):
            if char == "/" and base.get(path[:at]) is not None:
                implied[path[:at]] = None
    return Changes({**implied, **changes}) if implied else changes


def _place(conflict: Conflict) -> tuple[str, int]:
    return conflict.path, conflict.line or 0


def _is_binary(entry: Entry) -> bool:
    return b"\0" in entry.data[:_BINARY_PROBE]


def _mode_at(entries: Mapping[str, Entry | None], path: str) -> FileMode:
    entry = entries.get(path)
    return entry.mode if entry else FileMode.FILE


def _render(merge: TextMerge, labels: Labels) -> bytes:
    return merge.render(ours=labels.ours, theirs=labels.theirs)


def _answered(merge: TextMerge, answers: list[bytes | None]) -> TextMerge:
    given = iter(answers)
    return merge.resolve(lambda _: next(given))


def _conflicts_in(path: str, file: _FileMerge) -> list[Conflict]:
    return [
        Conflict(
            path=path,
            kind=file.kind,
            base=conflict.base,
            ours=conflict.ours,
            theirs=conflict.theirs,
            line=line,
            newline=conflict.newline,
        )
        for conflict, line in zip(file.merge.conflicts, file.merge.marker_lines(), strict=True)
    ]
