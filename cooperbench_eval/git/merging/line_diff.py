"""Line diff of two texts, with exactly the changes that git finds in a merge.

A diff is made in two steps. First, an algorithm marks the lines of each file that
the other one lacks. Then groups of marked lines are moved over equal lines to a
canonical position. Git does the same in a merge, without the indent heuristic of `git diff`
and `git blame`; libgit2 diffs as these do.
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import starmap
from typing import NamedTuple

from cooperbench_eval.git.merging import histogram, myers
from cooperbench_eval.support.memo import WeighedMemo


class DiffAlgorithm(StrEnum):
    """How the unchanged lines of two files are found."""

    HISTOGRAM = "histogram"
    """Match the rarest lines first, as `git merge` does."""
    MYERS = "myers"
    """Find a short edit script, as `git diff` and `git merge-file` do."""


class Change(NamedTuple):
    """Lines of *a* that are replaced by lines of *b*; both ranges are half-open.

    Attributes:
        a_start: The first removed line, counted from 0.
        a_end: The line after the last removed one.
        b_start: The first added line.
        b_end: The line after the last added one.
    """

    a_start: int
    a_end: int
    b_start: int
    b_end: int


_Group = tuple[int, int]
"""Consecutive changed lines, as a half-open range."""


def split_lines(data: bytes) -> list[bytes]:
    r"""Cut *data* after each newline byte; nothing else ends a line.

    A last line without a newline differs from the same line with one.

    Example:
        >>> split_lines(b"a\r\nb")
        [b'a\r\n', b'b']
    """
    if b"\r" not in data:
        return data.splitlines(keepends=True)
    lines = [line + b"\n" for line in data.split(b"\n")]
    rest = lines.pop()[:-1]
    return [*lines, rest] if rest else lines


def diff_lines(
    a: Sequence[bytes],
    b: Sequence[bytes],
    *,
    algorithm: DiffAlgorithm = DiffAlgorithm.HISTOGRAM,
) -> tuple[Change, ...]:
    r"""List the changes from the lines *a* to the lines *b*.

    Files of 100,000 lines take seconds, whatever they contain.

    Args:
        a: The old lines, as `split_lines` cuts them.
        b: The new lines.
        algorithm: How to find the lines that are the same.

    Returns:
        The changes in order, with at least one unchanged line between any two.

    Example:
        >>> diff_lines([b"a\n", b"b\n"], [b"b\n", b"c\n"])[1]
        Change(a_start=2, a_end=2, b_start=1, b_end=2)
    """
    if algorithm is DiffAlgorithm.HISTOGRAM:
        a_marks, b_marks = histogram.mark_changes(a, b)
    else:
        a_marks, b_marks = myers.mark_changes(a, b)
    a_groups, b_groups = _groups(a_marks), _groups(b_marks)
    # The order matters: the final positions of b's groups depend on those of a's.
    a_groups = _slide(a, a_groups, _gaps(b_groups))
    b_groups = _slide(b, b_groups, _gaps(a_groups))
    return _pair(a_groups, b_groups)


def diff_as_shown(a: Sequence[bytes], b: Sequence[bytes]) -> tuple[Change, ...]:
    """List the changes from one text's lines to another's, as `git diff` and `git blame` do.

    The indentation decides where a change is shown that could be shown at several places.
    """
    from cooperbench_eval.git.trees.repository import (  # noqa: PLC0415 - loads libgit2
        changed_ranges,
    )

    return tuple(starmap(Change, changed_ranges(b"".join(a), b"".join(b))))


def _groups(marks: bytearray) -> list[_Group]:
    groups = []
    start = marks.find(1)
    while start >= 0:
        end = marks.find(0, start)
        if end < 0:
            end = len(marks)
        groups.append((start, end))
        start = marks.find(1, end)
    return groups


def _gaps(groups: list[_Group]) -> dict[int, _Group]:
    """Key each group by the number of unchanged lines before it.

    A group of one file is opposite a group of the other file if their keys are equal.
    """
    gaps = {}
    changed = 0
    for start, end in groups:
        gaps[start - changed] = start, end
        changed += end - start
    return gaps


def _slide(
    lines: Sequence[bytes], groups: list[_Group], opposite: dict[int, _Group]
) -> list[_Group]:
    """Move each group of changed lines to where git shows it.

    A group can move up by one line if the line above it equals its last line, and
    down if the line below it equals its first. It is moved up as far as possible, then
    down as far as possible, and merged with any group that it reaches. If it was
    opposite a group of the other file on the way down, it returns to the lowest such
    position.
    """
    slid: list[_Group] = []
    ahead = groups[::-1]
    line_count = len(lines)
    changed = 0
    while ahead:
        start, end = ahead.pop()
        size = 0
        while size != end - start:
            size = end - start
            while start and lines[start - 1] == lines[end - 1]:
                start -= 1
                end -= 1
                if slid and slid[-1][1] == start:
                    met, _ = slid.pop()
                    changed -= start - met
                    start = met
            aligned_end = end if start - changed in opposite else -1
            while end < line_count and lines[start] == lines[end]:
                start += 1
                end += 1
                if ahead and ahead[-1][0] == end:
                    _, end = ahead.pop()
                if start - changed in opposite:
                    aligned_end = end
        if aligned_end >= 0:
            start -= end - aligned_end
            end = aligned_end
        slid.append((start, end))
        changed += end - start
    return slid


def _pair(a_groups: list[_Group], b_groups: list[_Group]) -> tuple[Change, ...]:
    a_gaps, b_gaps = _gaps(a_groups), _gaps(b_groups)
    changes = []
    removed = added = 0
    for gap in sorted({*a_gaps, *b_gaps}):
        a_start, a_end = a_gaps.get(gap, (gap + removed, gap + removed))
        b_start, b_end = b_gaps.get(gap, (gap + added, gap + added))
        removed += a_end - a_start
        added += b_end - b_start
        changes.append(Change(a_start, a_end, b_start, b_end))
    return tuple(changes)


# --- texts whose lines and diffs are remembered ---


class Text:
    r"""A text and its lines.

    Example:
        >>> Text(b"a\nb\nc\n").cut(1, 3)
        b'b\nc\n'
    """

    def __init__(self, data: bytes) -> None:
        """Cut *data* into lines."""
        self.data = data
        self.lines: Sequence[bytes] = split_lines(data)

    def cut(self, start: int, end: int) -> bytes:
        """Return the lines from *start* up to, but not including, *end*."""
        return b"".join(self.lines[start:end])

    @property
    def size(self) -> int:
        """About how many bytes of memory it needs, with everything that it remembers."""
        return _ITEM_BYTES + 2 * len(self.data) + _LINE_BYTES * len(self.lines)


class DiffCache:
    """Remembers the lines of files and the diffs between them.

    Merges that share a base or a side then share the work; a base keeps one for all of its
    merges. Several threads may use one. The oldest texts and diffs are dropped first, so its
    memory is bounded. A pickled cache is restored empty.

    Example:
        >>> cache = DiffCache()
        >>> cache.text(b"a") is cache.text(b"a")
        True
    """

    def __init__(self, max_bytes: int = 32 * 1024 * 1024) -> None:
        """Make an empty cache that uses about *max_bytes* of memory at most."""
        self._max_bytes = max_bytes
        self._texts = WeighedMemo[bytes, Text](max_bytes // 2)
        self._changes = WeighedMemo[tuple[bytes, bytes, DiffAlgorithm], tuple[Change, ...]](
            max_bytes // 2
        )

    def text(self, data: bytes) -> Text:
        """Return *data* with its lines."""
        text = self._texts.get(data)
        if text is None:
            text = Text(data)
            if text.size <= self._max_bytes // 2:
                text = self._texts.keep(data, text, size=text.size)
        return text

    def changes(
        self, a: Text, b: Text, *, algorithm: DiffAlgorithm = DiffAlgorithm.HISTOGRAM
    ) -> tuple[Change, ...]:
        """List the changes from *a* to *b*, as `diff_lines` does."""
        key = a.data, b.data, algorithm
        changes = self._changes.get(key)
        if changes is None:
            changes = diff_lines(a.lines, b.lines, algorithm=algorithm)
            size = _ITEM_BYTES + len(a.data) + len(b.data) + _CHANGE_BYTES * len(changes)
            if size <= self._max_bytes // 2:
                changes = self._changes.keep(key, changes, size=size)
        return changes


_ITEM_BYTES = 800
"""The memory for the objects of a text or of a diff, however short it is."""
_LINE_BYTES = 41
"""The memory for a line besides its text: an object in a list."""
_CHANGE_BYTES = 208
"""The memory for a change: a tuple of four numbers."""
