"""Aligns a merged file with its versions, down to what is new between the same neighbours."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.reading import read_trees
from cooperbench_eval.languages.tree import Construct, Elements, StructureError, same

Versions = Sequence[Construct]
"""Base, ours, theirs and merged."""
Alignments = Sequence[Sequence[int | None]]
"""Where the base's children are in ours, theirs and merged."""


@lru_cache(maxsize=2)  # for several checks of one file
def changed_by_both(
    path: str, versions: tuple[bytes, bytes, bytes], merged: bytes
) -> Sequence[tuple[Versions, Alignments]]:
    """Return each construct that both sides changed, in all versions, with its alignment.

    Returns:
        The constructs; none if a version cannot be read.
    """
    try:
        return list(_changed(read_trees(path, (*versions, merged))))
    except StructureError:
        return []


def _changed(trees: Versions) -> Iterator[tuple[Versions, Alignments]]:
    base, ours, theirs, _ = trees
    is_one_sided = same(ours, theirs) or same(base, ours) or same(base, theirs)
    if is_one_sided or len({each.mode for each in trees}) > 1:
        return
    places = [align(base.children, side.children, base.mode) for side in trees[1:]]
    yield trees, places
    for i, child in enumerate(base.children):
        sides = zip(trees[1:], places, strict=True)
        parts = [child, *(side.children[at[i] or 0] for side, at in sides if at[i] is not None)]
        inner = [each for each in parts if isinstance(each, Construct)]
        if len(inner) == len(trees):
            yield from _changed(inner)


class Gap(NamedTuple):
    """What is new between two of the base's children that all versions kept.

    Attributes:
        mine: What ours has.
        other: What theirs has.
        now: What merged has.
        gone: The base's children there that some version lacks.
    """

    mine: Elements
    other: Elements
    now: Elements
    gone: Elements


def gaps(trees: Versions, places: Alignments) -> Iterator[Gap]:
    """Yield each place where merged has something new."""
    kept = [i for i in range(len(trees[0].children)) if all(at[i] is not None for at in places)]
    known = [set(at) for at in places]
    starts, first = [0] * len(places), 0
    for i in (*kept, None):
        ends = [
            len(side.children) if i is None else at[i] or 0
            for side, at in zip(trees[1:], places, strict=True)
        ]
        mine, other, now = (
            tuple(side.children[k] for k in range(start, end) if k not in old)
            for side, old, start, end in zip(trees[1:], known, starts, ends, strict=True)
        )
        if now:
            yield Gap(mine, other, now, trees[0].children[first:i])
        starts, first = [end + 1 for end in ends], len(trees[0].children) if i is None else i + 1


def gaps_of_both(trees: Versions, places: Alignments) -> Iterator[Gap]:
    """Yield each place where ours, theirs and merged all have something new."""
    return (gap for gap in gaps(trees, places) if gap.mine and gap.other)
