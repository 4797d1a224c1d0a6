"""Finds lines that the merged tree has in another place or in another form than expected.

Each copy of a line counts: a line that is expected twice and found once at another place
was moved once. A line was changed if only its whitespace differs, if a foreign line at its place
is similar, or if a few foreign lines there contain most of its words. One foreign line may be the
new form of a line of each side, because a merge may combine both in one line. A line with few
letters and digits, such as a bracket, is only followed together with the lines around it.
"""

import re
from bisect import bisect_right
from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, groupby

from cooperbench_eval.evaluation.auditing.lines import ABSENT, runs_of, same_lines
from cooperbench_eval.evaluation.auditing.tracking import TrackedFile
from cooperbench_eval.git.merging.line_diff import diff_lines
from cooperbench_eval.languages.words import count_parts

Place = tuple[TrackedFile, int]
"""A file and a line of its expected or of its merged text."""
_TELLING = re.compile(rb"(?:[0-9A-Za-z\x80-\xff][^0-9A-Za-z\x80-\xff]*){3}")
_LEAST_ALIKE = 0.6
_LEAST_CONTAINED = 0.8
_MOST_LINES = 16
"""A line may be split into this many."""
_MOST_COMPARISONS = 20_000
"""More are not made for one merged tree; the rest of its lines count as missing."""
_MOST_BYTES = 500


def is_telling(line: bytes) -> bool:
    """Whether a place can be recognized by a line: it has three letters or digits."""
    return _TELLING.search(line) is not None


def find_moves(files: Iterable[TrackedFile]) -> dict[Place, Place]:
    """Return the merged place of each expected line that was moved."""
    files = tuple(files)
    search = _Pairing(files, _without_line_end)
    for some in (*([file] for file in files), files):
        search.pair(some)
    return search.found


def _without_line_end(line: bytes) -> bytes:
    return line.rstrip(b"\r\n")


def _without_blanks(line: bytes) -> bytes:
    return b"".join(line.split())


class _Pairing:
    """Pairs the lines that have no counterpart yet, by a part of their texts."""

    def __init__(
        self,
        files: Iterable[TrackedFile],
        key: Callable[[bytes], bytes],
        missing: Collection[Place] = (),
        foreign: Collection[Place] = (),
    ) -> None:
        self.found: dict[Place, Place] = {}
        self._key = key
        self._missing = {(f, n) for f in files for n in f.missing}.difference(missing)
        self._foreign = {(f, n) for f in files for n in f.foreign}.difference(foreign)

    def pair(self, files: Sequence[TrackedFile]) -> None:
        """Pair lines within *files*, in their order."""
        missing: dict[bytes, list[Place]] = defaultdict(list)  # the next one comes last
        for expected in reversed([(file, line) for file in files for line in file.missing]):
            text = self._expected_text(expected)
            if expected in self._missing and is_telling(text):
                missing[text].append(expected)
        for merged in ((file, line) for file in files if missing for line in file.foreign):
            found = missing.get(self._merged_text(merged))
            while found and merged in self._foreign:
                expected = found.pop()
                if expected in self._missing and self._can_be(expected, merged):
                    self._pair_run(expected, merged)

    def _can_be(self, expected: Place, merged: Place) -> bool:
        """Whether a merged line can be a missing one that was moved.

        A single line that the file has elsewhere too, at a place where others are missing, is
        probably a part of what replaced these.
        """
        file, line = merged
        replaced = file.replaced.get(line, ())
        if not replaced or (file is expected[0] and expected[1] in replaced):
            return True
        text = self._merged_text(merged)
        if sum(self._key(each) == text for each in file.lines) == 1:
            return True
        return any(self._are_equal(_next(expected, step), _next(merged, step)) for step in (-1, 1))

    def _pair_run(self, expected: Place, merged: Place) -> None:
        self._pair(expected, merged)
        for step in (-1, 1):
            one, other = _next(expected, step), _next(merged, step)
            while self._are_equal(one, other):
                self._pair(one, other)
                one, other = _next(one, step), _next(other, step)

    def _pair(self, expected: Place, merged: Place) -> None:
        self.found[expected] = merged
        self._missing.discard(expected)
        self._foreign.discard(merged)

    def _are_equal(self, one: Place, other: Place) -> bool:
        if one not in self._missing or other not in self._foreign:
            return False
        return self._expected_text(one) == self._merged_text(other)

    def _expected_text(self, place: Place) -> bytes:
        file, line = place
        return self._key(file.expected_lines[line])

    def _merged_text(self, place: Place) -> bytes:
        file, line = place
        return self._key(file.lines[line])


