"""The versions of each file that a merge touches, and the names in all of them.

The first version is the base, then comes one for each side, and the last one is the merged tree.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from attrs import define, field, frozen

from cooperbench_eval.git.merging.line_diff import diff_lines, split_lines
from cooperbench_eval.git.trees.entries import Entry
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.languages.files import find_grammar
from cooperbench_eval.languages.model import Definition, Names, Source, Use
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.reading import WALKS, read_source
from cooperbench_eval.languages.tree import StructureError

LARGEST_BYTES = 500_000
"""Larger files are not read: they are generated, and would take seconds."""
_MOST_FILES = 2_000
_LEAST_ALIKE = 0.5
_PAIR = 2
_WORD = re.compile(r"\w+")


BASE = 0
"""The place of the base among the versions of a file."""
MERGED = -1
"""The place of the merged tree among the versions of a file."""


@frozen
class Side:
    """One side of a merge.

    Attributes:
        version: Its place among the versions of a file.
        feature: The number of its feature.
    """

    version: int
    feature: int

    def __str__(self) -> str:
        return f"feature {self.feature}"


@define(slots=False, eq=False)
class FileVersions:
    """The versions of one file.

    Attributes:
        path: The path in the merged tree, or in the base if the merge removes the file.
        contents: The contents in each version; `None` if the file is not in that tree.
    """

    path: str
    contents: tuple[bytes | None, ...]

    @property
    def merged(self) -> bytes | None:
        """The contents in the merged tree."""
        return self.contents[MERGED]

    @property
    def before(self) -> tuple[bytes, ...]:
        """The versions before the merge, without missing ones."""
        return tuple(each for each in self.contents[:MERGED] if each is not None)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the merged file that are in lines that the base lacks."""
        base = set((self.contents[BASE] or b"").split(b"\n"))
        new = b"\n".join(line for line in (self.merged or b"").split(b"\n") if line not in base)
        return frozenset(_WORD.findall(new.decode("utf-8", "replace")))

    def added_by(self, side: Side) -> frozenset[int]:
        """Return the lines of the merged file that only this side adds or changes."""
        return self._added[side.version - 1]

    @cached_property
    def _added(self) -> tuple[frozenset[int], ...]:
        base, *sides = self.contents[:MERGED]
        since_base = self._new_since(base)
        since = [since_base if each == base else self._new_since(each) for each in sides]
        return tuple(
            since_base.intersection(*since[:place], *since[place + 1 :]) - own
            for place, own in enumerate(since)
        )

    def _new_since(self, old: bytes | None) -> frozenset[int]:
        if self.merged is None or old == self.merged:
            return frozenset()
        lines = split_lines(self.merged)
        if old is None:
            return frozenset(range(1, len(lines) + 1))
        changes = diff_lines(split_lines(old), lines)
        return frozenset(n + 1 for each in changes for n in range(each.b_start, each.b_end))


@frozen(eq=False)
class Merged:
    """A merged tree with what it was made from.

    Attributes:
        tree: The merged tree.
        sides: The sides.
        files: The files that the merge changes, by path; the others are never read.
    """

    tree: Snapshot
    sides: tuple[Side, ...]
    files: dict[str, FileVersions] = field(repr=False)

    @classmethod
    def of(cls, base: Snapshot, sides: Mapping[int, Changes], merged: Changes) -> "Merged":
        """Collect the versions of each file that the merge changes."""
        files = dict(_files(base, tuple(sides.values()), merged))
        numbered = tuple(Side(version, feature) for version, feature in enumerate(sides, 1))
        return cls(base.overlay(merged), numbered, files)

    @property
    def each_side(self) -> Iterator[tuple[Side, tuple[Side, ...]]]:
        """Each side, with the others."""
        for side in self.sides:
            yield side, tuple(each for each in self.sides if each is not side)

    def features_in(self, paths: Collection[str]) -> tuple[int, ...]:
        """Return the features that change any of the files, in ascending order.

        If fewer than two do, the hazard involves all features.
        """
        contents = [file.contents for path in paths if (file := self.files.get(path))]
        found = [
            side.feature
            for side in self.sides
            if any(each[side.version] != each[BASE] for each in contents)
        ]
        return tuple(sorted(found if len(found) > 1 else (side.feature for side in self.sides)))

    # --- words for messages ---

    @property
    def with_all(self) -> str:
        """Words for the tree of all features, such as `with both`."""
        return "with both" if len(self.sides) == _PAIR else "with all"

    def alone(self, many: str, one: str) -> str:
        """Return words for what each feature alone does; *many* and *one* are its verb."""
        if len(self.sides) != _PAIR:
            return f"each feature alone {one}"
        return f"{' alone and '.join(self._names)} alone {many}"

    @property
    def with_each(self) -> str:
        """Words for the trees of single features, such as `with each feature alone`."""
        if len(self.sides) != _PAIR:
            return "with each feature alone"
        return f"with {' alone and with '.join(self._names)} alone"

    @property
    def _names(self) -> list[str]:
        return [str(each) for each in sorted(self.sides, key=lambda side: side.feature)]


