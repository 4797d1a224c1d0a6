"""Splits a side into hunks that can be left out independently, and puts some of them together.

A hunk is a maximal group of changed lines without an unchanged line between them. Changes
that have no lines (a new mode, binary contents, a link), and those that create, delete or
rename a file, are one hunk each.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from attrs import field, frozen

from cooperbench_eval.git.merging.entry_merge import is_binary
from cooperbench_eval.git.merging.line_diff import Change, diff_lines, split_lines
from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy, FilePatch, PatchStatus, Rung
from cooperbench_eval.git.trees.diff_writing import render_change
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot

_FAR = 500  # lines
_DEFINITION = re.compile(
    rb"\s*(?:(?:export|default|async|pub(?:\([^)]*\))?|static|public|private|protected)\s+)*"
    rb"(?:class|def|enum|fn|func|function|impl|interface|mod|struct|trait|type)\b"
)
_EXACT = ApplyPolicy(rungs=[Rung.EXACT])
"""Diffs of whole files are made against the base, so only exact places are accepted."""


@frozen(kw_only=True)
class SideHunk:
    """A part of a side's changes that can be left out on its own.

    Attributes:
        line: Its first line in the side's version of the file, counted from 1.
        text: Its changed lines with their signs; the whole diff for a change without lines.
        change: The lines that it replaces; `None` for a change of whole files.
        scope: The line of the file that begins the definition around it, if any.
    """

    path: str
    line: int = 1
    text: bytes = field(repr=False)
    change: Change | None = None
    files: tuple[FilePatch, ...] = field(default=(), repr=False)
    scope: bytes = field(default=b"", repr=False)


@frozen(kw_only=True)
class SplitSide:
    """The hunks of a side of *base*, in the order of their places."""

    base: Snapshot
    hunks: tuple[SideHunk, ...]
    _lines: Mapping[str, tuple[list[bytes], list[bytes]]] = field(repr=False)

    def with_only(self, kept: Collection[SideHunk]) -> Changes | None:
        """Return the side with only some hunks; `None` if these need others."""
        chosen = [hunk for hunk in self.hunks if hunk in kept]
        whole = Patch(files=tuple(file for hunk in chosen for file in hunk.files))
        result = apply_patch(self.base, whole, _EXACT)
        if result.status is PatchStatus.FAILED:
            return None
        entries = dict(result.changes)
        edits = [hunk for hunk in chosen if hunk.change is not None]
        for path, group in groupby(edits, lambda hunk: hunk.path):
            changes = [hunk.change for hunk in group if hunk.change is not None]
            entry = entries.get(path) or self.base.get(path)
            assert entry is not None  # noqa: S101 - its lines are changed, so it is a file
            data = b"".join(_with_edits(*self._lines[path], changes))
            entries[path] = Entry(data, entry.mode)
        return Changes(entries)


def split_side(base: Snapshot, changes: Changes, renames: Mapping[str, str]) -> SplitSide:
    """Split a side into hunks; *renames* has the old path of each file that it renames."""
    real = Changes.between(base, base.overlay(changes))
    gone = {path for path, entry in real.items() if entry is None}
    moved = {new: old for new, old in renames.items() if old in gone and real.get(new)}
    sources = frozenset(moved.values())
    hunks: list[SideHunk] = []
    lines: dict[str, tuple[list[bytes], list[bytes]]] = {}
    for path, new in real.items():
        old = base.get(path)
        if path in sources:
            continue
        if path in moved:
            hunks.append(_whole(path, _diff(moved[path], base, real) + _diff(path, base, real)))
        elif old is None or new is None or not _has_lines(old, new):
            hunks.append(_whole(path, _diff(path, base, real)))
        else:
            if old.mode != new.mode:
                hunks.append(_whole(path, render_change(path, old, Entry(old.data, new.mode))))
            lines[path] = split_lines(old.data), split_lines(new.data)
            hunks += _line_hunks(path, *lines[path])
    return SplitSide(base=base, hunks=tuple(hunks), lines=lines)


def _diff(path: str, base: Snapshot, changes: Changes) -> bytes:
    return render_change(path, base.get(path), changes[path])


def _has_lines(old: Entry, new: Entry) -> bool:
    are_files = old.mode.is_regular and new.mode.is_regular
    return are_files and not is_binary(old.data) and not is_binary(new.data)


def _whole(path: str, diff: bytes) -> SideHunk:
    files = Patch.parse(diff).files
    lines = [line for file in files for hunk in file.hunks for line in hunk.lines]
    return SideHunk(path=path, text=b"".join(map(_ended, lines)) or diff, files=files)


def _line_hunks(path: str, old: list[bytes], new: list[bytes]) -> Iterator[SideHunk]:
    for change in diff_lines(old, new):
        removed = [b"-" + line for line in old[change.a_start : change.a_end]]
        added = [b"+" + line for line in new[change.b_start : change.b_end]]
        yield SideHunk(
            path=path,
            line=change.b_start + 1,
            text=b"".join(map(_ended, removed + added)),
            change=change,
            scope=_scope(old, change.a_start),
        )


def _scope(lines: Sequence[bytes], place: int) -> bytes:
    above = (lines[i] for i in range(place - 1, max(place - _FAR, 0) - 1, -1))
    return next(filter(_DEFINITION.match, above), b"")


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"


def _with_edits(
    old: Sequence[bytes], new: Sequence[bytes], edits: Iterable[Change]
) -> Iterator[bytes]:
    """Yield the old lines, with some of the changes between them and the new ones."""
    at = 0
    for edit in edits:
        yield from old[at : edit.a_start]
        yield from new[edit.b_start : edit.b_end]
        at = edit.a_end
    yield from old[at:]
