"""The record `Provenance`: where each line of a merged tree comes from."""

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import chain
from typing import Any

from attrs import field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.merging.entry_merge import is_binary
from cooperbench_eval.git.merging.line_diff import split_lines
from cooperbench_eval.git.trees.snapshot import Snapshot
from cooperbench_eval.support.arguments import checked, named_fields
from cooperbench_eval.support.rendering.shown import Shown


class OriginKind(StrEnum):
    """From which version of a tree a line comes."""

    BASE = "base"
    """The base has it."""
    FEATURE = "feature"
    """One feature added it."""
    SEVERAL = "several"
    """Several features added it."""
    RESOLVER = "resolver"
    """A strategy wrote it where the features conflicted; no version has it."""
    MARKER = "marker"
    """It is a marker of a conflict that the strategy left open."""
    UNKNOWN = "unknown"
    """No version has it, and no known strategy wrote it."""


@frozen(kw_only=True, field_transformer=named_fields)
class Origin:
    """Where a line, or a file without lines, comes from.

    Attributes:
        kind: The kind of the origin.
        features: The numbers of the features that added it, in the order in which they were
            merged; empty if none did.
    """

    kind: OriginKind = field(converter=OriginKind)
    features: tuple[int, ...] = field(default=(), converter=tuple[int, ...])

    @features.validator
    def _check_features(self, _: object, features: tuple[int, ...]) -> None:
        least, most = _COUNTS.get(self.kind, (0, 0))
        if len(features) < least or (most is not None and len(features) > most):
            raise ValueError(
                f"an origin of the kind {self.kind.value!r} cannot have {len(features)} features"
            )

    def __str__(self) -> str:
        """Return the origin as a word, such as `feature 1` or `features 1, 2`."""
        if not self.features:
            return self.kind.value
        numbers = ", ".join(map(str, self.features))
        return f"feature{'s' if len(self.features) > 1 else ''} {numbers}"


_COUNTS: Mapping[OriginKind, tuple[int, int | None]] = {
    OriginKind.FEATURE: (1, 1),
    OriginKind.SEVERAL: (2, None),
}


class FileKind(StrEnum):
    """What a path of a tree is."""

    TEXT = "text"
    """A file with lines."""
    BINARY = "binary"
    """A file without lines."""
    LINK = "link"
    """A symbolic link."""
    SUBMODULE = "submodule"
    """A commit of another repository."""
    DELETED = "deleted"
    """A file of the base that the merged tree lacks."""


@frozen(kw_only=True, field_transformer=named_fields)
class LineRun:
    """Consecutive lines of one origin.

    Attributes:
        first: The first line, counted from 1.
        last: The last line.
        origin: Their origin.
    """

    first: int
    last: int
    origin: Origin

    @property
    def count(self) -> int:
        """The number of lines."""
        return self.last - self.first + 1


@frozen(kw_only=True, field_transformer=named_fields)
class FileProvenance:
    """Where a file of a merged tree, and each of its lines, comes from.

    Attributes:
        path: The path.
        kind: What it is.
        origin: The origin of what has no lines: the contents of a binary file, the target of a
            link, the commit of a submodule, or the deletion of a file. For a text, the origin of
            its mode.
        runs: The lines of a text, in order; each line is in one run.
        renamed_from: The path in the base; `None` if the file was not renamed.
    """

    path: str
    kind: FileKind = field(converter=FileKind)
    origin: Origin
    runs: tuple[LineRun, ...] = field(default=(), converter=tuple[LineRun, ...], repr=False)
    renamed_from: str | None = None

    @runs.validator
    def _check_runs(self, _: object, runs: tuple[LineRun, ...]) -> None:
        line = 1
        for run in runs:
            if run.first != line or run.last < line:
                raise ValueError(f"line {line} is in no run or in two")
            line = run.last + 1

    @property
    def line_count(self) -> int:
        """The number of lines."""
        return self.runs[-1].last if self.runs else 0

    @property
    def origins(self) -> Iterator[Origin]:
        """The origin of each line."""
        return chain.from_iterable([run.origin] * run.count for run in self.runs)


