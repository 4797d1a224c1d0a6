"""Merges conflicts by the structure of the source, in the supported languages."""

from collections.abc import Iterator, Sequence
from itertools import chain

from attrs import field, frozen, validators

from cooperbench_eval.git.merging.conflicts import ConflictBlock
from cooperbench_eval.git.merging.locating_resolutions import find_between
from cooperbench_eval.languages.files import is_code
from cooperbench_eval.languages.tree import BindingError, DisagreementError, StructureError
from cooperbench_eval.strategies.blocks import (
    BlockFile,
    Proposal,
    Resolution,
    resolve_files,
)
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome
from cooperbench_eval.strategies.structured.ordered import (
    MOST_BYTES,
    OrderedMerge,
    OrderedMerges,
    UnreadError,
    Versions,
)
from cooperbench_eval.strategies.structured.refactorings.replaying import replay
from cooperbench_eval.strategies.structured.taking import take_functions

_MOST_SOURCE, _MOST_TEXT = 10_000_000, 500_000
"""How many bytes are read again to merge the blocks of a file one at a time.

Of source, only the definitions that differ are read again.
"""


_REFACTORED = "a side moved or renamed what the other side changed"


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
        takes_sides: Whether a function that cannot be merged may be taken as a whole from a
            side that contains what the other one adds: all names that the other adds to
            the function, of which there must be one, and every parameter that the other
            adds or changes. The ledger then says *took ours, which contains theirs*. What
            the other side adds without a name, such as another number, is lost.
    """

    __module__ = "cooperbench_eval.strategies.structured"  # where it is registered; reports name it

    name: str = "structured"
    max_bytes: int = field(default=MOST_BYTES, validator=validators.ge(1))
    by_content: bool = False
    resettles: bool = True
    takes_sides: bool = False

    @property
    def is_symmetric(self) -> bool:
        """Whether swapping the sides gives the same result."""
        return self.by_content

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Return the three-way merge with its blocks merged by structure."""
        return resolve_files(merge_input, self._propose)

    def _propose(self, file: BlockFile) -> Proposal:
        whole = self._merges(file.path, file.versions)

        def each(block: ConflictBlock) -> list[Resolution]:
            if versions := replay(file.path, file.versions):
                # The lines around a block may be in another function on one of the sides.
                again = self._merges(file.path, versions)
                return [_refusal(again.problem or StructureError(_REFACTORED), again, again)]
            at = file.places.index(block)
            most = _MOST_SOURCE if is_code(file.path) else _MOST_TEXT
            if at and (at + 1) * max(map(len, file.versions)) > most:
                reason = "the file has too many conflicts to merge them one at a time"
                return [Resolution(reason=reason)]
            lead, tail = file.around(at)
            base, ours, theirs = (
                lead + text + tail for text in (block.base, block.ours, block.theirs)
            )
            alone = self._merges(file.path, (base, ours, theirs))
            try:
                _check(whole, file.settled)
                merged = list(alone)
                found = {_fitting(each, (lead, tail))[0]: each.rule for each in merged}
            except StructureError as exc:
                return [_refusal(exc, alone, whole)]
            return [Resolution(text=text, rule=rule) for text, rule in found.items()]

        texts = (Resolution(text=each.text, rule=each.rule) for each in whole.good)
        others = self._replayed(file), self._taken(file) if self.takes_sides else ()
        merges = chain(texts, *others)
        return Proposal(
            whole=merges, resettles=self.resettles, takes_sides=self.takes_sides, each=each
        )

    def _replayed(self, file: BlockFile) -> Iterator[Resolution]:
        """Yield the merges of the versions after each side's refactorings are made in all."""
        if versions := replay(file.path, file.versions):
            for merge in self._merges(file.path, versions).good:
                yield Resolution(text=merge.text, rule=f"{merge.rule}, after refactorings")

    def _taken(self, file: BlockFile) -> Iterator[Resolution]:
        """Yield the merges in which functions of one side are taken as a whole."""
        for taken in take_functions(file.path, file.versions):
            for merge in self._merges(file.path, taken.versions).good:
                yield Resolution(text=merge.text, rule=f"{merge.rule}, {taken.rule}")

    def _merges(self, path: str, versions: Versions) -> OrderedMerges:
        base, ours, theirs = versions
        if self.by_content and theirs < ours:
            ours, theirs = theirs, ours
        return OrderedMerges(path, (base, ours, theirs), max_bytes=self.max_bytes)


def _refusal(error: StructureError, alone: OrderedMerges, whole: OrderedMerges) -> Resolution:
    """Say why a block is open.

    A block may be unreadable with the lines around it, although the versions can be read. Then
    the reason is why the whole file cannot be merged.

    Args:
        error: Why the block cannot be merged.
        alone: The merges of the file with the changes of this block only.
        whole: The merges of the file.
    """
    is_binding = isinstance(error, BindingError)
    if is_binding or isinstance(error, DisagreementError):
        return Resolution(reason=alone.explain(error, whole.versions), is_binding=is_binding)
    problem = whole.problem or error
    reason = whole.explain(problem, whole.versions)
    return Resolution(reason=reason, is_provisional=isinstance(problem, UnreadError))


def _check(merges: OrderedMerges, settled: Sequence[bytes]) -> None:
    """Refuse a file whose blocks must not be merged one by one.

    That is the case if merging the whole file changes lines that the line merge settled,
    because then the line merge took two different constructs for one.
    """
    try:
        first = next(iter(merges))
    except DisagreementError:
        return
    _fitting(first, settled)


def _fitting(merged: OrderedMerge, settled: Sequence[bytes]) -> list[bytes]:
    texts = find_between(merged.text, settled)
    if texts is None:
        raise StructureError("lines outside of the conflict would change")
    return texts
