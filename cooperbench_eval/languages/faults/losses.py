"""Finds what a merged file lost or made up, and the pieces that differ between versions.

Most of a file is the same in base, ours, theirs and merged. The checks compare how often
something occurs in each, so a piece that occurs equally often in all four cannot matter.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TypeVar

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.files import words_of
from cooperbench_eval.languages.phrases import phrases
from cooperbench_eval.languages.words import PART, TEXT, WORD, Words, count_parts

_Piece = TypeVar("_Piece", bound=Hashable)


def differing(files: Sequence[Counter[_Piece]]) -> list[list[_Piece]]:
    """Return the pieces of each file that do not occur equally often in all files."""
    return [
        [piece for piece, count in counts.items() for _ in range(count)]
        for counts in _differing_counts(files)
    ]


def _differing_counts(files: Sequence[Counter[_Piece]]) -> list[dict[_Piece, int]]:
    """Return how often the pieces occur that do not occur equally often in all files."""
    alike = set(files[0].items()).intersection(*(file.items() for file in files[1:]))
    return [
        {piece: count for piece, count in file.items() if (piece, count) not in alike}
        for file in files
    ]


def find_lost_token(versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find a word or sign that occurs less often than the sides' changes can explain.

    The lowest number that these changes can explain assumes that both sides made the same
    additions and different removals. A line that both sides added counts once. No token
    spans lines, and a line that occurs equally often in all files adds the same to this
    number and to the actual one. So only the other lines are counted.
    """
    lines = differing_lines(versions, merged)
    base, ours, theirs, there = map(_count_parts, lines)
    before, mine, other, _ = map(Counter[bytes], lines)
    twice = _count_parts((mine - before) & (other - before))
    for token in dict.fromkeys((*base, *ours, *theirs)):
        both = ours[token] + theirs[token] - base[token] - twice[token]
        least = min(max(ours[token], theirs[token]), both)
        if there[token] < least and token not in _SEPARATORS:
            if there[token] >= least - _replaced_in_copies(token, before, (mine, other)):
                continue
            return f"{token.decode('utf-8', 'replace')!r} would be lost"
    return ""


def _replaced_in_copies(token: bytes, base: Counter[bytes], sides: Sequence[Counter[bytes]]) -> int:
    """Return how often a token may be gone because one side copied a line that the other changed.

    The change is made in each copy. If there are too many lines to compare, none counts.
    """
    count = 0
    for one, other in (sides, sides[::-1]):
        changed = [words for line in base - other if token in (words := PART.findall(line))]
        if len(changed) * (len(one) + len(base)) > _MOST_PAIRS:
            return 0
        for words in changed:
            added = _count_alike(words, one) - _count_alike(words, base)
            count += max(added, 0) * words.count(token)
    return count


def _count_alike(words: Sequence[bytes], lines: Counter[bytes]) -> int:
    found = (line for line in lines if similarity(words, PART.findall(line)) >= _LEAST_COPIED)
    return sum(lines[line] for line in found)


@lru_cache(maxsize=4)
def differing_lines(
    versions: tuple[bytes, bytes, bytes], merged: bytes
) -> Sequence[Mapping[bytes, int]]:
    """Return how often the lines occur that do not occur equally often in all four files."""
    paragraphs = differing([*map(_paragraphs, versions), Counter(merged.split(b"\n\n"))])
    return _differing_counts([Counter(b"\n".join(each).split(b"\n")) for each in paragraphs])


def find_new_value(path: str, versions: Sequence[bytes], merged: bytes) -> str:
    """Find a name, a value or a phrase that no version has; rules may add punctuation.

    Lines that a version also has are not checked. A sentence may continue on the next line, so
    the phrases of a version may span lines.
    """
    words = words_of(path)
    before, now = [_lines(words, version) for version in versions], _lines(words, merged)
    new = list(_values(now.difference(*before)))
    for known in chain((frozenset().union(*before) - now, *before), _texts(words, versions)):
        if not new:  # usually after the first ones
            return ""
        values = set(_values(known))
        new = [value for value in new if value not in values]
    shown = new[0].decode("utf-8", "replace") if new else ""
    return f"the merged file would have {shown!r}, which no version has" if new else ""


def _values(pieces: Iterable[tuple[Words, bytes]]) -> Iterator[bytes]:
    for words, piece in sorted(pieces, key=lambda each: (each[1], each[0] is TEXT)):
        yield from filter(WORD.search, words.count(piece))
        yield from phrases(words, piece)


def _texts(words: Words, versions: Iterable[bytes]) -> Iterator[set[tuple[Words, bytes]]]:
    for version in versions:
        yield {piece for piece in words.pieces(version) if piece[0] is TEXT}


def more_often(
    versions: Sequence[Mapping[_Piece, int]], merged: Mapping[_Piece, int]
) -> Iterator[_Piece]:
    """Yield what merged has more often than both sides' changes to the base explain."""
    for piece, number in merged.items():
        base, ours, theirs = (version.get(piece, 0) for version in versions)
        if number > max(base, ours, theirs, ours + theirs - base):
            yield piece


_SEPARATORS = frozenset({b",", b";"})
_MOST_PAIRS = 20_000
_LEAST_COPIED = 0.8


def _count_parts(lines: Mapping[bytes, int]) -> Counter[bytes]:
    """Count the words and signs of lines of which each occurs a number of times."""
    counts = count_parts(b"\n".join(line for line, times in lines.items() if times == 1))
    for line, times in lines.items():
        if times > 1:
            for token, count in count_parts(line).items():
                counts[token] += times * count
    return counts


@lru_cache(maxsize=64)
def _lines(words: Words, source: bytes) -> frozenset[tuple[Words, bytes]]:
    pieces = words.pieces(source)
    return frozenset((each, line) for each, text in pieces for line in text.split(b"\n"))


@lru_cache(maxsize=64)
def _paragraphs(source: bytes) -> Counter[bytes]:
    return Counter(source.split(b"\n\n"))
