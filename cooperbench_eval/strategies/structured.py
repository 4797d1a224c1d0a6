"""Merges conflicts by the structure of the source, in the supported languages."""

import contextlib
from collections.abc import Iterator, Sequence
from functools import cached_property

from attrs import field, frozen, validators

from cooperbench_eval.merging.locating import find_between
from cooperbench_eval.models import ConflictBlock
from cooperbench_eval.strategies.blocks import (
    ConflictFile,
    FileMerge,
    Proposal,
    Resolution,
    resolve_files,
)
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome
from cooperbench_eval.structure.interference import find_interference
from cooperbench_eval.structure.languages import read_versions
from cooperbench_eval.structure.merge import TreeMerge
from cooperbench_eval.structure.tree import (
    Construct,
    DisagreementError,
    OrderError,
    StructureError,
    render,
)

__all__ = ["StructuredStrategy"]


@frozen(kw_only=True)
class StructuredStrategy:
    """Merges constructs instead of lines: definitions, statements, parameters, items.

    It first merges the whole file, and accepts the result if it keeps the lines that the
    line merge settled. Otherwise it merges one block at a time.

    Attributes:
        max_bytes: The largest version of a file that it merges; merged files of more than
            500,000 bytes are refused in any case.
        by_content: Order two insertions at one place only by the text of the sides, so
            that swapping the sides gives the same bytes.
        resettles: Whether a merge of the whole file may also change settled lines, within
            the top-level constructs that contain a conflict.
    """

    name: str = "structured"
    max_bytes: int = field(default=500_000, validator=validators.ge(1))
    by_content: bool = False
    resettles: bool = True

    @property
    def is_symmetric(self) -> bool:
        """Whether swapping the sides gives the same result."""
        return self.by_content

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Return the three-way merge with its blocks merged by structure."""
        return resolve_files(merge_input, self._propose)

    def _propose(self, file: ConflictFile) -> Proposal:
        whole = self._merges(file.path, file.versions)

        def each(block: ConflictBlock) -> list[Resolution]:
            lead, tail = file.around(block)
            versions = [lead + text + tail for text in (block.base, block.ours, block.theirs)]
            try:
                _check(whole, file.settled)
                merged = list(self._merges(file.path, versions))
                found = {_fitting(each.text, (lead, tail))[0]: each.rule for each in merged}
            except StructureError as exc:
                return [Resolution(reason=str(exc))]
            return [Resolution(text=text, rule=rule) for text, rule in found.items()]

        return Proposal(whole=whole.good, resettles=self.resettles, each=each)

    def _merges(self, path: str, versions: Sequence[bytes]) -> "_OrderedMerges":
        base, ours, theirs = versions
        if self.by_content and theirs < ours:
            ours, theirs = theirs, ours
        return _OrderedMerges(path, (base, ours, theirs), max_bytes=self.max_bytes)


class _OrderedMerges:
    """The merges of a file in both orders, each computed when it is first needed."""

    def __init__(self, path: str, versions: Sequence[bytes], *, max_bytes: int) -> None:
        self._path = path
        self._versions = versions
        # Trees use "\n" only: the newline before a file's first line is not the file's own,
        # and a construct that moves takes the newline before it along.
        self._is_crlf = b"\n" in b"".join(versions) and all(map(_is_crlf, versions))
        self._max_bytes = max_bytes
        self._made: dict[bool, FileMerge | StructureError] = {}

    def __iter__(self) -> Iterator[FileMerge]:
        """Yield the merged files.

        Raises:
            StructureError: The file cannot be merged.
        """
        found = False
        for theirs_first in (False, True):
            made = self._made.get(theirs_first) or self._try(theirs_first=theirs_first)
            self._made[theirs_first] = made
            if isinstance(made, FileMerge):
                found = True
                yield made
            elif not isinstance(made, OrderError):
                raise made
        if not found:
            raise DisagreementError("both sides insert at one place, and neither order is allowed")

    @property
    def good(self) -> Iterator[FileMerge]:
        """The merged files; empty if the file cannot be merged."""
        with contextlib.suppress(StructureError):
            yield from self

    def _try(self, *, theirs_first: bool) -> FileMerge | StructureError:
        try:
            merged = TreeMerge(theirs_first=theirs_first).merge(*self._trees)
        except StructureError as exc:
            return exc
        rule = "structure, theirs first" if theirs_first else "structure"
        text = render(merged)[1:] + b"\n"
        return FileMerge(text=text.replace(b"\n", b"\r\n") if self._is_crlf else text, rule=rule)

    @cached_property
    def _trees(self) -> list[Construct]:
        if max(map(len, self._versions)) > self._max_bytes:
            raise StructureError(f"a version has more than {self._max_bytes:,} bytes")
        versions = [version or b"\n" for version in self._versions]
        if self._is_crlf:
            versions = [version.replace(b"\r\n", b"\n") for version in versions]
        trees = read_versions(self._path, versions)
        if found := find_interference(*trees):
            raise StructureError(found)
        return trees


def _is_crlf(text: bytes) -> bool:
    return text.count(b"\n") == text.count(b"\r\n")


def _check(merges: _OrderedMerges, settled: Sequence[bytes]) -> None:
    """Refuse a file whose blocks must not be merged one by one.

    That is the case if the sides interfere. It is also the case if merging the whole file
    changes lines that the line merge settled, because then the line merge took two
    different constructs for one.
    """
    try:
        first = next(iter(merges))
    except DisagreementError:
        return
    _fitting(first.text, settled)


def _fitting(merged: bytes, settled: Sequence[bytes]) -> list[bytes]:
    texts = find_between(merged, settled)
    if texts is None:
        raise StructureError("lines outside of the conflict would change")
    return texts
