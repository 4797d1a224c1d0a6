"""How lenient the placing of a patch may be."""

from collections.abc import Iterable

from attrs import field, frozen, validators

from cooperbench_eval.models import Rung

__all__ = ["ApplyPolicy"]


def _as_rungs(rungs: str | Iterable[str]) -> frozenset[Rung]:
    given = [rungs] if isinstance(rungs, str) else rungs
    return frozenset({Rung.EXACT, *map(Rung, given)})


@frozen(kw_only=True)
class ApplyPolicy:
    """Which ways of placing a hunk are allowed.

    The default is that of the benchmark's own scripts: `git apply
    --ignore-whitespace`, and if that fails `git apply --ignore-whitespace --3way`.

    Attributes:
        rungs: The allowed ways; `EXACT` always is.
        partial: Keep what found its place and leave out the rest, instead of
            refusing the whole patch.
        least_similarity: How much of a hunk's old lines must stand where it is
            placed by `FUZZY`, as a share of their characters. Lines that the hunk
            removes must all stand there, whatever this says.

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

    def allows(self, rung: Rung) -> bool:
        """Whether a hunk may be placed that way."""
        return rung in self.rungs
