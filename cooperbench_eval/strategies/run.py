"""Runs a strategy on two sides, and turns its mistakes into one error."""

import re
from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve

from cooperbench_eval.errors import PatchError, RepositoryError, StrategyFailedError
from cooperbench_eval.git.merging.conflicts import LedgerRow
from cooperbench_eval.git.merging.three_way_merge import Labels, ThreeWayMerge
from cooperbench_eval.git.merging.tree_merge import merge_changes
from cooperbench_eval.git.patching.apply import ApplyResult, apply_patch
from cooperbench_eval.git.patching.patch import GivenPatch, as_patch
from cooperbench_eval.git.patching.patch_parts import PatchStatus
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome, MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.support.arguments import checked
from cooperbench_eval.support.error_texts import describe_error


@checked
def merge(
    base: Snapshot,
    ours: GivenPatch | ApplyResult,
    theirs: GivenPatch | ApplyResult,
    *,
    strategy: str | MergeStrategy = "naive",
    labels: Labels | None = None,
) -> MergeOutcome:
    r"""Merge *theirs* into *ours*, which both start from *base*.

    Args:
        base: The common ancestor.
        ours: The side into which the other one is merged: its `Changes`, or a patch of *base*
            in any form that `apply_patch` takes, or the result of `apply_patch`.
        theirs: The side that is merged into ours, in the same forms.
        strategy: A registered name, or an object with `name` and `merge`.
        labels: The names of the sides in conflict markers.

    Raises:
        PatchError: A patch does not apply to *base*.
        StrategyError: The strategy cannot be loaded, or it failed.
        RepositoryError: A touched file of *base* cannot be read.

    Example:
        >>> from cooperbench_eval import Entry
        >>> base = Snapshot.from_files({"a": b"1\n"})
        >>> ours, theirs = (Changes({"a": Entry(text)}) for text in (b"2\n", b"3\n"))
        >>> merge(base, ours, theirs).status.value
        'conflicts'
        >>> merge(base, ours, theirs, strategy="union").changes["a"].data
        b'2\n3\n'
    """
    found = as_strategy(strategy)
    one, other = _changes(base, ours, "ours"), _changes(base, theirs, "theirs")
    three_way = merge_changes(base, one, other, labels)
    return run_strategy(found, MergeInput(base=base, ours=one, theirs=other, merge=three_way))


def _changes(base: Snapshot, side: GivenPatch | ApplyResult, argument: str) -> Changes:
    if isinstance(side, Changes):
        return side
    if not isinstance(side, ApplyResult):
        side = apply_patch(base, as_patch(side, argument))
    if side.status is PatchStatus.FAILED:
        raise PatchError(f"does not apply to the base: {side.reason}", argument)
    return side.changes


def run_strategy(strategy: MergeStrategy, merge_input: MergeInput) -> MergeOutcome:
    """Run *strategy*, and check its outcome against the protocol.

    The outcome's `conflicts_met` is set here, because it is a fact of the three-way merge.

    Raises:
        StrategyFailedError: It raised, or did not return a valid outcome.
        RepositoryError: It needed a part of the base that cannot be read.
    """
    try:
        outcome = strategy.merge(merge_input)
        flaw = _flaw(outcome, merge_input)
    # The plug-in boundary: whatever a strategy raises is that strategy's failure, except
    # that the base cannot be read.
    except Exception as exc:
        if isinstance(exc, RepositoryError) and exc.location == merge_input.base.location:
            raise
        raise StrategyFailedError(strategy.name, describe_error(exc)) from exc
    if flaw:
        raise StrategyFailedError(strategy.name, flaw)
    outcome = evolve(outcome, strategy=strategy.name, conflicts_met=len(merge_input.conflicts))
    return evolve(outcome, ledger=tuple(_with_lines(outcome.ledger, merge_input.merge)))


def _with_lines(ledger: Iterable[LedgerRow], merge: ThreeWayMerge) -> Iterator[LedgerRow]:
    """Yield rows, the open ones with the lines of ours and theirs at which they begin."""
    places: dict[str, dict[int | None, tuple[range, range, range]]] = {}
    for row in ledger:
        if row.line is None or not row.is_open:
            yield row
            continue
        if row.path not in places:
            lines = [c.line for c in merge.conflicts if c.path == row.path and c.has_lines]
            found = merge.lines_in(row.path) if lines else ()
            places[row.path] = dict(zip(lines, found, strict=True))
        here = [each for line, each in places[row.path].items() if line and line >= row.line]
        here = here[: row.conflicts] if row.line in places[row.path] else []
        ours, theirs = (here[0][1].start + 1, here[0][2].start + 1) if here else (None, None)
        reason = f"{_ELSEWHERE}{row.reason}" if _is_elsewhere(row.reason, here) else row.reason
        yield evolve(row, reason=reason, ours_line=ours, theirs_line=theirs)


_ELSEWHERE = "elsewhere in the file, "
_NEAR = 20
"""The most lines between a conflict and an edit that belongs to it."""


def _is_elsewhere(reason: str, places: Sequence[tuple[range, range, range]]) -> bool:
    """Whether a reason names lines of the file, but none near a row's conflicts."""
    named = re.findall(r"(ours|theirs), line (\d+): `", reason)
    spans = {
        name: range(places[0][i].start - _NEAR, places[-1][i].stop + _NEAR + 1)
        for i, name in ((1, "ours"), (2, "theirs"))
        if places
    }
    is_here = any(int(line) in spans.get(name, ()) for name, line in named)
    return bool(named and places) and not is_here and not reason.startswith(_ELSEWHERE)


def _flaw(outcome: object, merge_input: MergeInput) -> str:
    """Return what is wrong with *outcome*, whose own fields are checked; empty if nothing is."""
    if not isinstance(outcome, MergeOutcome):
        return f"returned {type(outcome).__qualname__} instead of a MergeOutcome"
    # The changes of the three-way merge are known to be valid.
    if outcome.changes is not merge_input.merge.changes:
        outcome.tree_id(merge_input.base)  # raises if the changes do not give a valid tree
    return ""


def implementation_of(strategy: MergeStrategy) -> str:
    """Return where the class of a strategy is defined, as `module:name`."""
    kind = type(strategy)
    return f"{kind.__module__}:{kind.__qualname__}"
