"""The only door to diff-match-patch: diffs and searches texts of symbols.

Lines or tokens stand in these texts as one character each. Nothing here has a time
limit, so that a result does not depend on the machine; callers bound the sizes.
"""

from enum import IntEnum

from diff_match_patch import diff_match_patch

__all__ = ["Step", "diff_symbols", "find_similar"]


class Step(IntEnum):
    """What a piece of a diff does."""

    REMOVE = diff_match_patch.DIFF_DELETE
    KEEP = diff_match_patch.DIFF_EQUAL
    ADD = diff_match_patch.DIFF_INSERT


def diff_symbols(old: str, new: str, *, coalesce: bool = False) -> list[tuple[Step, str]]:
    """Diff two texts by Myers's algorithm.

    Args:
        old: The one text.
        new: The other.
        coalesce: Take kept pieces that are shorter than the changes around them for
            changed, as chance.

    Returns:
        Pieces in order: what to remove, to keep and to add.
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
        near: Of two places alike, the one nearer to this is taken.
        least: The share of the pattern that must be there.

    Returns:
        The place, -1 for none.
    """
    if not pattern:
        return -1
    engine = diff_match_patch()
    engine.Match_Threshold = 1 - least
    engine.Match_Distance = 1000 * (len(text) + 1)  # distance only breaks ties
    place: int = engine.match_main(text, pattern, near)
    return place
