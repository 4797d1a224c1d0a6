"""Resolves conflicts block by block, checks the files, and writes the ledger."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, pairwise, zip_longest

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.merging.conflicts import ConflictBlock, LedgerRow
from cooperbench_eval.git.merging.locating_resolutions import find_between
from cooperbench_eval.git.merging.three_way_merge import ThreeWayMerge
from cooperbench_eval.languages.faults.faults import find_fault
from cooperbench_eval.languages.token_merge import shares_kept
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome
from cooperbench_eval.support.arguments import checked, checked_fields

_MOST_TRIES = 100
"""The most resolutions of a file that are checked in search of one without a fault."""
_BLANK_LINES = re.compile(rb"\n(?:[ \t\r]*\n)+")
_TOP_LEVEL = re.compile(rb"[^\s)\]}]")


@frozen(kw_only=True, field_transformer=checked_fields)
class Resolution:
    """How a block is resolved, or why it is not.

    Attributes:
        text: The text that replaces it; `None` leaves its conflicts open.
        rule: The rule that resolved it.
        reason: Why it was not resolved.
        is_binding: Whether the reason holds for any text, as in a `LedgerRow`.
    """

    text: bytes | None = None
    rule: str = ""
    reason: str = ""
    is_binding: bool = False


@frozen(kw_only=True)
class ConflictFile:
    """A file with open blocks.

    Attributes:
        path: Its path.
        blocks: Its blocks, in order.
        settled: The lines before, between and after them, as the line merge left them.
        is_complete: Whether the blocks contain all of its open conflicts.
    """

    path: str
    blocks: tuple[ConflictBlock, ...]
    settled: tuple[bytes, ...] = field(repr=False)
    is_complete: bool

    @property
    def versions(self) -> tuple[bytes, bytes, bytes]:
        """The whole file in base, ours and theirs."""
        return self.blocks[0].files

    def around(self, block: ConflictBlock) -> tuple[bytes, bytes]:
        """Return the text before and after a block, with ours for the other blocks."""
        at = self.blocks.index(block)
        ours = [each.ours for each in self.blocks]
        before = alternate(self.settled[: at + 1], ours[:at])
        return before, alternate(self.settled[at + 1 :], ours[at + 1 :])

    def filled(self, texts: Mapping[ConflictBlock, bytes]) -> bytes:
        """Return the file with *texts* for some blocks, and with ours for the others."""
        return alternate(self.settled, [texts.get(each, each.ours) for each in self.blocks])

    def choice_of(self, whole: "FileMerge") -> "Choice | None":
        """Return the blocks' texts in a merged file; `None` if it differs outside of them."""
        texts = find_between(whole.text, self.settled)
        if texts is None:
            return None
        return {
            block: Resolution(text=text, rule=whole.rule)
            for block, text in zip(self.blocks, texts, strict=True)
        }

    def is_confined(self, text: bytes) -> bool:
        """Whether a merged file differs only in top-level constructs that contain a block."""
        lines = self.filled({})
        spans = list(self._spans())
        cuts = [
            found.start() + 1
            for found in _BLANK_LINES.finditer(lines)
            if _TOP_LEVEL.match(lines, found.end())
        ]
        runs = [b""]
        for start, end in pairwise([0, *cuts, len(lines)]):
            if any(first <= end and start <= last for first, last in spans):
                runs.append(b"")
            else:
                runs[-1] += lines[start:end]
        return find_between(text, runs) is not None

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Yield the range of bytes that ours of each block has in `filled({})`."""
        at = 0
        for before, block in zip(self.settled, self.blocks, strict=False):
            at += len(before)
            yield at, at + len(block.ours)
            at += len(block.ours)


@frozen(kw_only=True)
class FileMerge:
    """A merged file.

    Attributes:
        text: The whole file.
        rule: The rule that merged it.
        versions: The versions that it combines, if they are not those of the file.
    """

    text: bytes = field(repr=False)
    rule: str
    versions: tuple[bytes, bytes, bytes] | None = field(default=None, repr=False)


@frozen(kw_only=True)
class Proposal:
    """The merges and resolutions that a strategy offers for a file, evaluated lazily.

    Attributes:
        whole: Merges of the whole file, the best one first. One is accepted only if it
            agrees with the line merge everywhere outside of the blocks.
        resettles: If none is accepted: whether to accept one that also changes settled
            lines, provided they are in top-level constructs that contain a block.
        each: Returns the possible resolutions of one block, at least one, the best one
            first. Resolutions of different blocks may be combined freely.
    """

    whole: Iterable[FileMerge] = ()
    resettles: bool = False
    each: Callable[[ConflictBlock], Sequence[Resolution]]


Choice = Mapping[ConflictBlock, Resolution]
"""The resolution of each block of a file."""


@checked
def resolve_blocks(
    merge_input: MergeInput, propose: Callable[[ConflictBlock], Sequence[Resolution]]
) -> MergeOutcome:
    """Turn a function for one block of conflicts into a strategy's `merge`.

    *propose* returns the possible resolutions of a block, at least one, the best one
    first. The first combination in which the static judge finds no fault is used; for
    this check, unresolved blocks contain ours. If every combination that was tried has a
    fault, the blocks that are faulty on their own stay open. If that does not help, all
    blocks of the file stay open.
    """
    return resolve_files(merge_input, lambda _file: Proposal(each=partial(_proposed, propose)))


def _proposed(
    propose: Callable[[ConflictBlock], Sequence[Resolution]], block: ConflictBlock
) -> Sequence[Resolution]:
    found = propose(block)
    if not isinstance(found, Sequence) or not all(isinstance(r, Resolution) for r in found):
        raise ArgumentError("propose", f"must return Resolution objects, not {found!r:.100}")
    if not found:
        raise ArgumentError("propose", "must return at least one Resolution for each block")
    return found


def resolve_files(
    merge_input: MergeInput, propose: Callable[[ConflictFile], Proposal]
) -> MergeOutcome:
    """Turn a function for the blocks of one file into a strategy's `merge`.

    The first merge of the whole file that is accepted (see `Proposal`) and in which the
    static judge finds no fault is used. If there is none, the resolutions of the single
    blocks are combined, as `resolve_blocks` does.
    """
    merge = merge_input.merge
    resolutions: dict[ConflictBlock, Resolution] = {}
    rewritten: dict[str, bytes] = {}
    rows: list[LedgerRow] = []
    for file in _files(merge):
        found = _Chooser(file, propose(file)).choose()
        if isinstance(found, FileMerge):
            rewritten[file.path] = found.text
            ours, theirs = shares_kept(file.versions, found.text)
            rule = f"{found.rule}, around it as well"
            rows += (
                evolve(_row(block), rule=rule, ours_kept=ours, theirs_kept=theirs)
                for block in file.blocks
            )
            continue
        resolutions |= found
        rows += (_row_of(block, resolution) for block, resolution in found.items())
    resolved = merge.resolve_files(rewritten).resolve_blocks(lambda block: resolutions[block].text)
    others = (LedgerRow.left_open(c, "it has no lines") for c in merge.conflicts if not c.has_lines)
    return MergeOutcome(
        changes=resolved.changes,
        conflicts=resolved.conflicts,
        conflicts_met=len(merge.conflicts),
        ledger=(*rows, *others),
        merge=resolved,
    )


def _files(merge: ThreeWayMerge) -> Iterator[ConflictFile]:
    by_path: dict[str, list[ConflictBlock]] = {}
    for block in merge.blocks:
        by_path.setdefault(block.path, []).append(block)
    open_in = Counter(conflict.path for conflict in merge.conflicts if conflict.has_lines)
    for path, blocks in by_path.items():
        yield ConflictFile(
            path=path,
            blocks=tuple(blocks),
            settled=merge.settled_around_blocks(path),
            is_complete=open_in[path] == sum(len(block.conflicts) for block in blocks),
        )


def alternate(settled: Sequence[bytes], texts: Sequence[bytes]) -> bytes:
    """Return settled texts with another text after each of them but the last."""
    return b"".join(chain.from_iterable(zip_longest(settled, texts, fillvalue=b"")))


_Chosen = dict[ConflictBlock, Resolution]


class _Chooser:
    def __init__(self, file: ConflictFile, proposal: Proposal) -> None:
        self._file = file
        self._proposal = proposal

    def choose(self) -> Choice | FileMerge:
        """Return the chosen resolution of each block, or the chosen merge of the whole file.

        The resolution of a block that stays open has no text.
        """
        file = self._file
        offered = []
        rejected = ""
        for whole in islice(self._proposal.whole, _MOST_TRIES):
            offered.append(whole)
            if choice := file.choice_of(whole):
                if not (fault := self._fault(choice, whole.versions)):
                    return choice
                rejected = rejected or fault
        for whole in offered if self._proposal.resettles and file.is_complete else ():
            if file.is_confined(whole.text) and not find_fault(
                file.path, whole.versions or file.versions, whole.text
            ):
                return whole
        choices = {
            block: [_explained(each, rejected) for each in self._proposal.each(block)]
            for block in self._file.blocks
        }
        chosen = {block: given[0] for block, given in choices.items()}
        fault = self._fault(chosen)
        if not fault:
            return chosen
        for other in islice(_others(choices, chosen), _MOST_TRIES):
            if not self._fault(other):
                return other
        return self._without_faulty(chosen) or {
            block: _refused(resolution, fault) for block, resolution in chosen.items()
        }

    def _without_faulty(self, chosen: _Chosen) -> Choice | None:
        """Leave open the blocks that are faulty on their own.

        Returns:
            The choice; `None` if the file still has a fault, or if this changes nothing.
        """
        if len(chosen) > _MOST_TRIES:
            return None
        alone = {block: self._fault({block: resolution}) for block, resolution in chosen.items()}
        if not any(alone.values()) or all(alone.values()):
            return None
        kept = {
            block: resolution if not alone[block] else _refused(resolution, alone[block])
            for block, resolution in chosen.items()
        }
        return None if self._fault(kept) else kept

    def _fault(self, choice: Choice, versions: tuple[bytes, bytes, bytes] | None = None) -> str:
        """Return what is wrong with the file if *choice* fills its blocks, and ours the others."""
        texts = {block: r.text for block, r in choice.items() if r.text is not None}
        if not texts:
            return ""
        merged = self._file.filled(texts)
        whole = len(texts) == len(self._file.blocks)
        given = versions or self._file.versions
        return find_fault(self._file.path, given, merged, is_whole=whole)


def _others(
    choices: Mapping[ConflictBlock, Sequence[Resolution]], chosen: _Chosen
) -> Iterator[_Chosen]:
    """Yield choices that differ in one block, then those that differ in all."""
    for block, given in choices.items():
        for resolution in given[1:]:
            yield chosen | {block: resolution}
    for rank in range(1, max(map(len, choices.values()))):
        yield {block: given[min(rank, len(given) - 1)] for block, given in choices.items()}


def _explained(resolution: Resolution, rejected: str) -> Resolution:
    """Give an open block the fault of the whole file's merge as its reason, if it has one."""
    if resolution.text is not None or not rejected:
        return resolution
    return evolve(resolution, reason=f"the merge of the whole file was rejected: {rejected}")


def _refused(resolution: Resolution, fault: str) -> Resolution:
    if resolution.text is None:
        return resolution
    return evolve(resolution, text=None, reason=fault)


def _row_of(block: ConflictBlock, resolution: Resolution) -> LedgerRow:
    row = _row(block)
    if resolution.text is None:
        return evolve(row, reason=resolution.reason, is_binding=resolution.is_binding)
    versions = block.base, block.ours, block.theirs
    ours, theirs = shares_kept(versions, resolution.text)
    return evolve(row, rule=resolution.rule, ours_kept=ours, theirs_kept=theirs)


def _row(block: ConflictBlock) -> LedgerRow:
    return LedgerRow(
        path=block.path,
        line=block.conflicts[0].line,
        conflicts=len(block.conflicts),
        shape=_shape(block),
    )


def _shape(block: ConflictBlock) -> str:
    return "/".join(
        "insert" if not block.base else "delete" if not side else "edit"
        for side in (block.ours, block.theirs)
    )
