"""Resolves conflicts block by block, checks the files, and writes the ledger."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, islice, pairwise
from operator import attrgetter

from attrs import evolve, frozen

from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.merging.conflicts import ConflictBlock, LedgerRow, why_whole
from cooperbench_eval.git.merging.locating_resolutions import find_between
from cooperbench_eval.git.merging.text_merge import Answer
from cooperbench_eval.languages.data import find_format
from cooperbench_eval.languages.token_merge import shares_kept
from cooperbench_eval.strategies.judge import MOST_TRIES, ConflictFile, Fault, FaultKind, ours_of
from cooperbench_eval.strategies.judging import reopen_marked, reopen_misfits
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
        is_provisional: Whether the strategy could not read the file, as in a `LedgerRow`.
    """

    text: bytes | None = None
    rule: str = ""
    reason: str = ""
    is_binding: bool = False
    is_provisional: bool = False


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

    whole: Iterable[Resolution] = ()
    resettles: bool = False
    takes_sides: bool = False
    each: Callable[[ConflictBlock], Sequence[Resolution]]


BlockFile = ConflictFile[ConflictBlock]
"""A file with open blocks."""


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
    merge_input: MergeInput, propose: Callable[[BlockFile], Proposal]
) -> MergeOutcome:
    """Turn a function for the blocks of one file into a strategy's `merge`.

    The first merge of the whole file that is accepted (see `Proposal`) and in which the
    static judge finds no fault is used. If there is none, the resolutions of the single
    blocks are combined, as `resolve_blocks` does.
    """
    merge = merge_input.merge
    texts: dict[ConflictBlock, bytes | None] = {}
    rewritten: dict[str, bytes] = {}
    rows: list[LedgerRow] = []
    open_in = Counter(conflict.path for conflict in merge.conflicts if conflict.has_lines)
    for path, group in groupby(merge.blocks, attrgetter("path")):
        blocks = tuple(group)
        file = ConflictFile(
            path=path,
            versions=blocks[0].files,
            places=blocks,
            settled=merge.settled_around_blocks(path),
        )
        proposal = propose(file)
        if open_in[path] > sum(len(block.conflicts) for block in blocks):
            proposal = evolve(proposal, resettles=False)
        found = _choose(evolve(file, takes_sides=proposal.takes_sides), proposal)
        if isinstance(found, Resolution):
            rewritten[path] = found.text or b""
            rows += (_row_of(block, found, file.versions) for block in blocks)
            continue
        for block, each in zip(blocks, found, strict=True):
            texts[block] = each.text
            rows.append(_row_of(block, each, (block.base, block.ours, block.theirs)))
    resolved = merge.resolve_files(rewritten).resolve_blocks(texts.__getitem__)
    others = (LedgerRow.left_open(c, why_whole(c)) for c in merge.conflicts if not c.has_lines)
    outcome = MergeOutcome(
        changes=resolved.changes,
        conflicts=resolved.conflicts,
        conflicts_met=len(merge.conflicts),
        ledger=(*rows, *others),
        merge=resolved,
    )
    return reopen_misfits(merge_input, reopen_marked(merge_input, outcome))


def _choose(file: BlockFile, proposal: Proposal) -> list[Resolution] | Resolution:
    """Return the resolution of each block, or one of the whole file.

    A block that stays open has a resolution without a text.
    """
    rejected, good = list[Fault](), list[Resolution]()
    for whole in islice(proposal.whole, MOST_TRIES):
        text = whole.text or b""
        if fault := file.fault_of(text):
            rejected.append(fault)
            continue
        texts = find_between(text, file.settled)
        if texts is not None:
            return [evolve(whole, text=each) for each in texts]
        good.append(whole)
    for whole in good if proposal.resettles else ():
        if _is_confined(file, whole.text or b""):
            return evolve(whole, rule=f"{whole.rule}, around it as well")
    if rejected and not good and all(fault.kind is FaultKind.INTERFERENCE for fault in rejected):
        refusal = Resolution(reason=rejected[0].problem, is_binding=True)
        return [refusal] * len(file.places)
    problem = rejected[0].problem if rejected else ""
    return _combine(
        file,
        [[_explained(r, problem) for r in proposal.each(block)] for block in file.places],
    )


def _is_confined(file: BlockFile, text: bytes) -> bool:
    """Whether a merged file differs only in top-level constructs that contain a block.

    Data is merged by key, so that a difference elsewhere is not a mistake of alignment.
    """
    if find_format(file.path, text):
        return True
    lines, spans, at = file.filled((), ours_of), [], 0
    for before, block in zip(file.settled, file.places, strict=False):
        at += len(before)
        spans.append((at, at + len(block.ours)))
        at += len(block.ours)
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


def _combine(file: BlockFile, choices: Sequence[Sequence[Resolution]]) -> list[Resolution]:
    """Return the first combination without a fault, or the best one without its faults."""
    best = [given[0] for given in choices]
    for each in (best, *islice(_others(choices, best), MOST_TRIES)):
        answers = _answers(each)
        if not (answers and file.fault(answers)):
            return each
    answers = _answers(best)
    for i, fault in file.faults_of([(answer,) for answer in answers]).items():
        best[answers[i].conflicts.start] = Resolution(reason=fault.problem)
    return best


def _answers(choice: Sequence[Resolution]) -> list[Answer]:
    return [Answer(range(i, i + 1), r.text) for i, r in enumerate(choice) if r.text is not None]


def _others(
    choices: Sequence[Sequence[Resolution]], best: Sequence[Resolution]
) -> Iterator[list[Resolution]]:
    """Yield choices that differ from the best one in one block, then those that differ in all."""
    for i, given in enumerate(choices):
        for resolution in given[1:]:
            yield [*best[:i], resolution, *best[i + 1 :]]
    for rank in range(1, max(map(len, choices))):
        yield [given[min(rank, len(given) - 1)] for given in choices]


def _explained(resolution: Resolution, rejected: str) -> Resolution:
    """Give an open block the fault of the whole file's merge as its reason, if it has one."""
    if resolution.text is not None or not rejected:
        return resolution
    return evolve(resolution, reason=rejected)


def _row_of(
    block: ConflictBlock, resolution: Resolution, versions: tuple[bytes, bytes, bytes]
) -> LedgerRow:
    """Return the row of a block; *versions* are what the text of its resolution combines."""
    row = LedgerRow(
        path=block.path,
        line=block.conflicts[0].line,
        conflicts=len(block.conflicts),
        shape=_shape(block),
        reason=resolution.reason,
        is_binding=resolution.is_binding,
        is_provisional=resolution.is_provisional,
    )
    if resolution.text is None:
        return row
    ours, theirs = shares_kept(versions, resolution.text)
    return evolve(row, rule=resolution.rule, ours_kept=ours, theirs_kept=theirs)


def _shape(block: ConflictBlock) -> str:
    return "/".join(
        "insert" if not block.base else "delete" if not side else "edit"
        for side in (block.ours, block.theirs)
    )
