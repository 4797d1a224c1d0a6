"""Finds lists that both sides made longer or shorter although the place of each item matters.

That is so in tuples, in patterns on the left of an assignment, in what a function returns, in
Go's struct literals without field names, and in what is passed to a function.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from cooperbench_eval.languages.faults.gaps import changed_by_both
from cooperbench_eval.languages.files import find_grammar, is_code
from cooperbench_eval.languages.tree import (
    ASSIGNING,
    DECLARING,
    Construct,
    Element,
    Elements,
    Mode,
    one_line,
)

POSITIONAL = frozenset({"arguments", "elements"})
"""The kinds of lists whose items may mean something only by their places."""

_LEAVING = frozenset({b"return", b"yield"})
_LOOPING = frozenset({b"in", b"of"})
_UNBRACKETED = frozenset({"for", "return", "yield"})
"""Statements that may have a tuple without brackets."""
_TUPLES = frozenset({b"tuple", b"Tuple", b"->"})
_BEFORE_TUPLES = frozenset(b"else for if in let match move mut ref return while".split())
_KEYWORDS = _BEFORE_TUPLES | frozenset(
    b"and as assert await case def del elif except from import is lambda not or switch".split()
)
_NAMING = frozenset({b"=", b":"})
_QUOTES = (b'"', b"'", b"`")


def find_repositioned(path: str, versions: tuple[bytes, bytes, bytes], merged: bytes) -> str:
    """Find a list whose number of items both sides changed; empty if there is none.

    If both sides add parameters to a function, calls may pass arguments for both. Other
    checks compare the two orders.
    """
    if not is_code(path):
        return ""
    changed = [parts for parts, _ in changed_by_both(path, versions, merged)]
    has_parameters = any(
        len(parts[0].children) < min(len(parts[1].children), len(parts[2].children))
        for parts in changed
        if parts[0].kind == "parameters"
    )
    if has_parameters and find_grammar(path) is None:
        return "both sides add parameters to a function, so calls may mix up its arguments"
    attributes = (parts[0] for parts in changed if parts[0].plain[:2] == b"#\x1f")  # in Rust
    named = {id(each) for attribute in attributes for each in attribute.walk()}
    for parts in changed:
        if id(parts[0]) in named:
            continue
        found = [list(_tuples(each)) for each in parts]
        if len(set(map(len, found))) > 1:
            continue
        for base, mine, other, now in zip(*found, strict=True):
            grows = len(base.items) not in {len(mine.items), len(other.items)}
            sides = sorted((mine.items, other.items), key=len)
            if not grows or (now.items in sides and not _moves(*sides)):
                continue
            if not (has_parameters and now.is_call):
                items = (b", ".join(each.items).replace(b"\x1f", b" ") for each in (mine, other))
                pair = (repr(one_line(each)) for each in items)
                return "both sides change the number of items, to " + " and ".join(pair)
    return ""


def _moves(less: Sequence[bytes], more: Sequence[bytes]) -> bool:
    """Whether the longer of two lists has all items of the other one, but at other places."""
    left = iter(more)
    return more[: len(less)] != less and all(item in left for item in less)


class _Tuple(NamedTuple):
    """Items that are known by their places, and whether they are passed to a function."""

    items: Sequence[bytes]
    is_call: bool = False


def _tuples(construct: Construct) -> Iterator[_Tuple]:
    """Yield the tuples directly in a construct."""
    if construct.kind == "parameters":
        for item in construct.children:
            yield from _tuples_in(item.children, is_pattern=True)
    elif construct.mode is Mode.SEQUENCE:
        yield from _tuples_in(construct.children, is_pattern=False)
        words = [each.plain for each in construct.children]
        if construct.kind == "for":
            words = list(takewhile(lambda word: word not in _LOOPING, words))
        if construct.kind in _UNBRACKETED or (
            construct.kind == "assignment" and words.count(b"=") <= 1
        ):
            yield _Tuple(b" ".join(words).split(b" , "))


def _tuples_in(children: Elements, *, is_pattern: bool) -> Iterator[_Tuple]:
    is_left = is_pattern or any(each.plain in ASSIGNING | _LOOPING for each in children)
    for i, group in enumerate(children):
        is_left = is_left and group.plain not in ASSIGNING | _LOOPING
        if group.kind != "group":
            continue
        items = next((e for e in group.children if e.kind in {*POSITIONAL, "items"}), None)
        if not isinstance(items, Construct):
            continue
        is_call = group.plain[:1] == b"(" and i > 0 and _is_callee(children[i - 1].plain)
        if is_call or _is_tuple(children[:i], group, items, is_left=is_left):
            unnamed = (e for e in items.children if not _is_named(e))
            yield _Tuple([each.plain for each in unnamed], is_call=is_call)


def _is_named(item: Element) -> bool:
    """Whether an item has a name, as keyword arguments have."""
    return any(part.plain in _NAMING for part in item.children[1:2])


def _is_callee(word: bytes) -> bool:
    return word.endswith((b")", b"]")) or (_is_word(word) and word not in _KEYWORDS)


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
