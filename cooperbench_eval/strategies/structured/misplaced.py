"""Finds statements that a merge put beside the wrong neighbours.

A side's new statement is between two statements that were there before. In the merged
function it must still follow the first and precede the second, in the same block or in a
block that the other side put around either. Otherwise, the merge mistook one block for
another. A statement that all versions have must be in exactly the blocks into which the
sides put it.
"""

from collections.abc import Sequence

from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    excerpt,
    functions_changed_by_both,
    head_of,
)
from cooperbench_eval.languages.words import WORD
from cooperbench_eval.strategies.structured.nesting import (
    Nesting,
    find_both_versions,
    find_misnested,
    find_removed,
)
from cooperbench_eval.strategies.structured.places import Places


def find_misplaced(versions: Sequence[Construct], merged: Element) -> str:
    """Return which statement is beside the wrong neighbours or repeated; empty if none is.

    A statement that both sides add to one suite, or between the same statements, must not occur
    more often than in the side that has more of them.
    """
    for name, before, functions, function in functions_changed_by_both(versions, merged):
        known, now = Places.of(before), Places.of(function)
        sides = [Places.of(each) for each in functions]
        for side, places, other in zip(functions, sides, sides[::-1], strict=True):
            for head, neighbours in known.neighbours(places):
                if now.has_between(head, neighbours):
                    continue
                # The other side may have put the neighbours of a common statement elsewhere.
                there = {head, known.edited_from(places, head)} & other.paths.keys()
                if all(other.has_between(each, neighbours) for each in there):
                    return f"{_shown(name, side, head)} would be in the wrong block"
        kept = known.matched(now)
        nestings = (Nesting.of(known, *each) for each in (sides, sides[::-1]))
        misplaced = (each.misplaced_in(now, kept) for each in nestings)
        found = (find_misnested(known, sides, now), *misplaced)
        if head := next(filter(None, found), b""):
            return f"{_shown(name, function, head)} would be in the wrong block"
        if head := find_both_versions(known, sides, now):
            return f"{_shown(name, functions[0], head)} and theirs' version would both occur"
        if head := find_removed(known, sides, now):
            changed = functions[0 if head in sides[0].paths else 1]
            return f"one side removes {_shown(name, changed, head)}, which the other changes"
        if head := _repeated(known, sides, now):
            return (
                f"{_shown(name, functions[0], head)} would occur twice, because both sides add it"
            )
    return ""


def _repeated(
    known: Places,
    sides: Sequence[Places],
    now: Places,
) -> bytes:
    """Return a statement that both sides add at one place and that occurs twice, if any."""
    added = [places.counts - known.counts for places in sides]
    found = {
        place[1]
        for place in added[0] & added[1]
        if now.counts[place] - known.counts[place] > max(each[place] for each in added)
    }
    found |= {
        head
        for head, _ in set(known.gaps(sides[0])).intersection(known.gaps(sides[1]))
        if len(WORD.findall(head)) > 1
        and len(now.paths.get(head, ())) > max(len(each.paths[head]) for each in sides)
    }
    # A second import changes nothing, and different markup elements may have equal heads.
    return next(
        (each for each in sorted(found) if not each.startswith((b"import ", b"from ", b"< "))), b""
    )


def _shown(name: bytes, function: Construct, head: bytes) -> str:
    """Show a statement of a function, given its head."""
    suites = (each for each in function.walk() if each.kind == "suite")
    members = (each for suite in suites for each in suite.children if isinstance(each, Construct))
    shown = next((excerpt(each) for each in members if head_of(each) == head), "")
    return f"in {name.decode('utf-8', 'replace')!r}, {shown!r}"
