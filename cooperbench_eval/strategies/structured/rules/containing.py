"""Finds the version of a change that has all of the other side's, and more."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from cooperbench_eval.languages.faults.positions import POSITIONAL
from cooperbench_eval.languages.tree import (
    ASSIGNING,
    Construct,
    Element,
    Elements,
    Mode,
    Token,
    same,
)
from cooperbench_eval.languages.words import WORD
from cooperbench_eval.strategies.structured.flow.facts import is_name
from cooperbench_eval.strategies.structured.flow.uses import changes_for
from cooperbench_eval.strategies.structured.ordering import may_leave


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

    With *is_deep*, suites may have further statements that do not affect the others, and calls
    only named arguments.
    """
    if isinstance(before, Token) or isinstance(after, Token):
        return same(before, after)
    if before.kind != after.kind:
        return False
    if is_deep and before.mode is Mode.MEMBERS:
        return _extend(before.children, after.children, is_deep=True)
    if before.mode is Mode.LIST:
        return _has_items(before, after, is_deep=is_deep)
    pairs = list(zip(before.children, after.children, strict=False))
    if is_deep and before.kind in _DECIDING:
        pairs = [pair for pair in pairs if pair[0].kind == "suite" or not same(*pair)]
        if any(one.kind != "suite" for one, _ in pairs):
            return False
    return len(before.children) == len(after.children) and all(
        (extends(one, other, is_deep=is_deep) and not _moves_range(pairs, i))
        or _names_result(pairs, i)
        for i, (one, other) in enumerate(pairs)
    )


_DECIDING = frozenset({"case", "elif", "for", "if", "match", "switch", "while"})


def _moves_range(pairs: Sequence[tuple[Element, Element]], i: int) -> bool:
    """Whether the arguments of `range` differ, of which another one gives the others new roles."""
    return i > 0 and pairs[i - 1][0].plain in {b"range", b"slice"} and not same(*pairs[i])


def _has_items(before: Construct, after: Construct, *, is_deep: bool) -> bool:
    """Whether a list has the items of another one in order, possibly among others."""
    places = _places(before.children, after.children, is_deep=is_deep)
    if places is None or not is_deep:
        return places is not None
    new = [i for i in range(len(after.children)) if i not in places]
    if after.kind == "items" and all(i >= len(places) for i in new):
        return True
    signs = {b"=", b":"} if after.kind == "items" else {b"="}
    is_positional = after.kind in POSITIONAL | {"items", "parameters"}
    return not is_positional or all(_is_named(after.children[i], signs) for i in new)


def _is_named(item: Element, signs: AbstractSet[bytes]) -> bool:
    """Whether an argument, an entry or a parameter has a name, and if needed a default."""
    first, *others = [child.plain for child in item.children]
    return first == b"**" or not signs.isdisjoint(others)


def _places(before: Elements, after: Elements, *, is_deep: bool) -> list[int] | None:
    """Return where elements are among others that may extend them; `None` if one is not there."""
    left = iter(enumerate(after))
    found = [
        next((i for i, other in left if extends(each, other, is_deep=is_deep)), None)
        for each in before
    ]
    places = [i for i in found if i is not None]
    return places if len(places) == len(found) else None


def _extend(before: Elements, after: Elements, *, is_deep: bool) -> bool:
    """Whether statements are others and more, which neither leave nor affect those."""
    places = _places(before, after, is_deep=is_deep)
    if places is None:
        return False
    new = (i for i in range(len(after)) if i not in places)
    return not any(may_leave(after[i]) or _affects(after[i], after[i + 1 :]) for i in new)


def _affects(statement: Element, following: Elements) -> bool:
    """Whether a statement sets a variable that others read, or calls a method of its object."""
    words = statement.words()
    has_method = statement.kind == "expression" and words[1:2] == [b"."]
    is_read = has_method and any(words[0] in each.words() for each in following)
    return is_read or changes_for((statement,), following)


def _names_result(pairs: Sequence[tuple[Element, Element]], i: int) -> bool:
    """Whether an element was `_` among the targets of an assignment, and is a name now."""
    before, after = pairs[i]
    following = pairs[i + 1][0].plain if i + 1 < len(pairs) else b""
    return before.plain == b"_" and is_name(after.plain) and following in _AFTER_TARGETS


_AFTER_TARGETS = ASSIGNING | {b",", b"in"}
