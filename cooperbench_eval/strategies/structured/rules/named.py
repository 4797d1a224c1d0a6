"""Merges items by their names where their order means nothing."""

from collections.abc import Sequence

from cooperbench_eval.languages.tree import Construct, DisagreementError, Element, Elements, same
from cooperbench_eval.strategies.structured.rules.merger import Merger
from cooperbench_eval.strategies.structured.rules.united import is_spread, unite

__all__ = ["merge_named", "need_names"]


def need_names(base: Elements, ours: Elements, theirs: Elements) -> bool:
    """Whether an alignment in order is not enough to merge some items.

    That is the case if both sides insert an item of one name at different places, or if
    one side reordered items.
    """
    order, *sides = ([each.key for each in version] for version in (base, ours, theirs))
    before = frozenset(order)
    kept = [[key for key in order if key in side] for side in map(frozenset, sides)]
    moved = [[key for key in side if key in before] for side in sides]
    mine, other = (_last_kept(side, before) for side in sides)
    return kept != moved or any(other.get(key, last) != last for key, last in mine.items())


def _last_kept(side: Sequence[bytes], before: frozenset[bytes]) -> dict[bytes, bytes]:
    """Return, for each new item of a side, the last item before it that is not new."""
    found: dict[bytes, bytes] = {}
    last = b""
    for key in side:
        if key in before:
            last = key
        else:
            found[key] = last
    return found


def merge_named(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """Merge imported names, fields, or entries of an object that both sides changed.

    Returns:
        The items in the order of ours, with the new ones of theirs after the items that
        they follow; `None` if some items have no names of their own.

    Raises:
        DisagreementError: The sides changed an item differently.
    """
    versions = [_by_name(each) for each in (base, ours, theirs)]
    before, mine, other = ({} if each is None else each for each in versions)
    if None in versions:
        return None
    for key in before.keys() & (mine.keys() ^ other.keys()):
        kept = mine.get(key) or other[key]
        if not same(before[key], kept):
            raise DisagreementError.at(before[key])
    new = [side.keys() - before.keys() for side in (mine, other)]
    if before.keys() - mine.keys() - other.keys() and new[0] - new[1] and new[1] - new[0]:
        raise DisagreementError.at(*ours, *theirs)  # both replaced one item, by others
    names = [key for key in mine if key in other or key not in before]
    followers: dict[bytes, list[bytes]] = {}
    last = b""
    for key in other:
        if key in mine:
            last = key
        elif key not in before:
            followers.setdefault(last, []).append(key)
    names = [each for key in (b"", *names) for each in (key, *followers.get(key, ()))][1:]
    return tuple(
        _merged(merger, *(each.get(key) for each in (before, mine, other))) for key in names
    )


def _by_name(items: Elements) -> dict[bytes, Element] | None:
    """Return the items by name, or `None` if their order may matter."""
    found = {each.key: each for each in items}
    is_named = all(isinstance(each, Construct) and each.key for each in items)
    if not is_named or len(found) < len(items) or any(map(is_spread, items)):
        return None
    return found


def _merged(
    merger: Merger, base: Element | None, ours: Element | None, theirs: Element | None
) -> Element:
    found = [each for each in (ours, theirs) if each is not None]
    if len(found) == 1:
        return found[0]
    one, other = found
    if base is not None:
        return merger.merge(base, one, other)
    if (united := unite(one, other)) is None:
        raise DisagreementError.at(other)
    return united
