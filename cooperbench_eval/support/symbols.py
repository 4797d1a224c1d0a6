"""The adapter to diff-match-patch: diffs and searches texts of symbols.

In these texts one character represents each line or token. There is no time limit, so
that results do not depend on the machine; callers limit the sizes.
"""

from enum import IntEnum

from diff_match_patch import diff_match_patch


class Step(IntEnum):
    """What to do with a piece of a diff."""

    REMOVE = diff_match_patch.DIFF_DELETE
    KEEP = diff_match_patch.DIFF_EQUAL
    ADD = diff_match_patch.DIFF_INSERT


def diff_symbols(old: str, new: str, *, coalesce: bool = False) -> list[tuple[Step, str]]:
    """Diff two texts by Myers's algorithm.

    Args:
        old: The old text.
        new: The new text.
        coalesce: Treat kept pieces that are shorter than the changes around them as
            changed, because they are probably equal by chance.

    Returns:
        The pieces to remove, to keep and to add, in order.
    """
    engine = diff_match_patch()
    engine.Diff_Timeout = 0
    pieces = engine.diff_main(old, new, False)
    if coalesce:
        engine.diff_cleanupSemantic(pieces)
    return [(Step(step), text) for step, text in pieces]


def find_similar(text: str, pattern: str, near: int, least: float) -> int:
    """Find where *text* is most like *pattern*, by the Bitap algorithm.

    Args:
        text: The text.
        pattern: What to look for.
        near: Of two equally similar places, the one nearer to this index is chosen.
        least: The share of the pattern that the place must have.

    Returns:
        The index of the place; -1 if there is none.
    """
    if not pattern:
        return -1
    engine = diff_match_patch()
    engine.Match_Threshold = 1 - least
    engine.Match_Distance = 1000 * (len(text) + 1)  # distance only breaks ties
    place: int = engine.match_main(text, pattern, near)
    return place
