"""Finds in a merged file the text that replaced each of its conflicts.

The literature calls this localizing a resolution (DeepMerge, arXiv 2105.07569). The
settled text before, between and after the conflicts is known. If the merged file
still contains all of it in order, the text between these runs replaced the conflicts.

A run of settled text may occur several times in the merged file. The runs are searched
from the front for their first possible positions, and from the back for their last
ones. Every other possible position lies between the two, so a run whose first and
last positions are equal has only one. If a run has several possible positions, the
conflicts before and after it are reported together.

If the merged file lacks some of the settled text, a line diff shows where it was
changed. A change that contains a conflict replaced the conflict together with the
settled lines in the change.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import groupby

from attrs import frozen

from cooperbench_eval.git.merging.line_diff import diff_lines, split_lines


@frozen
class Located:
    """The text that replaced one conflict, or several that follow one another.

    Attributes:
        conflicts: The indexes of these conflicts among those of the file.
        lines_before: How many settled lines before the conflicts the text also replaced.
        lines_after: How many settled lines after the conflicts the text also replaced.
        is_exact: Whether the text is certain. It is uncertain if the file lacks some settled
            text, or if an indented copy of settled lines might be theirs.
    """

    conflicts: range
    text: bytes
    lines_before: int = 0
    lines_after: int = 0
    is_exact: bool = True


def locate_conflicts(
    settled: Sequence[bytes], conflicts: Sequence[bytes], merged: bytes
) -> list[Located]:
    """Locate each conflict of a file in *merged*, in order.

    *settled* is the text before, between and after the *conflicts*, as the unresolved file has
    them.
    """
    found = _locate_exactly(settled, merged)
    return _locate_in_changes(settled, conflicts, merged) if found is None else found


def find_between(
    text: bytes, settled: Sequence[bytes], *, anywhere: bool = False
) -> list[bytes] | None:
    """Return the parts of *text* between runs of settled lines.

    *text* must start with the first run and end with the last one. Each other run is taken at its
    first possible position, *anywhere* or at the start of a line. The result is `None` if *text*
    does not contain all runs in order.
    """
    inner, runs = _inner(text, settled), settled[1:-1]
    starts = None if inner is None else _first_starts(runs, inner, edge=b"" if anywhere else b"\n")
    if inner is None or starts is None:
        return None
    ends = [0, *(start + len(run) for start, run in zip(starts, runs, strict=True))]
    return [inner[end:start] for end, start in zip(ends, [*starts, len(inner)], strict=True)]


def _inner(text: bytes, settled: Sequence[bytes]) -> bytes | None:
    """Return *text* without the first and the last run; `None` if it lacks either."""
    first, last = settled[0], settled[-1]
    if not (text.startswith(first) and text.endswith(last, len(first))):
        return None
    return text[len(first) : len(text) - len(last)]


def _locate_exactly(settled: Sequence[bytes], text: bytes) -> list[Located] | None:
    """Locate conflicts by the settled text around them; `None` if this text was changed."""
    inner, runs = _inner(text, settled), settled[1:-1]
    anywhere = None if inner is None else _first_starts(runs, inner, edge=b"")
    if inner is None or anywhere is None:
        return None
    extremes = [anywhere, _last_starts(runs, inner, edge=b"")]
    by_lines = _first_starts(runs, inner, edge=b"\n")
    if by_lines is not None:
        extremes = [by_lines, _last_starts(runs, inner, edge=b"\n"), *extremes]
    located = []
    conflict = end = 0
    is_sure = True
    for i, (run, starts) in enumerate(zip(runs, zip(*extremes, strict=True), strict=True), 1):
        start, last, *others = starts
        # An answer may lack its last newline, so a run may start within a line. If blanks
        # precede it there, it is most likely an indented copy in an answer, but not surely.
        if start == last and all(at == start or inner[at - 1 : at] in b" \t" for at in others):
            was_sure, is_sure = is_sure, all(at == start for at in others)
            text_before = inner[end:start]
            located.append(Located(range(conflict, i), text_before, is_exact=was_sure and is_sure))
            conflict, end = i, start + len(run)
    return [*located, Located(range(conflict, len(runs) + 1), inner[end:], is_exact=is_sure)]


def _first_starts(runs: Iterable[bytes], text: bytes, *, edge: bytes) -> list[int] | None:
    """Return the first possible position of each run, in order, if all have one.

    The bytes *edge* must precede each run, unless *text* begins with the run.
    """
    return _search([edge + run for run in runs], edge + text, overlap=len(edge))


def _last_starts(runs: Iterable[bytes], text: bytes, *, edge: bytes) -> list[int]:
    """Return the last possible position of each run, in order; all must have one."""
    # Reversed, because `bytes.rfind` can take quadratic time and `bytes.find` does not.
    edged = [(edge + run)[::-1] for run in runs][::-1]
    found = _search(edged, (edge + text)[::-1], overlap=len(edge)) or []
    size = len(edge) + len(text)
    return [size - at - len(run) for at, run in zip(found, edged, strict=True)][::-1]


def _search(needles: Iterable[bytes], text: bytes, *, overlap: int) -> list[int] | None:
    found = []
    at = 0
    for needle in needles:
        at = text.find(needle, at)
        if at < 0:
            return None
        found.append(at)
        at += len(needle) - overlap
    return found


def _locate_in_changes(
    settled: Sequence[bytes], conflicts: Sequence[bytes], merged: bytes
) -> list[Located]:
    old = split_lines(settled[0])
    places = []
    for conflict, run in zip(conflicts, settled[1:], strict=True):
        places.append(len(old))
        # A conflict is one item of several lines. It differs from every line of the
        # merged file, so the diff always shows it as changed.
        old += [conflict, *split_lines(run)]
    new = split_lines(merged)
    changes = diff_lines(old, new)
    starts = [change.a_start for change in changes]
    located = []
    for i, group in groupby(range(len(places)), lambda n: bisect_right(starts, places[n]) - 1):
        numbers, change = list(group), changes[i]
        first, last = numbers[0], numbers[-1]
        located.append(
            Located(
                range(first, last + 1),
                b"".join(new[change.b_start : change.b_end]),
                lines_before=places[first] - change.a_start,
                lines_after=change.a_end - places[last] - 1,
                is_exact=False,
            )
        )
    return located
