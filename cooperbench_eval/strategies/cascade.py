"""Tries several strategies in turn, each on the conflicts that are still open."""

from collections.abc import Iterable

from attrs import evolve, field, frozen

from cooperbench_eval.arguments import checked
from cooperbench_eval.errors import ArgumentError, StrategyFailedError
from cooperbench_eval.merging.result import ThreeWayMerge
from cooperbench_eval.models import LedgerRow, ModelUsage
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome, MergeStrategy
from cooperbench_eval.strategies.registry import as_strategy
from cooperbench_eval.strategies.run import run_strategy

__all__ = ["CascadeStrategy", "cascade"]


def _as_members(members: Iterable[str | MergeStrategy]) -> tuple[MergeStrategy, ...]:
    return tuple(as_strategy(member) for member in members)


@frozen(kw_only=True)
class CascadeStrategy:
    """Tries its members in order, conflict by conflict.

    The ledger shows which member resolved which conflict. A member that fails is
    skipped. So is one that leaves conflicts open and does not return the merge from
    which the next member could continue.

    Attributes:
        rungs: The members, as objects or registered names. Pickles and stores know the
            attribute by this name; `members` is the same.
        name: The name in reports.
    """

    rungs: tuple[MergeStrategy, ...] = field(
        default=("structured", "tokens", "union"), converter=_as_members
    )
    name: str = "cascade"

    @property
    def members(self) -> tuple[MergeStrategy, ...]:
        """The strategies that it tries, in order."""
        return self.rungs

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Return the merge with everything that the members resolved."""
        now, done, usage = merge_input, list[LedgerRow](), list[ModelUsage]()
        service_failed = False
        left = [LedgerRow.left_open(c, "no strategy was tried") for c in merge_input.conflicts]
        for member in self.members:
            if not now.conflicts:
                break
            try:
                outcome = run_strategy(member, now)
            except StrategyFailedError as exc:
                outcome = MergeOutcome(changes=now.merge.changes, failure=exc.problem)
            usage += outcome.usage
            service_failed |= outcome.service_failed
            if outcome.failure or (outcome.merge is None and outcome.conflicts):
                reason = outcome.failure or "it does not show which conflicts it resolved"
                left = [evolve(row, strategy=member.name, reason=reason) for row in left]
                continue
            rows = _as_of(merge_input.merge, now.merge, outcome.ledger)
            rows = [evolve(row, strategy=member.name) for row in rows]
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
    """Return the rows with the line numbers of the *first* merge instead of those of *now*."""
    lines = now.lines_before(first)
    return [
        row if row.line is None else evolve(row, line=lines.get((row.path, row.line), row.line))
        for row in ledger
    ]


@checked
def cascade(*members: str | MergeStrategy, name: str | None = None) -> CascadeStrategy:
    """Make a strategy that tries *members* in order, conflict by conflict.

    Args:
        members: Strategies, or the names under which they are registered.
        name: Its name; by default the members' names with `+` between them.

    Raises:
        ArgumentError: No member is given.
        StrategyError: A strategy cannot be loaded.

    Example:
        >>> cascade("tokens", "union").name
        'tokens+union'
    """
    if not members:
        raise ArgumentError("members", "must be at least one strategy")
    strategies = _as_members(members)
    default = "+".join(strategy.name for strategy in strategies)
    return CascadeStrategy(rungs=strategies, name=name or default)
