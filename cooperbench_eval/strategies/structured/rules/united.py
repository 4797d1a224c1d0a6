"""Unites two declarations of data that both sides inserted under one name.

Both sides may insert an interface, a struct, an enum, an option type, an object or a parameter with
such a type, with different members. The result has the members of both. A member that both have
differently is refused, and so is everything that is not data: two functions of one name are two
behaviours. A function without a body, such as an overload, only declares parameters, so it is
united, and so are docstrings.
"""

from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve

from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Elements,
    Mode,
    Token,
    same,
)
from cooperbench_eval.strategies.structured.rules.statements import PLACEHOLDERS
from cooperbench_eval.strategies.structured.strings import join_docstrings

_UNITED = frozenset({"assignment", "class", "const", "declaration", "enum", "field", "group"}) | {
    *("interface", "item", "items", "spec", "struct", "type", "var")
}
"""The kinds of constructs that may be data."""
_MEMBERS = frozenset({"assignment", "declaration", "field", "signature", "spec"})
"""The kinds of members of data."""
_SPREADING = frozenset({b"*", b"**", b"..", b"..."})
"""Signs before a value whose members take the place of earlier ones."""
_SEPARATORS = frozenset({b",", b";"})


def unite(one: Element, other: Element) -> Element | None:
    """Unite two elements, or return `None` if they do not declare data or disagree."""
    if same(one, other):
        return one
    if not isinstance(one, Construct) or not isinstance(other, Construct):
        return None
    if one.kind != other.kind or one.mode is not other.mode:
        return None
    if (rule := _RULES.get(one.kind)) is not None:
        return rule(one, other)
    if one.kind not in _UNITED:
        return None
    if one.kind == "group" and one.children[0].plain == b"{":
        children = _unite_braces(one, other)
    else:
        children = _unite_parts(one.children, other.children)
    return None if children is None else evolve(one, children=children)


def _unite_docstrings(one: Construct, other: Construct) -> Construct | None:
    """Unite docstrings that both sides add to a definition: the text of both is kept."""
    tokens = [each.children[0] for each in (one, other)]
    first, second = (each for each in tokens if isinstance(each, Token))
    text = join_docstrings(first.word, second.word)
    return None if text is None else evolve(one, children=(first._replace(word=text),))


def _unite_stubs(one: Construct, other: Construct) -> Construct | None:
    """Unite functions without bodies, such as overloads, if they differ only in new parameters."""
    if len(one.children) != len(other.children) or not all(map(_is_stub, (one, other))):
        return None
    children: list[Element | None] = []
    for mine, added in zip(one.children, other.children, strict=True):
        if same(mine, added):
            children.append(mine)
        elif not isinstance(mine, Construct) or not isinstance(added, Construct):
            return None
        elif mine.kind == "def":
            children.append(_unite_stubs(mine, added))
        elif mine.kind == added.kind == "group":
            children.append(_unite_parameters(mine, added))
        else:
            return None
    found = tuple(each for each in children if each is not None)
    return evolve(one, children=found) if len(found) == len(children) else None


def _is_stub(function: Construct) -> bool:
    suites = (each for each in function.walk() if each.kind == "suite")
    return all(child.plain in PLACEHOLDERS for each in suites for child in each.children)


def _unite_parameters(one: Construct, other: Construct) -> Construct | None:
    lists = [each.parts for each in (one, other)]
    if any([part.kind for part in parts] != ["parameters"] for parts in lists):
        return None
    body, added = (parts[0] for parts in lists)
    if any(is_spread(each) for each in (*body.children, *added.children)):
        return None
    found = _unite_named([(each,) for each in body.children], [(each,) for each in added.children])
    if found is None:
        return None
    items = evolve(body, children=_formatted(found, body, added))
    return one.with_parts(lambda _: items)


def separated(members: Elements) -> Elements:
    """Put a separator after each member that another one follows on its line."""
    out = list(members)
    for i, (each, following) in enumerate(pairwise(members)):
        if (
            isinstance(each, Construct)
            and each.kind in _MEMBERS
            and following.kind in _MEMBERS
            and b"\n" not in following.space
            and each.children[-1].plain not in _SEPARATORS
        ):
            used = (child.plain for member in members for child in member.children[-1:])
            sign = next((word for word in used if word in _SEPARATORS), b";")
            out[i] = evolve(each, children=(*each.children, Token(b"", sign)))
    return tuple(out)


