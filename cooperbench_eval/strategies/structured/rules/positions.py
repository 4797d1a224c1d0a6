"""Refuses edits that would change the places of items that have no names."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from cooperbench_eval.languages.tree import (
    ASSIGNING,
    DECLARING,
    Construct,
    DisagreementError,
    Element,
    Elements,
    Mode,
    same,
)
from cooperbench_eval.strategies.structured.ordering import has_positional

__all__ = ["POSITIONAL", "check_positions", "check_tuples"]

POSITIONAL = frozenset({"arguments", "elements"})
"""The kinds of lists whose items may mean something only by their places."""

_LEAVING = frozenset({b"return", b"yield"})
_LOOPING = frozenset({b"in", b"of"})
_TUPLES = frozenset({b"tuple", b"Tuple", b"->"})
_BEFORE_TUPLES = frozenset(b"else for if in let match move mut ref return while".split())
_QUOTES = (b'"', b"'", b"`")


class _Edit(Protocol):
    """Replaces the items *start* to *end* of a list by *new*."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def new(self) -> Elements: ...


def check_positions(base: Elements, ours: Sequence[_Edit], theirs: Sequence[_Edit]) -> None:
    """Refuse an insertion beside an item that the other side removes.

    Raises:
        DisagreementError: The new item would take the place of the removed one.
    """
    for edits, others in ((ours, theirs), (theirs, ours)):
        places = {place for each in edits if not each.new for place in (each.start, each.end)}
        for each in others:
            if each.start == each.end and each.start in places and has_positional(each.new):
                raise DisagreementError.at(*base[max(each.start - 1, 0) : each.start], *each.new)


def check_tuples(base: Construct, ours: Construct, theirs: Construct) -> None:
    """Refuse new numbers of items on both sides where the place of each item has a meaning.

    That is so in tuples, in patterns on the left of an assignment, in what a function
    returns, and in Go's literals of structs without names of fields.

    Raises:
        DisagreementError: Items of both sides would be at other places than they expect.
    """
    found = [list(_tuples(each)) for each in (base, ours, theirs)]
    if len(set(map(len, found))) > 1:
        return
    for before, mine, other in zip(*found, strict=True):
        size = len(before.children)
        if size not in {len(mine.children), len(other.children)} and not same(mine, other):
            raise DisagreementError.at(mine, other)


def _tuples(construct: Construct) -> Iterator[Construct]:
    """Yield the lists directly in a construct whose items are known by their places."""
    if construct.kind == "parameters":
        for item in construct.children:
            yield from _tuples_in(item.children, is_pattern=True)
    elif construct.mode is Mode.SEQUENCE:
        yield from _tuples_in(construct.children, is_pattern=False)


def _tuples_in(children: Elements, *, is_pattern: bool) -> Iterator[Construct]:
    is_left = is_pattern or any(each.plain in ASSIGNING | _LOOPING for each in children)
    for i, group in enumerate(children):
        is_left = is_left and group.plain not in ASSIGNING | _LOOPING
        if group.kind != "group":
            continue
        items = next((e for e in group.children if e.kind in {*POSITIONAL, "items"}), None)
        if isinstance(items, Construct) and _is_tuple(children[:i], group, items, is_left=is_left):
            yield items


def _is_tuple(before: Elements, group: Element, items: Construct, *, is_left: bool) -> bool:
    """Whether the items in brackets are known by their places.

    Args:
        before: What precedes the brackets.
        group: The brackets with the items.
        items: The items.
        is_left: Whether the brackets are on the left of an assignment, or in a parameter.
    """
    opener = group.plain[:1]
    last = before[-1].plain if before else b""
    if opener == b"{":
        return items.kind == "items" and _is_struct(before, items)
    if items.kind == "items":
        return False
    if opener == b"(" and items.kind == "elements":
        is_macro = last == b"!" or (last[:1].islower() and last not in _BEFORE_TUPLES)
        return not is_macro  # or of an attribute, such as `derive`
    if last in _LEAVING:
        return opener == b"(" or not _is_data(items)
    begins = not before or last in DECLARING or last in {b"(", b"for"}
    return last in _TUPLES or (is_left and (begins or last == b":"))


def _is_struct(before: Elements, items: Construct) -> bool:
    """Whether braces after a name hold values for the fields of a struct, without names.

    Rust writes `P { x }` for `P { x: x }`, so single names may be names of fields.
    """
    words = [each.plain for each in before]
    if words[-2:-1] == [b"."]:
        words = words[:-2]
    if not words or not _is_word(words[-1]) or all(map(_may_name, items.children)):
        return False
    previous = words[-2] if len(words) > 1 else b"="
    return previous == b"return" or not (_is_word(previous) or previous in {b"]", b"::"})


def _is_word(word: bytes) -> bool:
    return word.replace(b"_", b"").isalnum()


def _may_name(item: Element) -> bool:
    first, *others = [each.plain for each in item.children]
    is_name = not others and _is_word(first) and not first.isdigit()
    return is_name or b":" in others or first == b".."


def _is_data(items: Construct) -> bool:
    """Whether all items are strings, or all are calls or in brackets."""
    parts = [item.children for item in items.children]
    return all(len(each) == 1 and each[0].plain.endswith(_QUOTES) for each in parts) or all(
        each and each[-1].kind == "group" for each in parts
    )
