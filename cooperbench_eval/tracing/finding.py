"""Finds the functions that the failures of lost tests lead to, and each version of them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice

from attrs import define, field

from cooperbench_eval.hazards.versions import FileVersions, Merged, Version
from cooperbench_eval.models import FailureTrace, TracedFunction, TraceKind
from cooperbench_eval.snapshot import Changes, Snapshot
from cooperbench_eval.tracing.functions import Function, UnreadableError, functions
from cooperbench_eval.tracing.messages import places, words

__all__ = ["trace_failures"]

_MOST_FUNCTIONS = 20
_MOST_TESTS = 10
_MOST_BYTES = 20_000
"""How long a version of a function may be; longer ones are counted as left out."""
_MOST_FAILURES = 200
_MOST_FILES = 200
_MOST_STEPS = 6
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
    or if one of these functions uses its name, directly or through others. Names are
    compared as words, without types, so a function that only shares its name with another
    one may be included. Functions that both features changed come last, whether or not a
    failure leads to them. Only files that the merge touches are read, at most 200.

    Args:
        base: The tree from which both sides start.
        side1: The changes of feature 1.
        side2: The changes of feature 2.
        merged: The changes of the merge.
        failures: The message of each lost test by its id, as the framework wrote it; empty if
            the test did not run. Those after the first 200 are ignored.
    """
    tree = Merged.of(base, (side2, side1), merged, (2, 1))
    files = islice(tree.files.items(), _MOST_FILES)
    search = _Search(files={path: _File(each) for path, each in files})
    for test, message in list(failures.items())[:_MOST_FAILURES]:
        search.follow(test, message)
    search.add_shared()
    found = [each for each in search.traced() if _is_short(each)]
    kept = found[:_MOST_FUNCTIONS]
    return FailureTrace(functions=kept, left_out=len(search.led_to) - len(kept))


def _is_short(traced: TracedFunction) -> bool:
    texts = (traced.base, traced.feature1, traced.feature2, traced.merged)
    return all(text is None or len(text) <= _MOST_BYTES for text in texts)


@define(slots=False, eq=False)
class _File:
    versions: FileVersions

    @cached_property
    def functions(self) -> tuple[Mapping[str, Function], ...]:
        """The functions of each version; none at all if a version cannot be read."""
        path = self.versions.path
        try:
            return tuple(functions(path, contents) for contents in self.versions.contents)
        except UnreadableError:
            return ({},) * len(Version)

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
            if len({_text(side.get(name)) for side in self.functions[: Version.MERGED]}) > 1
        )

    @property
    def shared(self) -> Iterator[str]:
        """The names of the functions that both sides change."""
        base, *sides = self.functions[: Version.MERGED]
        for name in sorted(self.changed):
            if all(_text(side.get(name)) != _text(base.get(name)) for side in sides):
                yield name

    def at(self, line: int) -> str | None:
        """Return the name of the function in which a line of the merged file is."""
        merged = self.functions[Version.MERGED].values()
        return next((each.name for each in merged if each.first <= line <= each.last), None)


def _text(function: Function | None) -> bytes | None:
    return None if function is None else function.text


@define
class _Lead:
    """How tests lead to a function, and after how many others."""

    kind: TraceKind
    steps: int
    tests: list[str] = field(factory=list)

    @property
    def rank(self) -> tuple[int, int]:
        return _ORDER[self.kind], self.steps


_ORDER = {kind: number for number, kind in enumerate(TraceKind)}


@define
class _Search:
    """Collects the changed functions to which failures lead.

    Attributes:
        files: The files that the merge touches, by path.
        led_to: The functions found so far, by path and name.
    """

    files: Mapping[str, _File]
    led_to: dict[_Place, _Lead] = field(factory=dict)
    _words: dict[_Place, frozenset[str]] = field(factory=dict)

    def follow(self, test: str, message: str) -> None:
        """Add the functions to which one failure leads, the nearest first."""
        seen: dict[_Place, None] = {}
        # The innermost call comes last in most tracebacks, and it says most.
        for path, line in reversed(list(places(message, self.files.keys()))):
            if name := self.files[path].at(line):
                seen[path, name] = None
        frames = list(seen)
        given = words(message)
        named = [each for each in self._used(given) if each not in seen]
        # Many classes may have a method of that name; those that are named too come first.
        named.sort(key=lambda place: not given.issuperset(place[1].split(".")[:-1]))
        seen.update(dict.fromkeys(named))
        self._add(frames, TraceKind.FRAME, 0, test)
        self._add(named, TraceKind.NAMED, 0, test)
        nearest = [*frames, *named]
        for steps in range(1, _MOST_STEPS):
            used = frozenset().union(*map(self._words_of, nearest))
            nearest = [each for each in self._used(used) if each not in seen]
            seen.update(dict.fromkeys(nearest))
            self._add(nearest, TraceKind.USED, steps, test)

    def _used(self, given: frozenset[str]) -> Iterator[_Place]:
        for path, file in self.files.items():
            for word, names in file.by_word.items():
                if word in given:
                    yield from ((path, name) for name in names)

    def _words_of(self, place: _Place) -> frozenset[str]:
        if place not in self._words:
            path, name = place
            merged = self.files[path].functions[Version.MERGED].get(name)
            text = merged.text if merged else b""
            self._words[place] = words(text.decode("utf-8", "replace"))
        return self._words[place]

    def _add(self, found: Iterable[_Place], kind: TraceKind, steps: int, test: str) -> None:
        for place in found:
            path, name = place
            if name in self.files[path].changed:
                new = _Lead(kind, steps)
                lead = self.led_to.setdefault(place, new)
                if new.rank < lead.rank:
                    lead.kind, lead.steps = kind, steps
                lead.tests.append(test)

    def add_shared(self) -> None:
        """Add the functions that both features changed."""
        for path, file in self.files.items():
            for name in file.shared:
                self.led_to.setdefault((path, name), _Lead(TraceKind.BOTH, 0))

    def traced(self) -> Iterator[TracedFunction]:
        """Yield the functions, the surest first."""
        for (path, name), lead in sorted(self.led_to.items(), key=lambda each: each[1].rank):
            versions = [version.get(name) for version in self.files[path].functions]
            base, feature2, feature1, merged = map(_text, versions)
            now = versions[Version.MERGED]
            yield TracedFunction(
                path=path,
                name=name,
                line=now.first if now else None,
                kind=lead.kind,
                tests=lead.tests[:_MOST_TESTS],
                base=base,
                feature1=feature1,
                feature2=feature2,
                merged=merged,
            )
