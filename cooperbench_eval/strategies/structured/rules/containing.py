"""Finds the version of a change that has all of the other side's, and more."""

from collections import Counter
from collections.abc import Sequence

from cooperbench_eval.languages.tree import ASSIGNING, Element, Elements, Mode, Token, same
from cooperbench_eval.languages.words import WORD
from cooperbench_eval.strategies.structured.flow.facts import is_name


def containing(base: Elements, ours: Elements, theirs: Elements) -> Elements | None:
    """Return the version that has all that the other side made of some statements, and more.

    It may have further statements, comments and items in lists, such as arguments, but no words
    that the other side removed. `None` if there is none.
    """
    old = _count(base)
    for one, other in ((ours, theirs), (theirs, ours)):
        if other and _extend(other, one, is_deep=True):
            there = _count(other)
            restored = (old - there) & (_count(one) - there)
            return None if any(map(WORD.search, restored)) else one
    return None


def _count(elements: Elements) -> Counter[bytes]:
    return Counter(word for each in elements for word in each.words())


def extends(before: Element, after: Element, *, is_deep: bool = False) -> bool:
    """Whether *after* is *before* with further items in lists, and names for further results.

    With *is_deep*, suites may have further statements.
    """
    if isinstance(before, Token) or isinstance(after, Token):
        return same(before, after)
    if before.kind != after.kind:
        return False
    if before.mode is not Mode.LIST and not (is_deep and before.mode is Mode.MEMBERS):
        pairs = list(zip(before.children, after.children, strict=False))
        return len(before.children) == len(after.children) and all(
            extends(one, other, is_deep=is_deep) or _names_result(pairs, i)
            for i, (one, other) in enumerate(pairs)
        )
    return _extend(before.children, after.children, is_deep=is_deep)


def _extend(before: Elements, after: Elements, *, is_deep: bool) -> bool:
    left = iter(after)
    return all(any(extends(each, other, is_deep=is_deep) for other in left) for each in before)


def _names_result(pairs: Sequence[tuple[Element, Element]], i: int) -> bool:
    """Whether an element was `_` among the targets of an assignment, and is a name now."""
    before, after = pairs[i]
    following = pairs[i + 1][0].plain if i + 1 < len(pairs) else b""
    return before.plain == b"_" and is_name(after.plain) and following in _AFTER_TARGETS


_AFTER_TARGETS = ASSIGNING | {b",", b"in"}
