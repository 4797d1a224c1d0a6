"""Resolves conflicts block by block, checks the files, and writes the ledger."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise

from attrs import evolve, field, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.merging.conflicts import ConflictBlock, LedgerRow
from cooperbench_eval.git.merging.locating_resolutions import find_between
from cooperbench_eval.git.merging.text_merge import Answer
from cooperbench_eval.git.merging.three_way_merge import ThreeWayMerge
from cooperbench_eval.languages.token_merge import shares_kept
from cooperbench_eval.strategies.judge import MOST_TRIES, Fault, JudgedFile, alternate
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome
from cooperbench_eval.support.arguments import checked, checked_fields

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
    """

    text: bytes = field(repr=False)
    rule: str


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
        takes_sides: Whether a merge may lack what a function that was taken as a whole from
            one side does not contain.
    """

    whole: Iterable[FileMerge] = ()
    resettles: bool = False
    takes_sides: bool = False
    each: Callable[[ConflictBlock], Sequence[Resolution]]


Choice = dict[ConflictBlock, Resolution]
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


class _Chooser:
    """Chooses among what a strategy offers for a file; the judge has the last word."""

    def __init__(self, file: ConflictFile, proposal: Proposal) -> None:
        self._file = file
        self._proposal = proposal
        self._judged = JudgedFile(
            path=file.path,
            versions=file.versions,
            places=file.blocks,
            settled=file.settled,
            takes_sides=proposal.takes_sides,
        )

    def choose(self) -> Choice | FileMerge:
        """Return the chosen resolution of each block, or the chosen merge of the whole file.

        The resolution of a block that stays open has no text.
        """
        file, rejected = self._file, list[Fault]()
        good: list[FileMerge] = []
        for whole in islice(self._proposal.whole, MOST_TRIES):
            if fault := self._judged.fault_of(whole.text):
                rejected.append(fault)
            elif choice := file.choice_of(whole):
                return choice
            else:
                good.append(whole)
        for whole in good if self._proposal.resettles and file.is_complete else ():
            if file.is_confined(whole.text):
                return whole
        if rejected and not good and all(fault.interferes for fault in rejected):
            refusal = Resolution(reason=rejected[0].problem, is_binding=True)
            return dict.fromkeys(file.blocks, refusal)
        problem = rejected[0].problem if rejected else ""
        return self._combined(
            {
                block: [_explained(each, problem) for each in self._proposal.each(block)]
                for block in file.blocks
            }
        )

    def _combined(self, choices: Mapping[ConflictBlock, Sequence[Resolution]]) -> Choice:
        """Return the first combination without a fault, or the first one without its faults."""
        chosen = {block: given[0] for block, given in choices.items()}
        for each in (chosen, *islice(_others(choices, chosen), MOST_TRIES)):
            units = self._units(each)
            if not (units and self._judged.fault(units.values())):
                return each
        units = self._units(chosen)
        faults = self._judged.faults_of([(answer,) for answer in units.values()])
        for i, block in enumerate(units):
            if i in faults:
                chosen[block] = Resolution(reason=faults[i].problem)
        return chosen

    def _units(self, choice: Choice) -> dict[ConflictBlock, Answer]:
        texts = ((i, block, choice[block].text) for i, block in enumerate(self._file.blocks))
        return {
            block: Answer(range(i, i + 1), text) for i, block, text in texts if text is not None
        }


def _others(
    choices: Mapping[ConflictBlock, Sequence[Resolution]], chosen: Choice
) -> Iterator[Choice]:
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
