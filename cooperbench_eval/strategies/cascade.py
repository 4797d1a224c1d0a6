"""Tries several strategies in turn, each on the conflicts that are still open."""

from collections.abc import Iterable, Iterator

from attrs import Factory, evolve, field, frozen

from cooperbench_eval.errors import ArgumentError, StrategyFailedError
from cooperbench_eval.git.merging.conflicts import LedgerRow, ModelUsage
from cooperbench_eval.git.merging.three_way_merge import ThreeWayMerge
from cooperbench_eval.strategies.judging import judge_outcome
from cooperbench_eval.strategies.protocol import (
    MergeInput,
    MergeOutcome,
    MergeStrategy,
    may_invent,
)
from cooperbench_eval.strategies.registry import as_strategy, get_strategy
from cooperbench_eval.strategies.run import run_strategy
from cooperbench_eval.support.arguments import checked


def _as_members(members: Iterable[str | MergeStrategy]) -> tuple[MergeStrategy, ...]:
    return tuple(as_strategy(member) for member in members)


def _default_members(cascade: "CascadeStrategy") -> tuple[str | MergeStrategy, ...]:
    first = get_strategy("structured", takes_sides=True) if cascade.takes_sides else "structured"
    return first, "tokens", "union"


@frozen(kw_only=True)
class CascadeStrategy:
    """Tries its members in order, conflict by conflict.

    The ledger shows which member resolved which conflict. If none did, the reason is that of
    the first member that could read the file and whose text was not rejected.

    A member that fails is skipped. So is one that leaves conflicts open and does not return
    the merge from which the next member could continue. The judge checks what each member
    resolved.

    If a row of a member's ledger is open and `is_binding`, later members do not get the
    open conflicts of that file.

    Attributes:
        rungs: The members, as objects or registered names. Pickles and stores know the
            attribute by this name; `members` is the same.
        name: The name in reports.
        takes_sides: Whether the judge accepts that a member takes a function as a whole from
            a side that contains what the other one adds. By default, the members include
            `structured` with the same option.
    """

    takes_sides: bool = False
    rungs: tuple[MergeStrategy, ...] = field(
        default=Factory(_default_members, takes_self=True), converter=_as_members
    )
    name: str = "cascade"

    @property
    def may_invent(self) -> bool:
        """Whether a member may write names and values that no version has."""
        return any(map(may_invent, self.rungs))

    @property
    def members(self) -> tuple[MergeStrategy, ...]:
        """The strategies that it tries, in order."""
        return self.rungs

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Return the merge with everything that the members resolved."""
        now, done, usage = merge_input, list[LedgerRow](), list[ModelUsage]()
        bound: dict[str, ThreeWayMerge] = {}  # by path: the merge when it was refused for good
        refused: list[LedgerRow] = []
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
                failed = [
                    evolve(row, strategy=member.name, reason=reason, is_provisional=True)
                    for row in left
                ]
                left = list(_explained(merge_input, failed, left))
                continue
            judged = judge_outcome(
                now, outcome, takes_sides=self.takes_sides, may_invent=may_invent(member)
            )
            after = judged.merge or now.merge.concluded(judged.changes)
            rows = _as_of(merge_input.merge, now.merge, judged.ledger)
            rows = [evolve(row, strategy=member.name) for row in rows]
            done += [row for row in rows if not row.is_open]
            left = list(_explained(merge_input, (row for row in rows if row.is_open), left))
            binding = {row.path for row in left if row.is_binding}
            bound |= {c.path: after for c in after.conflicts if c.path in binding}
            refused += [row for row in left if row.path in bound]
            left = [row for row in left if row.path not in bound]
            now = evolve(now, merge=after.without_files(bound))
        merge = now.merge
        for path, earlier in bound.items():
            merge = merge.reopened(earlier, {path: ()})
        return MergeOutcome(
            changes=merge.changes,
            conflicts=merge.conflicts,
            conflicts_met=len(merge_input.conflicts),
            ledger=(*done, *refused, *left),
            usage=tuple(usage),
            service_failed=service_failed,
            merge=merge,
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


def _explained(
    merge_input: MergeInput, rows: Iterable[LedgerRow], earlier: Iterable[LedgerRow]
) -> Iterator[LedgerRow]:
    """Yield open rows, each with the first reason that is not provisional, or else its own."""
    known: dict[tuple[str, int | None], LedgerRow] = {}
    for row in earlier:
        if row.strategy and not row.is_provisional:
            lines = [c.line for c in merge_input.conflicts if c.path == row.path]
            start = lines.index(row.line) if row.line in lines else len(lines)
            known |= {(row.path, line): row for line in lines[start : start + row.conflicts]}
    for row in rows:
        old = known.get((row.path, row.line), row)
        yield evolve(
            row, strategy=old.strategy, reason=old.reason, is_provisional=old.is_provisional
        )


@checked
def cascade(
    *members: str | MergeStrategy, name: str | None = None, takes_sides: bool = False
) -> CascadeStrategy:
    """Make a strategy that tries *members* in order, conflict by conflict.

    Args:
        members: Strategies, or the names under which they are registered.
        name: Its name; by default the members' names with `+` between them.
        takes_sides: Whether the judge accepts that a member takes a function as a whole from
            a side that contains what the other one adds, as `structured` does with the
            option of this name.

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
    return CascadeStrategy(rungs=strategies, name=name or default, takes_sides=takes_sides)
