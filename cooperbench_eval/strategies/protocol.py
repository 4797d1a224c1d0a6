"""The protocol of merge strategies: their input, their outcome, and the strategy itself.

A strategy is any object with a `name` and a `merge` method. It sees the base,
both sides and the finished three-way merge, never the tests.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from attrs import Factory, field, frozen

from cooperbench_eval.git.merging.conflicts import (
    Conflict,
    LedgerRow,
    MergeStatus,
    ModelUsage,
    why_whole,
)
from cooperbench_eval.git.merging.three_way_merge import Gone, Labels, ThreeWayMerge
from cooperbench_eval.git.trees.snapshot import Changes, Snapshot
from cooperbench_eval.support.arguments import checked, checked_fields, named_fields

__all__ = [
    "FeatureContext",
    "Gone",
    "Labels",
    "MergeInput",
    "MergeOutcome",
    "MergeStrategy",
    "ThreeWayMerge",
    "resolve_conflicts",
]


@frozen(kw_only=True, field_transformer=checked_fields)
class FeatureContext:
    """What a strategy may know about a feature.

    Attributes:
        number: The feature's number in its task.
        description: The issue text from which its agent worked; may be empty.
    """

    number: int
    description: str = field(default="", repr=False)


def _only_feature(merge_input: "MergeInput") -> tuple[FeatureContext, ...]:
    return () if merge_input.ours_feature is None else (merge_input.ours_feature,)


@frozen(kw_only=True, field_transformer=named_fields)
class MergeInput:
    """Everything a strategy may look at.

    Attributes:
        base: The common ancestor.
        ours: The side into which the other one is merged.
        theirs: The side that is merged into ours.
        merge: The finished three-way merge, with its conflicts open.
        ours_feature: What is known about the feature on our side; `None` if several
            features were merged into it before.
        theirs_feature: What is known about the feature on their side.
        ours_features: What is known about all features on our side, in the order in which
            they were merged; by default the only one.
    """

    base: Snapshot
    ours: Changes
    theirs: Changes
    merge: ThreeWayMerge
    ours_feature: FeatureContext | None = None
    theirs_feature: FeatureContext | None = None
    ours_features: tuple[FeatureContext, ...] = field(
        default=Factory(_only_feature, takes_self=True), converter=tuple[FeatureContext, ...]
    )

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The open conflicts of the three-way merge."""
        return self.merge.conflicts


@frozen(kw_only=True, field_transformer=checked_fields)
class MergeOutcome:
    """The result of a merge strategy.

    Attributes:
        changes: The merged overlay; open conflicts are in it with git's markers.
        conflicts: The conflicts that are still open.
        conflicts_met: The number of conflicts of the three-way merge.
        strategy: The strategy's name.
        failure: Why the strategy failed; empty if it did not.
        ledger: How each conflict or block of conflicts was resolved, or why it is open,
            if the strategy records that. An open row with `is_binding` keeps later
            members of a cascade from resolving conflicts of its file.
        usage: The use of models, with one record for each model.
        service_failed: Whether a service that the strategy needs, such as a model's
            provider, failed, so that a retry may give another result.
        merge: The three-way merge with the resolutions, from which the next member of a
            cascade can continue; `None` if the strategy does not return it.
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
        """The status of the merge."""
        if self.failure:
            return MergeStatus.FAILED
        if self.conflicts:
            return MergeStatus.CONFLICTED
        return MergeStatus.RESOLVED if self.conflicts_met else MergeStatus.CLEAN

    @checked
    def tree_id(self, base: Snapshot) -> str:
        """Return the git tree id in hex of the merged tree."""
        return self.changes.tree_id(base)

    @checked
    def diff(self, base: Snapshot) -> bytes:
        """Render the merged tree as a git diff against *base*."""
        return self.changes.diff(base)


@runtime_checkable
class MergeStrategy(Protocol):
    """Resolves the conflicts of a merge, or leaves them open.

    A strategy may have an attribute `is_symmetric`. If it is true, the strategy promises
    that swapping the sides leaves the same files open and gives the same contents for all
    other files. `cooperbench_eval.testing` checks that.

    A strategy whose texts may have names and values that no version has, such as a
    model's answers, has a true attribute `may_invent`. Otherwise the judge of a cascade
    rejects such texts, which `cooperbench_eval.testing` reports, and source that a merge
    by structure does not give.
    """

    @property
    def name(self) -> str:
        """The name in reports, which is also the name of its entry point, if it has one.

        A read-only attribute is enough.
        """
        ...

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Merge theirs into ours."""
        ...


def may_invent(strategy: MergeStrategy) -> bool:
    """Whether a strategy declares that its texts may have names that no version has."""
    return getattr(strategy, "may_invent", False) is True


@checked
def resolve_conflicts(
    merge_input: MergeInput, answer: Callable[[Conflict], bytes | Gone | None]
) -> MergeOutcome:
    """Turn a function for one conflict into a strategy's `merge`.

    *answer* returns the text that replaces the conflict, or `None` to leave it open. It
    is called for conflicts between lines, and for those that the contents of a whole
    file can resolve (binary, modify/delete). Conflicts of other kinds, of links and of
    submodules stay open. `Gone.GONE` deletes the file of a modify/delete conflict.
    Nothing outside of the conflicts changes.

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
        if text is None:
            rows.append(LedgerRow.left_open(conflict, "the strategy has no answer"))
        else:
            rows.append(LedgerRow(path=conflict.path, line=conflict.line, rule="answer"))
        return text

    merged = merge_input.merge.resolve(answered)
    known = {(row.path, row.line) for row in rows}
    others = (c for c in merged.conflicts if (c.path, c.line) not in known and not c.has_lines)
    rows += (LedgerRow.left_open(c, why_whole(c)) for c in others)
    return MergeOutcome(
        changes=merged.changes,
        conflicts=merged.conflicts,
        conflicts_met=len(merge_input.conflicts),
        ledger=tuple(rows),
        merge=merged,
    )