def _unite_parts(one: Elements, other: Elements) -> Elements | None:
    """Unite elements of which each corresponds to one of the other side."""
    if len(one) != len(other):
        return None
    united = [unite(*pair) for pair in zip(one, other, strict=True)]
    found = tuple(each for each in united if each is not None)
    return found if len(found) == len(one) else None


def _unite_suites(one: Construct, other: Construct) -> Construct | None:
    """Unite the members of two bodies; the comments before a member stay with it."""
    mine, others = _members(one.children), _members(other.children)
    if mine is None or others is None:
        return None
    found = _unite_named(mine, others)
    if found is None:
        return None
    layout = next((side for side in (one, other) if b"\n" in side.space), one)
    if b"\n" in layout.space:
        found = tuple(each if b"\n" in each.space else each.with_space(b"\n") for each in found)
    return evolve(one, children=separated(found), indent=layout.indent)


def _members(children: Elements) -> list[Elements] | None:
    """Split the contents of a body into members with the comments before them."""
    found: list[Elements] = []
    comments: Elements = ()
    for each in children:
        if isinstance(each, Construct):
            if each.kind not in _MEMBERS or not each.key:
                return None
            found.append((*comments, each))
            comments = ()
        elif each.kind == "comment":
            comments = (*comments, each)
        else:
            return None
    return None if comments else found


def _unite_braces(one: Construct, other: Construct) -> Elements | None:
    """Unite what is in braces: an object, a pattern, a struct's fields or an object type."""
    bodies = [each.children[1] for each in (one, other) if len(each.children) == len("{x}")]
    if len(bodies) != len((one, other)):
        return None
    body, added = bodies
    if not isinstance(body, Construct) or not isinstance(added, Construct):
        return None
    opener, _, closer = other.children if b"\n" in other.children[-1].space else one.children
    if body.mode is not Mode.LIST:
        suite = unite(body, added)
        return None if suite is None else (opener, suite, closer)
    if any(is_spread(each) for each in (*body.children, *added.children)):
        return None
    found = _unite_named([(each,) for each in body.children], [(each,) for each in added.children])
    if found is None:
        return None
    return opener, evolve(body, children=_formatted(found, body, added)), closer


def is_spread(item: Element) -> bool:
    """Whether an item stands for the members of a value."""
    first = next(iter(item.children), item)
    return first.plain in _SPREADING or first.plain.startswith(b"...")


def _unite_named(mine: Sequence[Elements], others: Sequence[Elements]) -> Elements | None:
    """Unite members by name, each with what precedes it."""
    out = [list(each) for each in mine]
    places = {_key(each): i for i, each in enumerate(mine)}
    if len(places) < len(mine) or len({_key(each) for each in others}) < len(others):
        return None
    for each in others:
        place = places.get(_key(each))
        if place is None:
            out.append(list(each))
            continue
        united = unite(mine[place][-1], each[-1])
        if united is None:
            return None
        out[place][-1] = united
    return tuple(each for member in out for each in member)


def _key(member: Elements) -> bytes:
    last = member[-1]
    return last.key or last.plain


def _formatted(items: Elements, one: Element, other: Element) -> Elements:
    """Separate the items, each on a line of its own if either side has them so."""
    sides = [each.children for each in (one, other) if each.children]
    spread = next((side[0].space for side in sides if b"\n" in side[0].space), b"")
    is_ended = any(isinstance(each[-1], Construct) and each[-1].comma is not None for each in sides)
    out: list[Element] = []
    for i, item in enumerate(items):
        if not isinstance(item, Construct):
            return items
        is_last = i == len(items) - 1
        space = item.space if b"\n" in item.space else spread or (b" " if i else item.space)
        comma = (b"" if is_ended else None) if is_last else item.comma or b""
        out.append(evolve(item, comma=comma).with_space(space))
    return tuple(out)


_RULES = {"def": _unite_stubs, "docstring": _unite_docstrings, "suite": _unite_suites}
