"""Finds the added files of a side that are renamed files of the base.

The rules are those that `git merge` follows by default, as `gitdiffcore` and the `-M`
option in `git diff`'s documentation describe: equal contents first, then files that
kept their name in another folder, then the most similar files. Two files are similar
if at least half of the larger one occurs in the other. Empty files are never renames.

Similarity is measured in points from 0 to 60,000. Git cuts both files into chunks and counts
the bytes of each chunk. The score is the share of the larger file's bytes that occur in the
other one. The order of the chunks does not matter. A chunk is a line with its newline; a
longer line is cut after every 64 bytes. A shorter rest at the end of the file, without a
newline, is ignored. In a text, CR LF counts as LF.

Git does not compare the chunks themselves, but numbers below 107,927 that are computed from
them. So different chunks can count as equal, such as 64 times `=` and 64 times `-`. The
rules and the numbers are those that `git diff -M` shows.
"""

import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath

from attrs import frozen

from cooperbench_eval.git.merging.entry_merge import is_binary, same_kind
from cooperbench_eval.git.trees.entries import Entry

FULL_SCORE = 60_000  # the score of equal contents
_CHUNK = 64  # the most bytes of a chunk
_KINDS = 107_927  # chunks with the same number modulo this count as equal
_FACTOR = 97  # by which the upper half of a chunk's state is multiplied
_TOGETHER = 1024  # chunks that are numbered together; more would not be faster

# A chunk's state consists of 64 bits. These are its parts, as bytes in little-endian order.
_LOWER_HALF = b"\xff\xff\xff\xff\0\0\0\0"
_LOWEST_SEVEN = b"\x7f\0\0\0\0\0\0\0"


