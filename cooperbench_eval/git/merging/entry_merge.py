"""One path of a merge: its versions, their three-way merge, and answers to its conflicts.

A slot holds the entries at one path in base, ours and theirs. Renames move versions from slot to
slot. After that, each path can be merged independently.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Self

from attrs import define, evolve, field, frozen

from cooperbench_eval.git.merging.conflicts import (
    Conflict,
    ConflictKind,
    Replacement,
    ResolutionKind,
)
from cooperbench_eval.git.merging.line_diff import DiffCache
from cooperbench_eval.git.merging.locating_resolutions import locate_conflicts
from cooperbench_eval.git.merging.text_merge import Answer, TextMerge, merge_text
from cooperbench_eval.git.trees.entries import Entry, FileMode, have_same_contents, with_mode
from cooperbench_eval.git.trees.objects import folders_of
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot, walk
from cooperbench_eval.support.memo import WeighedMemo

_BINARY_PROBE = 8000
_KEPT_MERGES = 8_000_000  # bytes
_MERGE_BYTES = 1_000  # a merge needs about this more than its texts
_CONFLICT_BYTES = 500  # and this for each conflict


@frozen(kw_only=True)
class ContentMerge:
    """The result of merging one entry.

    Attributes:
        entry: The merged entry; ours if the contents cannot be merged.
        text: The text merge, if it has conflicts.
        unmergeable: The contents differ and have no lines to merge.
        sources: The texts of base, ours and theirs that were merged into *text*.
    """

    entry: Entry
    text: TextMerge | None = None
    labels: tuple[str, str] = ("ours", "theirs")
    marker_size: int = 7
    modes_differ: bool = False
    unmergeable: bool = False
    sources: tuple[bytes, bytes, bytes] = (b"", b"", b"")

    @property
    def is_clean(self) -> bool:
        """Whether the merge has no conflict."""
        return not (self.text or self.modes_differ or self.unmergeable)


_Key = tuple[tuple[bytes, bytes, bytes], FileMode, bool, tuple[str, str], int]


@frozen
class MergeCache:
    """What merges over one base share; it is bounded, and threads may use one together."""

    diffs: DiffCache = field(factory=DiffCache)
    merges: WeighedMemo[_Key, ContentMerge] = field(factory=lambda: WeighedMemo(_KEPT_MERGES))


def merge_entries(
    base: Entry | None,
    ours: Entry,
    theirs: Entry,
    *,
    labels: tuple[str, str],
    marker_size: int = 7,
    cache: MergeCache,
) -> ContentMerge:
    """Merge two entries of the same kind; a base of another kind is ignored."""
    old = base if base and same_kind(base, ours) else None
    mode, modes_differ = _merge_mode(base, ours, theirs)
    if have_same_contents(ours, theirs) or (old and have_same_contents(theirs, old)):
        return ContentMerge(entry=with_mode(ours, mode), modes_differ=modes_differ)
    if old and have_same_contents(ours, old):
        return ContentMerge(entry=with_mode(theirs, mode), modes_differ=modes_differ)
    texts = [entry for entry in (old, ours, theirs) if entry]
    if not ours.mode.is_regular or any(is_binary(entry.data) for entry in texts):
        return ContentMerge(
            entry=with_mode(ours, mode), modes_differ=modes_differ, unmergeable=True
        )
    sources = old.data if old else b"", ours.data, theirs.data
    key = sources, mode, modes_differ, labels, marker_size
    if kept := cache.merges.get(key):
        return kept
    text = merge_text(*sources, cache=cache.diffs)
    merged = render_text(text, labels, marker_size)
    conflicts = len(text.conflicts)
    result = ContentMerge(
        entry=Entry(merged, mode),
        text=text if conflicts else None,
        labels=labels,
        marker_size=marker_size,
        modes_differ=modes_differ,
        sources=sources,
    )
    # A conflict's lines are in the merge twice: alone, and between markers.
    size = _MERGE_BYTES + conflicts * _CONFLICT_BYTES + sum(map(len, sources)) + 2 * len(merged)
    return cache.merges.keep(key, result, size=size) if size <= _KEPT_MERGES else result


def render_text(text: TextMerge, labels: tuple[str, str], marker_size: int) -> bytes:
    """Return the text of a merge, with open conflicts between markers."""
    return text.render(ours=labels[0], theirs=labels[1], marker_size=marker_size)


def _merge_mode(base: Entry | None, ours: Entry, theirs: Entry) -> tuple[FileMode, bool]:
    if ours.mode is theirs.mode or (base and ours.mode is base.mode):
        return theirs.mode, False
    return ours.mode, not (base and theirs.mode is base.mode)


def same_kind(one: Entry, other: Entry) -> bool:
    """Whether both are files, both links or both submodules."""
    return one.mode is other.mode or (one.mode.is_regular and other.mode.is_regular)


def is_binary(data: bytes) -> bool:
    """Whether git treats *data* as binary: one of its first 8,000 bytes is NUL."""
    return data.find(b"\0", 0, _BINARY_PROBE) >= 0


@frozen(kw_only=True)
class OpenFile:
    """A file with conflicts between its lines.

    Attributes:
        merge: The merge of its contents, before any answer.
        text: The same merge with the answers given so far.
        numbers: The indexes, among all its conflicts, of those that are still open.
    """

    path: str
    merge: ContentMerge
    text: TextMerge
    kind: ConflictKind
    numbers: tuple[int, ...]

    @property
    def lines(self) -> Mapping[int, int]:
        """The line of each open conflict's marker, by the conflict's number."""
        return dict(zip(self.numbers, self.text.marker_lines(), strict=True))

    @property
    def conflicts(self) -> list[Conflict]:
        """Its open conflicts, in order."""
        return [
            Conflict(
                path=self.path,
                kind=self.kind,
                base=conflict.base,
                ours=conflict.ours,
                theirs=conflict.theirs,
                line=line,
                newline=conflict.newline,
            )
            for conflict, line in zip(self.text.conflicts, self.text.marker_lines(), strict=True)
        ]

    @property
    def entry(self) -> Entry:
        """The file with its open conflicts as markers."""
        return Entry(self.render(self.text), self.merge.entry.mode)

    def render(self, text: TextMerge) -> bytes:
        """Return a part of the file as bytes, with its open conflicts as markers."""
        return render_text(text, self.merge.labels, self.merge.marker_size)

    def replacements(
        self, entry: Entry | None, numbers: Sequence[int], *, may_be_open: bool
    ) -> Iterator[Replacement]:
        """Yield the replacements of the open conflicts, which have *numbers* in the whole merge.

        *entry* is the file in a strategy's tree. Only the strategy knows which conflicts
        *may_be_open*: its answer may look like a conflict between markers.
        """
        if entry is None:
            yield Replacement(kind=ResolutionKind.DELETED, together=numbers)
            return
        if not entry.mode.is_regular:
            reason = f"the merged tree has a {entry.mode.name.lower()} there instead of a file"
            yield Replacement(kind=ResolutionKind.UNKNOWN, together=numbers, reason=reason)
            return
        shown = [self.render(TextMerge(chunks=[each])) for each in self.text.conflicts]
        for found in locate_conflicts(self.text.settled, shown, entry.data):
            first, *others = found.conflicts
            is_whole = not (others or found.lines_before or found.lines_after)
            is_open = may_be_open and is_whole and found.text == shown[first]
            yield Replacement(
                kind=ResolutionKind.OPEN if is_open else ResolutionKind.TEXT,
                together=[numbers[i] for i in found.conflicts],
                text=None if is_open else found.text,
                lines_before=found.lines_before,
                lines_after=found.lines_after,
                is_exact=found.is_exact,
            )

    def answered(self, answers: Iterable[Answer]) -> Self:
        """Return the file with some of its open conflicts replaced, in order."""
        answers = tuple(answers)
        closed = {i for answer in answers for i in answer.conflicts}
        numbers = tuple(n for i, n in enumerate(self.numbers) if i not in closed)
        return evolve(self, text=self.text.replace(answers), numbers=numbers)


class Side(IntEnum):
    """A version of a path: base, ours or theirs. The value is git's stage number minus one."""

    BASE = 0
    OURS = 1
    THEIRS = 2

    @property
    def other(self) -> "Side":
        """Theirs for ours, and ours for theirs."""
        return Side.THEIRS if self is Side.OURS else Side.OURS


