"""Makes one side's edit of a statement in each of the copies that the other side made of it."""

from collections.abc import Iterator, Sequence

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.tree import (
    Construct,
    Element,
    Elements,
    Mode,
    StructureError,
)
from cooperbench_eval.strategies.structured.flow.facts import facts_of
from cooperbench_eval.strategies.structured.rules.containing import extends
from cooperbench_eval.strategies.structured.rules.statements import Merger, replaced

_MOST_COPIES = 20


def merge_copies(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """One side repeats a statement, as in a retry or in both branches, and the other edits it.

    A copy is the same statement, possibly with further arguments. What the other side put before
    and after the statement stays around all of it.
    """
    for one, other, is_theirs in ((ours, theirs, False), (theirs, ours, True)):
        place = align(base, other, Mode.MEMBERS)[0] if len(base) == 1 else None
        copies = list(_copies(base[0], one)) if place is not None else []
        if place is None or not 1 < len(copies) <= _MOST_COPIES:
            continue
        edited, new = other[place], one
        if _reads(edited) - _reads(base[0]) and any(map(_may_change, _between(one, copies))):
            continue  # what the edited statement is given may be old in a later copy
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


def _between(statements: Elements, copies: Sequence[Construct]) -> Iterator[Element]:
    """Yield the statements before copies in their suites, apart from copies."""
    before: list[Element] = []
    for each in statements:
        if any(each is copy for copy in copies):
            yield from before
        elif isinstance(each, Construct):
            yield from _between(each.children, copies)
            before.append(each)


def _reads(statement: Element) -> frozenset[bytes]:
    return facts_of(statement).reads if isinstance(statement, Construct) else frozenset()


def _may_change(statement: Element) -> bool:
    """Whether a statement may change a value, unlike one that only leaves."""
    return any(part.kind in _CHANGING for part in statement.walk())


_CHANGING = frozenset({"assignment", "del", "expression", "for", "while", "with"})


def _copies(statement: Element, statements: Elements) -> Iterator[Construct]:
    """Yield the copies of a statement."""
    for each in statements:
        if isinstance(each, Construct) and extends(statement, each):
            yield each
        elif not (isinstance(each, Construct) and each.kind == statement.kind):
            yield from _copies(statement, each.children)
