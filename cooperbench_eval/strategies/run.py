"""Runs a strategy on two sides, and turns its mistakes into one error."""

from attrs import evolve

from cooperbench_eval.errors import RepositoryError, StrategyFailedError
from cooperbench_eval.merging.result import Labels
from cooperbench_eval.merging.tree import merge_changes
from cooperbench_eval.models import Conflict, Entry, LedgerRow, ModelUsage
from cooperbench_eval.models.trees import is_stored
from cooperbench_eval.snapshot import Changes, Snapshot
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome, MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.tracebacks import describe_error

__all__ = ["implementation_of", "merge", "run_strategy"]


def merge(
    base: Snapshot,
    ours: Changes,
    theirs: Changes,
    *,
    strategy: str | MergeStrategy = "naive",
    labels: Labels | None = None,
) -> MergeOutcome:
    r"""Merge *theirs* into *ours*, which both start from *base*.

    Args:
        base: The common ancestor.
        ours: The side into which the other one is merged.
        theirs: The side that is merged into ours.
        strategy: A registered name, or an object with `name` and `merge`.
        labels: The names of the sides in conflict markers.

    Raises:
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
    three_way = merge_changes(base, ours, theirs, labels)
    return run_strategy(found, MergeInput(base=base, ours=ours, theirs=theirs, merge=three_way))


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
    return evolve(outcome, strategy=strategy.name, conflicts_met=len(merge_input.conflicts))


def _flaw(outcome: object, merge_input: MergeInput) -> str:
    """Return what is wrong with the types in *outcome*; empty if nothing is."""
    if not isinstance(outcome, MergeOutcome):
        return f"returned {type(outcome).__qualname__} instead of a MergeOutcome"
    if not isinstance(outcome.changes, Changes):
        return f"its changes are of type {type(outcome.changes).__qualname__} instead of Changes"
    # The changes of the three-way merge are known to be valid.
    is_new = outcome.changes is not merge_input.merge.changes
    for path, entry in outcome.changes.items() if is_new else ():
        if entry is not None and not (isinstance(entry, Entry) and _has_bytes(entry)):
            return f"its changes have something other than an entry with bytes at {path!r}"
    for name, type_ in (("failure", str), ("service_failed", bool)):
        if not isinstance(getattr(outcome, name), type_):
            return f"its {name} is not a {type_.__name__}"
    kinds = (("conflicts", Conflict), ("ledger", LedgerRow), ("usage", ModelUsage))
    for name, kind in kinds:
        if not all(isinstance(item, kind) for item in getattr(outcome, name)):
            return f"an item of its {name} is not a {kind.__name__}"
    if is_new:
        outcome.tree_id(merge_input.base)  # raises if the changes do not give a valid tree
    return ""


def _has_bytes(entry: Entry) -> bool:
    return is_stored(entry) or isinstance(entry.data, bytes)


def implementation_of(strategy: MergeStrategy) -> str:
    """Return where the class of a strategy is defined, as `module:name`."""
    kind = type(strategy)
    return f"{kind.__module__}:{kind.__qualname__}"
