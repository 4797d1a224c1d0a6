"""Finds arguments that a merge gave to another call than their side did."""

from collections import Counter
from collections.abc import Iterator, Sequence

from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Mode,
    Token,
    excerpt,
    functions_of,
    same,
)


def find_handed_elsewhere(versions: Sequence[Construct], merged: Element) -> str:
    """Return which argument another function would get than in the side that added it.

    A side may also replace the function that is called. So it counts only if the side calls
    the other function as well, without that argument.
    """
    before, mine, other, after = (dict(functions_of(tree)) for tree in (*versions, merged))
    for name, function in after.items():
        if not (name in before and name in mine and name in other):
            continue
        sides = mine[name], other[name]
        if any(same(before[name], side) for side in sides):
            continue
        base, now = (Counter(_handed(each)) for each in (before[name], function))
        known = [Counter(_handed(side)) for side in sides]
        new = now.keys() - base.keys() - known[0].keys() - known[1].keys()
        for side in known if new else ():
            called = {callee for callee, _ in side}
            for callee, argument in sorted(new):
                givers = {c for c, a in side.keys() - base.keys() if a == argument}
                lost = {c for c in givers if now[c, argument] < side[c, argument]}
                if callee in called and lost:
                    to, giver = (each.decode("utf-8", "replace") for each in (callee, min(lost)))
                    return f"{argument!r} would be given to {to}() instead of {giver}()"
    return ""


def _handed(element: Element) -> Iterator[tuple[bytes, str]]:
    """Yield the last name of each function that is called, with each of its arguments."""
    if isinstance(element, Token):
        return
    before = b""
    for each in element.children:
        if isinstance(each, Construct):
            if before and each.kind == "group" and each.children[0].plain == b"(":
                lists = (e for e in each.children if isinstance(e, Construct))
                items = [i for e in lists if e.mode is Mode.LIST for i in e.children]
                yield before, ""
                yield from ((before, excerpt(item)) for item in items)
            yield from _handed(each)
        before = each.word if isinstance(each, Token) else b""
