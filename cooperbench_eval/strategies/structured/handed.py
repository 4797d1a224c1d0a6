"""Finds arguments that a merge passes to another function or parameter than their side."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Token,
    excerpt,
    functions_changed_by_both,
    functions_of,
)


def find_handed_elsewhere(versions: Sequence[Construct], merged: Element) -> str:
    """Return an argument that would be passed to another function than in its side.

    A side may also replace the function that is called. So this is a fault only if that side
    also calls the other function, without the argument.
    """
    for _, before, sides, function in functions_changed_by_both(versions, merged):
        base, now = (Counter(_handed(each)) for each in (before, function))
        known = [Counter(_handed(side)) for side in sides]
        new = now.keys() - base.keys() - known[0].keys() - known[1].keys()
        for side in known if new else ():
            called = {callee for callee, _ in side}
            for callee, argument in sorted(new):
                givers = {c for c, a in side.keys() - base.keys() if a == argument}
                lost = {c for c in givers if now[c, argument] < side[c, argument]}
                if callee in called and lost:
                    to, giver = (each.decode("utf-8", "replace") for each in (callee, min(lost)))
                    items = (i for each in sides for _, given in _calls(each) for i in given)
                    shown = next(excerpt(item) for item in items if item.plain == argument)
                    return f"{shown!r} would be passed to {to!r} instead of {giver!r}"
    return ""


def find_shifted(versions: Sequence[Construct], merged: Construct) -> str:
    """Return an argument of a side's new call that would be passed to another parameter.

    This happens if the other side inserts a parameter before it. Functions are found by name,
    so only names that a version defines once are checked.
    """
    _, *sides, now = map(_positional, (*versions, merged))
    for i, known in enumerate(sides, start=1):
        names = {n for n in known.keys() & now.keys() if now[n][: len(known[n])] != known[n]}
        if not names:
            continue
        own, other, after = (
            {(n, tuple(each.plain for each in given)) for n, given in _calls(tree) if n in names}
            for tree in (versions[i], versions[3 - i], merged)
        )
        for name, arguments in sorted(own & after - other):
            given = takewhile(lambda each: b"=" not in each and each[:1] != b"*", arguments)
            for _, before, here in zip(given, known[name], now[name], strict=False):
                if before != here and before in now[name]:  # not only renamed
                    shown, taken, called = (
                        b.decode("utf-8", "replace") for b in (before, here, name)
                    )
                    return (
                        f"a call to {called!r} would pass its argument for {shown!r} as {taken!r}"
                    )
    return ""


def _positional(tree: Construct) -> dict[bytes, tuple[bytes, ...]]:
    """Return the positional parameters of each function whose name is defined once."""
    found: dict[bytes, list[tuple[bytes, ...]]] = {}
    for _, function in functions_of(tree):
        clause = next((each for each in function.parts if each.kind == "def"), function)
        lists = (p for part in clause.parts for p in part.children if p.kind == "parameters")
        names = [next(_tokens(item)).word for items in lists for item in items.children]
        names = list(takewhile(lambda name: name not in {b"*", b"**"}, names))
        given = names[1:] if names[:1] in ([b"self"], [b"cls"]) else names
        found.setdefault(function.key, []).append(tuple(given))
    return {name: given[0] for name, given in found.items() if len(given) == 1}


def _tokens(element: Element) -> Iterator[Token]:
    if isinstance(element, Token):
        yield element
        return
    for child in element.children:
        yield from _tokens(child)


def _handed(element: Element) -> Iterator[tuple[bytes, bytes]]:
    """Yield the last name of each function that is called, with each of its arguments."""
    for callee, arguments in _calls(element):
        yield callee, b""
        yield from ((callee, each.plain) for each in arguments)


def _calls(element: Element) -> Iterator[tuple[bytes, Sequence[Element]]]:
    """Yield the last name of each function that is called, with its arguments."""
    if isinstance(element, Token):
        return
    before = b""
    for each in element.children:
        if isinstance(each, Construct):
            if before and each.kind == "group" and each.children[0].plain == b"(":
                lists = (e for e in each.children if e.kind == "arguments")
                yield before, [item for items in lists for item in items.children]
            yield from _calls(each)
        before = each.word if isinstance(each, Token) else b""
