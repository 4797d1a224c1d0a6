"""Which ways of placing a patch's hunks are allowed."""

from collections.abc import Iterable

from attrs import field, frozen, validators

from cooperbench_eval.git.patching.placements import Rung
from cooperbench_eval.support.arguments import checked, checked_fields

__all__ = ["ApplyPolicy"]


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
