"""Finds statements that a merge put beside the wrong neighbours.

A side's new statement stands between two statements that were there before. In the
merged function it must still follow the one and precede the other, in the same block or
in a block that the other side put around either. If it does not, the merge took two
different blocks for one. A statement that all versions have must be in exactly the
blocks into which the sides put it.
"""

from collections.abc import Sequence

from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    excerpt,
    functions_changed_by_both,
    head_of,
)
from cooperbench_eval.strategies.structured.nesting import Nesting, find_misnested
from cooperbench_eval.strategies.structured.places import Places


def find_misplaced(versions: Sequence[Construct], merged: Element) -> str:
    """Return which statement is beside the wrong neighbours or in wrong blocks, if any is."""
    for name, before, functions, function in functions_changed_by_both(versions, merged):
        known, now = Places.of(before), Places.of(function)
        sides = [Places.of(each) for each in functions]
        for side, places in zip(functions, sides, strict=True):
            for head, neighbours in known.neighbours(places):
                if not now.has_between(head, neighbours):
                    return f"{_shown(name, side, head)} would be in the wrong block"
        kept = known.matched(now)
        nestings = (Nesting.of(known, *each) for each in (sides, sides[::-1]))
        misplaced = (each.misplaced_in(now, kept) for each in nestings)
        found = (find_misnested(known, sides, now), *misplaced)
        if head := next(filter(None, found), b""):
            return f"{_shown(name, function, head)} would be in the wrong block"
    return ""


def _shown(name: bytes, function: Construct, head: bytes) -> str:
    """Show a statement of a function, which goes by its head."""
    suites = (each for each in function.walk() if each.kind == "suite")
    members = (each for suite in suites for each in suite.children if isinstance(each, Construct))
    shown = next((excerpt(each) for each in members if head_of(each) == head), "")
    return f"in {name.decode('utf-8', 'replace')!r}, {shown!r}"
