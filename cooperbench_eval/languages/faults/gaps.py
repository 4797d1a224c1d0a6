"""Aligns a merged file with its versions, down to what is new between the same neighbours."""

from collections.abc import Iterator, Sequence

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.tree import Construct, Elements, same

Versions = Sequence[Construct]
"""Base, ours, theirs and merged."""
Places = Sequence[Sequence[int | None]]
"""Where the base's children are in ours, theirs and merged."""


def changed_by_both(trees: Versions) -> Iterator[tuple[Versions, Places]]:
    """Yield each construct that both sides changed, in all versions, with its alignment."""
    base, ours, theirs, merged = trees
    if same(merged, ours) or same(merged, theirs) or len({each.mode for each in trees}) > 1:
        return
    places = [align(base.children, side.children, base.mode) for side in trees[1:]]
    yield trees, places
    for i, child in enumerate(base.children):
        sides = zip(trees[1:], places, strict=True)
        parts = [child, *(side.children[at[i] or 0] for side, at in sides if at[i] is not None)]
        inner = [each for each in parts if isinstance(each, Construct)]
        if len(inner) == len(trees):
            yield from changed_by_both(inner)


def gaps(trees: Versions, places: Places) -> Iterator[tuple[Elements, Elements, Elements]]:
    """Yield what ours, theirs and merged have between two children that all have of the base."""
    kept = [i for i in range(len(trees[0].children)) if all(at[i] is not None for at in places)]
    known = [set(at) for at in places]
    starts = [0] * len(places)
    for i in (*kept, None):
        ends = [
            len(side.children) if i is None else at[i] or 0
            for side, at in zip(trees[1:], places, strict=True)
        ]
        mine, other, now = (
            tuple(side.children[k] for k in range(start, end) if k not in old)
            for side, old, start, end in zip(trees[1:], known, starts, ends, strict=True)
        )
        if mine and other and now:
            yield mine, other, now
        starts = [end + 1 for end in ends]
