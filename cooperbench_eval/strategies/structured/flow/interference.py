"""Finds where one side's changes disturb the other's in a merged file.

Two changes to one function may touch different statements and still not work together.
Horwitz, Prins and Reps ("Integrating noninterfering versions of programs", 1989) call this
interference. They compare program slices: what a version changed must depend on the same
statements after the merge as before it.
"""

from collections.abc import Mapping

from attrs import evolve

from cooperbench_eval.languages.alignment import similarity
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    StructureError,
    functions_of,
    same,
)
from cooperbench_eval.strategies.structured.edit_lines import EditPlaces, with_edits
from cooperbench_eval.strategies.structured.flow.building import graph_of
from cooperbench_eval.strategies.structured.flow.disturbance import Disturbance
from cooperbench_eval.strategies.structured.flow.influence import Clash
from cooperbench_eval.strategies.structured.flow.work import Work

_LEAST_ALIKE = 0.7

_Functions = Mapping[bytes, Construct]


def find_interference(
    base: Construct,
    ours: Construct,
    theirs: Construct,
    merged: Element,
    places: EditPlaces | None = None,
) -> str:
    """Return how the sides interfere in a merged file; empty if they do not.

    The reason names the function and, given the *places*, a statement of each side with its
    line. A function that is too long to be analysed counts as interference.
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
            steps = [(each,) if each else () for each in (clash.ours, clash.theirs)]
            here = evolve(places, around=versions[:3]) if places else None
            shown = here.show((), *steps) if here else ""
            problem = clash.problem + shown
            if places and not shown:
                problem = with_edits(problem, places.files, is_fault=False)
            return f"in {name.decode('utf-8', 'replace')!r}, {problem}"
    return ""


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
        return found._replace(problem=_named(found.problem, "ours", "theirs"))
    if found := Disturbance(after, other, mine).find():
        return Clash(_named(found.problem, "theirs", "ours"), found.theirs, found.ours)
    return None


def _named(problem: str, one: str, other: str) -> str:
    """Replace `one side` and `the other` by names."""
    for words, name in (("one side", one), ("the other", other)):
        problem = problem.replace(f"{words}'s", f"{name}'").replace(words, name)
    return problem
