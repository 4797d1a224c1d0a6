"""The result of a three-way merge, and the replacement of its conflicts by answers."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from enum import Enum
from itertools import chain

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.merging.conflicts import (
    Conflict,
    ConflictBlock,
    ConflictKind,
    Replacement,
    ResolutionKind,
)
from cooperbench_eval.git.merging.entry_merge import OpenFile, Side
from cooperbench_eval.git.merging.line_diff import DiffCache
from cooperbench_eval.git.merging.text_merge import (
    Answer,
    Place,
    TextConflict,
    find_conflict_lines,
    find_text_blocks,
)
from cooperbench_eval.git.trees.entries import Entry, FileMode
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.support.arguments import checked, checked_fields

_WHOLE_FILE = frozenset({ConflictKind.BINARY, ConflictKind.MODIFY_DELETE})


class Gone(Enum):
    """An answer to a conflict that is not a text."""

    GONE = "gone"
    """Delete the file."""


@frozen(kw_only=True, field_transformer=checked_fields)
class Labels:
    """The names of the sides in markers and in the names of renamed files (`path~label`)."""

    ours: str = "ours"
    theirs: str = "theirs"

    @checked
    def of(self, side: Side) -> str:
        """Return the label of ours or theirs."""
        return self.ours if side is Side.OURS else self.theirs


@frozen(kw_only=True)
class Stage:
    """One version of an unmerged path, as git's index would list it.

    Attributes:
        number: 1 for the base, 2 for ours, 3 for theirs.
    """

    path: str
    number: int
    entry: Entry


@frozen(kw_only=True)
class ThreeWayMerge:
    """A finished three-way merge, before any strategy.

    Attributes:
        changes: The merged overlay. For an open conflict it has git's markers, or the
            side that git keeps.
        conflicts: The open conflicts, by path, then in the order of the file.
        stages: The versions of every path that the merge left open, as
            `git ls-files --unmerged` would list them. Resolving conflicts does not
            change them.
        labels: The names of the sides in the markers.
    """

    changes: Changes
    conflicts: tuple[Conflict, ...]
    stages: tuple[Stage, ...] = field(default=(), repr=False)
    labels: Labels = field(factory=Labels)
    _files: Mapping[str, OpenFile] = field(factory=dict, repr=False)
    _cache: DiffCache = field(factory=DiffCache, eq=False, repr=False)
    # By path. Answers change no version of a file, so merges with answers share them.
    _blocks: dict[str, tuple[tuple[TextConflict, Place], ...]] = field(
        factory=dict, eq=False, repr=False
    )

    @checked
    def versions_of(self, path: str) -> tuple[bytes, bytes, bytes]:
        """Return base, ours and theirs of a file with open conflicts between lines."""
        return self._file(path).merge.sources

    @checked
    def settled_in(self, path: str) -> tuple[bytes, ...]:
        """Return the text before, between and after the open conflicts of the file at *path*.

        The file must have conflicts between lines.
        """
        return self._file(path).text.settled

    @checked
    def settled_around_blocks(self, path: str) -> tuple[bytes, ...]:
        """Return the text before, between and after the `blocks` of the file at *path*.

        The file must have conflicts between lines. The text shows open conflicts outside
        of these blocks between markers.
        """
        file = self._file(path)
        parts = file.text.around([place for _, place in self._blocks_of(file)])
        return tuple(file.render(part) for part in parts)

    @checked
    def lines_in(self, path: str) -> tuple[tuple[range, range, range], ...]:
        """Return where the open conflicts of the file at *path* are in its three versions.

        The file must have conflicts between lines.

        Returns:
            For each conflict its lines in base, ours and theirs, counted from 0.
        """
        file = self._file(path)
        lines = find_conflict_lines(*file.merge.sources, cache=self._cache)
        return tuple(lines[number] for number in file.numbers)

    def _file(self, path: str, argument: str = "path") -> OpenFile:
        if path not in self._files:
            raise ArgumentError(argument, f"has no conflicts between lines: {path!r:.200}")
        return self._files[path]

    @checked
    def replacements(
        self, merged: Snapshot, still_open: Iterable[Conflict]
    ) -> tuple[Replacement, ...]:
        """Find the replacement that a strategy made for each open conflict, in order.

        Args:
            merged: The tree that the strategy made from this merge.
            still_open: The conflicts that it left open.
        """
        left = tuple(still_open)
        if left == self.conflicts and all(
            merged.get(each.path) == self.changes.get(each.path) for each in left
        ):
            return tuple(
                Replacement(kind=ResolutionKind.OPEN, together=(i,)) for i in range(len(left))
            )
        open_at = {(conflict.path, conflict.has_lines) for conflict in left}
        by_file: dict[tuple[str, bool], list[int]] = {}
        for i, conflict in enumerate(self.conflicts):
            by_file.setdefault((conflict.path, conflict.has_lines), []).append(i)
        found: list[Replacement] = []
        for (path, has_lines), numbers in by_file.items():
            entry, may_be_open = merged.get(path), (path, has_lines) in open_at
            if has_lines:
                found += self._files[path].replacements(entry, numbers, may_be_open=may_be_open)
            elif may_be_open:
                found += (Replacement(kind=ResolutionKind.OPEN, together=(i,)) for i in numbers)
            else:
                found += (_replaced_file(entry, i) for i in numbers)
        return tuple(sorted(found, key=lambda each: each.together))

    @checked
    def lines_before(self, earlier: "ThreeWayMerge") -> Mapping[tuple[str, int], int]:
        """Return the lines that the open conflicts had in an earlier merge.

        Args:
            earlier: The merge from which this one was made by resolving some conflicts.

        Returns:
            The line in *earlier*, by the path and the line of each conflict in this merge.
        """
        found: dict[tuple[str, int], int] = {}
        for path, file in self._files.items():
            old = earlier._files.get(path)  # noqa: SLF001 - of its own class
            if old and old.merge == file.merge:
                before = old.lines
                found |= {(path, line): before[n] for n, line in file.lines.items() if n in before}
        return found

    @checked
    def takes_text(self, conflict: Conflict) -> bool:
        """Whether a text can resolve *conflict*, which must be open.

        It can if the conflict is between lines, or about the contents of a whole file
        (binary, modify/delete). A link's target and a submodule's commit are not
        contents of a file.
        """
        if conflict.has_lines:
            return True
        entry = self.changes.get(conflict.path)
        return conflict.kind in _WHOLE_FILE and entry is not None and entry.mode.is_regular

    @checked
    def resolve(self, answer: Callable[[Conflict], bytes | Gone | None]) -> "ThreeWayMerge":
        """Replace each open conflict by the text that *answer* returns for it.

        *answer* is called for each conflict for which `takes_text` is true. The others
        stay open, and so does one for which it returns `None`. `Gone.GONE` deletes the
        file of a conflict about a whole file; for a conflict between lines it counts as
        `None`. Bytes outside of conflicts do not change.
        """
        entries, files = dict(self.changes), dict(self._files)
        left: list[Conflict] = []
        texts: dict[str, list[bytes | None]] = {}
        for conflict in self.conflicts:
            text = _checked(answer(conflict)) if self.takes_text(conflict) else None
            if conflict.has_lines:
                texts.setdefault(conflict.path, []).append(None if text is Gone.GONE else text)
            elif text is None:
                left.append(conflict)
            elif text is Gone.GONE:
                entries[conflict.path] = None
            else:
                there = entries.get(conflict.path)
                entries[conflict.path] = Entry(text, there.mode if there else FileMode.FILE)
        for path, answers in texts.items():
            files[path] = files[path].answered(
                Answer(range(i, i + 1), text) for i, text in enumerate(answers) if text is not None
            )
            entries[path] = files[path].entry
        return self._with(entries, files, left)

    @property
    def blocks(self) -> tuple[ConflictBlock, ...]:
        """The regions that both sides changed and whose conflicts are all open."""
        found = [self._blocks_of(file) for _, file in sorted(self._files.items())]
        return tuple(block for blocks in found for block, _ in blocks)

    @checked
    def resolve_blocks(self, answer: Callable[[ConflictBlock], bytes | None]) -> "ThreeWayMerge":
        """Replace each of the `blocks` by the text that *answer* returns for it.

        If it returns `None`, the block's conflicts stay open. Bytes outside of blocks do
        not change.
        """
        entries, files = dict(self.changes), dict(self._files)
        for path, file in self._files.items():
            files[path] = file.answered(
                Answer(place.conflicts, text, place.lead, place.tail)
                for block, place in self._blocks_of(file)
                if isinstance(text := _checked(answer(block)), bytes)
            )
            entries[path] = files[path].entry
        return self._with(entries, files, self._whole_files())

    @checked
    def resolve_files(self, texts: Mapping[str, bytes]) -> "ThreeWayMerge":
        """Replace the whole text of files that have open conflicts between lines."""
        entries = dict(self.changes)
        for path, text in texts.items():
            entries[path] = Entry(text, self._file(path, "texts").merge.entry.mode)
        files = {path: file for path, file in self._files.items() if path not in texts}
        return self._with(entries, files, self._whole_files())

    @checked
    def concluded(self, changes: Changes) -> "ThreeWayMerge":
        """Return the merge without open conflicts, with the tree that a strategy made."""
        return self._with(changes, {}, [])

    @checked
    def without_files(self, paths: Iterable[str]) -> "ThreeWayMerge":
        """Return the merge without the open conflicts of some files, whose contents stay."""
        hidden = frozenset(paths)
        files = {path: file for path, file in self._files.items() if path not in hidden}
        return self._with(self.changes, files, self._whole_files(hidden))

    @checked
    def reopened(
        self, earlier: "ThreeWayMerge", kept: Mapping[str, Iterable[Answer]]
    ) -> "ThreeWayMerge":
        """Take back the answers in some files.

        Args:
            earlier: The merge from which this one was made by resolving conflicts.
            kept: The answers that stay, in order, by the path of each file concerned. All
                other conflicts of these files are open again, as in *earlier*.
        """
        entries, files, left = dict(self.changes), dict(self._files), self._whole_files(kept)
        for path, answers in kept.items():
            entries.pop(path, None)
            if path in earlier.changes:
                entries[path] = earlier.changes[path]
            left += [c for c in earlier.conflicts if c.path == path and not c.has_lines]
            files.pop(path, None)
            if path in earlier._files:  # noqa: SLF001 - of its own class
                files[path] = earlier._files[path].answered(answers)  # noqa: SLF001
                entries[path] = files[path].entry
        return self._with(entries, files, left)

    def _blocks_of(self, file: OpenFile) -> Iterator[tuple[ConflictBlock, Place]]:
        """Yield the blocks of a file, with the place of each among its open conflicts."""
        conflicts = file.conflicts
        at = {number: i for i, number in enumerate(file.numbers)}
        blocks = self._blocks.get(file.path)
        if blocks is None:
            blocks = find_text_blocks(*file.merge.sources, cache=self._cache)
            self._blocks[file.path] = blocks
        for whole, place in blocks:
            numbers = place.conflicts
            if not all(number in at for number in numbers):
                continue
            indexes = range(at[numbers.start], at[numbers.stop - 1] + 1)
            block = ConflictBlock(
                path=file.path,
                base=whole.base,
                ours=whole.ours,
                theirs=whole.theirs,
                newline=whole.newline,
                conflicts=tuple(conflicts[i] for i in indexes),
                files=file.merge.sources,
            )
            yield block, place._replace(conflicts=indexes)

    def _whole_files(self, hidden: Container[str] = ()) -> list[Conflict]:
        """Return the open conflicts that are not between lines, except those of some files."""
        return [c for c in self.conflicts if not c.has_lines and c.path not in hidden]

    def _with(
        self,
        entries: Mapping[str, Entry | None],
        files: Mapping[str, OpenFile],
        left: Iterable[Conflict],
    ) -> "ThreeWayMerge":
        """Return the merge with other entries and open conflicts: of *files*, and *left*."""
        files = {path: file for path, file in files.items() if file.numbers}
        conflicts = chain(left, *(file.conflicts for file in files.values()))
        ordered = tuple(sorted(conflicts, key=by_place))
        return evolve(self, changes=Changes(entries), conflicts=ordered, files=files)


def by_place(conflict: Conflict) -> tuple[str, int]:
    """Return the sort key of a conflict: its path, then its line."""
    return conflict.path, conflict.line or 0


def _replaced_file(entry: Entry | None, number: int) -> Replacement:
    if entry is None:
        return Replacement(kind=ResolutionKind.DELETED, together=(number,))
    return Replacement(kind=ResolutionKind.TEXT, together=(number,), text=entry.data)


def _checked(text: bytes | Gone | None) -> bytes | Gone | None:
    if not isinstance(text, bytes | Gone | None):
        raise ArgumentError("answer", f"must return bytes, Gone.GONE or None, not {text!r:.100}")
    return text
