"""Resolves conflicts block by block, judges the files, and keeps the ledger."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from attrs import evolve, frozen

from cooperbench_eval.merging.tree import ThreeWayMerge
from cooperbench_eval.models import ConflictBlock, LedgerRow
from cooperbench_eval.strategies.judge import find_fault
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome
from cooperbench_eval.strategies.tokenmerge import count_tokens

__all__ = ["Resolution", "resolve_blocks"]

_MOST_TRIES = 100
"""How often a file is judged in search of resolutions without a fault."""


@frozen(kw_only=True)
class Resolution:
    """What became of a block.

    Attributes:
        text: What takes its place; `None` leaves its conflicts open.
        rule: What it was resolved by.
        reason: Why it was not.
    """

    text: bytes | None = None
    rule: str = ""
    reason: str = ""


def resolve_blocks(
    merge_input: MergeInput, propose: Callable[[ConflictBlock], Sequence[Resolution]]
) -> MergeOutcome:
    """Lift a function over one block of conflicts to a strategy's `merge`.

    Of the resolutions that *propose* gives for a block, best first, those are taken
    with which the static judge finds no fault in the file; blocks that stay open stand
    in it as ours meanwhile. If there are none, the file's blocks stay open.
    """
    merge = merge_input.merge
    by_path: dict[str, _Choices] = {}
    for block in merge.blocks:
        by_path.setdefault(block.path, {})[block] = tuple(propose(block))
    found: dict[ConflictBlock, Resolution] = {}
    for path, choices in by_path.items():
        found |= _Choice(merge, path, choices).made()
    resolved = merge.resolve_blocks(lambda block: found[block].text)
    rows = tuple(_row(block, resolution) for block, resolution in found.items())
    others = (LedgerRow.left_open(c, "it has no lines") for c in merge.conflicts if not c.has_lines)
    return MergeOutcome(
        changes=resolved.changes,
        conflicts=resolved.conflicts,
        conflicts_met=len(merge.conflicts),
        ledger=(*rows, *others),
        merge=resolved,
    )


_Choices = dict[ConflictBlock, tuple[Resolution, ...]]
_Chosen = dict[ConflictBlock, Resolution]


class _Choice:
    """Chooses among the resolutions of one file's blocks."""

    def __init__(self, merge: ThreeWayMerge, path: str, choices: _Choices) -> None:
        self._merge = merge
        self._path = path
        self._choices = choices

    def made(self) -> _Chosen:
        """Return the resolution chosen for each block; without text where none is."""
        chosen = {block: given[0] for block, given in self._choices.items()}
        fault = self._fault(chosen)
        if not fault:
            return chosen
        for other in islice(self._others(chosen), _MOST_TRIES):
            if not self._fault(other):
                return other
        if len(chosen) > _MOST_TRIES:
            return {block: _refused(resolution, fault) for block, resolution in chosen.items()}
        alone = {block: self._fault({block: resolution}) for block, resolution in chosen.items()}
        if any(alone.values()) and not all(alone.values()):
            kept = {
                block: resolution if not alone[block] else _refused(resolution, alone[block])
                for block, resolution in chosen.items()
            }
            if not self._fault(kept):
                return kept
        return {block: _refused(resolution, fault) for block, resolution in chosen.items()}

    def _others(self, chosen: _Chosen) -> Iterator[_Chosen]:
        """Yield choices that differ in one block, then those that differ in all."""
        for block, given in self._choices.items():
            for resolution in given[1:]:
                yield chosen | {block: resolution}
        for rank in range(1, max(map(len, self._choices.values()))):
            yield {
                block: given[min(rank, len(given) - 1)] for block, given in self._choices.items()
            }

    def _fault(self, chosen: _Chosen) -> str:
        """Say what is wrong with the file if its blocks are resolved so, the others as ours."""
        texts = {block: r.text for block, r in chosen.items() if r.text is not None}
        if not texts:
            return ""
        merged = self._merge.resolve_blocks(lambda block: texts.get(block, block.ours))
        entry = merged.changes.get(self._path)
        files = next(iter(texts)).files
        whole = len(texts) == len(self._choices)
        return find_fault(self._path, files, entry.data, is_whole=whole) if entry else ""


def _refused(resolution: Resolution, fault: str) -> Resolution:
    if resolution.text is None:
        return resolution
    return evolve(resolution, text=None, reason=fault)


def _row(block: ConflictBlock, resolution: Resolution) -> LedgerRow:
    kept = partial(_share_kept, block.base, resolution.text)
    is_open = resolution.text is None
    return LedgerRow(
        path=block.path,
        line=block.conflicts[0].line,
        conflicts=len(block.conflicts),
        shape=_shape(block),
        rule="" if is_open else resolution.rule,
        reason=resolution.reason if is_open else "",
        ours_kept=kept(block.ours),
        theirs_kept=kept(block.theirs),
    )


def _shape(block: ConflictBlock) -> str:
    return "/".join(
        "insert" if not block.base else "delete" if not side else "edit"
        for side in (block.ours, block.theirs)
    )


def _share_kept(base: bytes, text: bytes | None, side: bytes) -> float | None:
    """Return the share of the tokens that a side added which the text still has."""
    if text is None:
        return None
    before, there = count_tokens(base), count_tokens(text)
    added = count_tokens(side) - before
    kept = sum(min(count, max(there[token] - before[token], 0)) for token, count in added.items())
    return kept / added.total() if added else 1.0