@frozen(kw_only=True, field_transformer=named_fields)
class Provenance(Shown):
    r"""Where each line of a merged tree comes from.

    Files that neither a feature nor the merge touches are not listed: all of their lines come
    from the base.

    Attributes:
        features: The numbers of the features, in the order in which they were merged.
        files: The touched files, by path.
        tree: The merged tree.

    Example:
        >>> from cooperbench_eval import Changes, Entry, Snapshot, provenance
        >>> base = Snapshot.from_files({"a": b"1\n2\n3\n4\n5\n"})
        >>> sides = [Changes({"a": Entry(t)}) for t in (b"0\n1\n2\n3\n4\n5\n", b"1\n2\n3\n4\n6\n")]
        >>> found = provenance(base, sides, Changes({"a": Entry(b"0\n1\n2\n3\n4\n6\n")}))
        >>> str(found.origin_of("a", 1)), str(found.origin_of("a", 2)), found.counts()
        ('feature 1', 'base', {'feature 1': 1, 'base': 4, 'feature 2': 1})
    """

    features: tuple[int, ...] = field(converter=tuple[int, ...])
    files: tuple[FileProvenance, ...] = field(converter=tuple[FileProvenance, ...])
    tree: Snapshot = field(repr=False, eq=False)

    @checked
    def file(self, path: str) -> FileProvenance | None:
        """Return the file at *path*; `None` if neither a feature nor the merge touches it."""
        return next((each for each in self.files if each.path == path), None)

    @checked
    def origin_of(self, path: str, line: int) -> Origin:
        """Return the origin of a line, counted from 1.

        Raises:
            ArgumentError: The merged tree has no such text file, or the file has no such line.
        """
        origins = self._origins(path)
        if not 0 < line <= len(origins):
            raise ArgumentError("line", f"must be from 1 to {len(origins)}, not {line}")
        return origins[line - 1]

    def counts(self) -> dict[str, int]:
        """Return how many lines of the listed files have each origin, by its text."""
        found: Counter[str] = Counter()
        for file in self.files:
            for run in file.runs:
                found[str(run.origin)] += run.count
        return dict(found)

    @checked
    def annotate(self, path: str) -> bytes:
        """Return a text file in which each line has its origin and its number before it.

        Raises:
            ArgumentError: The merged tree has no such text file.
        """
        words = [str(origin) for origin in self._origins(path)]
        lines = split_lines(self.tree.read(path))
        wide, digits = max(map(len, words), default=0), len(str(len(lines)))
        shown = (
            b"%s %*d) %s" % (word.ljust(wide).encode(), digits, number, line)
            for number, (word, line) in enumerate(zip(words, lines, strict=True), 1)
        )
        return b"".join(shown)

    def _origins(self, path: str) -> list[Origin]:
        """Return the origin of each line of a text file."""
        file = self.file(path)
        if file is not None and file.kind is FileKind.TEXT:
            return list(file.origins)
        entry = None if file else self.tree.get(path)
        if entry is None or not entry.mode.is_regular or is_binary(entry.data):
            raise ArgumentError("path", f"is not a text file of the merged tree: {path!r:.200}")
        return [Origin(kind=OriginKind.BASE)] * len(split_lines(entry.data))

    def to_dict(self) -> dict[str, Any]:
        """Return the provenance as plain JSON values."""
        return {
            "features": list(self.features),
            "counts": self.counts(),
            "files": [_plain_file(each) for each in self.files],
        }


def _plain_file(file: FileProvenance) -> dict[str, Any]:
    return {
        "path": file.path,
        "kind": file.kind.value,
        "renamed_from": file.renamed_from,
        "origin": _plain_origin(file.origin),
        "runs": [
            {"first": run.first, "last": run.last, **_plain_origin(run.origin)} for run in file.runs
        ],
    }


def _plain_origin(origin: Origin) -> dict[str, Any]:
    return {"origin": origin.kind.value, "features": list(origin.features)}