@define
class Slot:
    """The entries at one path, and the conflict about it that is already known.

    Attributes:
        versions: The entry in base, ours and theirs.
        names: The original path of each version, for the labels of markers.
        kind: A conflict about the path itself, which a merge of contents cannot settle.
        inner: The contents that were already merged for a rename, if the other side has
            no version at this path.
        agreed: The merged entry, if both sides made the same new file here. Git does not
            merge versions that renames move here; it takes ours.
        is_replaced: A directory rename moved a file of one side here, and the other side
            kept the base's file. Git then takes the moved file.
        is_gone: The file of the base has another path now, and the merge has nothing at this
            one. As in git, even a file that a directory rename moved here is lost.
    """

    versions: list[Entry | None]
    names: list[str]
    kind: ConflictKind | None = None
    inner: ContentMerge | None = None
    agreed: Entry | None = None
    is_replaced: bool = False
    is_gone: bool = False

    @property
    def present(self) -> tuple[Side, ...]:
        """The versions (base, ours, theirs) that exist."""
        return tuple(side for side in Side if self.versions[side] is not None)


class Slots:
    """The slots of all touched paths.

    Attributes:
        searched: The sides on which renames were searched.
        new_folders: The folders that exist only because a directory rename moved files there,
            and the side whose file came first.
        disputes: Conflicts that do not change the merged tree, by path.
    """

    def __init__(self, base: Snapshot, ours: Changes, theirs: Changes) -> None:
        """Make a slot for each path that a side touches."""
        self.searched: set[Side] = set()
        self.new_folders: dict[str, Side] = {}
        self.disputes: dict[str, ConflictKind] = {}
        self._slots: dict[str, Slot] = {}
        for path in ours.keys() | theirs.keys():
            old = base.get(path)
            mine, yours = ours.get(path, old), theirs.get(path, old)
            agreed = mine if old is None and mine == yours else None
            self._slots[path] = Slot([old, mine, yours], [path] * 3, agreed=agreed)
        self._touched = frozenset(self._slots)
        self._untouched: dict[str, bool] = {}  # whether a folder has untouched entries
        self._sides = {Side.OURS: ours, Side.THEIRS: theirs}
        self._folders: dict[Side, set[str]] = {}  # above the touched paths that a side has

    def __getitem__(self, path: str) -> Slot:
        return self._slots[path]

    def __contains__(self, path: str) -> bool:
        return path in self._slots

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._slots))

    def claim(self, path: str) -> Slot:
        """Return the slot of *path*, after creating an empty one if it is new."""
        return self._slots.setdefault(path, Slot([None] * 3, [path] * 3))

    def lacking(self, side: Side) -> list[str]:
        """Return the paths of the base that *side* lacks. If there are none, it renamed nothing."""
        return [
            path
            for path, slot in self._slots.items()
            if slot.versions[side] is None and slot.versions[Side.BASE] is not None
        ]

    def changed_by(self, side: Side) -> set[str]:
        """Return the paths that *side* changed, and the folders above them."""
        paths = [p for p, s in self._slots.items() if s.versions[side] != s.versions[Side.BASE]]
        return folders_of(paths).union(paths)

    def is_added(self, path: str, side: Side) -> bool:
        """Whether *side* has an entry at *path*, and the base has none."""
        versions = self._slots[path].versions
        return versions[Side.BASE] is None and versions[side] is not None

    def has_folder(self, base: Snapshot, path: str, side: Side) -> bool:
        """Whether *side* had a folder at *path* before any rename."""
        if side not in self._folders:
            own = self._sides.get(side, Changes())
            self._folders[side] = folders_of(
                p for p in self._touched if own.get(p, base.get(p)) is not None
            )
        if path in self._folders[side]:
            return True
        if path not in self._untouched:
            self._untouched[path] = any(each not in self._touched for each in walk(base, path))
        return self._untouched[path]

    def relocate(self, old: str, new: str, side: Side) -> None:
        """Move one side's version to where the other side renamed its folder: a conflict."""
        source, target = self._slots[old], self.claim(new)
        target.versions[side], source.versions[side] = source.versions[side], None
        target.names[side] = old
        target.kind = ConflictKind.DIRECTORY_RENAME
        old_entry = target.versions[Side.BASE]
        target.is_replaced = old_entry is not None and old_entry == target.versions[side.other]

    def dispute(self, path: str, kind: ConflictKind) -> None:
        """Record a conflict about *path*. The merged tree stays as it is."""
        self.disputes[path] = kind
