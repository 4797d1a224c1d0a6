"""Keeps the blocks that both sides insert at one place of a document."""

from collections import Counter

from cooperbench_eval.languages.tree import Construct, DisagreementError, Element, Elements, same

__all__ = ["check_repeated", "join_blocks"]

_BULLETS = frozenset({b"-", b"*", b"+"})


def join_blocks(first: Elements, second: Elements, following: Element) -> Elements:
    """Return both insertions; blocks with which both begin, such as a heading, occur once.

    Args:
        first: The blocks that come first.
        second: The other side's blocks.
        following: The block after the first ones in their version, or the end.
    """
    pairs = zip(first, second, strict=False)
    shared = next((i for i, pair in enumerate(pairs) if not same(*pair)), None)
    if shared is None:
        return max(first, second, key=len)
    head, *rest = second[shared:]
    if shared and {_opening(first[shared]), _opening(head)} <= _BULLETS:
        head = head.with_space(b"\n" + head.space.rpartition(b"\n")[2])
    elif following.kind != "end":
        head = head.with_space(min(head.space, following.space, key=len))
    return (*first, head, *rest)


def _opening(block: Element) -> bytes:
    return block.words()[0]


def check_repeated(base: Construct, ours: Construct, theirs: Construct, merged: Elements) -> None:
    """Refuse a document that repeats text which both sides moved.

    Both may split a paragraph by an item: the text after it is then a part of both insertions.

    Raises:
        DisagreementError: A word occurs more often than the changes explain.
    """
    before, mine, other = (Counter(version.words()) for version in (base, ours, theirs))
    for word, count in Counter(word for each in merged for word in each.words()).items():
        added = mine[word] + other[word] - before[word]
        if count > max(mine[word], other[word], added):
            shown = word.decode("utf-8", "replace")
            raise DisagreementError(f"{shown!r} would occur more often than the changes explain")