def _next(place: Place, step: int) -> Place:
    return place[0], place[1] + step


def find_changes(files: Iterable[TrackedFile], moves: Mapping[Place, Place]) -> dict[Place, Place]:
    """Return the merged place of each expected line that was changed, and not moved."""
    files = tuple(files)
    explained = set(moves.values())
    reblanked = _Pairing(files, _without_blanks, moves.keys(), explained)
    for file in files:
        reblanked.pair([file])
    found = reblanked.found
    known = ChainMap(found, dict(moves))
    left = _MOST_COMPARISONS
    for file in files:
        for missing, foreign in file.gaps:
            new = [line for line in foreign if (file, line) not in explained]
            left_over = [line for line in missing if (file, line) not in known]
            for one, other in _reformatted(file, left_over, new):
                found[file, one] = file, other
            for old in _by_owner(file, missing, known):
                left -= len(old) * len(new)
                if left < 0:
                    return found
                found |= {(file, one): (file, other) for one, other in _similar(file, old, new)}
        found |= _scattered(file, known, explained)
        found |= _followers(file, found, moves.keys())
    return found


def _reformatted(
    file: TrackedFile, old: Sequence[int], new: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of lines that differ only in whitespace, in their order; they may be short."""
    texts = [_without_blanks(file.expected_lines[line]) for line in old]
    others = [_without_blanks(file.lines[line]) for line in new]
    places = same_lines(diff_lines(texts, others), len(others))
    for line, text, place in zip(new, others, places, strict=True):
        if place != ABSENT and text:
            yield old[place], line


def _by_owner(
    file: TrackedFile, missing: Sequence[int], known: Collection[Place]
) -> Iterator[list[int]]:
    left = [line for line in missing if (file, line) not in known]
    for owners in dict.fromkeys(file.owners[line] for line in left):
        yield [line for line in left if file.owners[line] == owners]


def _similar(
    file: TrackedFile, old: Iterable[int], new: Iterable[int]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of lines in their order, with the largest sum of similarities."""
    expected = file.expected_lines
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
    for block in _blocks(file, file.missing):
        telling = [line for line in block if is_telling(file.expected_lines[line])]
        left = [line for line in telling if (file, line) not in known]
        places = {line: _spread(file, line, before[line], foreign) for line in left}
        if ABSENT not in places.values():
            found |= {(file, line): (file, place) for line, place in places.items()}
    return found


def _blocks(file: TrackedFile, missing: Iterable[int]) -> Iterator[list[int]]:
    """Yield missing lines that stand together and have one owner."""
    for run in runs_of(missing):
        for _, block in groupby(run, key=lambda line: file.owners[line]):
            yield list(block)


def _spread(file: TrackedFile, line: int, before: int, foreign: Sequence[int]) -> int:
    """Return the first foreign line that has words of a line; `ABSENT` if too many are missing.

    The words may be in the lines after *before*.
    """
    end = before + _MOST_LINES
    near = foreign[bisect_right(foreign, before) : bisect_right(foreign, end)]
    if not near:
        return ABSENT
    wanted = _tokens(file.expected_lines[line])
    there: Counter[bytes] = Counter()
    new: Counter[bytes] = Counter()
    for each in range(before + 1, min(end + 1, len(file.lines))):
        (new if each in near else there).update(_tokens(file.lines[each]))
    is_there = (wanted & (there + new)).total() >= _LEAST_CONTAINED * wanted.total()
    return near[0] if is_there and (wanted - there) & new else ABSENT


def _followers(
    file: TrackedFile, changed: Mapping[Place, Place], moved: Collection[Place]
) -> dict[Place, Place]:
    """Return the places of short lines among missing lines that were all changed."""
    found: dict[Place, Place] = {}
    lines = file.expected_lines
    for part in _blocks(file, (line for line in file.missing if (file, line) not in moved)):
        known = [changed[file, line] for line in part if (file, line) in changed]
        if known and all((file, n) in changed or not is_telling(lines[n]) for n in part):
            found |= {(file, n): known[0] for n in part if (file, n) not in changed}
    return found


def _shown(line: bytes) -> bytes:
    return b" ".join(line[:_MOST_BYTES].split())


def _tokens(line: bytes) -> Counter[bytes]:
    return count_parts(_shown(line))


def _similarity(one: bytes, other: bytes) -> float:
    """Return how similar two lines are, from 0 to 1; 0 for lines that are not versions."""
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < _LEAST_ALIKE or matcher.quick_ratio() < _LEAST_ALIKE:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= _LEAST_ALIKE else 0.0