def _files(
    base: Snapshot, sides: Sequence[Changes], merged: Changes
) -> Iterator[tuple[str, FileVersions]]:
    paths = sorted({*merged}.union(*sides))[:_MOST_FILES]
    found = {path: _text(base.get(path)) for path in paths}
    gone = {p: text for p, text in found.items() if text and p in merged and merged[p] is None}
    for path in paths:
        now = _text(merged.get(path, base.get(path)))
        old = path
        if now is not None and found[path] is None:
            old = _renamed_from(now, path, gone)
        own = (_side(each, base, path, old) for each in sides)
        yield path, FileVersions(path, (found[old], *own, now))


def _side(changes: Changes, base: Snapshot, path: str, old: str) -> bytes | None:
    """Return a side's version of a file, which may have its old name there."""
    entries = (changes[each] if each in changes else base.get(each) for each in (path, old))
    return next((text for text in map(_text, entries) if text is not None), None)


def _text(entry: Entry | None) -> bytes | None:
    if entry is None or not entry.mode.is_regular or len(entry.data) > LARGEST_BYTES:
        return None
    return entry.data


def _renamed_from(now: bytes, path: str, gone: dict[str, bytes]) -> str:
    """Return the removed file from which a new one was probably renamed, or its own path."""
    best, score = path, _LEAST_ALIKE
    lines = Counter(now.split(b"\n"))
    for old, text in gone.items():
        if old.rpartition(".")[2] != path.rpartition(".")[2]:
            continue
        before = Counter(text.split(b"\n"))
        alike = (lines & before).total() / max(lines.total(), before.total())
        if alike > score:
            best, score = old, alike
    return best


@frozen
class Place:
    """A definition and the file that it is in."""

    path: str
    definition: Definition


@define(slots=False, eq=False)
class TouchedFile:
    """A file that is read in all versions.

    Attributes:
        versions: Its contents.
        grammar: The grammar of its language.
        sources: What each version contains; `None` for one that lacks the file.
        unit: The name of the scope that it shares with other files: a package of Go, or
            the file itself.
    """

    versions: FileVersions
    grammar: Grammar
    sources: tuple[Source | None, ...]
    unit: str

    @property
    def path(self) -> str:
        """Its path in the merged tree."""
        return self.versions.path

    def new_uses(self, side: Side, words: frozenset[str]) -> Iterator[Use]:
        """Yield the uses of any of *words* in the merged file that this side adds to the base.

        A use that a side only moves is not new.
        """
        now, there = self.sources[MERGED], self.sources[side.version]
        if now is None or there is None or words.isdisjoint(self.versions.words):
            return
        lines = self.versions.added_by(side)
        if not lines:
            return
        before = self.sources[BASE]
        # A part that the base lacks is new, even if the side and the merge have the same part.
        versions = (now, there, before) if before else ()
        parts = [frozenset(piece for _, piece in each.pieces) for each in versions]
        shared = frozenset.intersection(*parts) if parts else frozenset()
        added = _counted(there, shared)
        if before:
            added -= _counted(before, shared)
        for first, piece in now.pieces:
            for use in piece.uses if piece not in shared else ():
                if added[use.shape] > 0 and not words.isdisjoint(use.words):
                    placed = use.moved(first)
                    if not lines.isdisjoint(placed.lines):
                        yield placed


def _counted(source: Source, shared: frozenset[Names]) -> Counter[object]:
    return Counter(
        use.shape for _, piece in source.pieces if piece not in shared for use in piece.uses
    )


