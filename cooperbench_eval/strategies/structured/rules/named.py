"""Merges items and imports by their names where their order means nothing."""

from collections.abc import Iterator, Sequence

from cooperbench_eval.languages.tree import Construct, DisagreementError, Element, Elements, same
from cooperbench_eval.strategies.structured.rules.statements import Merger
from cooperbench_eval.strategies.structured.rules.united import is_spread, unite


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

    The items keep the order of ours; each new one of theirs comes after the item that it follows.
    The rule fits if all items have names of their own.
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
        raise DisagreementError.at(*ours, *theirs)  # both replaced one item differently
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
    if any(map(_is_value, items)):
        return None
    if not is_named or len(found) < len(items) or any(map(is_spread, items)):
        return None
    return found


def _is_value(item: Element) -> bool:
    """Whether an item of a list is a string or a number, so that its place may mean something."""
    words = item.children
    return item.kind == "item" and len(words) == 1 and words[0].plain[:1] in _VALUES


_VALUES = frozenset(bytes([each]) for each in b"\"'`0123456789")


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


def check_imports(one: Sequence[Element], other: Sequence[Element]) -> None:
    """Refuse a name that both sides' insertions import.

    Raises:
        DisagreementError: The later import would replace the earlier one, or not compile.
    """
    if name := set(_imported(one)) & set(_imported(other)):
        shown = min(name).decode("utf-8", "replace")
        raise DisagreementError(f"both sides import different things as {shown!r}")


def _imported(elements: Sequence[Element]) -> Iterator[bytes]:
    """Yield the names that Python's `from` imports and Java's imports of classes bind."""
    for each in elements:
        if each.kind != "import":
            continue
        if each.key.startswith(b"from "):
            for items in each.walk():
                yield from (e.key for e in items.children if items.kind == "items")
        words = [child.plain for child in each.children]
        if words[-3:-2] == [b"."] and words[-1] == b";" and words[1] != b"static":
            yield from {words[-2]} - {b"*"}
