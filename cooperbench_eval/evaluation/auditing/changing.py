"""Finds lines that the merged tree has in another form than expected.

A line was changed if only its whitespace differs, if a foreign line at its place is similar, or
if a few foreign lines there contain most of its words. One foreign line may be the new form of a
line of each side, because a merge may combine both in one line. A line with few letters and
digits is only followed together with the lines around it.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, groupby

from cooperbench_eval.evaluation.auditing.lines import ABSENT, runs_of, same_lines
from cooperbench_eval.evaluation.auditing.moving import (
    Place,
    find_reformatted,
    is_telling,
    without_blanks,
)
from cooperbench_eval.evaluation.auditing.tracking import TrackedFile
from cooperbench_eval.git.merging.line_diff import diff_lines

__all__ = ["find_changes"]

_LEAST_ALIKE = 0.6
_LEAST_CONTAINED = 0.8
_MOST_LINES = 16
"""A line may be split into this many."""
_MOST_COMPARISONS = 20_000
"""More are not made for one merged tree; the rest of its lines count as missing."""
_MOST_BYTES = 500
_TOKEN = re.compile(rb"[0-9A-Za-z_\x80-\xff]+|[^0-9A-Za-z_\x80-\xff\s]")


def find_changes(files: Iterable[TrackedFile], moves: Mapping[Place, Place]) -> dict[Place, Place]:
    """Return the merged place of each expected line that was changed.

    Args:
        files: The files.
        moves: The merged place of each expected line that was moved.
    """
    files = tuple(files)
    explained = set(moves.values())
    found = find_reformatted(files, moves.keys(), explained)
    left = _MOST_COMPARISONS
    for file in files:
        for missing, foreign in file.gaps:
            new = [line for line in foreign if (file, line) not in explained]
            left_over = [line for line in missing if (file, line) not in {*moves, *found}]
            for one, other in _reformatted(file, left_over, new):
                found[file, one] = file, other
            for old in _by_owner(file, missing, {*moves, *found}):
                left -= len(old) * len(new)
                if left < 0:
                    return found
                found |= {(file, one): (file, other) for one, other in _similar(file, old, new)}
        found |= _scattered(file, {*moves, *found}, explained)
        found |= _followers(file, found, moves.keys())
    return found


def _reformatted(
    file: TrackedFile, old: Sequence[int], new: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of lines that differ only in whitespace, in their order; they may be short."""
    expected = file.expected.lines if file.expected else ()
    texts = [without_blanks(expected[line]) for line in old]
    others = [without_blanks(file.lines[line]) for line in new]
    places = same_lines(diff_lines(texts, others), len(others))
    for line, text, place in zip(new, others, places, strict=True):
        if place != ABSENT and text:
            yield old[place], line


def _by_owner(
    file: TrackedFile, missing: Sequence[int], known: Collection[Place]
) -> Iterator[list[int]]:
    """Yield the missing lines of each side, and those of the base."""
    left = [line for line in missing if (file, line) not in known]
    for owners in dict.fromkeys(file.owners[line] for line in left):
        yield [line for line in left if file.owners[line] == owners]


def _similar(
    file: TrackedFile, old: Iterable[int], new: Iterable[int]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of lines in their order, with the largest sum of similarities."""
    expected = file.expected.lines if file.expected else ()
    old = [line for line in old if is_telling(expected[line])]
    new = [line for line in new if is_telling(file.lines[line])]
    texts = [_shown(expected[line]) for line in old]
    others = [_shown(file.lines[line]) for line in new]
    alike = [[_similarity(one, other) for other in others] for one in texts]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            paired = best[i + 1][j + 1] + alike[i][j] if alike[i][j] else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    i = j = 0
    while i < len(old) and j < len(new):
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            yield old[i], new[j]
            i, j = i + 1, j + 1


def _scattered(
    file: TrackedFile, known: Collection[Place], explained: Collection[Place]
) -> dict[Place, Place]:
    """Return the places of lines whose words are spread over a few merged lines.

    At least one of the words must be in a foreign line and in no other line there: lines
    that are there anyway, such as those of the other side, do not show that a line was kept.
    All lines of a missing block must be found, because words of a single one may be in any line.
    """
    found: dict[Place, Place] = {}
    foreign = [line for line in file.foreign if (file, line) not in explained]
    if file.expected is None or not foreign:
        return found
    before = list(accumulate(file.merged_places, max, initial=ABSENT))
    for block in _blocks(file):
        left = [line for line in block if (file, line) not in known]
        places = {line: _spread(file, line, before[line], foreign) for line in left}
        if ABSENT not in places.values():
            found |= {(file, line): (file, place) for line, place in places.items()}
    return found


def _blocks(file: TrackedFile) -> Iterator[list[int]]:
    """Yield the missing lines that stand together and have one owner, without short ones."""
    lines = file.expected.lines if file.expected else ()
    for run in runs_of(file.missing):
        for _, block in groupby(run, key=lambda line: file.owners[line]):
            yield [line for line in block if is_telling(lines[line])]


def _spread(file: TrackedFile, line: int, before: int, foreign: Sequence[int]) -> int:
    """Return the first foreign line that has words of a line; `ABSENT` if too many are missing."""
    text = _shown(file.expected.lines[line]) if file.expected else b""
    new = _between(foreign, before, before + _MOST_LINES)
    there = range(before + 1, before + 1 + _MOST_LINES)
    return new[0] if new and _contain(file, there, new, _tokens(text)) else ABSENT


def _between(lines: Sequence[int], first: int, last: int) -> Sequence[int]:
    """Return those of ascending *lines* that come after the first and not after the last."""
    return lines[bisect_right(lines, first) : bisect_right(lines, last)]


def _contain(
    file: TrackedFile, place: range, foreign: Collection[int], wanted: Counter[bytes]
) -> bool:
    there: Counter[bytes] = Counter()
    new: Counter[bytes] = Counter()
    for line in place:
        if line < len(file.lines):
            (new if line in foreign else there).update(_tokens(_shown(file.lines[line])))
    is_there = (wanted & (there + new)).total() >= _LEAST_CONTAINED * wanted.total()
    return is_there and bool((wanted - there) & new)


def _followers(
    file: TrackedFile, changed: Mapping[Place, Place], moved: Collection[Place]
) -> dict[Place, Place]:
    """Return the places of short lines among missing lines that were all changed."""
    found: dict[Place, Place] = {}
    lines = file.expected.lines if file.expected else ()
    left = [line for line in file.missing if (file, line) not in moved]
    for run in runs_of(left):
        for _, group in groupby(run, key=lambda line: file.owners[line]):
            part = list(group)
            known = [changed[file, line] for line in part if (file, line) in changed]
            if known and all((file, n) in changed or not is_telling(lines[n]) for n in part):
                found |= {(file, n): known[0] for n in part if (file, n) not in changed}
    return found


def _shown(line: bytes) -> bytes:
    return b" ".join(line[:_MOST_BYTES].split())


def _tokens(line: bytes) -> Counter[bytes]:
    return Counter(_TOKEN.findall(line))


def _similarity(one: bytes, other: bytes) -> float:
    """Return how similar two lines are, from 0 to 1; 0 for lines that are not versions."""
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < _LEAST_ALIKE or matcher.quick_ratio() < _LEAST_ALIKE:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= _LEAST_ALIKE else 0.0
