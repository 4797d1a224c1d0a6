"""Maps of lines: which line of one text is which line of another."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from cooperbench_eval.git.merging.entry_merge import is_binary
from cooperbench_eval.git.merging.line_diff import Change, diff_as_shown, split_lines
from cooperbench_eval.git.trees.entries import Entry

ABSENT = -1
"""The place of a line in a text that lacks it."""
_BLOCK = 1024


def lines_of(entry: Entry | None) -> list[bytes] | None:
    """Return the lines of a text file; `None` for all other entries."""
    if entry is None or not entry.mode.is_regular or is_binary(entry.data):
        return None
    return split_lines(entry.data)


def closed(lines: Sequence[bytes]) -> Sequence[bytes]:
    """Add the newline that the last line may lack; a merge may do so too."""
    if lines and not lines[-1].endswith(b"\n"):
        return [*lines[:-1], lines[-1] + b"\n"]
    return lines


def closed_entry(entry: Entry) -> Entry:
    """Return a file with the newline that a text's last line may lack."""
    lines = lines_of(entry)
    if not lines or lines[-1].endswith(b"\n"):
        return entry
    return Entry(entry.data + b"\n", entry.mode)


def map_lines(old: Sequence[bytes], new: Sequence[bytes], *, as_blame: bool = False) -> list[int]:
    """Return for each line of *new* its place in *old*, as `git diff` or `git blame` does."""
    tail = _tail_set_aside(b"".join(old), b"".join(new)) if as_blame else 0
    changes = diff_as_shown(old[: len(old) - tail], new[: len(new) - tail])
    return same_lines(changes, len(new))


def _tail_set_aside(old: bytes, new: bytes) -> int:
    """Count the equal lines at the end that `git blame` does not diff.

    It sets aside whole blocks of bytes, except the rest of the line in which they begin. This
    matters because whether a line is frequent depends on the lines that are diffed.
    """
    size, shorter = 0, min(len(old), len(new))
    while size + _BLOCK <= shorter and (
        old[len(old) - size - _BLOCK : len(old) - size]
        == new[len(new) - size - _BLOCK : len(new) - size]
    ):
        size += _BLOCK
    newline = old.find(b"\n", len(old) - size) if size else -1
    rest = old[newline + 1 :] if newline >= 0 else b""
    return rest.count(b"\n") + (not rest.endswith(b"\n") and bool(rest))


def same_lines(changes: Sequence[Change], count: int) -> list[int]:
    """Return for each of *count* new lines its place in the old text, from the diff."""
    places: list[int] = []
    shift = 0
    for a_start, a_end, b_start, b_end in changes:
        places += range(len(places) + shift, a_start)
        places += [ABSENT] * (b_end - b_start)
        shift = a_end - b_end
    places += range(len(places) + shift, count + shift)
    return places


def inverse(places: Sequence[int], count: int) -> list[int]:
    """Return for each of *count* old lines its place in the new text."""
    found = [ABSENT] * count
    for new, old in enumerate(places):
        if old != ABSENT:
            found[old] = new
    return found


def through(rows: Iterable[int], places: Sequence[int]) -> list[int]:
    """Return for each of *rows*, which may be absent, its place among *places*."""
    return [places[row] if row != ABSENT else ABSENT for row in rows]


def runs_of(numbers: Iterable[int]) -> Iterator[range]:
    """Yield ascending numbers as ranges of consecutive ones."""
    for _, run in groupby(enumerate(numbers), lambda each: each[1] - each[0]):
        found = [number for _, number in run]
        yield range(found[0], found[-1] + 1)
