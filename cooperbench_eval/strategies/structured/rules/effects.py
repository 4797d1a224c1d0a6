"""Decides from names alone whether two runs of statements may be done in either order."""

from collections.abc import Iterator

from cooperbench_eval.languages.tree import ASSIGNING, Construct, Element, Elements, Token
from cooperbench_eval.strategies.structured.ordering import may_leave
from cooperbench_eval.strategies.structured.rules.statements import is_name

__all__ = ["are_independent"]

_Path = tuple[bytes, ...]
"""A variable and the attributes read from it, as in `self.file.name`."""
_NO_VARIABLES = frozenset(
    b"""None True False null undefined nil true false not and or in is if else for while await
    new typeof const let var mut ref as""".split()
)
_LEAVING = frozenset({b"yield", b"await", b"return", b"panic", b"exit"})
_ASSIGNING = ASSIGNING | frozenset(b"+= -= *= /= |= &= ++ --".split())


def are_independent(one: Elements, other: Elements) -> bool:
    """Whether neither uses what the other may change, and neither leaves its suite.

    A call may change the object that it is called on and its arguments.
    """
    for each in (*one, *other):
        if may_leave(each) or not _LEAVING.isdisjoint(each.words()):
            return False
    mine, theirs = (list(_paths(statements)) for statements in (one, other))
    return not (_touches(mine, theirs) or _touches(theirs, mine))


def _touches(one: list[tuple[_Path, bool]], other: list[tuple[_Path, bool]]) -> bool:
    """Whether *one* may change something that *other* uses."""
    changed = {path for path, is_changed in one if is_changed}
    used = {path for path, _ in other}
    return any(mine[: len(theirs)] == theirs[: len(mine)] for mine in changed for theirs in used)


def _paths(elements: Elements, *, is_given: bool = False) -> Iterator[tuple[_Path, bool]]:
    """Yield what elements use, and whether they may change it.

    Args:
        elements: Statements or their parts.
        is_given: Whether they are the arguments of a call.
    """
    i = 0
    while i < len(elements):
        each = elements[i]
        if isinstance(each, Construct):
            is_call = each.kind == "group" and i > 0 and each.plain[:1] == b"("
            yield from _paths(each.children, is_given=is_given or is_call)
            i += 1
            continue
        path, end = _path(elements, i)
        following = elements[end] if end < len(elements) else Token(b"", b"")
        is_named = is_given and not i and following.plain in {b"=", b":"}
        if path and not is_named:
            is_call = isinstance(following, Construct) and following.kind == "group"
            if is_call and len(path) > 1:
                path, is_changed = path[:-1], True
            else:
                is_changed = is_given or following.plain in _ASSIGNING or _is_deleted(elements, i)
            yield path, is_changed
        i = end


def _path(elements: Elements, start: int) -> tuple[_Path, int]:
    """Return the path that starts at an index, and the index after it."""
    word = elements[start].plain
    if not is_name(word) or word in _NO_VARIABLES:
        return (), start + 1
    path, end = [word], start + 1
    while end + 1 < len(elements) and elements[end].plain in {b".", b"?."}:
        path.append(elements[end + 1].plain)
        end += 2
    return tuple(path), end


def _is_deleted(elements: Elements, index: int) -> bool:
    before: Element = elements[index - 1] if index else Token(b"", b"")
    after = [each.plain for each in elements[index + 1 :]]
    is_target = not _ASSIGNING.isdisjoint(after)
    return before.plain in {b"del", b"delete"} or is_target
