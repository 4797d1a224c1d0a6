"""Lays out what both sides insert: empty lines between definitions, and items of lists."""

from attrs import evolve

from cooperbench_eval.languages.tree import Construct, Element, Elements

__all__ = ["spaced", "spread"]

_DEFINITIONS = frozenset({"def", "class"})


def spaced(
    before: Elements, first: Elements, second: Elements, following: Element | None, kind: str
) -> Elements:
    """Put as many empty lines between two inserted definitions as there are around them."""
    if not first or not second:
        return second
    head, *rest = second
    is_clause = kind not in {"file", "suite"}
    if is_clause and following is not None:
        space = min(head.space, following.space, key=len)
    elif not {first[-1].kind, head.kind} & _DEFINITIONS:
        return second
    elif following is None or following.kind == "end":
        newline = b"\r\n" if any(b"\r\n" in each.source for each in second) else b"\n"
        space = first[0].space if before else newline * (3 if kind == "file" else 2)
    else:
        space = following.space
    if not is_clause and head.space.count(b"\n") >= space.count(b"\n"):
        return second
    return (head.with_space(space), *rest)


def spread(items: Elements, base: Construct, ours: Construct, theirs: Construct) -> Elements:
    """Format a list like the side that changed its layout."""
    before, mine, other = (_is_ended(each.children) for each in (base, ours, theirs))
    is_ended = other if mine == before else mine
    layout = next((each for each in (ours, theirs) if _is_spread(each.children)), None)
    out = list(items)
    for i, item in enumerate(items):
        if layout and isinstance(item, Construct) and b"\n" not in item.space:
            out[i] = item.with_space(layout.children[0].space)
    firsts = [each.children[0] for each in (ours, theirs) if each.children]
    heads = {*map(id, firsts)}
    is_padded = bool(firsts) and all(each.space == b" " for each in firsts)
    for i, item in enumerate(out):
        if not isinstance(item, Construct):
            continue
        if i and not item.space and id(item) in heads:
            out[i] = item.with_space(b" ")
        elif not i and item.space == b" " and not is_padded and id(item) not in heads:
            out[i] = item.with_space(b"")
    if out and isinstance(last := out[-1], Construct):
        comma = (last.comma or b"") if is_ended else None
        out[-1] = evolve(last, comma=comma)
    return tuple(out)


def _is_ended(items: Elements) -> bool:
    """Whether the last item of a list has a comma after it."""
    return bool(items) and isinstance(items[-1], Construct) and items[-1].comma is not None


def _is_spread(items: Elements) -> bool:
    """Whether each item of a list begins a line."""
    return bool(items) and all(b"\n" in item.space for item in items)
