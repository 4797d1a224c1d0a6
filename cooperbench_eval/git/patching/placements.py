"""Records of how hunks may be placed, and of how the hunks of a patch were placed."""

from collections.abc import Iterable
from enum import StrEnum

from attrs import field, frozen, validators

from cooperbench_eval.support.arguments import checked, checked_fields


class PatchStatus(StrEnum):
    """Whether and where a patch was applied."""

    APPLIED = "applied"
    """Every change was applied."""
    PARTIAL = "partial"
    """Some changes could not be placed and were left out, as the policy allows."""
    EMPTY = "empty"
    """The patch changes nothing."""
    FAILED = "failed"
    """Some change could not be placed, so no change was applied."""
    NOT_TRIED = "not_tried"
    """The pair was not evaluated, so this is not known."""

    @property
    def is_usable(self) -> bool:
        """Whether the patch gives a side to merge."""
        return self in {PatchStatus.APPLIED, PatchStatus.PARTIAL}


class Rung(StrEnum):
    """How a hunk was placed, from strict to lenient."""

    EXACT = "exact"
    """At the stated line, or shifted only by the hunks before it."""
    OFFSET = "offset"
    """Its lines are elsewhere; the nearest place was used."""
    WHITESPACE = "whitespace"
    """Its lines are at the place that was used, with different runs of white space."""
    THREE_WAY = "three_way"
    """The file that the patch was made from is known, and later changes of it were merged."""
    RECOUNT = "recount"
    """Its header states wrong numbers of lines; the lines were counted again."""
    FUZZY = "fuzzy"
    """Most of its lines are at the place that was used, and no other place qualifies."""


@frozen(kw_only=True)
class HunkPlacement:
    """How one change of a patch was placed.

    Attributes:
        path: The file; empty if the patch cannot be read.
        hunk: The hunk's number in its file, counted from 1; `None` for a change of the
            file as a whole (creation, deletion, mode, binary).
        rung: How it was placed; `None` if it was not.
        offset: The number of lines from the stated place to the actual one.
        reason: Why it was refused; empty if it was not.
        uncounted_lines: Changed lines directly after the hunk that its header does
            not count. They were not applied; `git apply` ignores them as well.
    """

    path: str
    hunk: int | None = None
    rung: Rung | None = None
    offset: int = 0
    reason: str = ""
    uncounted_lines: int = 0


def _as_rungs(rungs: Rung | Iterable[Rung]) -> frozenset[Rung]:
    given = [rungs] if isinstance(rungs, str) else rungs
    return frozenset({Rung.EXACT, *map(Rung, given)})


@frozen(kw_only=True, field_transformer=checked_fields)
class ApplyPolicy:
    """Which ways of placing a hunk are allowed.

    The default is what CooperBench's evaluator does: `git apply --ignore-whitespace`, and if
    that fails `git apply --ignore-whitespace --3way`.

    Attributes:
        rungs: The allowed ways; `EXACT` is always allowed.
        partial: Apply the hunks that have a place and leave out the others, instead of
            refusing the whole patch.
        least_similarity: The share of a hunk's old lines, by characters, that must exist
            where `FUZZY` places it. All lines that the hunk removes must exist there in
            any case.

    Example:
        >>> ApplyPolicy(rungs=["offset", "recount"]).allows(Rung.RECOUNT)
        True
    """

    rungs: frozenset[Rung] = field(
        default=(Rung.EXACT, Rung.OFFSET, Rung.WHITESPACE, Rung.THREE_WAY), converter=_as_rungs
    )
    partial: bool = False
    least_similarity: float = field(
        default=0.75, validator=[validators.gt(0.5), validators.le(1.0)]
    )

    @checked
    def allows(self, rung: Rung) -> bool:
        """Whether a hunk may be placed in the way *rung*."""
        return rung in self.rungs
