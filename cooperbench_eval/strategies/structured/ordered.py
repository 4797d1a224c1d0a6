"""The merges of a file by structure, with both sides' insertions in either order."""

import contextlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from cooperbench_eval.languages.data import why_generated
from cooperbench_eval.languages.faults.data import why_unreadable
from cooperbench_eval.languages.reading import read_trees, remember_trees, with_ending
from cooperbench_eval.languages.tree import (
    DATA,
    BindingError,
    Construct,
    DisagreementError,
    Element,
    Mode,
    OrderError,
    StructureError,
    render,
    same,
)
from cooperbench_eval.strategies.structured.data import DataMerge
from cooperbench_eval.strategies.structured.edit_lines import EditPlaces
from cooperbench_eval.strategies.structured.merge import TreeMerge
from cooperbench_eval.support.memo import WeighedMemo

MOST_BYTES = 500_000
"""Larger versions of a file are not merged, unless another limit is given."""
Versions = tuple[bytes, bytes, bytes]
"""Base, ours and theirs of a file."""


class OrderedMerge(NamedTuple):
    """A merged file, and the rule that made it."""

    text: bytes
    rule: str


class UnreadError(StructureError):
    """A version of the file cannot be read."""


class OrderedMerges:
    """The merges of a file in both orders, each computed when it is first needed."""

    def __init__(self, path: str, versions: Versions, *, max_bytes: int = MOST_BYTES) -> None:
        """Take base, ours and theirs of a file, of up to *max_bytes* each."""
        self._path = path
        self.versions = versions
        self._max_bytes = max_bytes
        self._tried: dict[bool, OrderedMerge | StructureError] = {}

    def __iter__(self) -> Iterator[OrderedMerge]:
        """Yield the merged files.

        Raises:
            StructureError: The file cannot be merged.
        """
        found = False
        for theirs_first in (False, True):
            made = self._made(theirs_first=theirs_first)
            if isinstance(made, OrderedMerge):
                found = True
                yield made
            elif not isinstance(made, OrderError):
                raise made
        if not found:
            error = DisagreementError(
                "both sides insert at one place, and neither order is allowed"
            )
            error.edits = made.edits if isinstance(made, OrderError) else None
            raise error

    @property
    def good(self) -> Iterator[OrderedMerge]:
        """The merged files; empty if the file cannot be merged."""
        with contextlib.suppress(StructureError):
            yield from self

    @property
    def problem(self) -> StructureError | None:
        """Why the file cannot be merged; `None` if it can."""
        try:
            next(iter(self))
        except StructureError as exc:
            return exc
        return None

    def _made(self, *, theirs_first: bool) -> OrderedMerge | StructureError:
        if theirs_first in self._tried:
            return self._tried[theirs_first]
        key = self._path, self.versions, theirs_first, self._max_bytes
        made: OrderedMerge | StructureError | None = _known.get(key)
        if made is None:
            made = self._try(theirs_first=theirs_first)
            if isinstance(made, OrderedMerge):
                _known.keep(key, made, size=len(made.text) + sum(map(len, self.versions)))
        self._tried[theirs_first] = made
        return made

    def _try(self, *, theirs_first: bool) -> OrderedMerge | StructureError:
        try:
            if self._trees[0].kind == DATA:
                merged = DataMerge(theirs_first).merge_file(*self._trees)
            else:
                merged = TreeMerge(theirs_first=theirs_first).merge(*self._trees)
        except DisagreementError as exc:
            return exc.between(*((tree,) for tree in self._trees))
        except StructureError as exc:
            return exc
        rule = "structure, theirs first" if theirs_first else "structure"
        text = with_ending(render(merged)[1:] + b"\n" * self._ends_line, self.versions)
        if isinstance(merged, Construct):
            remember_trees(self._path, (*self.versions, text), (*self._trees, merged))
        return OrderedMerge(text, rule)

    def explain(self, error: StructureError, files: Sequence[bytes]) -> str:
        """Return the error with the lines of *files* that contradict each other."""
        if not isinstance(error, DisagreementError):
            return str(error)
        return EditPlaces(self._trees, self.versions, files).explain(error)

    @property
    def _ends_line(self) -> bool:
        """Whether the merged file ends with a newline."""
        base, ours, theirs = (version.endswith(b"\n") for version in self.versions)
        return theirs if ours == base else ours

    @cached_property
    def _trees(self) -> list[Construct]:
        if reason := why_generated(self._path, max(self.versions, key=len)):
            raise BindingError(reason)
        if max(map(len, self.versions)) > self._max_bytes:
            raise UnreadError(f"a version has more than {self._max_bytes:,} bytes")
        if reason := why_unreadable(self._path, self.versions):
            raise UnreadError(reason)
        try:
            return read_trees(self._path, self.versions)
        except StructureError as exc:
            raise UnreadError(str(exc)) from exc


# The judge asks for the same merges as a strategy.
_known = WeighedMemo[tuple[str, Versions, bool, int], OrderedMerge](max_bytes=1 << 22)


def why_not_merged(path: str, versions: Versions, text: bytes, files: Versions) -> str:
    """Return why a text is not a merge by structure, apart from layout; empty if it is one.

    Args:
        path: The file.
        versions: The versions that were merged.
        text: The text.
        files: The versions of the whole file, whose lines the reason quotes.
    """
    key = path, versions, files
    if reason := _refused.get(key):
        return reason
    merges = OrderedMerges(path, versions)
    made = []
    try:
        for each in merges:
            if each.text == text:
                return ""
            made.append(each.text)
    except StructureError as exc:
        return _refused.keep(key, merges.explain(exc, files), size=sum(map(len, versions)))
    try:
        if _is_made_of(*read_trees(path, (text, *made))):
            return ""
    except StructureError as exc:
        return str(exc)
    return "a merge by structure gives a different text"


def _is_made_of(element: Element, *merges: Element) -> bool:
    """Whether each definition or statement of an element occurs in one of the merges."""
    if any(same(element, each) for each in merges):
        return True
    alike = [
        each
        for each in merges
        if isinstance(each, Construct) and len(each.children) == len(element.children)
    ]
    if not isinstance(element, Construct) or element.mode is not Mode.MEMBERS or not alike:
        return False
    rows = zip(element.children, *(each.children for each in alike), strict=True)
    return all(_is_made_of(*row) for row in rows)


# A strategy may offer several texts for one conflict.
_refused = WeighedMemo[tuple[str, Versions, Versions], str](max_bytes=1 << 22)
