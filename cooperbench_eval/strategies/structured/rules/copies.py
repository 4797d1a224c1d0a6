"""Makes one side's edit of a statement in each of the copies that the other side made of it."""

from collections.abc import Iterator

from cooperbench_eval.languages.alignment import align, similarity
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Elements,
    Mode,
    StructureError,
)
from cooperbench_eval.strategies.structured.rules.statements import Merger, replaced

_LEAST_ALIKE = 0.8


def merge_copies(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """One side repeats a statement, as in a retry or in both branches, and the other edits it.

    The edit is made in each copy, since they do the same. What the other side put before and
    after the statement stays around all of it.
    """
    for one, other, is_theirs in ((ours, theirs, False), (theirs, ours, True)):
        place = align(base, other, Mode.MEMBERS)[0] if len(base) == 1 else None
        copies = list(_copies(base[0], one)) if place is not None else []
        if place is None or len(copies) <= 1:
            continue
        edited, new = other[place], one
        try:
            for copy in copies:
                sides = (edited, copy) if is_theirs else (copy, edited)
                merged = merger.merge(base[0], *sides)
                if isinstance(merged, Construct):
                    new = tuple(replaced(each, copy, merged) for each in new)
        except StructureError:
            continue
        return (*other[:place], *new, *other[place + 1 :])
    return None


def _copies(statement: Element, statements: Elements) -> Iterator[Construct]:
    """Yield the statements that do nearly the same, from the outermost suite."""
    for each in statements:
        if isinstance(each, Construct) and each.kind == statement.kind and _is_simple(each):
            if similarity(statement.words(), each.words()) >= _LEAST_ALIKE:
                yield each
        else:
            yield from _copies(statement, each.children)


def _is_simple(element: Element) -> bool:
    return all(each.kind != "suite" for each in element.walk())
