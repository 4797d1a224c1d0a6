"""Combines the clauses that both sides give a `try` statement, or a `try` that both add."""

from attrs import evolve

from cooperbench_eval.languages.alignment import align
from cooperbench_eval.languages.tree import (
    Construct,
    Elements,
    Mode,
    same,
)
from cooperbench_eval.strategies.structured.rules.statements import (
    Merger,
    suite_of,
    with_body,
)

TRY = "try"
"""The kind of a statement with these clauses."""


def merge_tries(
    merger: Merger, base: Elements, ours: Elements, theirs: Elements
) -> Elements | None:
    """Both sides moved the statements into a `try`: keep one, with the clauses of both."""
    mine, other = _try_around(base, ours), _try_around(base, theirs)
    if mine is None or other is None:
        return None
    (start, one), (place, two) = mine, other
    first, second = tuple(one.parts), tuple(two.parts)
    if len(first) != len(one.children) or len(second) != len(two.children):
        return None
    bodies = suite_of(first[0]), suite_of(second[0])
    body = merger.merge_children(base, bodies[0].children, bodies[1].children, Mode.MEMBERS)
    clauses = merger.merge_children((), first[1:], second[1:], Mode.MEMBERS, TRY)
    statement = evolve(one, children=(with_body(first[0], body), *clauses))
    before = merger.merge_children((), ours[:start], theirs[:place], Mode.MEMBERS)
    after = merger.merge_children((), ours[start + 1 :], theirs[place + 1 :], Mode.MEMBERS)
    return (*before, statement, *after)


def _try_around(base: Elements, side: Elements) -> tuple[int, Construct] | None:
    """Find the new `try` with all the statements in its first clause, and its index."""
    if not base or {each.plain for each in base} & {each.plain for each in side}:
        return None
    found = [
        (i, each)
        for i, each in enumerate(side)
        if isinstance(each, Construct) and each.kind == TRY and each.mode is Mode.MEMBERS
    ]
    if len(found) != 1:
        return None
    clause = found[0][1].children[0]
    if not isinstance(clause, Construct) or same(clause, found[0][1]):
        return None
    inside = align(base, suite_of(clause).children, Mode.MEMBERS)
    return found[0] if all(place is not None for place in inside) else None
