"""Tries several strategies in turn, each on what the ones before left open."""

from collections.abc import Iterable

from attrs import evolve, field, frozen

from cooperbench_eval.errors import StrategyFailedError
from cooperbench_eval.merging.result import ThreeWayMerge
from cooperbench_eval.models import LedgerRow, ModelUsage
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome, MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.strategies.run import run_strategy

__all__ = ["CascadeStrategy", "cascade"]


def _as_rungs(rungs: Iterable[str | MergeStrategy]) -> tuple[MergeStrategy, ...]:
    return tuple(as_strategy(rung) for rung in rungs)


@frozen(kw_only=True)
class CascadeStrategy:
    """Tries *rungs* in order, conflict by conflict.

    The ledger says which rung resolved which conflict. A rung that fails, or that
    keeps no record of what it left open, is passed over unless it resolves all.

    Attributes:
        rungs: The strategies, as objects or registered names.
        name: What it is called in reports.
    """

    rungs: tuple[MergeStrategy, ...] = field(
        default=("structured", "tokens", "union"), converter=_as_rungs
    )
    name: str = "cascade"

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Return the merge with whatever the rungs resolved."""
        now, done, usage = merge_input, list[LedgerRow](), list[ModelUsage]()
        service_failed = False
        left = [LedgerRow.left_open(c, "no strategy was tried") for c in merge_input.conflicts]
        for rung in self.rungs:
            if not now.conflicts:
                break
            try:
                outcome = run_strategy(rung, now)
            except StrategyFailedError as exc:
                left = [evolve(row, strategy=rung.name, reason=exc.problem) for row in left]
                continue
            usage += outcome.usage
            service_failed |= outcome.service_failed
            if outcome.failure or (outcome.merge is None and outcome.conflicts):
                reason = outcome.failure or "what it resolved cannot be told from the rest"
                left = [evolve(row, strategy=rung.name, reason=reason) for row in left]
                continue
            rows = _as_of(merge_input.merge, now.merge, outcome.ledger)
            rows = [evolve(row, strategy=rung.name) for row in rows]
            done += [row for row in rows if not row.is_open]
            left = [row for row in rows if row.is_open]
            if outcome.merge is None:
                return evolve(
                    outcome, ledger=tuple(done), usage=tuple(usage), service_failed=service_failed
                )
            now = evolve(now, merge=outcome.merge)
        return MergeOutcome(
            changes=now.merge.changes,
            conflicts=now.conflicts,
            conflicts_met=len(merge_input.conflicts),
            ledger=(*done, *left),
            usage=tuple(usage),
            service_failed=service_failed,
            merge=now.merge,
        )


def _as_of(
    first: ThreeWayMerge, now: ThreeWayMerge, ledger: Iterable[LedgerRow]
) -> list[LedgerRow]:
    """Let rows about what is open *now* name the lines where it stood at *first*."""
    lines = now.lines_before(first)
    return [
        row if row.line is None else evolve(row, line=lines.get((row.path, row.line), row.line))
        for row in ledger
    ]


def cascade(*rungs: str | MergeStrategy, name: str | None = None) -> CascadeStrategy:
    """Make a strategy that tries *rungs* in order, conflict by conflict.

    Args:
        rungs: Strategies, or the names they are registered under.
        name: What to call it; the rungs' names with `+` between them if absent.

    Raises:
        ValueError: No rung is given.
        StrategyError: A strategy is not to be had.

    Example:
        >>> cascade("tokens", "union").name
        'tokens+union'
    """
    if not rungs:
        raise ValueError("a cascade needs at least one strategy")
    strategies = _as_rungs(rungs)
    return CascadeStrategy(
        rungs=strategies, name=name or "+".join(strategy.name for strategy in strategies)
    )
