"""Merges conflicts by their tokens, in any language."""

from itertools import product

from attrs import field, frozen, validators

from cooperbench_eval.models import ConflictBlock
from cooperbench_eval.strategies.blocks import Resolution, resolve_blocks
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome
from cooperbench_eval.structure.tokenmerge import Order, TokenMergeError, merge_tokens

__all__ = ["TokensStrategy"]


@frozen(kw_only=True)
class TokensStrategy:
    """Merges what both sides changed token by token, and refuses true overlaps.

    Edits of different tokens are combined. Where both sides insert at one point, both
    insertions are kept, with one separator between them: ours first, or theirs where
    only that passes the static judge. What does not pass it is not offered.

    Attributes:
        max_tokens: The most tokens that a side of a block may have; more is refused.
        by_content: Order two insertions at one point by their tokens alone, so that
            swapping the sides gives the same bytes.
    """

    name: str = "tokens"
    max_tokens: int = field(default=4000, validator=validators.ge(1))
    by_content: bool = False

    @property
    def is_symmetric(self) -> bool:
        """Whether it does not mind which side is which."""
        return self.by_content

    def merge(self, merge_input: MergeInput, /) -> MergeOutcome:
        """Return the three-way merge with its blocks merged by tokens."""
        return resolve_blocks(merge_input, self._candidates)

    def _candidates(self, block: ConflictBlock) -> list[Resolution]:
        orders = [Order.CONTENT] if self.by_content else [Order.OURS_FIRST, Order.THEIRS_FIRST]
        found: dict[bytes | None, Resolution] = {}
        for coalesce, order in product([True, False], orders):
            resolution = self._resolve(block, order, coalesce=coalesce)
            found.setdefault(resolution.text, resolution)
        refusal = found.pop(None, None)
        return list(found.values()) or [refusal or Resolution()]

    def _resolve(self, block: ConflictBlock, order: Order, *, coalesce: bool) -> Resolution:
        try:
            text = merge_tokens(
                block.base,
                block.ours,
                block.theirs,
                max_tokens=self.max_tokens,
                order=order,
                coalesce=coalesce,
            )
        except TokenMergeError as exc:
            return Resolution(reason=str(exc))
        words = ["tokens"]
        words += ["theirs first"] * (order is Order.THEIRS_FIRST)
        words += ["in small"] * (not coalesce)
        return Resolution(text=text, rule=", ".join(words))
