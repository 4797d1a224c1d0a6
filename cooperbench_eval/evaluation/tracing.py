"""Finds the functions that the failures of lost tests lead to, and each version of them."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath

from attrs import define, field

from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.hazards.versions import MERGED, FileVersions, Merged
from cooperbench_eval.languages.outline import Function, UnreadableError, functions, is_known
from cooperbench_eval.reporting.rows import FailureTrace, TracedFunction, TraceKind

_VERSIONS = 4  # the base, both sides and the merged tree
_MOST_FUNCTIONS = 20
_MOST_TESTS = 10
_MOST_BYTES = 20_000
"""How long a version of a function may be; longer ones are counted as left out."""
_MOST_FAILURES = 200
_MOST_FILES = 200
_MOST_STEPS = 6
_MOST_READ_BYTES = 2_000_000
_MOST_READ_FUNCTIONS = 50_000
# `src/a.py:12: TypeError` (pytest), `File "/x/a.py", line 12` (Python), `at f (/x/a.js:12:3)`
# (Node), `a_test.go:12: got 3` (Go), `panicked at src/lib.rs:12:5` (Rust).
# A place begins where a path can, or the search would take quadratic time.
_PLACE = re.compile(
    r"""(?<![^\s"'()<>:])([^\s"'()<>:]{1,1000}\.[A-Za-z]{1,4})(?::|", line )([0-9]{1,7})\b"""
)
_WORD = re.compile(r"[^\W\d]\w{2,}")
_MOST_PLACES = 200
_END = 10_000
"""How many characters at each end of a message are read."""
_Place = tuple[str, str]
"""A function by the path of its file and its name."""


def trace_failures(
    base: Snapshot,
    side1: Changes,
    side2: Changes,
    merged: Changes,
    failures: Mapping[str, str],
) -> FailureTrace:
    """Find the functions that features changed and that the failures of tests lead to.

    A failure leads to a function if its traceback goes through it, if its message names it,
    or if one of these functions uses its name, directly or through at most four others. Names
    are compared as words, without types, so a function that only shares its name with another
    one may be included. Functions that both features changed come last, whether or not a
    failure leads to them. The *failures* are the messages of lost tests by id; empty if the test
    did not run.

    The work is bounded. Only files that the merge touches are read, the smallest first, and only
    the first failures, both ends of their messages and the innermost places of their tracebacks.
    Each file beyond the bounds counts as one in `left_out`.
    """
    tree = Merged.of(base, {2: side2, 1: side1}, merged)
    files = _read(tree.files.values())
    search = _Leads(files)
    for test, message in islice(failures.items(), _MOST_FAILURES):
        search.follow(test, message)
    search.add_shared()
    kept = tuple(islice(filter(_is_short, search.traced()), _MOST_FUNCTIONS))
    unread = sum(is_known(path) for path in tree.files.keys() - files.keys())
    return FailureTrace(functions=kept, left_out=len(search.led_to) - len(kept) + unread)


def _is_short(traced: TracedFunction) -> bool:
    texts = (traced.base, traced.feature1, traced.feature2, traced.merged, traced.name)
    return all(text is None or len(text) <= _MOST_BYTES for text in texts)


def _read(touched: Iterable[FileVersions]) -> Mapping[str, "_File"]:
    """Read the smallest files as far as the limits allow; return them in the given order."""
    known = [each for each in touched if is_known(each.path)]
    reader = _Reader()
    read: dict[str, _File] = {}
    for versions in sorted(known, key=lambda each: sum(map(len, _texts(each)))):
        if len(read) < _MOST_FILES and (found := reader.read(versions)) is not None:
            read[versions.path] = _File(versions.path, found)
    return {each.path: read[each.path] for each in known if each.path in read}


def _texts(versions: FileVersions) -> set[bytes]:
    return {text for text in versions.contents if text is not None}


class _Reader:
    """Reads the functions of files until they are too many; equal texts are read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes | None], Mapping[str, Function] | None] = {}
        self._bytes = 0
        self._functions = 0

    def read(self, versions: FileVersions) -> tuple[Mapping[str, Function], ...] | None:
        """Return the functions of each version, if all can be read; `None` if that is too much."""
        suffix = PurePosixPath(versions.path).suffix
        new = sum(len(text) for text in _texts(versions) if (suffix, text) not in self._known)
        if self._bytes + new > _MOST_READ_BYTES:
            return None
        self._bytes += new
        found = [self._functions_of(suffix, text) for text in versions.contents]
        read = tuple(each for each in found if each is not None)
        if len(read) < _VERSIONS:
            return ({},) * _VERSIONS
        count = sum(map(len, read))
        if self._functions + count > _MOST_READ_FUNCTIONS:
            return None
        self._functions += count
        return read

    def _functions_of(self, suffix: str, text: bytes | None) -> Mapping[str, Function] | None:
        key = suffix, text
        if key not in self._known:
            try:
                self._known[key] = functions(f"a{suffix}", text)
            except UnreadableError:
                self._known[key] = None
        return self._known[key]


@define(slots=False, eq=False)
class _File:
    path: str
    functions: tuple[Mapping[str, Function], ...]

    @cached_property
    def by_word(self) -> Mapping[str, list[str]]:
        """The names of the functions of all versions, by the word under which they are used."""
        found: dict[str, list[str]] = {}
        known = {each.name: each.word for version in self.functions for each in version.values()}
        for name, word in known.items():
            found.setdefault(word, []).append(name)
        return found

    @cached_property
    def changed(self) -> frozenset[str]:
        """The names of the functions that a side adds, changes or removes."""
        return frozenset(
            name
            for names in self.by_word.values()
            for name in names
            if len({_text(side.get(name)) for side in self.functions[:MERGED]}) > 1
        )

    @property
    def shared(self) -> Iterator[str]:
        """The names of the functions that both sides change."""
        base, *sides = self.functions[:MERGED]
        for name in sorted(self.changed):
            if all(_text(side.get(name)) != _text(base.get(name)) for side in sides):
                yield name

    @cached_property
    def _in_order(self) -> tuple[list[int], list[Function]]:
        """The first lines of the merged functions, which do not overlap, and the functions."""
        found = sorted(self.functions[MERGED].values(), key=lambda each: each.first)
        return [each.first for each in found], found

    def at(self, line: int) -> str | None:
        """Return the name of the function in which a line of the merged file is."""
        starts, found = self._in_order
        place = bisect_right(starts, line) - 1
        return found[place].name if place >= 0 and line <= found[place].last else None


def _text(function: Function | None) -> bytes | None:
    return None if function is None else function.text


@define
class _Lead:
    kind: TraceKind
    steps: int
    tests: list[str] = field(factory=list)

    @property
    def rank(self) -> tuple[int, int]:
        return _ORDER[self.kind], self.steps


_ORDER = {kind: number for number, kind in enumerate(TraceKind)}


class _Leads:
    """Collects the changed functions to which failures lead, by path and name."""

    def __init__(self, files: Mapping[str, _File]) -> None:
        self.files = files
        self.led_to: dict[_Place, _Lead] = {}
        self._uses: dict[_Place, frozenset[str]] = {}
        self._arrivals: dict[str | _Place, list[int]] = {}

    @cached_property
    def _by_word(self) -> Mapping[str, list[tuple[int, _Place]]]:
        """The functions that a word may mean, each with its rank in the order of the files."""
        found: dict[str, list[tuple[int, _Place]]] = {}
        rank = 0
        for path, file in self.files.items():
            for word, names in file.by_word.items():
                for name in names:
                    found.setdefault(word, []).append((rank, (path, name)))
                    rank += 1
        return found

    def follow(self, test: str, message: str) -> None:
        """Add the functions to which one failure leads, the nearest first."""
        message = _shortened(message)
        frames: dict[_Place, None] = {}
        # The innermost call comes last in most tracebacks, and it says most.
        for path, line in _places(message, self.files.keys()):
            if name := self.files[path].at(line):
                frames[path, name] = None
        given = _words(message)
        named = [each for each in self._meant(given, 0) if each not in frames]
        # Many classes may have a method of that name; those that are named too come first.
        named.sort(key=lambda place: not given.issuperset(place[1].split(".")[:-1]))
        self._add(frames, TraceKind.FRAME, 0, test)
        self._add(named, TraceKind.NAMED, 0, test)
        nearest = [*(each for each in frames if self._arrives(each, 0)), *named]
        done = given
        for steps in range(1, _MOST_STEPS):
            used = frozenset().union(*map(self._used_by, nearest)) - done
            nearest = [each for each in self._meant(used, steps) if each not in frames]
            done |= used
            self._add(nearest, TraceKind.USED, steps, test)

    def _meant(self, given: Iterable[str], steps: int) -> list[_Place]:
        """Return the functions that words may mean and that are worth following."""
        index = self._by_word
        new = (word for word in given if word in index and self._arrives(word, steps))
        return [place for _, place in sorted(each for word in new for each in index[word])]

    def _arrives(self, at: str | _Place, steps: int) -> bool:
        """Note that a failure arrives at a word or frame; tell whether that can matter.

        It cannot if enough failures came there in as few steps: they went on to all that can
        be reached from there, so the lists of tests are full and no way is shorter. This
        bounds the work, however many tests failed.
        """
        counts = self._arrivals.setdefault(at, [0] * _MOST_STEPS)
        if sum(counts[: steps + 1]) >= _MOST_TESTS:
            return False
        counts[steps] += 1
        return True

    def _used_by(self, place: _Place) -> frozenset[str]:
        if place not in self._uses:
            path, name = place
            merged = self.files[path].functions[MERGED].get(name)
            text = merged.text if merged else b""
            found = _words(text.decode("utf-8", "replace"))
            self._uses[place] = frozenset(filter(self._by_word.__contains__, found))
        return self._uses[place]

    def _add(self, found: Iterable[_Place], kind: TraceKind, steps: int, test: str) -> None:
        for place in found:
            path, name = place
            if name in self.files[path].changed:
                new = _Lead(kind, steps)
                lead = self.led_to.setdefault(place, new)
                if new.rank < lead.rank:
                    lead.kind, lead.steps = kind, steps
                if len(lead.tests) < _MOST_TESTS:
                    lead.tests.append(test)

    def add_shared(self) -> None:
        for path, file in self.files.items():
            for name in file.shared:
                self.led_to.setdefault((path, name), _Lead(TraceKind.BOTH, 0))

    def traced(self) -> Iterator[TracedFunction]:
        """Yield the functions, the surest first."""
        for (path, name), lead in sorted(self.led_to.items(), key=lambda each: each[1].rank):
            versions = [version.get(name) for version in self.files[path].functions]
            base, feature2, feature1, merged = map(_text, versions)
            now = versions[MERGED]
            yield TracedFunction(
                path=path,
                name=name,
                line=now.first if now else None,
                kind=lead.kind,
                tests=lead.tests,
                base=base,
                feature1=feature1,
                feature2=feature2,
                merged=merged,
            )


# --- messages of failures ---


def _shortened(message: str) -> str:
    if len(message) <= 2 * _END:
        return message
    return f"{message[:_END]}\n{message[-_END:]}"


def _places(message: str, paths: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield the files and lines of a traceback that are in *paths*, the last ones first.

    A place is given once, and of many the last 200 are looked at. A traceback may name a
    file with the folder in which the tree was tested, or without any folder, as Go does. A
    name that fits several files is left out.
    """
    found = dict.fromkeys(reversed(_PLACE.findall(message)))
    for written, line in islice(found, _MOST_PLACES):
        if path := _known_path(written.removeprefix("file://"), paths):
            yield path, int(line)


def _known_path(written: str, paths: Collection[str]) -> str | None:
    parts = PurePosixPath(written).parts  # without the dot of `./a.go`
    for start in range(len(parts)):
        if (shorter := "/".join(parts[start:])) in paths:
            return shorter
    ending = f"/{'/'.join(parts)}"
    found = [path for path in paths if path.endswith(ending)]
    return found[0] if len(found) == 1 else None


def _words(text: str) -> frozenset[str]:
    """Return the names in a text; those of one or two letters say too little."""
    return frozenset(_WORD.findall(text))
