"""The names in all versions of the files that a merge touches."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from attrs import define, frozen

from cooperbench_eval.languages.files import find_grammar
from cooperbench_eval.languages.hazards.versions import BASE, MERGED, FileVersions, Merged, Side
from cooperbench_eval.languages.model import Definition, Names, Source, Use
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.reading import WALKS, read_source
from cooperbench_eval.languages.tree import StructureError


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
        unit: Where its top-level names belong: a package of Go or Java, or the file itself.
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

        A use that the side only moves is not new.
        """
        now, there = self.sources[MERGED], self.sources[side.version]
        if now is None or there is None or words.isdisjoint(self.versions.words):
            return
        lines = self.versions.added_by(side)
        if not lines:
            return
        before = self.sources[BASE]
        # A piece that the base lacks, or has less often, is new, even if the side and the merge
        # have it alike.
        versions = (now, there, before) if before else (now,)
        often, *rest = (Counter(piece for _, piece in each.pieces) for each in versions)
        shared = frozenset(
            piece for piece, n in often.items() if rest and all(each[piece] == n for each in rest)
        )
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
        """Read the files of a merge; none if one side has all of the merged source."""
        files: dict[str, TouchedFile] = {}
        unknown: set[str] = set()
        code = [
            (path, each, grammar)
            for path, each in merged.files.items()
            if (grammar := find_grammar(path)) and grammar in WALKS
        ]
        for side in merged.sides:
            if all(each.entries[MERGED] == each.entries[side.version] for _, each, _ in code):
                return cls(merged, files, frozenset())
        for path, versions, grammar in code:
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
        """The indices of all versions of a file."""
        return range(len(self.merged.sides) + 2)

    @cached_property
    def modules(self) -> dict[tuple[str, ...], str]:
        """The Python files by the parts of the module's name, counted from the root."""
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
        """The names that attributes of objects in the files may have."""
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
        """Return the methods of this name, in any class."""
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
    """Return the unit of a file: the scope to which its names belong.

    In Java that is its package. In Go it is its package in its folder, unless the file is
    only compiled on some systems. Otherwise it is the file itself.
    """
    packages = {source.package for source in sources if source}
    if grammar is Grammar.JAVA and len(packages) == 1:
        return packages.pop() or path
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
