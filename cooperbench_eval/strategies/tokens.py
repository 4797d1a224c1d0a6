"""Merges conflicts token by token, in any language."""

from itertools import product

from attrs import field, frozen, validators

from cooperbench_eval.git.merging.conflicts import ConflictBlock
from cooperbench_eval.languages.files import words_of
from cooperbench_eval.languages.token_merge import Order, TokenMergeError, merge_tokens
from cooperbench_eval.strategies.blocks import Resolution, resolve_blocks
from cooperbench_eval.strategies.protocol import MergeInput, MergeOutcome


@frozen(kw_only=True)
class TokensStrategy:
    """Merges both sides' changes token by token, and refuses true overlaps.

    Edits of different tokens are combined. If both sides insert at one point, both
    insertions are kept, with one separator between them. Ours comes first, or theirs if
    only that passes the static checks. A block stays open if neither order passes.

    Attributes:
        max_tokens: The most tokens that a side of a block may have; a larger block stays
            open.
        by_content: Order two insertions at one point only by their tokens, so that
            swapping the sides gives the same bytes.
    """

    name: str = "tokens"
    max_tokens: int = field(default=4000, validator=validators.ge(1))
    by_content: bool = False

    @property
    def is_symmetric(self) -> bool:
        """Whether swapping the sides gives the same result."""
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
                words=words_of(block.path),
                max_tokens=self.max_tokens,
                order=order,
                coalesce=coalesce,
            )
        except TokenMergeError as exc:
            return Resolution(reason=str(exc))
        rule = "tokens, theirs first" if order is Order.THEIRS_FIRST else "tokens"
        return Resolution(text=text, rule=rule if coalesce else f"{rule}, in small")