@define(slots=False, eq=False)
class Project:
    """The files that a merge touches and that can be read in all their versions.

    Attributes:
        merged: The merge.
        files: The files by path.
        unknown: The units with a file that cannot be read; they may define any name.
    """

    merged: Merged
    files: Mapping[str, TouchedFile]
    unknown: frozenset[str]

    @classmethod
    def of(cls, merged: Merged) -> "Project":
        """Read the files of a merge."""
        files: dict[str, TouchedFile] = {}
        unknown: set[str] = set()
        for path, versions in merged.files.items():
            grammar = find_grammar(path)
            if grammar not in WALKS:
                continue
            texts = versions.contents
            sources = tuple(_read(grammar, text) for text in texts)
            unit = _unit(grammar, path, sources)
            if sources.count(None) > texts.count(None):
                unknown.add(unit)
            else:
                files[path] = TouchedFile(versions, grammar, sources, unit)
        return cls(merged, files, frozenset(unknown))

    @property
    def versions(self) -> range:
        """The places of all versions of a file."""
        return range(len(self.merged.sides) + 2)

    @cached_property
    def modules(self) -> dict[tuple[str, ...], str]:
        """The Python files by the parts of their module's name, from the root of the tree."""
        found = {}
        for path in self.files:
            name = PurePosixPath(path)
            if name.suffix == ".py":
                found[
                    name.parent.parts if name.stem == "__init__" else name.with_suffix("").parts
                ] = path
        return found

    @cached_property
    def units(self) -> dict[str, list[TouchedFile]]:
        """The files of each unit."""
        found: dict[str, list[TouchedFile]] = {}
        for file in self.files.values():
            found.setdefault(file.unit, []).append(file)
        return found

    def sources(self, unit: str, version: int) -> Iterator[tuple[str, Source]]:
        """Yield the files of a unit that a version has, with their paths."""
        for file in self.units.get(unit, ()):
            if source := file.sources[version]:
                yield file.path, source

    def places(self, unit: str, name: str, version: int) -> list[Place]:
        """Return where a version of a unit defines a name."""
        return [
            Place(path, each)
            for path, source in self.sources(unit, version)
            for each in source.by_name.get(name, ())
        ]

    def names(self, unit: str, version: int) -> frozenset[str]:
        """Return the names that a version of a unit defines or imports at its top level."""
        found = self.sources(unit, version)
        return frozenset().union(*({*each.by_name, *each.imported} for _, each in found))

    def is_submodule(self, unit: str, name: str) -> bool:
        """Whether a name that a package's `__init__.py` lacks is a module of the package."""
        folder, _, file = unit.rpartition("/")
        if file != "__init__.py":
            return False
        tree, path = self.merged.tree, f"{folder}/{name}".lstrip("/")
        return tree.is_directory(path) or tree.get(f"{path}.py") is not None

    def has(self, unit: str, name: str, version: int) -> bool:
        """Whether a version of a unit may define or import a name; "" means the unit itself."""
        if unit in self.unknown:
            return True
        return any(
            not name or source.is_open or name in source.by_name or name in source.imported
            for _, source in self.sources(unit, version)
        )

    def attributes(self, version: int) -> frozenset[str]:
        """The names that attributes of anything in the files may have."""
        return self._attributes[version]

    @cached_property
    def _attributes(self) -> tuple[frozenset[str], ...]:
        return tuple(
            frozenset().union(
                *(source.attributes for file in self.files.values() if (source := file.sources[v]))
            )
            for v in self.versions
        )

    def methods(self, name: str, version: int) -> list[Place]:
        """Return the methods of this name, of any class."""
        return self._methods[version].get(name, [])

    @cached_property
    def _methods(self) -> tuple[dict[str, list[Place]], ...]:
        found: tuple[dict[str, list[Place]], ...] = tuple({} for _ in self.versions)
        for file in self.files.values():
            for methods, source in zip(found, file.sources, strict=True):
                for each in source.definitions if source else ():
                    if each.takes_instance:
                        methods.setdefault(each.last_name, []).append(Place(file.path, each))
        return found


def _read(grammar: Grammar, text: bytes | None) -> Source | None:
    try:
        return None if text is None else read_source(grammar, text)
    except StructureError:
        return None


def _unit(grammar: Grammar, path: str, sources: Sequence[Source | None]) -> str:
    """Name the unit of a file: the scope to which its names belong.

    In Go that is its package in its folder, unless the file is only compiled on some
    systems. Otherwise it is the file itself.
    """
    packages = {source.package for source in sources if source}
    if grammar is not Grammar.GO or len(packages) != 1 or _SYSTEM.search(path):
        return path
    (package,) = packages
    return f"{PurePosixPath(path).parent}:{package}" if package else path


_SYSTEM = re.compile(
    r"_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris"
    r"|wasip1|windows|386|amd64|arm|arm64|loong64|mips|mips64|mips64le|mipsle|ppc64|ppc64le"
    r"|riscv64|s390x|wasm)(?:_test)?\.go$"
)
"""Matches Go files that are only compiled on some systems."""
