"""Finds where one side's changes disturb the other's in a merged file.

Two changes of one function may touch different statements and still not work together.
Horwitz, Prins and Reps ("Integrating noninterfering versions of programs", 1989) call this
interference. They compare program slices: what a version changed must depend on the same
statements after the merge as before it.
"""

from collections.abc import Mapping

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    StructureError,
    excerpt,
    functions_of,
    line_of,
    same,
)
from cooperbench_eval.strategies.structured.flow.disturbance import Clash, Disturbance
from cooperbench_eval.strategies.structured.flow.graph import graph_of
from cooperbench_eval.strategies.structured.flow.work import Work

_LEAST_ALIKE = 0.7

_Functions = Mapping[bytes, Construct]


def find_interference(base: Construct, ours: Construct, theirs: Construct, merged: Element) -> str:
    """Return how the sides interfere in a merged file; empty if they do not.

    The reason names the function, and a statement of each side with its line. A function
    that is too long to be analysed counts as interference.
    """
    before, mine, other, after = (dict(functions_of(tree)) for tree in (base, ours, theirs, merged))
    for name, function in before.items():
        names = [_name_in(side, name, before) for side in (mine, other)]
        place = next((each for each in (name, *names) if each in after), None)
        if place is None or not names[0] or not names[1]:
            continue
        versions = function, mine[names[0]], other[names[1]], after[place]
        if any(same(function, side) for side in versions[1:3]):
            continue
        try:
            clash = _interfere(*versions)
        except StructureError as exc:
            clash = Clash(str(exc))
        if clash:
            shown = [
                _located(*each)
                for each in (("ours", ours, clash.ours), ("theirs", theirs, clash.theirs))
            ]
            places = "; ".join(filter(None, shown))
            return f"{name.decode('utf-8', 'replace')}: {clash.problem}" + (
                f" ({places})" if places else ""
            )
    return ""


def _located(side: str, tree: Construct, header: Construct | None) -> str:
    """Show a statement of a side, with its line; empty if it is not known."""
    line = line_of(tree, header.children[0]) if header and header.children else None
    return f"{side}, line {line}: `{excerpt(header)}`" if header and line is not None else ""


def _name_in(side: _Functions, name: bytes, before: _Functions) -> bytes:
    """Return the name of a function in a side, where it may have been renamed."""
    if name in side:
        return name
    words = before[name].words()
    new = (each for each in side if each not in before)
    found = (each for each in new if similarity(words, side[each].words()) >= _LEAST_ALIKE)
    return next(found, b"")


def _interfere(
    base: Construct, ours: Construct, theirs: Construct, merged: Construct
) -> Clash | None:
    before, after = graph_of(base), graph_of(merged)
    mine, other = (Work.of(before, graph_of(side), after) for side in (ours, theirs))
    mine, other = mine.without_shared(other), other.without_shared(mine)
    if found := Disturbance(after, mine, other).find():
        return found
    found = Disturbance(after, other, mine).find()
    return found and Clash(found.problem, found.theirs, found.ours)