class Similarities:
    """Compares files; remembers the numbers of the chunks that it has seen."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        # By the ids of the files, so that no contents are kept.
        self._lengths: dict[str, int] = {}
        self._sizes: dict[str, Mapping[int, int]] = {}

    def score(self, source: Entry, target: Entry, least: int) -> int:
        """Return the score of two files; 0 if their sizes alone rule out *least* points."""
        small, large = sorted((self._length(source), self._length(target)))
        if not small or large * (FULL_SCORE - least) < (large - small) * FULL_SCORE:
            return 0
        mine, others = self._sizes_in(source), self._sizes_in(target)
        common = mine.keys() & others.keys()
        shared = sum(map(min, map(mine.__getitem__, common), map(others.__getitem__, common)))
        return shared * FULL_SCORE // large

    def _length(self, file: Entry) -> int:
        if file.id not in self._lengths:
            self._lengths[file.id] = len(file.data)
        return self._lengths[file.id]

    def _sizes_in(self, file: Entry) -> Mapping[int, int]:
        if file.id not in self._sizes:
            self._sizes[file.id] = self._count(file.data)
        return self._sizes[file.id]

    def _count(self, data: bytes) -> Mapping[int, int]:
        chunks = Counter(_chunks(data))
        new = [chunk for chunk in chunks if chunk not in self._numbers]
        self._numbers.update(zip(new, _numbers_of(new), strict=True))
        sizes: dict[int, int] = {}
        for chunk, count in chunks.items():
            number = self._numbers[chunk]
            sizes[number] = sizes.get(number, 0) + count * len(chunk)
        return sizes


def _chunks(data: bytes) -> Iterator[bytes]:
    if not is_binary(data):
        data = data.replace(b"\r\n", b"\n")
    *lines, rest = data.split(b"\n")
    for line in lines:
        if len(line) < _CHUNK:
            yield line + b"\n"
        else:
            yield from _pieces(line + b"\n")
    yield from _pieces(rest[: len(rest) - len(rest) % _CHUNK])


def _pieces(line: bytes) -> Iterator[bytes]:
    return (line[start : start + _CHUNK] for start in range(0, len(line), _CHUNK))


def _numbers_of(chunks: Sequence[bytes]) -> Iterator[int]:
    for start in range(0, len(chunks), _TOGETHER):
        yield from _numbers_together(chunks[start : start + _TOGETHER])


def _numbers_together(chunks: Sequence[bytes]) -> Iterable[int]:
    """Return each chunk's number.

    The state of a chunk is 0 at first. For each byte, its 64 bits are rotated to the left
    by seven, and the byte is added to the lower half; an overflow of that half is lost. A
    leading NUL leaves the state at 0, so all chunks can be given the same length. The
    states of all chunks are the digits of one long integer, because Python rotates a
    thousand of them as fast as a few.
    """
    count, length = len(chunks), max(map(len, chunks))
    text = b"".join(chunk.rjust(length, b"\0") for chunk in chunks)
    every = (1 << 64 * count) - 1
    lower = int.from_bytes(_LOWER_HALF * count, "little")
    upper = every ^ lower
    seven = int.from_bytes(_LOWEST_SEVEN * count, "little")
    others = every ^ seven
    added = bytearray(8 * count)
    states = 0
    for place in range(length):
        added[::8] = text[place::length]
        states = states << 7 & others | states >> 57 & seven
        total = (states & lower) + int.from_bytes(added, "little")
        states = states & upper | total & lower
    halves = struct.unpack(f"<{2 * count}I", states.to_bytes(8 * count, "little"))
    pairs = zip(halves[::2], halves[1::2], strict=True)
    return ((low + _FACTOR * high) % 2**32 % _KINDS for low, high in pairs)


_LEAST = FULL_SCORE // 2
_LEAST_SAME_NAME = FULL_SCORE * 3 // 4  # files with the same name are then paired early
_EQUALS = 100  # the number of equal sources that are looked at for each added file
_CANDIDATES = 4  # the number of most similar sources that are kept for each added file
_LIMIT = 7000  # above the square of this many comparisons, only the cheap rules apply
_EMPTY = Entry(b"").id

_Guess = Callable[[Mapping[str, str]], Mapping[str, str]]
_FindDecided = Callable[[Mapping[str, str], Collection[str]], Collection[str]]


def find_renames(
    deleted: Mapping[str, Entry],
    added: Mapping[str, Entry],
    relevant: frozenset[str],
    guess: _Guess = lambda _: {},
    find_decided: _FindDecided = lambda _, __: (),
) -> dict[str, str]:
    """Pair deleted files of the base with added files of a side; return the new paths.

    Of equally good pairs, those with earlier paths in each mapping come first.

    Args:
        deleted: Entries of the base that the side lacks.
        added: Entries of the side that the base lacks.
        relevant: The deleted paths whose rename could change the merge. Other paths are
            only matched by equal contents. If *relevant* is empty, there is no search.
        guess: Maps the renames of equal contents to folder renames; called if several
            files have the same name.
        find_decided: Returns those of the paths not renamed so far that are no longer
            relevant, given the renames that were found by equal contents and by names.
    """
    if not relevant:
        return {}
    pairing = _Pairing(
        sources={p: e for p, e in deleted.items() if e.id != _EMPTY},
        targets={p: e for p, e in added.items() if e.id != _EMPTY},
    )
    pairing.pair_equal()
    pairing.pair_same_names(relevant, guess)
    pairing.keep_sources(relevant)
    pairing.drop_decided(find_decided)
    pairing.pair_similar()
    return pairing.renames


@frozen
class _Candidate:
    """A possible rename: a higher *score* is better, then having the *same_name*."""

    score: int
    same_name: bool
    source: str
    target: str


class _Pairing:
    def __init__(self, sources: dict[str, Entry], targets: dict[str, Entry]) -> None:
        self._sources = sources
        self._targets = targets
        self._similarities = Similarities()
        self.renames: dict[str, str] = {}

    def _pair(self, source: str, target: str) -> None:
        self.renames[source] = target
        del self._sources[source]
        del self._targets[target]

    def keep_sources(self, paths: frozenset[str]) -> None:
        self._sources = {p: e for p, e in self._sources.items() if p in paths}

    def drop_decided(self, find_decided: _FindDecided) -> None:
        for path in find_decided(self.renames, tuple(self._sources)):
            del self._sources[path]

    def pair_equal(self) -> None:
        by_id: dict[str, list[str]] = {}
        for path, entry in self._sources.items():
            by_id.setdefault(entry.id, []).append(path)
        for target, entry in list(self._targets.items()):
            every = (
                source
                for source in by_id.get(entry.id, ())
                if source in self._sources and same_kind(self._sources[source], entry)
            )
            fitting = list(islice(every, _EQUALS))
            if fitting:
                named = [source for source in fitting if _name(source) == _name(target)]
                self._pair((named or fitting)[0], target)

    def pair_same_names(self, relevant: frozenset[str], guess: _Guess) -> None:
        """Pair files whose name is unique, or whose folder is known to have moved."""
        sources, targets = _by_name(self._sources), _by_name(self._targets)
        equal = dict(self.renames)  # only these show where folders moved, even to git
        folders: Mapping[str, str] | None = None
        for source in [path for path in self._sources if path in relevant]:
            name = _name(source)
            namesakes = targets.get(name, [])
            if len(sources[name]) == len(namesakes) == 1:
                (target,) = namesakes
            elif namesakes:
                folders = guess(equal) if folders is None else folders
                target = _moved(source, folders)
            else:
                continue
            if (
                target in self._targets
                and self._similarity(source, target, _LEAST_SAME_NAME) >= _LEAST_SAME_NAME
            ):
                self._pair(source, target)

    def pair_similar(self) -> None:
        if len(self._sources) * len(self._targets) > _LIMIT**2:
            return
        found = [each for target in self._targets for each in self._candidates(target)]
        found.sort(key=lambda each: (-each.score, not each.same_name))
        for each in found:
            if each.source in self._sources and each.target in self._targets:
                self._pair(each.source, each.target)

    def _candidates(self, target: str) -> list[_Candidate]:
        """Keep the best few sources for *target*; a better one replaces the worst, as in git.

        Sources that are not similar enough are dropped only in the end. Where they were
        replaced, a later source comes before earlier ones that are as similar.
        """
        kept: list[_Candidate] = []
        for source in self._sources:
            score = self._similarity(source, target, _LEAST)
            new = _Candidate(score, _name(source) == _name(target), source, target)
            if len(kept) < _CANDIDATES:
                kept.append(new)
                continue
            worst = min(range(_CANDIDATES), key=lambda i: (kept[i].score, kept[i].same_name))
            if (new.score, new.same_name) > (kept[worst].score, kept[worst].same_name):
                kept[worst] = new
        return [each for each in kept if each.score >= _LEAST]

    def _similarity(self, source: str, target: str, least: int) -> int:
        old, new = self._sources[source], self._targets[target]
        if not (old.mode.is_regular and new.mode.is_regular):
            return 0
        return self._similarities.score(old, new, least)


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _by_name(paths: Mapping[str, Entry]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(_name(path), []).append(path)
    return found


def _moved(path: str, folders: Mapping[str, str]) -> str:
    """Return the path of *path* after its folder moved; itself if no such move is known."""
    folder, _, name = path.rpartition("/")
    return f"{folders[folder]}/{name}" if folder in folders else path
