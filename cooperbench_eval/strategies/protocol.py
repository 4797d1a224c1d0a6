"""What a merge strategy takes, gives and is.

A strategy is any object with a `name` and a `merge` method. It sees the base,
both sides and the finished three-way merge, never the tests.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from attrs import field, frozen

from cooperbench_eval.merging.result import Gone, ThreeWayMerge
from cooperbench_eval.models import Conflict, LedgerRow, MergeStatus, ModelUsage
from cooperbench_eval.snapshot import Changes, Snapshot

__all__ = [
    "FeatureContext",
    "MergeInput",
    "MergeOutcome",
    "MergeStrategy",
    "resolve_conflicts",
]


@frozen(kw_only=True)
class FeatureContext:
    """What a strategy may know of a feature.

    Attributes:
        number: The feature's number in its task.
        description: The issue text its agent worked from; may be empty.
    """

    number: int
    description: str = field(default="", repr=False)


@frozen(kw_only=True)
class MergeInput:
    """Everything a strategy may look at.

    Attributes:
        base: The common ancestor.
        ours: The side that is merged into.
        theirs: The side that is merged.
        merge: The finished three-way merge, its conflicts open.
        ours_feature: What is known of the feature on our side.
        theirs_feature: What is known of the feature on their side.
    """

    base: Snapshot
    ours: Changes
    theirs: Changes
    merge: ThreeWayMerge
    ours_feature: FeatureContext | None = None
    theirs_feature: FeatureContext | None = None

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The open conflicts of the three-way merge."""
        return self.merge.conflicts


@frozen(kw_only=True)
class MergeOutcome:
    """What a strategy made of a merge.

    Attributes:
        changes: The merged overlay; open conflicts stand in it as git's markers.
        conflicts: The conflicts left open.
        conflicts_met: How many the three-way merge had.
        strategy: The strategy's name.
        failure: Why the strategy could not do its work; else empty.
        ledger: What became of each conflict or block of conflicts, if the strategy
            says so.
        usage: What asking models came to, one record a model.
        service_failed: Whether a service that the strategy needs, such as a model's
            provider, failed it, so that trying again may end otherwise.
        merge: The three-way merge with what was resolved, from which another strategy
            of a cascade can go on; `None` if the strategy did not keep it.
    """

    changes: Changes
    conflicts: tuple[Conflict, ...] = field(default=(), converter=tuple[Conflict, ...])
    conflicts_met: int = 0
    strategy: str = ""
    failure: str = ""
    ledger: tuple[LedgerRow, ...] = field(default=(), converter=tuple[LedgerRow, ...], repr=False)
    usage: tuple[ModelUsage, ...] = field(default=(), converter=tuple[ModelUsage, ...])
    service_failed: bool = False
    merge: ThreeWayMerge | None = field(default=None, eq=False, repr=False)

    @property
    def status(self) -> MergeStatus:
        """How the merge ended."""
        if self.failure:
            return MergeStatus.FAILED
        if self.conflicts:
            return MergeStatus.CONFLICTED
        return MergeStatus.RESOLVED if self.conflicts_met else MergeStatus.CLEAN

    def tree_id(self, base: Snapshot) -> str:
        """Return the git tree id in hex of the merged tree."""
        return self.changes.tree_id(base)

    def diff(self, base: Snapshot) -> bytes:
        """Render the merged tree as a git diff against *base*."""
        return self.changes.diff(base)


@runtime_checkable
class MergeStrategy(Protocol):
    """Decides what becomes of the conflicts of a merge.

    One that does not mind which side is which may say so by an attribute `is_symmetric`
    that is true: with the sides swapped it leaves the same files open, and makes the
    same of all others. `cooperbench_eval.testing` checks that.
    """

    @property
    def name(self) -> str:
        """The name it goes by in reports; its entry point's, if it has one.

        An attribute does; it need not be settable.
        """
        ...

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Merge theirs into ours."""
        ...


def resolve_conflicts(
    merge_input: MergeInput, answer: Callable[[Conflict], bytes | Gone | None]
) -> MergeOutcome:
    """Lift a function over one conflict to a strategy's `merge`.

    *answer* returns the text that takes the conflict's place, or `None` to leave
    it open. It is asked about conflicts between lines and about those in which a
    whole file's contents can be the answer (binary, modify/delete); conflicts of
    other kinds, of links and of submodules stay open. `Gone.GONE` deletes the file of
    a modify/delete. Nothing outside of the conflicts changes.

    Example:
        >>> class Ours:
        ...     name = "ours"
        ...
        ...     def merge(self, merge_input):
        ...         return resolve_conflicts(merge_input, lambda conflict: conflict.ours)
    """
    rows = []

    def answered(conflict: Conflict) -> bytes | Gone | None:
        text = answer(conflict)
        if not isinstance(text, bytes | Gone | None):
            raise TypeError(f"the answer to a conflict is bytes, Gone.GONE or None, not {text!r}")
        if text is None:
            rows.append(LedgerRow.left_open(conflict, "the strategy has no answer"))
        else:
            rows.append(LedgerRow(path=conflict.path, line=conflict.line, rule="answer"))
        return text

    merged = merge_input.merge.resolve(answered)
    return MergeOutcome(
        changes=merged.changes,
        conflicts=merged.conflicts,
        conflicts_met=len(merge_input.conflicts),
        ledger=tuple(rows),
        merge=merged,
    )
