"""Three-way merge of two overlays over one base, path by path.

Only touched paths are visited. Renames are found first and carried through, so
that each path can then be merged for itself: what one side left alone takes the
other side's entry; where both changed it, contents are merged as text, and
whatever cannot be merged becomes a `Conflict` with its kind. What stands at an
open conflict's path in the merged overlay is what `git merge` leaves there.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum

from attrs import evolve, field, frozen

from cooperbench_eval.merging.contents import ContentMerge, merge_contents, render_text
from cooperbench_eval.merging.linediff import DiffCache
from cooperbench_eval.merging.moves import carry_renames
from cooperbench_eval.merging.slots import Side, Slot, Slots
from cooperbench_eval.merging.text import TextBlock, TextMerge, find_text_blocks
from cooperbench_eval.models import Conflict, ConflictBlock, ConflictKind, Entry, FileMode
from cooperbench_eval.objects import folders_above
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = ["Gone", "Labels", "Stage", "ThreeWayMerge", "merge_changes"]

_WHOLE_FILE = frozenset({ConflictKind.BINARY, ConflictKind.MODIFY_DELETE})


class Gone(Enum):
    """An answer to a conflict that is no text."""

    GONE = "gone"
    """The file is to be deleted."""


@frozen(kw_only=True)
class Labels:
    """What the sides are called in conflict markers and in names set aside."""

    ours: str = "ours"
    theirs: str = "theirs"

    def of(self, side: Side) -> str:
        """Return the label of ours or theirs."""
        return self.ours if side is Side.OURS else self.theirs


@frozen(kw_only=True)
class Stage:
    """One version of an unmerged path, as git's index would list it.

    Attributes:
        path: The path.
        number: 1 for the base, 2 for ours, 3 for theirs.
        entry: The version.
    """

    path: str
    number: int
    entry: Entry


@frozen(kw_only=True)
class _OpenFile:
    """A file with conflicts between its lines."""

    merge: ContentMerge
    text: TextMerge
    kind: ConflictKind
    numbers: tuple[int, ...]  # of the conflicts still open, among all it had

    @property
    def lines(self) -> Mapping[int, int]:
        """On which line each open conflict's marker stands, by the conflict's number."""
        return dict(zip(self.numbers, self.text.marker_lines(), strict=True))

    @property
    def entry(self) -> Entry:
        """The file with its open conflicts as markers."""
        data = render_text(self.text, self.merge.labels, self.merge.marker_size)
        return Entry(data, self.merge.entry.mode)


@frozen(kw_only=True)
class ThreeWayMerge:
    """A finished three-way merge, before any strategy.

    Attributes:
        changes: The merged overlay; open conflicts stand in it as git's markers,
            or as the side that git keeps.
        conflicts: The open conflicts, by path, in the order of the file.
        stages: The versions of every path that the merge left open, as
            `git ls-files --unmerged` would list them; resolving does not change
            them.
        labels: What the sides are called in the markers.
    """

    changes: Changes
    conflicts: tuple[Conflict, ...]
    stages: tuple[Stage, ...] = field(default=(), repr=False)
    labels: Labels = field(factory=Labels)
    _files: Mapping[str, _OpenFile] = field(factory=dict, repr=False)
    _cache: DiffCache = field(factory=DiffCache, eq=False, repr=False)

    def versions_of(self, path: str) -> tuple[bytes, bytes, bytes]:
        """Return base, ours and theirs of a file with open conflicts between lines."""
        return self._files[path].merge.sources

    def settled_in(self, path: str) -> tuple[bytes, ...]:
        """Return what stands before, between and behind the open conflicts of such a file."""
        parts = [b""]
        for chunk in self._files[path].text.chunks:
            if isinstance(chunk, bytes):
                parts[-1] = chunk
            else:
                parts.append(b"")
        return tuple(parts)

    def lines_before(self, earlier: "ThreeWayMerge") -> Mapping[tuple[str, int], int]:
        """Say where the open conflicts between lines stood when more were open.

        Args:
            earlier: The merge that this one was made of by resolving some.

        Returns:
            For the path and the line of a conflict here its line there.
        """
        found: dict[tuple[str, int], int] = {}
        for path, file in self._files.items():
            old = earlier._files.get(path)  # noqa: SLF001 - of its own class
            if old and old.merge == file.merge:
                before = old.lines
                found |= {(path, line): before[n] for n, line in file.lines.items() if n in before}
        return found

    def takes_text(self, conflict: Conflict) -> bool:
        """Whether a text can be the answer to one of the open conflicts.

        It can between lines, and where it is a whole file's contents (binary,
        modify/delete). A link's target and a submodule's commit are no file's
        contents, whether the other side changed or deleted them.
        """
        if conflict.has_lines:
            return True
        entry = self.changes.get(conflict.path)
        return conflict.kind in _WHOLE_FILE and entry is not None and entry.mode.is_regular

    def resolve(self, answer: Callable[[Conflict], bytes | Gone | None]) -> "ThreeWayMerge":
        """Ask *answer* for each open conflict's text and put it in its place.

        `None` leaves a conflict open. Asked are the conflicts of which `takes_text`
        is true; others stay open. `Gone.GONE` is an answer only where there are no
        lines. Bytes outside of conflicts are not touched.
        """
        entries = dict(self.changes)
        files: dict[str, _OpenFile] = {}
        left: list[Conflict] = []
        texts: dict[str, list[bytes | None]] = {}
        for conflict in self.conflicts:
            text = answer(conflict) if self.takes_text(conflict) else None
            if conflict.has_lines:
                texts.setdefault(conflict.path, []).append(None if text is Gone.GONE else text)
            elif text is None:
                left.append(conflict)
            elif text is Gone.GONE:
                entries[conflict.path] = None
            else:
                entries[conflict.path] = Entry(text, _mode_at(entries, conflict.path))
        for path, answers in texts.items():
            old = self._files[path]
            left_open = zip(old.numbers, answers, strict=True)
            numbers = tuple(number for number, given in left_open if given is None)
            file = evolve(old, text=_answered(old.text, answers), numbers=numbers)
            entries[path] = file.entry
            if file.text.conflicts:
                files[path] = file
                left += _conflicts_in(path, file)
        return self._with(entries, files, left)

    @property
    def blocks(self) -> tuple[ConflictBlock, ...]:
        """The regions that both sides changed and of which every conflict is open."""
        found = [self._blocks_of(path, file) for path, file in sorted(self._files.items())]
        return tuple(block for blocks in found for block, _ in blocks)

    def resolve_blocks(self, answer: Callable[[ConflictBlock], bytes | None]) -> "ThreeWayMerge":
        """Ask *answer* for the text of each of the `blocks` and put it in its place.

        `None` leaves a block's conflicts open. Bytes outside of blocks are not
        touched.
        """
        entries = dict(self.changes)
        files = dict(self._files)
        left = [conflict for conflict in self.conflicts if not conflict.has_lines]
        for path, file in self._files.items():
            answers = []
            for block, place in self._blocks_of(path, file):
                if (text := answer(block)) is not None:
                    answers.append((place, text))
            closed = {i for place, _ in answers for i in place.conflicts}
            numbers = tuple(n for i, n in enumerate(file.numbers) if i not in closed)
            new = evolve(file, text=file.text.replace(answers), numbers=numbers)
            entries[path] = new.entry
            files[path] = new
            left += _conflicts_in(path, new)
        still = {path: file for path, file in files.items() if file.numbers}
        return self._with(entries, still, left)

    def resolve_files(self, texts: Mapping[str, bytes]) -> "ThreeWayMerge":
        """Put whole texts in the place of files that have open conflicts between lines."""
        entries = dict(self.changes)
        for path, text in texts.items():
            entries[path] = Entry(text, self._files[path].merge.entry.mode)
        still = {path: file for path, file in self._files.items() if path not in texts}
        left = [c for c in self.conflicts if not c.has_lines or c.path not in texts]
        return self._with(entries, still, left)

    def _blocks_of(self, path: str, file: _OpenFile) -> Iterator[tuple[ConflictBlock, TextBlock]]:
        """Yield the blocks of a file, with their place among its open conflicts."""
        conflicts = _conflicts_in(path, file)
        at = {number: i for i, number in enumerate(file.numbers)}
        for block in find_text_blocks(*file.merge.sources, cache=self._cache):
            if not all(number in at for number in block.conflicts):
                continue
            place = range(at[block.conflicts.start], at[block.conflicts.stop - 1] + 1)
            yield (
                ConflictBlock(
                    path=path,
                    base=block.base,
                    ours=block.ours,
                    theirs=block.theirs,
                    newline=block.newline,
                    conflicts=tuple(conflicts[i] for i in place),
                    files=file.merge.sources,
                ),
                evolve(block, conflicts=place),
            )

    def _with(
        self,
        entries: dict[str, Entry | None],
        files: dict[str, _OpenFile],
        conflicts: list[Conflict],
    ) -> "ThreeWayMerge":
        ordered = tuple(sorted(conflicts, key=_place))
        return evolve(self, changes=Changes(entries), conflicts=ordered, files=files)


def merge_changes(
    base: Snapshot,
    ours: Changes,
    theirs: Changes,
    labels: Labels | None = None,
    *,
    cache: DiffCache | None = None,
) -> ThreeWayMerge:
    """Merge two overlays over *base* as `git merge` does.

    Args:
        base: The common ancestor.
        ours: The side that is merged into.
        theirs: The side that is merged.
        labels: What the sides are called in markers.
        cache: Line diffs to reuse and to add to, for merges that share contents.

    Raises:
        RepositoryError: A touched file of *base* cannot be read.
    """
    labels = labels or Labels()
    ours, theirs = _explicit(base, ours), _explicit(base, theirs)
    work = _Merger(base, Slots(base, ours, theirs), labels, cache or DiffCache())
    return work.run()


class _Merger:
    """One merge at work."""

    def __init__(self, base: Snapshot, slots: Slots, labels: Labels, cache: DiffCache) -> None:
        self._base = base
        self._slots = slots
        self._labels = labels
        self._cache = cache
        self._entries: dict[str, Entry | None] = {}
        self._files: dict[str, _OpenFile] = {}
        self._conflicts: list[Conflict] = []
        self._stages: list[Stage] = []
        self._folders: set[str] = set()

    def run(self) -> ThreeWayMerge:
        carry_renames(self._base, self._slots, self._merge_contents)
        # From the end, so that it is known which folders have something left in
        # them when a file of the same name comes up.
        for path in sorted(self._slots, reverse=True):
            self._settle(path, self._slots[path])
        for path, kind in self._slots.disputes.items():
            self._conflict(path, kind, Slot([None] * 3, [path] * 3))
        return ThreeWayMerge(
            changes=Changes(self._entries),
            conflicts=tuple(sorted(self._conflicts, key=_place)),
            stages=tuple(sorted(self._stages, key=lambda s: (s.path, s.number))),
            labels=self._labels,
            files=self._files,
            cache=self._cache,
        )

    def _settle(self, path: str, slot: Slot) -> None:
        """Merge one path."""
        base, ours, theirs = slot.versions
        if ours is None and theirs is None:
            self._entries.setdefault(path, None)
            if slot.kind:
                self._conflict(path, slot.kind, slot)
                if path not in self._folders:
                    self._list_stages(path, slot)
            return
        one_sided = slot.kind is None and (ours == theirs or base in (ours, theirs))
        result = ours if base == theirs else theirs
        if one_sided and result is None:
            self._entries.setdefault(path, None)
            return
        if path in self._folders:
            self._set_aside(path, slot)
        elif one_sided:
            self._put(path, result)
        elif ours is None or theirs is None:
            self._put(path, ours or theirs)
            self._open_inner(path, slot)
            self._leave_open(path, slot, slot.kind or ConflictKind.MODIFY_DELETE)
        elif _kind_of(ours) is not _kind_of(theirs):
            self._separate(path, slot)
        else:
            self._merge_both(path, slot)

    def _put(self, path: str, entry: Entry | None) -> None:
        self._entries[path] = entry
        self._folders.update(folders_above(path))

    def _merge_contents(self, slot: Slot, marker_size: int = 7) -> ContentMerge:
        base, ours, theirs = slot.versions
        if ours is None or theirs is None:  # pragma: no cover - the callers see to it
            raise ValueError("contents are merged where both sides have them")
        labels = self._labels.ours, self._labels.theirs
        if len(set(slot.names)) > 1:
            _, our_name, their_name = slot.names
            labels = f"{labels[0]}:{our_name}", f"{labels[1]}:{their_name}"
        return merge_contents(
            base, ours, theirs, labels=labels, marker_size=marker_size, cache=self._cache
        )

    def _merge_both(self, path: str, slot: Slot) -> None:
        merge = self._merge_contents(slot)
        self._put(path, merge.entry)
        kind = _kind_of_conflict(slot, merge)
        if merge.text:
            self._open_file(path, merge, kind)
            self._list_stages(path, slot)
        elif slot.kind or not merge.is_clean:
            self._leave_open(path, slot, slot.kind or kind)

    def _open_file(self, path: str, merge: ContentMerge, kind: ConflictKind) -> None:
        if merge.text is None:
            return
        numbers = tuple(range(len(merge.text.conflicts)))
        file = _OpenFile(merge=merge, text=merge.text, kind=kind, numbers=numbers)
        self._files[path] = file
        self._conflicts += _conflicts_in(path, file)

    def _open_inner(self, path: str, slot: Slot) -> None:
        if slot.inner:
            self._open_file(path, slot.inner, ConflictKind.CONTENT)

    def _set_aside(self, path: str, slot: Slot) -> None:
        """Move a file out of the way of a folder that the other side made."""
        self._entries[path] = None
        _, ours, theirs = slot.versions
        own = ours is not None and (theirs is None or slot.names[Side.OURS] == path)
        side = Side.OURS if own else Side.THEIRS
        aside = self._free_name(path, self._labels.of(side))
        if ours is not None and theirs is not None:
            merge = self._merge_contents(slot)
            self._put(aside, merge.entry)
            if merge.is_clean:
                slot.versions = [None, None, None]
                slot.versions[side] = merge.entry
            else:
                self._open_file(aside, merge, ConflictKind.CONTENT)
        else:
            self._put(aside, ours or theirs)
        self._leave_open(aside, slot, ConflictKind.FILE_DIRECTORY)

    def _separate(self, path: str, slot: Slot) -> None:
        """Keep two kinds of entry side by side: files give way to links and submodules."""
        base = slot.versions[Side.BASE]
        self._conflict(path, ConflictKind.TYPE, slot)
        sides = [s for s in (Side.OURS, Side.THEIRS) if _is_file(slot.versions[s])]
        for side in sides or (Side.OURS, Side.THEIRS):
            entry = slot.versions[side]
            aside = self._free_name(path, self._labels.of(side))
            versions: list[Entry | None] = [None] * 3
            versions[side], slot.versions[side] = entry, None
            if base and entry and _kind_of(base) is _kind_of(entry):
                versions[Side.BASE], slot.versions[Side.BASE] = base, None
            self._put(aside, entry)
            self._list_stages(aside, Slot(versions, [path] * 3))
        left = slot.versions[Side.OURS] or slot.versions[Side.THEIRS]
        if base and left and _kind_of(base) is not _kind_of(left):
            slot.versions[Side.BASE] = None
        self._entries.setdefault(path, None)
        if left:
            self._put(path, left)
            self._list_stages(path, slot)

    def _leave_open(self, path: str, slot: Slot, kind: ConflictKind) -> None:
        if kind is not ConflictKind.RENAME_RENAME:  # that one stands at the old path
            self._conflict(path, kind, slot)
        self._list_stages(path, slot)

    def _conflict(self, path: str, kind: ConflictKind, slot: Slot) -> None:
        base, ours, theirs = (entry.data if entry else None for entry in slot.versions)
        self._conflicts.append(Conflict(path=path, kind=kind, base=base, ours=ours, theirs=theirs))

    def _list_stages(self, path: str, slot: Slot) -> None:
        for side, entry in zip(Side, slot.versions, strict=True):
            if entry is not None:
                self._stages.append(Stage(path=path, number=side + 1, entry=entry))

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
        inside = name + "/"
        return (
            name in self._slots
            or name in self._entries
            or self._base.get(name) is not None
            or self._base.is_directory(name)
            or any(path.startswith(inside) for path in self._slots)
        )


_STRUCTURAL = {
    FileMode.SYMLINK: ConflictKind.SYMLINK,
    FileMode.SUBMODULE: ConflictKind.SUBMODULE,
}


def _kind_of(entry: Entry) -> FileMode:
    return FileMode.FILE if entry.mode.is_regular else entry.mode


def _is_file(entry: Entry | None) -> bool:
    return entry is not None and entry.mode.is_regular


def _kind_of_conflict(slot: Slot, merge: ContentMerge) -> ConflictKind:
    if merge.text:
        return ConflictKind.CONTENT if slot.versions[Side.BASE] else ConflictKind.ADD_ADD
    if merge.unmergeable:
        return _STRUCTURAL.get(merge.entry.mode, ConflictKind.BINARY)
    return ConflictKind.MODE


def _explicit(base: Snapshot, changes: Changes) -> Changes:
    """Spell out the deletions that an overlay's entries imply."""
    implied: dict[str, Entry | None] = {}
    for path, entry in changes.items():
        if entry is None or base.get(path) is not None:
            continue
        if base.is_directory(path):
            implied.update(dict.fromkeys(base.paths(path)))
        for folder in folders_above(path):
            if base.get(folder) is not None:
                implied[folder] = None
    return Changes({**implied, **changes}) if implied else changes


def _place(conflict: Conflict) -> tuple[str, int]:
    return conflict.path, conflict.line or 0


def _mode_at(entries: Mapping[str, Entry | None], path: str) -> FileMode:
    entry = entries.get(path)
    return entry.mode if entry else FileMode.FILE


def _answered(text: TextMerge, answers: list[bytes | None]) -> TextMerge:
    given = iter(answers)
    return text.resolve(lambda _: next(given))


def _conflicts_in(path: str, file: _OpenFile) -> list[Conflict]:
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
        for conflict, line in zip(file.text.conflicts, file.text.marker_lines(), strict=True)
    ]
