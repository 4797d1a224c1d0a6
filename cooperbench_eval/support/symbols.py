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
    """Diff two texts by Myers's algorithm; return the pieces to remove, keep and add, in order.

    With *coalesce*, kept pieces that are shorter than the changes around them count as changed,
    because they are probably equal by chance.
    """
    engine = diff_match_patch()
    engine.Diff_Timeout = 0
    pieces = engine.diff_main(old, new, False)
    if coalesce:
        engine.diff_cleanupSemantic(pieces)
    return [(Step(step), text) for step, text in pieces]


def find_similar(text: str, pattern: str, near: int, least: float) -> int:
    """Return the index at which *text* is most like *pattern*, by the Bitap algorithm; or -1.

    The place must have at least the share *least* of the pattern. Of two equally similar places,
    the one nearer to the index *near* is chosen.
    """
    if not pattern:
        return -1
    engine = diff_match_patch()
    engine.Match_Threshold = 1 - least
    engine.Match_Distance = 1000 * (len(text) + 1)  # distance only breaks ties
    place: int = engine.match_main(text, pattern, near)
    return place
